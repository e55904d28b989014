"""Shape-and-dtype rules, shared by the ops. Dimensions may be `None` (not known)."""

import builtins
import math
import operator

import numpy as np

from kerata.core import dtypes
from kerata.core.errors import format_shapes
from kerata.graph.tensor import KerasTensor, spec


def dims(shape):
    """A `Dims` argument as a static shape: `None` where a dimension is computed."""
    return tuple(
        d if isinstance(d, int) else None if isinstance(d, KerasTensor) or d is None else int(d) for d in shape
    )


def _named(owner, message):
    """A `ValueError`; without `owner`, dispatch puts the op's name in front."""
    return ValueError(f"{owner}: {message}" if owner else message)


def broadcast_shapes(*shapes, owner=""):
    """The shape that operands of these shapes have together."""
    rank = builtins.max(len(s) for s in shapes)
    result = []
    for i in range(rank):
        size = 1
        for shape in shapes:
            d = shape[i - rank + len(shape)] if i - rank + len(shape) >= 0 else 1
            if d == 1 or d == size:
                continue
            if d is None:
                size = None if size == 1 else size
            elif size == 1 or size is None:
                size = d
            else:
                raise _named(
                    owner, f"shapes {format_shapes(shapes)} don't broadcast: dimensions {size} and {d} differ."
                )
        result.append(size)
    return tuple(result)


class AxisError(ValueError, IndexError):
    """An axis that isn't there: a `ValueError`, and an `IndexError`, as in NumPy."""


def axis_in(axis, rank, owner=""):
    """A possibly negative axis as an index into a shape of this rank."""
    try:
        axis = operator.index(axis)
    except TypeError:
        raise _named(owner, f"an axis must be an integer, not {axis!r}.") from None
    if not -rank <= axis < rank:
        message = f"axis {axis} is out of bounds for a tensor with {rank} dimension{'s' * (rank != 1)}."
        raise AxisError(str(_named(owner, message)))
    return axis + rank if axis < 0 else axis


def axes_in(axis, rank, owner=""):
    """`axis` (int, sequence or `None` for all) as a tuple of indices."""
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, (tuple, list)):
        found = tuple(axis_in(a, rank, owner) for a in axis)
        if len(set(found)) != len(found):
            raise _named(owner, f"axis {tuple(axis)} names a dimension twice.")
        return found
    return (axis_in(axis, rank, owner),)


def same(x, *_):
    """Shape and dtype of the first operand."""
    return spec(x.shape, x.dtype)


def as_bool(x, *_):
    return spec(x.shape, "bool")


def cast(x, dtype):
    return spec(x.shape, dtype)


def broadcast(x1, x2, *_):
    return spec(broadcast_shapes(x1.shape, x2.shape), x1.dtype)


def compare(x1, x2, *_):
    return spec(broadcast_shapes(x1.shape, x2.shape), "bool")


def where(condition, x1, x2):
    return spec(broadcast_shapes(condition.shape, x1.shape, x2.shape), x1.dtype)


def clip(x, x_min, x_max):
    return spec(broadcast_shapes(x.shape, x_min.shape, x_max.shape), x.dtype)


def bits(x, y=None):
    """Integer or boolean operands."""
    if not (x.dtype == "bool" or dtypes.is_int(x.dtype)):
        raise ValueError(f"bits are those of integers or booleans, not of {x.dtype}.")
    return spec(x.shape if y is None else broadcast_shapes(x.shape, y.shape), x.dtype)


