"""Ops that order elements or look them up in order."""

from kerata.core.errors import one_of, positive_int
from kerata.ops import rules
from kerata.ops.declare import Index, Tensor, primitive
from kerata.ops.movement import reshape


@primitive(rule=rules.sort)
def sort(x: Index, axis=-1):
    """Elements in ascending order along an axis, NaN last (`numpy.sort`).

    Args:
        x: tensor of any shape.
        axis: which dimension. `None`: the tensor is flattened first.

    Returns:
        Tensor of `x`'s dtype.
    """
    return (reshape(x, (-1,)), 0) if axis is None else (x, axis)


@primitive(rule=rules.argsort)
def argsort(x: Index, axis=-1):
    """Positions that would sort the elements along an axis; equal ones keep their order (`numpy.argsort`).

    Args:
        x: tensor of any shape.
        axis: which dimension. `None`: the tensor is flattened first.

    Returns:
        int32 tensor.
    """
    return (reshape(x, (-1,)), 0) if axis is None else (x, axis)


@primitive(rule=rules.top_k)
def top_k(x: Index, k, sorted=True):
    """The `k` largest elements of each row and where they are.

    Args:
        x: tensor of at least one dimension.
        k: how many.
        sorted: whether they come in descending order.

    Returns:
        `(values, indices)`: tensors of shape `(..., k)`; indices are int32. Of equal elements the
        first one comes first.
    """
    return x, positive_int(k, "k", "top_k"), sorted


@primitive(rule=rules.searchsorted)
def searchsorted(sorted_sequence: Tensor, values: Tensor, side="left"):
    """Where values would have to be put into an ascending sequence (`numpy.searchsorted`).

    Args:
        sorted_sequence: ascending vector.
        values: tensor of any shape.
        side: `"left"`: before equal elements; `"right"`: after them.

    Returns:
        int32 tensor of `values`' shape.
    """
    return sorted_sequence, values, one_of(side, ("left", "right"), "side", "searchsorted")
