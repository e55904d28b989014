"""Ops that read and write by position."""

import builtins
import operator

import numpy as np

from kerata import backends
from kerata.core import dtypes
from kerata.core.errors import integer, one_of, positive_int
from kerata.graph.tensor import KerasTensor
from kerata.ops import rules, sparse_rules
from kerata.ops.core import convert_to_tensor, is_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Dims, Index, Key, Tensor, composite, primitive, to_native
from kerata.ops.elementwise import add, cast, floor_divide, logical_or, mod, sign, where
from kerata.ops.movement import canonical_dims, expand_dims, ndim, reshape
from kerata.ops.reduction import _max
from kerata.ops.reduction import sum as _sum


@primitive(rule=rules.take)
def take(x: Index, indices: Index, axis=None):
    """Slices of a tensor by their positions along an axis (`numpy.take`).

    Args:
        x: tensor of any shape.
        indices: integer tensor of any shape. Negative ones count from the end; what is out of bounds
            is moved to the nearest position that isn't.
        axis: which dimension; by default the tensor is flattened first.

    Returns:
        Tensor of `x`'s shape with `indices`' shape in place of the axis.

    >>> ops.take([10, 20, 30], [2, 0, -1])
    [30, 10, 30]
    """
    if axis is None:
        return reshape(x, (-1,)), indices, 0
    return x, indices, axis


@primitive(rule=rules.take_along_axis)
def take_along_axis(x: Index, indices: Index, axis=None):
    """Elements by their positions along an axis, each row with positions of its own (`numpy.take_along_axis`).

    Args:
        x: tensor of any shape.
        indices: integer tensor of as many dimensions; the others broadcast.
        axis: which dimension; by default both are flattened first.

    Returns:
        Tensor of `indices`' shape (broadcast) and `x`'s dtype.

    >>> ops.take_along_axis([[10, 20], [30, 40]], [[1], [0]], axis=1)
    [[20], [30]]
    """
    if axis is None:
        return reshape(x, (-1,)), reshape(indices, (-1,)), 0
    return x, indices, axis


@primitive(rule=rules.get_item)
def get_item(x: Index, key: Key):
    """`x[key]`, with NumPy's basic and advanced indexing on every backend.

    Args:
        x: tensor.
        key: int, slice, `None`, `...`, integer or boolean tensor or list, or a tuple of those.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.get_item([[1, 2], [3, 4]], (0, -1))
    2
    """
    key = key if type(key) is tuple else (key,)
    return x, tuple(k if type(k) in _BASIC else _index(k) for k in key)


_BASIC = {int, type(None), type(Ellipsis)}


def _index(k):
    """One entry of a key in canonical form."""
    if isinstance(k, builtins.slice):
        if type(k.start) in _BASIC and type(k.stop) in _BASIC and type(k.step) in _BASIC:
            return k
        return builtins.slice(*(_scalar(e) for e in (k.start, k.stop, k.step)))
    if isinstance(k, (bool, KerasTensor)):
        return k
    if isinstance(k, np.integer):
        return int(k)
    if isinstance(k, (list, tuple)):
        k = np.asarray(k) if len(k) else np.zeros(0, "int32")
    b = backends.current()
    if hasattr(type(k), "_is_kerata_variable"):
        k = k.value
    if isinstance(k, KerasTensor):
        return k
    return to_native(b, k, None if getattr(k, "dtype", None) != np.int64 or not isinstance(k, np.ndarray) else "int32")


def _scalar(e):
    if e is None or type(e) is int or isinstance(e, KerasTensor):
        return e
    try:
        return operator.index(e)
    except TypeError:
        return e