def bitcast(x, dtype):
    old, new = (dtypes.to_numpy_dtype(name).itemsize for name in (x.dtype, dtype))
    if new > old:
        if not x.shape or x.shape[-1] not in (None, new // old):
            raise ValueError(f"the last dimension of {tuple(x.shape)} must be {new // old} to be read as {dtype}.")
        return spec(x.shape[:-1], dtype)
    return spec(x.shape if new == old else (*x.shape, old // new), dtype)


_REAL_OF = {"complex64": "float32", "complex128": "float64"}


def real_part(x, *_):
    return spec(x.shape, _REAL_OF.get(x.dtype, x.dtype))


def reduced_shape(shape, axis, keepdims, owner=""):
    drop = axes_in(axis, len(shape), owner)
    if keepdims:
        return tuple(1 if i in drop else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in drop)


def reduce(x, axis=None, keepdims=False, *_):
    return spec(reduced_shape(x.shape, axis, keepdims), x.dtype)


def reduce_real(x, axis=None, keepdims=False):
    return spec(reduced_shape(x.shape, axis, keepdims), _REAL_OF.get(x.dtype, x.dtype))


def reduce_bool(x, axis=None, keepdims=False):
    return spec(reduced_shape(x.shape, axis, keepdims), "bool")


def reduce_index(x, axis=None, keepdims=False):
    return spec(reduced_shape(x.shape, axis, keepdims), "int32")


def accumulate(x, axis=None):
    if axis is None:
        return spec((size_of(x.shape),), x.dtype)
    axis_in(axis, len(x.shape))
    return spec(x.shape, x.dtype)


def size_of(shape):
    """Number of elements, or `None`."""
    total = 1
    for d in shape:
        if d is None:
            return None
        total *= d
    return total


def reshape(x, newshape):
    shape = list(newshape)
    unknown = [i for i, d in enumerate(shape) if isinstance(d, int) and d == -1]
    if len(unknown) > 1:
        raise ValueError(f"reshape: there can be at most one unknown dimension (-1), but newshape={tuple(newshape)}.")
    if any(isinstance(d, int) and d < -1 for d in shape):
        raise ValueError(f"reshape: a dimension must be a non-negative integer or -1, but newshape={tuple(newshape)}.")
    computed = any(not isinstance(d, int) for d in shape)
    total = size_of(x.shape)
    rest = 1
    for d in shape:
        if isinstance(d, int) and d != -1:
            rest *= d
    if not computed and total is not None:
        if (unknown and (rest == 0 and total or rest and total % rest)) or (not unknown and rest != total):
            raise ValueError(f"{tuple(x.shape)} has {total} elements, which don't fit into {tuple(newshape)}.")
    result = list(dims(shape))
    if unknown:
        result[unknown[0]] = None
        if total is not None and not computed:
            result[unknown[0]] = total // rest if rest else 0
    return spec(tuple(result), x.dtype)


def transpose(x, axes):
    rank = len(x.shape)
    if len(axes) != rank:
        raise ValueError(f"axes={list(axes)} must be a list of the same length as the input shape, {tuple(x.shape)}.")
    if any(not -rank <= a < rank for a in axes):
        raise AxisError(
            f"Each axis in `axes` must be an integer in [-{rank}, {rank}), but axes={list(axes)} was given."
        )
    if len({a % rank for a in axes}) != rank:
        raise ValueError(f"a valid permutation names each dimension once, but axes={list(axes)} was given.")
    return spec(tuple(x.shape[a] for a in axes), x.dtype)


def roll(x, shift, axis):
    for a in axis if isinstance(axis, tuple) else (axis,):
        axis_in(a, len(x.shape))
    return spec(x.shape, x.dtype)


def expand_dims(x, axis):
    axes = axis if isinstance(axis, tuple) else (axis,)
    new = axes_in(axes, len(x.shape) + len(axes))
    known = iter(x.shape)
    return spec(tuple(1 if i in new else next(known) for i in range(len(x.shape) + len(axes))), x.dtype)


def squeeze(x, axis):
    if axis is None:
        return spec(tuple(d for d in x.shape if d != 1), x.dtype)
    drop = axes_in(axis, len(x.shape))
    for a in drop:
        if x.shape[a] not in (1, None):
            raise ValueError(f"dimension {a} of {tuple(x.shape)} is {x.shape[a]}, and only one of 1 can be dropped.")
    return spec(tuple(d for i, d in enumerate(x.shape) if i not in drop), x.dtype)


def broadcast_to(x, shape):
    target = dims(shape)
    if len(target) < len(x.shape):
        raise ValueError(f"{tuple(x.shape)} has more dimensions than {target}.")
    for d, t in zip(reversed(x.shape), reversed(target)):
        if d not in (1, None) and t is not None and d != t:
            raise ValueError(f"{tuple(x.shape)} doesn't broadcast to {target}: dimensions {d} and {t} differ.")
    return spec(target, x.dtype)


def concatenate(xs, axis):
    shapes = [x.shape for x in xs]
    _same_ranks(shapes)
    axis = axis_in(axis, len(shapes[0]))
    result = list(merged_shape([s[:axis] + s[axis + 1 :] for s in shapes], shapes, f"away from axis {axis}"))
    along = [s[axis] for s in shapes]
    result.insert(axis, None if None in along else builtins.sum(along))
    return spec(tuple(result), xs[0].dtype)


def stack(xs, axis):
    shapes = [x.shape for x in xs]
    _same_ranks(shapes)
    result = list(merged_shape(shapes, shapes, "to be stacked"))
    result.insert(axis_in(axis, len(result) + 1), len(xs))
    return spec(tuple(result), xs[0].dtype)


def _same_ranks(shapes):
    if not shapes:
        raise ValueError("a list of at least one tensor is needed, but it's empty.")
    if len({len(s) for s in shapes}) > 1:
        raise ValueError(
            f"the tensors must have the same number of dimensions, but shapes are {format_shapes(shapes)}."
        )


def merged_shape(parts, shapes, where):
    """One shape for tensors that must agree in it; a dimension known in one is known."""
    result = []
    for at in zip(*parts):
        known = {d for d in at if d is not None}
        if len(known) > 1:
            raise ValueError(f"shapes {format_shapes(shapes)} must be equal {where}.")
        result.append(known.pop() if known else None)
    return tuple(result)


def unstack(x, axis):
    axis = axis_in(axis, len(x.shape))
    if x.shape[axis] is None:
        raise ValueError(
            f"Cannot infer argument `num` from shape {tuple(x.shape)}: dimension {axis} must be known, it's how many come out."
        )
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    return [spec(rest, x.dtype) for _ in range(x.shape[axis])]


def split(x, indices_or_sections, axis):
    axis = axis_in(axis, len(x.shape))
    size = x.shape[axis]
    if isinstance(indices_or_sections, tuple):
        lengths = _cut(size, indices_or_sections)
    else:
        if size is not None and (indices_or_sections <= 0 or size % indices_or_sections):
            raise ValueError(
                f"dimension {axis} of {tuple(x.shape)} can't be split into {indices_or_sections} equal parts. "
                "Give cut positions, or use `array_split`."
            )
        lengths = [None if size is None else size // indices_or_sections] * indices_or_sections
    return [spec((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in lengths]


def _cut(size, positions):
    # A part can only be counted when both its ends are: not for the last one of an unknown size.
    lengths = []
    for start, stop in zip((0, *positions), (*positions, None)):
        if size is not None:
            lengths.append(len(range(size)[start:stop]))
        else:
            known = stop is not None and start >= 0 and stop >= 0
            lengths.append(None if not known or stop > start else 0)
    return lengths


def pad(x, pad_width, mode, constant_values):
    if len(pad_width) != len(x.shape):
        raise ValueError(f"`pad_width` has {len(pad_width)} pairs, but {tuple(x.shape)} has {len(x.shape)} dimensions.")
    pad_width = [dims(pair) for pair in pad_width]
    for d, (low, high) in zip(x.shape, pad_width):
        if low is None or high is None:
            if mode != "constant":
                raise ValueError(f"mode {mode!r} needs a `pad_width` of integers.")
            continue
        if low < 0 or high < 0:
            raise ValueError(f"`pad_width` can't be negative, but is {tuple(pad_width)}.")
        if d == 0 and mode != "constant" and (low or high):
            raise ValueError(f"an empty dimension of {tuple(x.shape)} can't be padded with mode {mode!r}.")
    return spec(tuple(None if None in (d, lo, hi) else d + lo + hi for d, (lo, hi) in zip(x.shape, pad_width)), x.dtype)


def tile(x, repeats):
    return spec(
        tuple(None if d is None or not isinstance(r, int) else d * r for d, r in zip(x.shape, repeats)), x.dtype
    )


def repeat(x, repeats, axis):
    axis = axis_in(axis, len(x.shape))
    size = x.shape[axis]
    if isinstance(repeats, int):
        total = None if size is None else size * repeats
    else:
        if size is not None and len(repeats) not in (1, size):
            raise ValueError(
                f"{len(repeats)} repeats are given for dimension {axis} of {tuple(x.shape)}; give one or {size}."
            )
        total = (
            builtins.sum(repeats) * (size // len(repeats) if size else 1)
            if len(repeats) != 1
            else (None if size is None else size * repeats[0])
        )
    return spec((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype)


def scalar_int32(*_):
    return spec((), "int32")


def triangle(x, k=0):
    if len(x.shape) < 2:
        raise ValueError(f"at least two dimensions are needed, but the shape is {tuple(x.shape)}.")
    return spec(x.shape, x.dtype)


def diag(x, k):
    if len(x.shape) == 1:
        n = None if x.shape[0] is None else x.shape[0] + builtins.abs(k)
        return spec((n, n), x.dtype)
    if len(x.shape) == 2:
        return spec((_diagonal_length(*x.shape, k),), x.dtype)
    raise ValueError(f"a vector or a matrix is needed, but the shape is {tuple(x.shape)}.")


def _diagonal_length(rows, columns, offset):
    if rows is None or columns is None:
        return None
    return builtins.max(builtins.min(rows + builtins.min(offset, 0), columns - builtins.max(offset, 0)), 0)


def diagonal(x, offset, axis1, axis2):
    a, b = axes_in((axis1, axis2), len(x.shape))
    rest = tuple(d for i, d in enumerate(x.shape) if i not in (a, b))
    return spec((*rest, _diagonal_length(x.shape[a], x.shape[b], offset)), x.dtype)


# ------------------------------------------------------------------ indexing


def take(x, indices, axis):
    axis = axis_in(axis, len(x.shape))
    return spec((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)


def take_along_axis(x, indices, axis):
    _same_ranks([x.shape, indices.shape])
    axis = axis_in(axis, len(x.shape))
    rest = broadcast_shapes(
        x.shape[:axis] + (1,) + x.shape[axis + 1 :], indices.shape[:axis] + (1,) + indices.shape[axis + 1 :]
    )
    return spec((*rest[:axis], indices.shape[axis], *rest[axis + 1 :]), x.dtype)


def get_item(x, key):
    """NumPy's basic and advanced indexing."""
    shape, result, arrays, at = x.shape, [], [], []
    consumed = builtins.sum(_dimensions_read(k) for k in key)
    if consumed > len(shape):
        raise ValueError(f"{consumed} indices are too many for the shape {tuple(shape)}.")
    ellipses = builtins.sum(k is Ellipsis for k in key)
    if ellipses > 1:
        raise ValueError(f"an index can have one ellipsis (...) only, but {key} has {ellipses}.")
    if not ellipses:
        key = (*key, Ellipsis)
    i = 0
    for k in key:
        if k is Ellipsis:
            n = len(shape) - consumed
            result += shape[i : i + n]
            i += n
        elif k is None:
            result.append(1)
        elif isinstance(k, slice):
            result.append(_sliced(shape[i], k))
            i += 1
        else:
            index = _index_shape(k, shape[i : i + _dimensions_read(k)])
            arrays.append((index, isinstance(k, int) and not isinstance(k, bool)))
            at.append(len(result))
            result.append(_ARRAY)
            i += _dimensions_read(k)
    return spec(_with_indexed(result, arrays, at), x.dtype)


_ARRAY = object()


def _with_indexed(result, arrays, at):
    """Put the dimensions that index arrays make in place of them: together, or in front if they stand apart."""
    if not arrays:
        return tuple(result)
    if all(plain for _, plain in arrays):
        return tuple(d for d in result if d is not _ARRAY)
    together = broadcast_shapes(*(s for s, _ in arrays))
    rest = [d for d in result if d is not _ARRAY]
    adjacent = all(b - a == 1 for a, b in zip(at, at[1:]))
    place = at[0] if adjacent else 0
    return (*rest[:place], *together, *rest[place:])


def _dimensions_read(k):
    if k is None or k is Ellipsis or isinstance(k, bool):
        return 0
    if hasattr(k, "dtype") and dtypes.standardize_dtype(k.dtype) == "bool":
        return len(k.shape)
    return 1


def _index_shape(k, read):
    if isinstance(k, bool):
        return (int(k),)
    if not hasattr(k, "dtype"):
        if read[0] is not None and not -read[0] <= k < read[0]:
            raise ValueError(f"index {k} is out of bounds for a dimension of {read[0]}.")
        return ()
    if dtypes.standardize_dtype(k.dtype) == "bool":
        return (int(np.count_nonzero(k)) if isinstance(k, np.ndarray) else None,)
    return tuple(k.shape)


def _sliced(size, k):
    ends = (k.start, k.stop, k.step)
    if all(e is None for e in ends[:2]) and k.step in (None, 1, -1):
        return size
    if any(isinstance(e, KerasTensor) for e in ends):
        return None
    if k.step == 0:
        raise ValueError("a slice's step can't be zero.")
    if size is not None and all(e is None or isinstance(e, int) for e in ends):
        return len(range(*k.indices(size)))
    return None


def scatter(indices, values, shape):
    shape = dims(shape)
    _scatter_fits(indices, values, shape, "values")
    return spec(shape, values.dtype)


def _scatter_fits(indices, values, shape, name):
    depth = indices.shape[-1] if indices.shape else None
    if not indices.shape or (depth is not None and depth > len(shape)):
        raise ValueError(
            f"`indices` must have shape (..., k) with k at most {len(shape)}, the rank of {tuple(shape)}, "
            f"but its shape is {tuple(indices.shape)}."
        )
    if depth is not None:
        broadcast_shapes(tuple(indices.shape[:-1]) + tuple(shape[depth:]), values.shape)


def scatter_update(inputs, indices, updates, reduction):
    _scatter_fits(indices, updates, inputs.shape, "updates")
    return spec(inputs.shape, inputs.dtype)


def slice_window(inputs, start_indices, shape):
    size = dims(shape)
    if len(size) != len(inputs.shape):
        raise ValueError(f"`shape` {size} must have one entry for each dimension of {tuple(inputs.shape)}.")
    for d, n in zip(inputs.shape, size):
        if d is not None and n is not None and n > d:
            raise ValueError(f"a window of shape {size} doesn't fit into {tuple(inputs.shape)}.")
    return spec(size, inputs.dtype)


def slice_update(inputs, start_indices, updates):
    slice_window(inputs, start_indices, updates.shape)
    return spec(inputs.shape, inputs.dtype)


def one_hot(x, num_classes, axis, dtype):
    shape = list(x.shape)
    shape.insert(axis_in(axis, len(shape) + 1), num_classes)
    return spec(tuple(shape), dtype)


def sort(x, axis):
    axis_in(axis, len(x.shape))
    return spec(x.shape, x.dtype)


def argsort(x, axis):
    axis_in(axis, len(x.shape))
    return spec(x.shape, "int32")


def top_k(x, k, sorted):
    if not x.shape:
        raise ValueError("a scalar has no last dimension to choose from.")
    if x.shape[-1] is not None and k > x.shape[-1]:
        raise ValueError(f"k={k} is more than the {x.shape[-1]} entries of the last dimension of {tuple(x.shape)}.")
    shape = (*x.shape[:-1], k)
    return spec(shape, x.dtype), spec(shape, "int32")


def searchsorted(sorted_sequence, values, side):
    if len(sorted_sequence.shape) != 1:
        raise ValueError(f"`sorted_sequence` must have one dimension, but its shape is {tuple(sorted_sequence.shape)}.")
    return spec(values.shape, "int32")


def nonzero(x):
    return tuple(spec((None,), "int32") for _ in x.shape)


def segment(data, segment_ids, num_segments):
    if len(segment_ids.shape) != 1:
        raise ValueError(
            f"Argument `segment_ids` should be an 1-D vector, but its shape is {tuple(segment_ids.shape)}."
        )
    n, m = (*data.shape, 1)[0], segment_ids.shape[0]
    if n is not None and m is not None and n != m:
        raise ValueError(
            "Argument `segment_ids` and `data` should have same leading dimension. Their shapes are "
            f"{tuple(segment_ids.shape)} and {tuple(data.shape)}."
        )
    return spec((*dims((num_segments,)), *data.shape[1:]), data.dtype)


# ------------------------------------------------------------------ creation


def created(shape, dtype):
    return spec(dims(shape), dtype)


def full(shape, fill_value, dtype):
    shape = dims(shape)
    broadcast_to(spec(fill_value.shape, dtype), shape)
    return spec(shape, dtype)


def arange(start, stop, step, dtype):
    ends = (start, stop, step)
    if any(isinstance(e, KerasTensor) or hasattr(e, "shape") for e in ends):
        return spec((None,), dtype)
    return spec((builtins.max(math.ceil((stop - start) / step), 0),), dtype)


def eye(N, M, k, dtype):
    return spec(dims((N, M)), dtype)


def linspace(start, stop, num, endpoint, dtype, axis):
    shape = list(broadcast_shapes(start.shape, stop.shape))
    shape.insert(axis_in(axis, len(shape) + 1), num)
    return spec(tuple(shape), dtype)


# ------------------------------------------------------------------ linear algebra


def matmul_shape(a, b, owner=""):
    if not a or not b:
        raise _named(owner, f"operands must have at least one dimension, but shapes are {format_shapes((a, b))}.")
    left, right = (1, *a) if len(a) == 1 else a, (*b, 1) if len(b) == 1 else b
    inner_a, inner_b = left[-1], right[-2]
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise _named(owner, f"inner dimensions {inner_a} and {inner_b} differ (shapes {format_shapes((a, b))}).")
    batch = broadcast_shapes(left[:-2], right[:-2], owner=owner) if len(left) > 2 or len(right) > 2 else ()
    result = list(batch)
    if len(a) > 1:
        result.append(left[-2])
    if len(b) > 1:
        result.append(right[-1])
    return tuple(result)


def matmul(x1, x2):
    return spec(matmul_shape(x1.shape, x2.shape), x1.dtype)


def square_matrices(x):
    if len(x.shape) < 2:
        raise ValueError(f"a matrix or a stack of them is needed, but the shape is {tuple(x.shape)}.")
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise ValueError(f"the last two dimensions must be known to be equal, but the shape is {tuple(x.shape)}.")


def square(x, *_):
    square_matrices(x)
    return spec(x.shape, x.dtype)


def determinant(x):
    square_matrices(x)
    return spec(x.shape[:-2], x.dtype)


def sign_and_log(x):
    square_matrices(x)
    return spec(x.shape[:-2], x.dtype), spec(x.shape[:-2], _REAL_OF.get(x.dtype, x.dtype))


def solve(a, b, *_):
    square_matrices(a)
    vector = len(b.shape) == len(a.shape) - 1
    rows = b.shape[-1] if vector else b.shape[-2] if len(b.shape) > 1 else None
    if len(b.shape) < len(a.shape) - 1 or rows != a.shape[-1]:
        raise ValueError(
            f"shapes {format_shapes((a.shape, b.shape))} aren't known to fit: `b` must be (..., {a.shape[-1]}) or "
            f"(..., {a.shape[-1]}, n)."
        )
    return spec(b.shape, b.dtype)


def _matrix(x):
    if len(x.shape) < 2:
        raise ValueError(f"a matrix or a stack of them is needed, but the shape is {tuple(x.shape)}.")
    *batch, m, n = x.shape
    return tuple(batch), m, n, None if m is None or n is None else builtins.min(m, n)


def qr(x, mode):
    batch, m, n, k = _matrix(x)
    inner = m if mode == "complete" else k
    return spec((*batch, m, inner), x.dtype), spec((*batch, inner, n), x.dtype)


def svd(x, full_matrices, compute_uv):
    batch, m, n, k = _matrix(x)
    values = spec((*batch, k), _REAL_OF.get(x.dtype, x.dtype))
    if not compute_uv:
        return values
    left, right = (m, n) if full_matrices else (k, k)
    return spec((*batch, m, left), x.dtype), values, spec((*batch, right, n), x.dtype)


def eigh(x):
    square_matrices(x)
    return spec(x.shape[:-1], _REAL_OF.get(x.dtype, x.dtype)), spec(x.shape, x.dtype)


def eig(x):
    square_matrices(x)
    kind = _COMPLEX_OF.get(x.dtype, x.dtype)
    return spec(x.shape[:-1], kind), spec(x.shape, kind)


def lu_factor(x):
    batch, _, _, k = _matrix(x)
    return spec(x.shape, x.dtype), spec((*batch, k), "int32")


def tensordot(x1, x2, axes):
    if isinstance(axes, int):
        left = tuple(range(len(x1.shape) - axes, len(x1.shape)))
        right = tuple(range(axes))
    else:
        left, right = axes
    left, right = axes_in(left, len(x1.shape)), axes_in(right, len(x2.shape))
    for a, b in zip(left, right, strict=True):
        if None not in (x1.shape[a], x2.shape[b]) and x1.shape[a] != x2.shape[b]:
            raise ValueError(
                f"dimensions {x1.shape[a]} and {x2.shape[b]} to be summed over differ (shapes "
                f"{format_shapes((x1.shape, x2.shape))}, axes {axes})."
            )
    rest = [d for i, d in enumerate(x1.shape) if i not in left] + [d for i, d in enumerate(x2.shape) if i not in right]
    return spec(tuple(rest), x1.dtype)


def einsum(subscripts, operands):
    terms, output = parse_einsum(subscripts, [len(x.shape) for x in operands])
    sizes = {}
    for term, x in zip(terms, operands):
        for letter, d in zip(term, x.shape):
            known = sizes.get(letter, 1)
            if d not in (None, 1) and known not in (None, 1) and d != known:
                raise ValueError(
                    f"index {letter!r} of {subscripts!r} is {known} and {d} at once (shapes "
                    f"{format_shapes([x.shape for x in operands])})."
                )
            if known == 1 or (known is None and d not in (None, 1)):
                sizes[letter] = d
    return spec(tuple(sizes[letter] for letter in output), operands[0].dtype)


def parse_einsum(subscripts, ranks):
    """Terms and output of an einsum equation with `...` spelled out as letters that don't occur in it."""
    equation = subscripts.replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"{subscripts!r} names {len(terms)} operands, but {len(ranks)} are given.")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in equation]
    spread = builtins.max((rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks) if "..." in t), default=0)
    letters = "".join(free[:spread])
    spelled = []
    for term, rank in zip(terms, ranks):
        n = rank - len(term.replace("...", ""))
        if n < 0 or (n and "..." not in term):
            raise ValueError(f"{term!r} in {subscripts!r} doesn't fit an operand with {rank} dimensions.")
        spelled.append(term.replace("...", letters[spread - n :] if "..." in term else ""))
    if not arrow:
        counted = "".join(spelled)
        output = "..." * bool(spread) + "".join(sorted(c for c in set(counted) - set(letters) if counted.count(c) == 1))
    output = output.replace("...", letters)
    for c in output:
        if not any(c in t for t in spelled):
            raise ValueError(f"the output index {c!r} of {subscripts!r} is in no operand.")
    return spelled, output


# ------------------------------------------------------------------ Fourier transforms


_COMPLEX_OF = {"float32": "complex64", "float64": "complex128", "float16": "complex64", "bfloat16": "complex64"}


def rfft(x, n):
    length = x.shape[-1] if n is None else n
    return spec((*x.shape[:-1], None if length is None else length // 2 + 1), _COMPLEX_OF[x.dtype])


def irfft(x, n):
    half = x.shape[-1]
    return spec((*x.shape[:-1], n if n is not None else None if half is None else 2 * (half - 1)), _REAL_OF[x.dtype])


# ------------------------------------------------------------------ windows over images


def window_size(size, window, stride, padding, dilation, owner):
    """Length of a spatial dimension after a convolution or pooling."""
    if size is None or window is None:
        return None
    reach = dilation * (window - 1) + 1
    if padding == "same":
        return -(-size // stride)
    if isinstance(padding, tuple):
        size += padding[0] + padding[1]
    if size < reach:
        raise ValueError(
            f"{owner}: a spatial dimension of {size} is smaller than the window of {reach}, so nothing would be left. "
            "Use a smaller window, padding='same', or larger inputs."
        )
    return (size - reach) // stride + 1


def split_layout(shape, data_format):
    """`(batch, spatial dims, channels)` of an image-like shape."""
    if data_format == "channels_last":
        return shape[0], shape[1:-1], shape[-1]
    return shape[0], shape[2:], shape[1]


def join_layout(batch, spatial, channels, data_format):
    return (batch, *spatial, channels) if data_format == "channels_last" else (batch, channels, *spatial)


def _paddings(padding, rank):
    return padding if isinstance(padding, tuple) else (padding,) * rank


def _same_rank(owner, inputs, rank):
    if len(inputs.shape) != rank + 2:
        raise ValueError(
            f"{owner}: the inputs must have {rank + 2} dimensions (batch, {rank} spatial, channels), "
            f"but their shape is {tuple(inputs.shape)}."
        )


def conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups=1):
    rank = len(kernel.shape) - 2
    _same_rank("conv", inputs, rank)
    batch, spatial, channels = split_layout(inputs.shape, data_format)
    if channels is not None and kernel.shape[-2] is not None and kernel.shape[-2] * groups != channels:
        raise ValueError(
            f"conv: input channels must match the kernel: the inputs have {channels} ({data_format}, {tuple(inputs.shape)}), "
            f"but the kernel of shape {tuple(kernel.shape)} takes {kernel.shape[-2]} in each of {groups} group(s)."
        )
    out = [
        window_size(*at, owner="conv")
        for at in zip(spatial, kernel.shape[:-2], strides, _paddings(padding, rank), dilation_rate, strict=True)
    ]
    return spec(join_layout(batch, out, kernel.shape[-1], data_format), inputs.dtype)


def depthwise_conv(inputs, kernel, strides, padding, data_format, dilation_rate):
    rank = len(kernel.shape) - 2
    _same_rank("depthwise_conv", inputs, rank)
    batch, spatial, channels = split_layout(inputs.shape, data_format)
    if channels is not None and channels != kernel.shape[-2]:
        raise ValueError(
            f"depthwise_conv: input channels must match the kernel: the inputs have {channels}, but "
            f"the kernel of shape {tuple(kernel.shape)} "
            f"is for {kernel.shape[-2]}."
        )
    out = [
        window_size(*at, owner="depthwise_conv")
        for at in zip(spatial, kernel.shape[:-2], strides, _paddings(padding, rank), dilation_rate, strict=True)
    ]
    return spec(join_layout(batch, out, kernel.shape[-2] * kernel.shape[-1], data_format), inputs.dtype)


def transposed_size(size, window, stride, padding, output_padding, dilation):
    """Length of a spatial dimension after a transposed convolution."""
    if size is None or window is None:
        return None
    reach = dilation * (window - 1) + 1
    if output_padding is None:
        return size * stride if padding == "same" else size * stride + builtins.max(reach - stride, 0)
    pad = reach // 2 if padding == "same" else 0
    return (size - 1) * stride + reach - 2 * pad + output_padding


def conv_transpose(inputs, kernel, strides, padding, output_padding, data_format, dilation_rate):
    rank = len(kernel.shape) - 2
    _same_rank("conv_transpose", inputs, rank)
    batch, spatial, channels = split_layout(inputs.shape, data_format)
    if channels is not None and channels != kernel.shape[-1]:
        raise ValueError(
            f"conv_transpose: input channels must match the kernel: the inputs have {channels}, but "
            f"the kernel of shape {tuple(kernel.shape)} takes "
            f"{kernel.shape[-1]}."
        )
    extra = output_padding or (None,) * rank
    out = [
        transposed_size(s, k, st, padding, e, d)
        for s, k, st, e, d in zip(spatial, kernel.shape[:-2], strides, extra, dilation_rate, strict=True)
    ]
    return spec(join_layout(batch, out, kernel.shape[-2], data_format), inputs.dtype)


def pool(inputs, pool_size, strides, padding, data_format):
    _same_rank("pooling", inputs, len(pool_size))
    batch, spatial, channels = split_layout(inputs.shape, data_format)
    out = [window_size(s, k, st, padding, 1, "pooling") for s, k, st in zip(spatial, pool_size, strides, strict=True)]
    return spec(join_layout(batch, out, channels, data_format), inputs.dtype)
