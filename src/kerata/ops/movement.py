"""Ops that move elements about: reshape, transpose, join, cut, pad, repeat."""

import builtins
import operator
from functools import lru_cache

import numpy as np

from kerata.core.errors import integer, one_of
from kerata.graph.tensor import KerasTensor
from kerata.ops import rules
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Axis, Dims, Index, Tensors, composite, primitive
from kerata.ops.lengths import least


@primitive(rule=rules.scalar_int32)
def shape_dim(x: Index, axis):
    """Length of one dimension as an int32 scalar, computed when the graph runs.

    Args:
        x: tensor.
        axis: which dimension.

    Returns:
        int32 scalar (a Python int where the length is static).
    """


def canonical_dims(shape, owner="shape"):
    """A shape as a tuple of ints and, where a length is computed, scalar tensors."""
    if type(shape) is tuple and set(map(type, shape)) <= _INT:
        return shape
    if isinstance(shape, KerasTensor) and len(shape.shape) == 1 and shape.shape[0] is not None:
        return tuple(shape[i] for i in range(shape.shape[0]))
    if not isinstance(shape, (tuple, list)):
        shape = (shape,) if not hasattr(shape, "__iter__") or not getattr(shape, "shape", (1,)) else tuple(shape)
    return tuple(d if type(d) is int else _dimension(d, owner) for d in shape)


_INT = {int}


class NotAnInteger(TypeError, ValueError):
    """A dimension that's a float: of the wrong type, and so no value either."""


def _dimension(d, owner):
    if isinstance(d, KerasTensor):
        return d
    if isinstance(d, float) or (hasattr(d, "dtype") and "float" in str(d.dtype)):
        raise NotAnInteger(f"{owner}: dimensions must be integers, but {d!r} was given.")
    try:
        return operator.index(d)
    except TypeError:
        if d is None:
            raise ValueError(f"{owner}: a dimension is None; give a number.") from None
        return d


@primitive(rule=rules.reshape, canonical="_b.INTEGER_DIMS and _integers(newshape)")
def reshape(x: Index, newshape: Dims):
    """The same elements in another shape (`numpy.reshape`).

    Args:
        x: tensor of any shape.
        newshape: int or sequence of ints; one of them may be -1 (or `None`): whatever is left over.
            Scalar tensors are allowed.

    Returns:
        Tensor of that shape and `x`'s dtype.

    >>> ops.reshape([1, 2, 3, 4], (2, -1))
    [[1, 2], [3, 4]]
    """
    if type(newshape) is tuple and set(map(type, newshape)) <= _INT:
        if newshape and (builtins.min(newshape) < -1 or newshape.count(-1) > 1):
            rules.reshape(x, newshape)  # which says what is wrong
        return x, newshape
    if isinstance(newshape, (tuple, list)):
        newshape = tuple(-1 if d is None else d for d in newshape)
    return x, canonical_dims(newshape, "reshape")


@primitive(rule=rules.transpose)
def transpose(x: Index, axes: Axis = None):
    """Reorder the dimensions (`numpy.transpose`).

    Args:
        x: tensor of any shape.
        axes: for each dimension of the result, which one of `x` it is; by default the reverse order.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.transpose([[1, 2], [3, 4]])
    [[1, 3], [2, 4]]
    """
    rank = len(x.shape)
    if axes is None:
        return x, tuple(range(rank))[::-1]
    # TensorFlow's gradient takes no negative ones.
    return x, tuple([a + rank if a < 0 else a for a in axes])


@primitive(rule=rules.expand_dims)
def expand_dims(x: Index, axis: Axis):
    """Insert dimensions of 1 (`numpy.expand_dims`).

    Args:
        x: tensor of any shape.
        axis: int or tuple of ints: where they are in the result.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.expand_dims([1, 2], axis=1)
    [[1], [2]]
    """


@primitive(rule=rules.squeeze)
def squeeze(x: Index, axis: Axis = None):
    """Drop dimensions of 1: the primitive."""


_squeeze = squeeze


