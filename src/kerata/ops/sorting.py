"""Ops that order elements or look them up in order."""

from kerata.core import dtypes
from kerata.core.errors import integer, one_of, positive_int
from kerata.ops import rules
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import arange, full, ones
from kerata.ops.declare import Index, Tensor, composite, primitive
from kerata.ops.elementwise import cast, equal, isnan, logical_and, logical_not, minimum, not_equal, where
from kerata.ops.indexing import nonzero, scatter, take
from kerata.ops.movement import concatenate, expand_dims, moveaxis, reshape
from kerata.ops.reduction import all, cumsum


@primitive(rule=rules.sort)
def sort(x: Index, axis=-1):
    """Elements in ascending order along an axis, NaN last (`numpy.sort`).

    Args:
        x: tensor of any shape.
        axis: which dimension. `None`: the tensor is flattened first.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.sort([3, 1, 2])
    [1, 2, 3]
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

    >>> ops.argsort([3, 1, 2])
    [1, 2, 0]
    """
    return (reshape(x, (-1,)), 0) if axis is None or len(x.shape) == 0 else (x, axis)


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

    >>> ops.top_k([1.0, 4.0, 3.0], 2)
    ([4., 3.], [1, 2])
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

    >>> ops.searchsorted([1, 3, 5], [0, 3, 9])
    [0, 1, 3]
    """
    return sorted_sequence, values, one_of(side, ("left", "right"), "side", "searchsorted")


def argpartition(x, kth, axis=-1):
    """Positions that bring the `kth` element to its place, no larger ones before it (`numpy.argpartition`).

    Args:
        x: tensor of any shape.
        kth: position in order.
        axis: which dimension. `None`: the tensor is flattened first.

    Returns:
        int32 tensor. A full order is one that answers, and the one that is returned.

    >>> ops.argpartition([3, 1, 2], 1)
    [1, 2, 0]
    """
    integer(kth, "kth", "argpartition")
    return argsort(x, axis)


@composite
def isin(x1: Tensor, x2: Tensor, assume_unique=False, invert=False):
    """Which elements are among others (`numpy.isin`).

    Args:
        x1: tensor of any shape.
        x2: tensor of any shape: the others.
        assume_unique: unused: all work alike.
        invert: whether to ask which are not.

    Returns:
        Boolean tensor of `x1`'s shape.

    >>> ops.isin([1, 2, 3], [2, 5])
    [False, True, False]
    """
    ordered = sort(reshape(x2, (-1,)))
    if ordered.shape[0] is None or ordered.shape[0] == 0:
        # There may be no element to be looked at.
        found = searchsorted(ordered, x1, "right") > searchsorted(ordered, x1, "left")
        if dtypes.is_float(dtype_of(x1)):
            # NaN is ordered, but equals nothing.
            found = logical_and(found, logical_not(isnan(x1)))
        return logical_not(found) if invert else found
    place = minimum(searchsorted(ordered, x1), shape_of(ordered)[0] - 1)
    return (not_equal if invert else equal)(take(ordered, place, axis=0), x1)


def unique(
    x,
    sorted=True,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    size=None,
    fill_value=None,
):
    """The different elements, ascending (`numpy.unique` with `equal_nan=False`: each NaN is another one).

    How many there are depends on the values: inside a function compiled by JAX, give `size`.

    Args:
        x: tensor of any shape.
        sorted: unused: the order is always ascending.
        return_index: whether to return where each occurs first.
        return_inverse: whether to return which of them each element of `x` is.
        return_counts: whether to return how often each occurs.
        axis: slices along this axis are compared instead of elements.
        size: how many to return: cut off, or padded.
        fill_value: padding, by default the smallest element.

    Returns:
        The elements, or a tuple of them and what else is asked for, in the order above (int32).

    >>> ops.unique([3, 1, 3])
    [1, 3]
    """
    if axis is None and size is None and not (return_index or return_inverse or return_counts):
        return distinct_values(x)
    values, index, inverse, counts = distinct(x, axis, size, fill_value)
    asked = [t for t, wanted in ((index, return_index), (inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *asked) if asked else values


@composite(by_value=True)
def distinct_values(x: Index):
    """The values alone, for which no places need to be kept."""
    ordered = sort(reshape(x, (-1,)))
    return take(ordered, nonzero(_is_new(ordered))[0], axis=0)


@composite(by_value=True)
def distinct(x: Index, axis=None, size=None, fill_value=None):
    """Values, first positions, inverse and counts of what is different in `x`."""
    whole = shape_of(x)
    rows = reshape(x, (-1,)) if axis is None else moveaxis(x, axis, 0)
    order, is_new = _ordered(rows)
    n = shape_of(rows)[0]
    number = cumsum(cast(is_new, "int32")) - 1
    inverse = scatter(expand_dims(order, -1), number, (n,))
    if axis is None:
        inverse = reshape(inverse, whole)
    if size is None:
        begins = nonzero(is_new)[0]
        ends = concatenate([begins[1:], reshape(cast(convert_to_tensor(n), "int32"), (1,))])
    else:
        # One more than asked for: the last one ends where it begins.
        places = _first_places(is_new, size + 1, n)
        begins, ends = places[:-1], places[1:]
    index = take(order, minimum(begins, n - 1), axis=0)
    values, counts = take(rows, index, axis=0), ends - begins
    if size is not None:
        values, index, counts = _padded(values, index, counts, begins >= n, fill_value)
    return values if axis is None else moveaxis(values, 0, axis), index, inverse, counts


def _ordered(rows):
    """Stable ascending order of the rows, and which of them differ from the one before."""
    n = shape_of(rows)[0]
    width = rules.size_of(rows.shape[1:])
    flat = reshape(rows, (n, -1 if width is None else width))
    if len(rows.shape) == 1:
        order = argsort(rows)
    else:
        if flat.shape[1] is None:
            raise ValueError("unique: the size of the compared slices must be known.")
        # The last key first: stable sorts keep what the earlier ones did.
        order = arange(n, dtype="int32")
        for column in reversed(range(flat.shape[1])):
            order = take(order, argsort(take(flat[:, column], order, axis=0)), axis=0)
    return order, _is_new(take(flat, order, axis=0))


def _is_new(ordered):
    """Which of the ordered elements or rows differ from the one before, as NaN does from NaN."""
    same = equal(ordered[1:], ordered[:-1])
    if len(ordered.shape) > 1:
        same = all(same, axis=1)
    return concatenate([ones((1,), "bool"), logical_not(same)])[: shape_of(ordered)[0]]


def _first_places(is_new, size, n):
    """The first `size` places of true elements, n where there are no more."""
    places = sort(where(is_new, arange(n, dtype="int32"), n))
    return concatenate([places, full((size,), n, "int32")])[:size]


def _padded(values, index, counts, surplus, fill_value):
    """Entries beyond the last element: `fill_value`, or the first element again; they occur 0 times."""
    fill = values[:1] if fill_value is None else cast(convert_to_tensor(fill_value), dtype_of(values))
    wide = reshape(surplus, (-1,) + (1,) * (len(values.shape) - 1))
    return where(wide, fill, values), where(surplus, index[:1], index), where(surplus, 0, counts)