@primitive(rule=rules.scatter)
def scatter(indices: Index, values: Tensor, shape: Dims):
    """Zeros with values added at positions; those for one position add up.

    Args:
        indices: integer tensor of shape `(n, k)`: where, in the first k dimensions.
        values: tensor of shape `(n, ...)`, the rest being the dimensions after the first k of `shape`.
        shape: shape of the result.

    Returns:
        Tensor of `shape` and `values`' dtype.

    >>> ops.scatter([[0], [2], [0]], [1, 2, 3], (4,))
    [4, 0, 2, 0]
    """
    return indices, values, canonical_dims(shape, "scatter")


@primitive(rule=rules.scatter_update)
def scatter_update(inputs: Tensor, indices: Index, updates: Tensor, reduction=None):
    """A tensor with values replaced at positions.

    Args:
        inputs: tensor of any shape.
        indices: integer tensor of shape `(n, k)`: where, in the first k dimensions.
        updates: tensor of shape `(n, ...)`, the rest being the dimensions after the first k of `inputs`.
        reduction: `None` to replace, `"add"`, `"max"`, `"min"` or `"mul"` to combine with what is there.

    Returns:
        Tensor of `inputs`' shape.

    >>> ops.scatter_update([1, 2, 3], [[0], [2]], [7, 9])
    [7, 2, 9]
    """
    return (
        inputs,
        indices,
        updates,
        one_of(reduction, (None, "add", "max", "min", "mul"), "reduction", "scatter_update"),
    )


@primitive(rule=rules.slice_window, canonical="_integers(start_indices) and _integers(shape)")
def slice(inputs: Index, start_indices: Dims, shape: Dims):
    """A window of fixed shape, at a position that may be computed (`jax.lax.dynamic_slice`).

    Args:
        inputs: tensor of any shape.
        start_indices: first position in each dimension: ints, scalar tensors, or one integer vector.
            A window that would reach beyond the end is moved back.
        shape: shape of the window.

    Returns:
        Tensor of that shape and `inputs`' dtype.

    >>> ops.slice([1, 2, 3, 4], (1,), (2,))
    [2, 3]
    """
    return inputs, _starts(start_indices, len(inputs.shape)), canonical_dims(shape, "slice")


def _starts(start_indices, rank):
    if isinstance(start_indices, (tuple, list)):
        starts = tuple(start_indices)
    else:
        starts = tuple(get_item(start_indices, i) for i in range(rank))
    return canonical_dims(starts, "slice")


@primitive(rule=rules.slice_update)
def slice_update(inputs: Tensor, start_indices: Dims, updates: Tensor):
    """A tensor with a window of it replaced (`jax.lax.dynamic_update_slice`).

    Args:
        inputs: tensor of any shape.
        start_indices: first position in each dimension: ints, scalar tensors, or one integer vector.
        updates: tensor of as many dimensions: what the window holds afterwards.

    Returns:
        Tensor of `inputs`' shape.

    >>> ops.slice_update([1, 2, 3, 4], (1,), [7, 8])
    [1, 7, 8, 4]
    """
    return inputs, _starts(start_indices, len(inputs.shape)), updates


@primitive(rule=rules.one_hot)
def one_hot(x: Index, num_classes, axis=-1, dtype=None):
    """Classes as vectors with a single 1: the primitive."""


_one_hot = one_hot


@composite
def sparse_one_hot(x: Index, num_classes, axis, dtype):
    """`one_hot` as a sparse tensor (not public)."""
    return _one_hot(x, num_classes, axis, dtype)


def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):  # noqa: F811
    """Class numbers as vectors with a 1 at that place and zeros elsewhere.

    Args:
        x: integer tensor of any shape; numbers outside `[0, num_classes)` give zeros only.
        num_classes: length of the new dimension.
        axis: where it is in the result.
        dtype: by default `floatx()`.
        sparse: whether to return a sparse tensor, where the backend has them.

    Returns:
        Tensor of `dtype`.

    >>> ops.one_hot([0, 2], 3)
    [[1., 0., 0.], [0., 0., 1.]]
    """
    if sparse:
        sparse_rules.need(backends.current(), "one_hot")
    if axis not in (-1, 0):
        axis = rules.axis_in(axis, ndim(x) + 1, "one_hot")
    make = sparse_one_hot if sparse else _one_hot
    return make(x, positive_int(num_classes, "num_classes", "one_hot"), axis, dtypes.standardize_dtype(dtype))