def squeeze(x, axis=None):  # noqa: F811
    """Drop dimensions of 1 (`numpy.squeeze`).

    Args:
        x: tensor of any shape.
        axis: int or tuple of ints; by default all that are 1, of a symbolic tensor those that are known to be.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.squeeze([[1, 2]])
    [1, 2]
    """
    if axis is None and type(x) is KerasTensor and None in x.shape:
        # What isn't known stays, be it 1 when it is.
        axis = tuple(i for i, d in enumerate(x.shape) if d == 1)
    return _squeeze(x, axis)


squeeze.op = _squeeze.op


@primitive(rule=rules.broadcast_to)
def broadcast_to(x: Index, shape: Dims):
    """Repeat along dimensions of 1, and new ones in front, up to a shape (`numpy.broadcast_to`).

    Args:
        x: tensor.
        shape: int or sequence of ints.

    Returns:
        Tensor of that shape and `x`'s dtype.

    >>> ops.broadcast_to([1, 2], (2, 2))
    [[1, 2], [1, 2]]
    """
    return x, canonical_dims(shape, "broadcast_to")


@primitive(rule=rules.concatenate)
def concatenate(xs: Tensors, axis=0):
    """Join tensors along a dimension that they have (`numpy.concatenate`).

    Args:
        xs: list of tensors whose shapes are equal but for that dimension.
        axis: which dimension. `None`: the tensors are flattened first.

    Returns:
        Tensor of the dtype that they have together.

    >>> ops.concatenate([[1, 2], [3]])
    [1, 2, 3]
    """
    if axis is None:
        return [reshape(x, (-1,)) for x in xs], 0
    return xs, axis


@primitive(rule=rules.stack)
def stack(x: Tensors, axis=0):
    """Join tensors along a new dimension (`numpy.stack`).

    Args:
        x: list of tensors of one shape.
        axis: where the new dimension is in the result.

    Returns:
        Tensor of the dtype that they have together.

    >>> ops.stack([[1, 2], [3, 4]])
    [[1, 2], [3, 4]]
    """


@primitive(rule=rules.unstack)
def unstack(x: Index, axis=0):
    """A tensor as a list of its slices: the primitive, without `num`."""


_unstack = unstack


def unstack(x, num=None, axis=0):  # noqa: F811
    """A tensor as the list of its slices along an axis.

    Args:
        x: tensor of at least one dimension.
        num: how many there are, if that can't be read from the shape.
        axis: which dimension.

    Returns:
        List of tensors of one dimension less.

    >>> ops.unstack([[1, 2], [3, 4]])
    [[1, 2], [3, 4]]
    """
    x = x if hasattr(x, "shape") else convert_to_tensor(x)
    if num is not None and len(x.shape) and x.shape[rules.axis_in(axis, len(x.shape), "unstack")] is None:
        at = (slice(None),) * (axis % len(x.shape))
        return [x[(*at, i)] for i in range(num)]
    parts = _unstack(x, axis)
    if num is not None and num != len(parts):
        raise ValueError(f"unstack: `num` is {num}, but the dimension has {len(parts)} entries.")
    return parts


unstack.op = _unstack.op


@primitive(rule=rules.split)
def split(x: Index, indices_or_sections, axis=0):
    """Cut along a dimension (`numpy.split`).

    Args:
        x: tensor of at least one dimension.
        indices_or_sections: number of equal parts, or the positions where to cut.
        axis: which dimension.

    Returns:
        List of tensors.

    >>> ops.split([1, 2, 3, 4], 2)
    [[1, 2], [3, 4]]
    """
    if isinstance(indices_or_sections, (tuple, list)) or getattr(indices_or_sections, "ndim", 0):
        return x, _cuts(x, indices_or_sections, axis), axis
    return x, integer(indices_or_sections, "indices_or_sections", "split", minimum=1), axis


def _cuts(x, positions, axis):
    """Cut positions within the dimension, ascending."""
    size = x.shape[rules.axis_in(axis, len(x.shape), "split")]
    cuts = [operator.index(p) for p in positions]
    if size is not None:
        cuts = [builtins.min(builtins.max(p + size if p < 0 else p, 0), size) for p in cuts]
    if cuts != sorted(cuts):
        raise ValueError(f"split: the cut positions {tuple(positions)} must ascend.")
    return tuple(cuts)


@primitive(rule=rules.same)
def flip(x: Index, axis: Axis = None):
    """Reverse the order along axes (`numpy.flip`).

    Args:
        x: tensor of any shape.
        axis: int or tuple of ints; by default all.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.flip([1, 2, 3])
    [3, 2, 1]
    """
    return x, rules.axes_in(axis, len(x.shape), "flip")


@primitive(rule=rules.roll)
def roll(x: Index, shift: Axis, axis: Axis = None):
    """Move elements along axes; those that leave at one end come in at the other (`numpy.roll`).

    Args:
        x: tensor of any shape.
        shift: int or tuple of ints: by how many places.
        axis: int or tuple of ints; by default the tensor is rolled as if it were flat.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.roll([1, 2, 3], 1)
    [3, 1, 2]
    """


_roll = roll


def roll(x, shift, axis=None):  # noqa: F811
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    if axis is None:
        return roll_flat(x, builtins.sum(shifts))
    axes = _pair(axis)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts are given for {len(axes)} axes.")
    return _roll(x, shifts, axes)


roll.op, roll.__doc__ = _roll.op, _roll.__doc__


@composite
def roll_flat(x: Index, shift):
    """`roll` of the flattened tensor, in the shape that it had."""
    return reshape(_roll(reshape(x, (-1,)), (shift,), (0,)), shape_of(x))


PAD_MODES = ("constant", "reflect", "symmetric", "edge")


@primitive(rule=rules.pad)
def pad(x: Index, pad_width: Dims, mode="constant", constant_values=None):
    """Lengthen dimensions at their ends (`numpy.pad`).

    Args:
        x: tensor of any shape.
        pad_width: `(before, after)` for each dimension; one pair, or one number, for all of them. With mode
            `"constant"` scalar tensors too, where a length is computed.
        mode: `"constant"`, `"reflect"` (mirrored without repeating the edge), `"symmetric"` (with it)
            or `"edge"`.
        constant_values: fill value of mode `"constant"`, by default 0.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.pad([1, 2], (1, 2))
    [0, 1, 2, 0, 0]
    """
    one_of(mode, PAD_MODES, "mode", "pad")
    if mode != "constant" and constant_values is not None:
        raise ValueError(
            f"pad: Argument `constant_values` can only be provided when `mode == 'constant'`, but the mode is {mode!r}."
        )
    return x, pad_pairs(pad_width, len(x.shape)), mode, 0 if constant_values is None else constant_values


def pad_pairs(pad_width, rank):
    """NumPy's spellings of `pad_width` as one pair a dimension."""
    if isinstance(pad_width, (int, np.integer)):
        pad_width = ((int(pad_width),) * 2,)
    pairs = [tuple(p) if isinstance(p, (tuple, list)) or getattr(p, "ndim", 0) else p for p in pad_width]
    if len(pairs) == 2 and not isinstance(pairs[0], tuple):
        pairs = [tuple(pairs)]
    pairs = [(p, p) if not isinstance(p, tuple) else p * 2 if len(p) == 1 else p for p in pairs]
    if any(len(p) != 2 for p in pairs) or len(pairs) not in (1, rank):
        raise ValueError(
            f"pad: `pad_width` must be (before, after) pairs, one for each of the {rank} dimensions or one for all, "
            f"not {pad_width!r}."
        )
    pairs = tuple((_dimension(low, "pad"), _dimension(high, "pad")) for low, high in pairs)
    return pairs * rank if len(pairs) == 1 else pairs


@primitive(rule=rules.tile)
def tile(x: Index, repeats: Dims):
    """Repeat the whole tensor along its dimensions (`numpy.tile`).

    Args:
        x: tensor of any shape.
        repeats: int or sequence of ints; ones are put in front of the shorter of shape and repeats.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.tile([1, 2], 2)
    [1, 2, 1, 2]
    """
    repeats = canonical_dims(repeats, "tile")
    rank = len(x.shape)
    if len(repeats) > rank:
        x = reshape(x, (1,) * (len(repeats) - rank) + shape_of(x))
    return x, (1,) * (rank - len(repeats)) + repeats