one_hot.op = _one_hot.op


def multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False, **kwargs):
    """Sets of class numbers as vectors with a 1 at each of them.

    Args:
        inputs: integer tensor of shape `(..., k)`: each row is one set; numbers outside
            `[0, num_classes)` are left out.
        num_classes: length of the vectors (`num_tokens` is its older name).
        axis: where that dimension is in the result.
        dtype: by default `floatx()`.
        sparse: whether to return a sparse tensor, where the backend has them.

    Returns:
        Tensor of `dtype`, of `inputs`' shape with `num_classes` in place of the last dimension.

    >>> ops.multi_hot([[0, 2]], 4)
    [[1., 0., 1., 0.]]
    """
    num_classes = kwargs.pop("num_tokens", num_classes)
    if kwargs:
        raise TypeError(f"multi_hot: unknown argument {next(iter(kwargs))!r}.")
    if num_classes is None:
        raise ValueError("multi_hot: `num_classes` must be given.")
    hot = one_hot(inputs, num_classes, axis, "int32" if sparse else dtype, sparse)
    # The sets are the rows of the last dimension, which the new one may have come to stand behind.
    rank = len(hot.shape)
    over = rank - 2 if rules.axis_in(axis, rank, "multi_hot") == rank - 1 else rank - 1
    if sparse:
        # Of a sparse tensor there is no maximum, but a sum.
        return cast(sign(_sum(hot, over)) if rank > 1 else hot, dtypes.standardize_dtype(dtype))
    return _max(hot, over) if rank > 1 else hot


@primitive(rule=rules.nonzero)
def nonzero(x: Index):
    """Positions of the elements that aren't 0 (`numpy.nonzero`).

    How many there are depends on the values, so it can't run inside a function compiled by JAX.

    Args:
        x: tensor of at least one dimension.

    Returns:
        Tuple with one int32 vector a dimension.

    >>> ops.nonzero([0, 5, 0, 7])
    ([1, 3],)
    """


@primitive(rule=rules.segment)
def segment_sum(data: Tensor, segment_ids: Index, num_segments: Dims):
    """Sums of the rows with the same number: the primitive."""
    return data, segment_ids, canonical_dims((num_segments,), "segment_sum")[0]


_segment_sum = segment_sum


def segment_sum(data, segment_ids, num_segments=None, sorted=False):  # noqa: F811
    """Sums of the rows that belong to each segment.

    Args:
        data: tensor of shape `(n, ...)`.
        segment_ids: integer vector of length n; rows with a number outside `[0, num_segments)` are left out.
        num_segments: how many segments; by default one more than the largest number, which can't be
            worked out inside a function compiled by JAX.
        sorted: whether the numbers ascend (allows a backend a faster way).

    Returns:
        Tensor of shape `(num_segments, ...)`; 0 for an empty segment.

    >>> ops.segment_sum([1.0, 2.0, 3.0], [0, 0, 1])
    [3., 3.]
    """
    return _segment_sum(data, segment_ids, _segments(data, segment_ids, num_segments, "segment_sum"))


segment_sum.op = _segment_sum.op


def _segments(data, segment_ids, num_segments, owner):
    data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    rules.segment(data, segment_ids, 1)
    if num_segments is not None:
        # A size that's only known when the graph runs is a dimension like others.
        return num_segments if is_tensor(num_segments) else integer(num_segments, "num_segments", owner, minimum=0)
    if 0 in tuple(segment_ids.shape):
        return 0
    return add(_max(segment_ids), 1)