@primitive(rule=rules.repeat)
def repeat(x: Index, repeats, axis=None):
    """Repeat each element along an axis (`numpy.repeat`).

    Args:
        x: tensor of any shape.
        repeats: int, or one int for each element along the axis.
        axis: which dimension; by default the tensor is flattened first.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.repeat([1, 2], 2)
    [1, 1, 2, 2]
    """
    if not isinstance(repeats, int):
        repeats = np.asarray(repeats)
        repeats = tuple(int(r) for r in repeats) if repeats.ndim else int(repeats)
    if axis is None:
        return reshape(x, (-1,)), repeats, 0
    return x, repeats, axis


@primitive(rule=rules.triangle)
def tril(x: Index, k=0):
    """Lower triangle of the last two dimensions, the rest zero (`numpy.tril`).

    Args:
        x: tensor of shape `(..., m, n)`.
        k: diagonal up to which elements are kept: 0 the main one, above it positive.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.tril([[1, 2], [3, 4]])
    [[1, 0], [3, 4]]
    """


@primitive(rule=rules.triangle)
def triu(x: Index, k=0):
    """Upper triangle of the last two dimensions, the rest zero (`numpy.triu`).

    Args:
        x: tensor of shape `(..., m, n)`.
        k: diagonal from which on elements are kept: 0 the main one, above it positive.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.triu([[1, 2], [3, 4]])
    [[1, 2], [0, 4]]
    """


@primitive(rule=rules.diag)
def diag(x: Index, k=0):
    """Matrix with a given diagonal, or the diagonal of a matrix (`numpy.diag`).

    Args:
        x: vector or matrix.
        k: which diagonal: 0 the main one, above it positive.

    Returns:
        Matrix for a vector, vector for a matrix, of `x`'s dtype.

    >>> ops.diag([1, 2])
    [[1, 0], [0, 2]]
    """


@primitive(rule=rules.diagonal)
def diagonal(x: Index, offset=0, axis1=0, axis2=1):
    """Diagonals of the matrices that two axes make (`numpy.diagonal`).

    Args:
        x: tensor of at least two dimensions.
        offset: which diagonal: 0 the main one, above it positive.
        axis1, axis2: rows and columns.

    Returns:
        Tensor with the two axes removed and the diagonal last, of `x`'s dtype.

    >>> ops.diagonal([[1, 2], [3, 4]])
    [1, 4]
    """
    rules.axes_in((axis1, axis2), len(x.shape), "diagonal")
    return x, offset, axis1, axis2


# ------------------------------------------------------------------ made of these


def ravel(x):
    """All elements in one dimension (`numpy.ravel`).

    Args:
        x: tensor of any shape.

    Returns:
        One-dimensional tensor of `x`'s dtype.

    >>> ops.ravel([[1, 2], [3, 4]])
    [1, 2, 3, 4]
    """
    return reshape(x, (-1,))


def swapaxes(x, axis1, axis2):
    """Exchange two dimensions (`numpy.swapaxes`).

    Args:
        x: tensor of at least two dimensions.
        axis1, axis2: which ones.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.swapaxes([[1, 2], [3, 4]], 0, 1)
    [[1, 3], [2, 4]]
    """
    x = x if hasattr(x, "shape") else convert_to_tensor(x)
    return transpose(x, _swapped(len(x.shape), axis1, axis2))


@lru_cache(maxsize=256)
def _swapped(rank, axis1, axis2):
    """The order of dimensions with two of them exchanged."""
    axes = list(range(rank))
    a, b = rules.axis_in(axis1, rank, "swapaxes"), rules.axis_in(axis2, rank, "swapaxes")
    axes[a], axes[b] = axes[b], axes[a]
    return tuple(axes)


def moveaxis(x, source, destination):
    """Move dimensions to other places; the rest keep their order (`numpy.moveaxis`).

    Args:
        x: tensor.
        source, destination: int or tuple of ints of equal length.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.moveaxis([[1, 2], [3, 4]], 0, 1)
    [[1, 3], [2, 4]]
    """
    x = x if hasattr(x, "shape") else convert_to_tensor(x)
    return transpose(x, _moved(len(x.shape), _pair(source), _pair(destination)))


@lru_cache(maxsize=256)
def _moved(rank, source, destination):
    """The order of dimensions with some of them moved to other places."""
    source = rules.axes_in(source, rank, "moveaxis")
    destination = rules.axes_in(destination, rank, "moveaxis")
    if len(source) != len(destination):
        raise ValueError(f"moveaxis: {len(source)} axes can't be moved to {len(destination)} places.")
    rest = iter([a for a in range(rank) if a not in source])
    placed = dict(zip(destination, source))
    return tuple(placed[i] if i in placed else next(rest) for i in range(rank))


def _pair(axis):
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def size(x):
    """Number of elements (`numpy.size`).

    Args:
        x: tensor.

    Returns:
        int, or a scalar tensor where a dimension is computed when the graph runs.

    >>> ops.size([[1, 2], [3, 4]])
    4
    """
    x = convert_to_tensor(x)
    total = 1
    for i, d in enumerate(shape_of(x)):
        total = total * (shape_dim(x, i) if d is None else d)
    return total


def ndim(x):
    """Number of dimensions (`numpy.ndim`).

    Args:
        x: tensor.

    Returns:
        int.

    >>> ops.ndim([[1, 2]])
    2
    """
    return len(convert_to_tensor(x).shape)


def append(x1, x2, axis=None):
    """One tensor after another (`numpy.append`).

    Args:
        x1, x2: tensors whose shapes are equal but for the axis.
        axis: which dimension; by default both are flattened first.

    Returns:
        Tensor of the dtype that they have together.

    >>> ops.append([1, 2], [3])
    [1, 2, 3]
    """
    return concatenate([x1, x2], axis)


def hstack(xs):
    """Join along the second axis, vectors along their only one (`numpy.hstack`).

    Args:
        xs: list of tensors.

    Returns:
        Tensor of the dtype that they have together.

    >>> ops.hstack([[1, 2], [3]])
    [1, 2, 3]
    """
    xs = [_at_least(x, 1) for x in xs]
    return concatenate(xs, axis=0 if len(xs[0].shape) == 1 else 1)


def vstack(xs):
    """Join along the first axis, vectors being rows (`numpy.vstack`).

    Args:
        xs: list of tensors.

    Returns:
        Tensor of the dtype that they have together.

    >>> ops.vstack([[1, 2], [3, 4]])
    [[1, 2], [3, 4]]
    """
    return concatenate([_at_least(x, 2) for x in xs], axis=0)


def dstack(xs):
    """Join along the third axis (`numpy.dstack`).

    Args:
        xs: list of tensors; a vector of n has shape `(1, n, 1)`, a matrix gets a last dimension.

    Returns:
        Tensor of the dtype that they have together.

    >>> ops.dstack([[1, 2], [3, 4]])
    [[[1, 3], [2, 4]]]
    """
    xs = [_at_least(x, 2) for x in xs]
    return concatenate([expand_dims(x, -1) if len(x.shape) == 2 else x for x in xs], axis=2)


def _at_least(x, rank):
    x = convert_to_tensor(x)
    for _ in range(rank - len(x.shape)):
        x = expand_dims(x, 0)
    return x