def segment_max(data, segment_ids, num_segments=None, sorted=False):
    """Largest element of each segment, position by position.

    Args:
        data: tensor of shape `(n, ...)`.
        segment_ids: integer vector of length n; rows with a number outside `[0, num_segments)` are left out.
        num_segments: how many segments, as in `segment_sum`.
        sorted: whether the numbers ascend.

    Returns:
        Tensor of shape `(num_segments, ...)`; the dtype's lowest number (-inf) for an empty segment.

    >>> ops.segment_max([1.0, 2.0, 3.0], [0, 0, 1])
    [2., 3.]
    """
    return segment_combined(data, segment_ids, _segments(data, segment_ids, num_segments, "segment_max"), "max")


def segment_min(data, segment_ids, num_segments=None, sorted=False):
    """Smallest element of each segment, position by position.

    Args:
        data: tensor of shape `(n, ...)`.
        segment_ids: integer vector of length n; rows with a number outside `[0, num_segments)` are left out.
        num_segments: how many segments, as in `segment_sum`.
        sorted: whether the numbers ascend.

    Returns:
        Tensor of shape `(num_segments, ...)`; the dtype's highest number (inf) for an empty segment.

    >>> ops.segment_min([1.0, 2.0, 3.0], [0, 0, 1])
    [1., 3.]
    """
    return segment_combined(data, segment_ids, _segments(data, segment_ids, num_segments, "segment_min"), "min")


def segment_prod(data, segment_ids, num_segments=None, sorted=False):
    """Product of each segment, position by position.

    Args:
        data: tensor of shape `(n, ...)`.
        segment_ids: integer vector of length n; rows with a number outside `[0, num_segments)` are left out.
        num_segments: how many segments, as in `segment_sum`.
        sorted: whether the numbers ascend.

    Returns:
        Tensor of shape `(num_segments, ...)`; 1 for an empty segment.

    >>> ops.segment_prod([1.0, 2.0, 3.0], [0, 0, 1])
    [2., 3.]
    """
    return segment_combined(data, segment_ids, _segments(data, segment_ids, num_segments, "segment_prod"), "mul")


@composite
def segment_combined(data: Tensor, segment_ids: Index, num_segments: Dims, reduction):
    """Rows of each segment combined by `scatter_update`'s reduction; one row more catches those left out."""
    from kerata.ops.creation import full

    kind = dtype_of(data)
    start = {"max": lowest(kind), "min": highest(kind), "mul": 1}[reduction]
    outside = logical_or(segment_ids < 0, segment_ids >= num_segments)
    places = expand_dims(where(outside, num_segments, segment_ids), -1)
    num_segments = canonical_dims((num_segments,), "segments")[0]
    empty = full((num_segments + 1, *shape_of(data)[1:]), start, kind)
    return scatter_update(empty, places, data, reduction)[:num_segments]


def lowest(dtype):
    """The number of a dtype below all others."""
    if dtypes.is_float(dtype):
        return float("-inf")
    return 0 if dtype == "bool" else int(np.iinfo(dtype).min)


def highest(dtype):
    """The number of a dtype above all others."""
    if dtypes.is_float(dtype):
        return float("inf")
    return 1 if dtype == "bool" else int(np.iinfo(dtype).max)


def unravel_index(indices, shape):
    """Positions in a flattened tensor as coordinates (`numpy.unravel_index`); negative ones count from the end.

    Args:
        indices: integer tensor of any shape.
        shape: shape of the tensor.

    Returns:
        Tuple of integer tensors, one a dimension.

    >>> [int(i) for i in ops.unravel_index(5, (2, 3))]
    [1, 2]
    """
    indices = convert_to_tensor(indices)
    total = 1
    for d in shape:
        if d is None or d < 0:
            raise ValueError(f"unravel_index: the dimensions of `shape` must be known, but it is {tuple(shape)}.")
        total *= d
    indices = where(indices < 0, indices + total, indices)
    coordinates = []
    for d in reversed(tuple(shape)):
        coordinates.append(mod(indices, d))
        indices = floor_divide(indices, d)
    return tuple(reversed(coordinates))