@composite
def array_split(x: Index, indices_or_sections, axis=0):
    """`split` into parts that may differ by one element (`numpy.array_split`).

    Args:
        x: tensor of at least one dimension.
        indices_or_sections: number of parts, or the positions where to cut.
        axis: which dimension.

    Returns:
        List of tensors; the first ones are longer by one where the length can't be divided.

    >>> [part.tolist() for part in ops.array_split([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    if not isinstance(indices_or_sections, (int, np.integer)):
        return split(x, indices_or_sections, axis)
    parts = integer(indices_or_sections, "indices_or_sections", "array_split", minimum=1)
    axis = rules.axis_in(axis, len(x.shape), "array_split")
    length = shape_of(x)[axis]
    short, longer = length // parts, length % parts
    cuts = [k * short + least(longer, k) for k in range(parts + 1)]
    if isinstance(length, int):
        return split(x, tuple(cuts[1:-1]), axis)
    return [x[(slice(None),) * axis + (slice(a, b),)] for a, b in zip(cuts, cuts[1:])]


def hsplit(x, indices_or_sections):
    """`split` along the second axis, a vector along its only one (`numpy.hsplit`).

    Args:
        x: tensor of at least one dimension.
        indices_or_sections: number of equal parts, or the positions where to cut.

    Returns:
        List of tensors.

    >>> [part.tolist() for part in ops.hsplit([1, 2], 2)]
    [[1], [2]]
    """
    x = _with_rank("hsplit", x, 1)
    return split(x, indices_or_sections, 0 if len(x.shape) == 1 else 1)


def vsplit(x, indices_or_sections):
    """`split` along the first axis (`numpy.vsplit`).

    Args:
        x: tensor of at least two dimensions.
        indices_or_sections: number of equal parts, or the positions where to cut.

    Returns:
        List of tensors.

    >>> [part.tolist() for part in ops.vsplit([[1], [2]], 2)]
    [[[1]], [[2]]]
    """
    return split(_with_rank("vsplit", x, 2), indices_or_sections, 0)


def dsplit(x, indices_or_sections):
    """`split` along the third axis (`numpy.dsplit`).

    Args:
        x: tensor of at least three dimensions.
        indices_or_sections: number of equal parts, or the positions where to cut.

    Returns:
        List of tensors.

    >>> [part.tolist() for part in ops.dsplit([[[1, 2]]], 2)]
    [[[[1]]], [[[2]]]]
    """
    return split(_with_rank("dsplit", x, 3), indices_or_sections, 2)


def _with_rank(owner, x, rank):
    x = convert_to_tensor(x)
    if len(x.shape) < rank:
        raise ValueError(f"{owner}: at least {rank} dimension(s) are needed, but the shape is {tuple(x.shape)}.")
    return x


def fliplr(x):
    """Reverse the second axis (`numpy.fliplr`).

    Args:
        x: tensor of at least two dimensions.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.fliplr([[1, 2]])
    [[2, 1]]
    """
    return flip(_with_rank("fliplr", x, 2), 1)


def flipud(x):
    """Reverse the first axis (`numpy.flipud`).

    Args:
        x: tensor of at least one dimension.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.flipud([1, 2])
    [2, 1]
    """
    return flip(_with_rank("flipud", x, 1), 0)


def rot90(array, k=1, axes=(0, 1)):
    """Turn by `k` quarters from the first of two axes towards the second (`numpy.rot90`).

    Args:
        array: tensor of at least two dimensions.
        k: number of quarter turns, negative the other way round.
        axes: the plane.

    Returns:
        Tensor of `array`'s dtype.

    >>> ops.rot90([[1, 2], [3, 4]])
    [[2, 4], [1, 3]]
    """
    x = _with_rank("rot90", array, 2)
    if len(axes) != 2:
        raise ValueError(f"rot90: `axes` must name two axes, but is {axes!r}.")
    a, b = rules.axes_in(tuple(axes), len(x.shape), "rot90")
    return turned(x, k % 4, a, b) if k % 4 else x


@composite
def turned(x: Index, k, a, b):
    """`rot90` by one to three quarters."""
    if k == 2:
        return flip(x, (a, b))
    return swapaxes(flip(x, b), a, b) if k == 1 else flip(swapaxes(x, a, b), b)


def diagflat(x, k=0):
    """Matrix with the flattened tensor on a diagonal (`numpy.diagflat`).

    Args:
        x: tensor of any shape.
        k: which diagonal: 0 the main one, above it positive.

    Returns:
        Matrix of `x`'s dtype.

    >>> ops.diagflat([1, 2])
    [[1, 0], [0, 2]]
    """
    return diag(ravel(x), k)


def meshgrid(*x, indexing="xy"):
    """Coordinates of a grid, one tensor an axis (`numpy.meshgrid`).

    Args:
        *x: vectors of coordinates; other tensors are flattened.
        indexing: `"xy"`: the first vector runs along the second axis; `"ij"`: along the first.

    Returns:
        List of tensors of the grid's shape.

    >>> [g.tolist() for g in ops.meshgrid([1, 2], [3])]
    [[[1, 2]], [[3, 3]]]
    """
    one_of(indexing, ("xy", "ij"), "indexing", "meshgrid")
    x = [convert_to_tensor(v) for v in x]
    order = [1, 0, *range(2, len(x))] if indexing == "xy" and len(x) > 1 else list(range(len(x)))
    grid = [reshape(v, tuple(-1 if j == order[i] else 1 for j in range(len(x)))) for i, v in enumerate(x)]
    shape = tuple(grid[order[j]].shape[j] for j in range(len(x)))
    if set(map(type, shape)) <= _INT:
        return [broadcast_to(v, shape) for v in grid]
    return [spread_over(v, grid) for v in grid]


@composite
def spread_over(x: Index, others: Tensors):
    """`x` broadcast to the shape that others have together."""
    shape = list(shape_of(x))
    for other in others:
        for i, (d, static) in enumerate(zip(shape_of(other), other.shape)):
            if static != 1:
                shape[i] = d
    return broadcast_to(x, tuple(shape))


def rearrange(tensor, pattern, **axes_lengths):
    """Split, reorder, merge and drop dimensions by a pattern of names (einops; Rogozhnikov, 2022).

    Args:
        tensor: tensor.
        pattern: such as `"b (h w) c -> b h w c"`; brackets group, `...` stands for any dimensions, `1`
            for one of length 1.
        **axes_lengths: lengths of names in brackets that can't be worked out.

    Returns:
        Tensor of the same dtype.

    >>> ops.rearrange(ops.ones((2, 6)), "b (h w) -> h b w", h=2).shape[0]
    2
    """
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise ValueError(f"rearrange: {pattern!r} has no '->'.")
    tensor = convert_to_tensor(tensor)
    return rearranged(
        tensor, _groups(left, pattern), _groups(right, pattern), pattern, tuple(sorted(axes_lengths.items()))
    )


def _groups(side, pattern):
    """One list of names for each dimension."""
    groups, inside = [], None
    for token in side.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            if inside is not None:
                raise ValueError(f"rearrange: brackets in brackets in {pattern!r}.")
            inside = []
        elif token == ")":
            groups.append(tuple(inside))
            inside = None
        elif inside is None:
            groups.append("..." if token == "..." else () if token == "1" else (token,))
        elif token != "1":
            inside.append(token)
    return tuple(groups)


@composite
def rearranged(x: Index, left, right, pattern, lengths):
    """`rearrange` with the pattern read."""
    lengths, rank = dict(lengths), len(x.shape)
    left = _spelled(left, rank - len(left) + 1, pattern)
    right = _spelled(right, _spread(left), pattern)
    names = [n for g in left for n in g]
    if len(left) != rank or len(set(names)) != len(names) or sorted(names) != sorted(n for g in right for n in g):
        raise ValueError(
            f"rearrange: {pattern!r} doesn't fit a tensor of shape {tuple(x.shape)}: both sides must name the same "
            "dimensions, once each."
        )
    sizes = {}
    for group, d, static in zip(left, shape_of(x), x.shape):
        sizes.update(_group_sizes(group, d, static, lengths, pattern, x))
    x = reshape(x, tuple(sizes[n] for n in names))
    order = [n for g in right for n in g]
    x = transpose(x, tuple(names.index(n) for n in order))
    return reshape(x, tuple(_product([sizes[n] for n in g]) for g in right))


def _spelled(groups, count, pattern):
    """`...` as that many dimensions with names of their own."""
    if groups.count("...") > 1:
        raise ValueError(f"rearrange: more than one '...' on a side of {pattern!r}.")
    spelled = []
    for g in groups:
        spelled += [(f"...{i}",) for i in range(count)] if g == "..." else [g]
    return spelled


def _spread(left):
    return builtins.sum(len(g) == 1 and g[0].startswith("...") for g in left)


def _group_sizes(group, d, static, lengths, pattern, x):
    unknown = [n for n in group if n not in lengths]
    if len(unknown) > 1:
        raise ValueError(f"rearrange: give the length of {' or '.join(unknown)} in {pattern!r}.")
    known = _product([lengths[n] for n in group if n in lengths])
    if static is not None and (static % known if unknown else static != known):
        raise ValueError(f"rearrange: a dimension of {static} ({tuple(x.shape)}) doesn't fit {group} in {pattern!r}.")
    return {n: lengths[n] if n in lengths else d if known == 1 else d // known for n in group}


def _product(sizes):
    total = 1
    for s in sizes:
        total = total * s
    return total
