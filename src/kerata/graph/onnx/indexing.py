"""Ops that read, write and order by position."""

import numpy as np

from kerata import ops
from kerata.core import dtypes
from kerata.graph.onnx.shape import FAR, sliced
from kerata.graph.onnx.table import emits, lowers
from kerata.graph.tensor import KerasTensor


def _int64(w, indices):
    return w.cast(w.name(indices), w.dtype(indices), "int64")


@emits("take")
def _take(w, out, x, indices, axis):
    axis %= len(x.shape)
    dtype = w.dtype(indices)
    wide = dtype if dtype in ("int32", "int64") else "int64"
    name = w.cast(w.name(indices), dtype, wide)
    size, array = x.shape[axis], w.known(name)
    if size is None:
        length = w.cast(w.reshape(w.length(x, axis), []), "int64", wide)
        one = w.name(1, wide)
        name = w.op("Min", w.op("Max", name, w.op("Neg", length)), w.op("Sub", length, one))
    elif array is not None:
        name = w.constant(np.clip(array, -size, size - 1))
    else:
        # Gather counts negative positions from the end itself.
        name = w.op("Clip", name, w.name(-size, wide), w.name(size - 1, wide))
    return w.op("Gather", x, name, axis=axis)


@emits("take_along_axis")
def _take_along_axis(w, out, x, indices, axis):
    axis %= len(x.shape)
    dtype = w.dtype(x)
    name, at = w.name(x), _int64(w, indices)
    for i, (a, b) in enumerate(zip(x.shape, indices.shape)):
        if i != axis and a != b:
            name = _spread(w, name, x, i, b if b != 1 else a, indices)
            at = _spread(w, at, indices, i, a if a != 1 else b, x)
    wide = "int32" if dtype == "bool" else dtype
    return w.cast(w.op("GatherElements", w.cast(name, dtype, wide), at, axis=axis), wide, dtype)


def _spread(w, name, tensor, axis, size, other):
    """Dimension `axis` brought from 1 to that of `other`."""
    if tensor.shape[axis] not in (1, None):
        return name
    shape = [1] * len(tensor.shape)
    shape[axis] = w.length(other, axis) if size is None else size
    return w.op("Expand", name, w.dims(shape))


# ------------------------------------------------------------------ get_item


@emits("get_item")
def _get_item(w, out, x, key):
    key = _spelled_out(key, len(x.shape))
    if any(isinstance(k, bool) for k in key):
        raise w.refusal("an index that is True or False has no ONNX form")
    arrays = any(_is_array(k) for k in key)
    name, rest, axis = _basic(w, x, key, ints=not arrays)
    return _advanced(w, name, rest) if arrays else name


def _is_array(k):
    return hasattr(k, "shape") and (len(k.shape) > 0 or dtypes.standardize_dtype(k.dtype) == "bool")


def _spelled_out(key, rank):
    """The key with slices in place of `...`."""
    read = sum(0 if k is None or k is Ellipsis or isinstance(k, bool) else _reads(k) for k in key)
    if not any(k is Ellipsis for k in key):
        key = (*key, Ellipsis)
    at = next(i for i, k in enumerate(key) if k is Ellipsis)
    return [*key[:at], *[slice(None)] * (rank - read), *key[at + 1 :]]


def _reads(k):
    return len(k.shape) if hasattr(k, "shape") and dtypes.standardize_dtype(k.dtype) == "bool" else 1


def _basic(w, x, key, ints):
    """The slices of a key, its new axes, and (if there are no arrays) its integers; returns the name and what
    is left by axis.
    """
    starts, stops, axes, steps = [], [], [], []
    picked, new, rest = [], [], []
    axis = made = 0
    for k in key:
        if k is None:
            new.append(made)
            rest.append(slice(None))
            made += 1
            continue
        if isinstance(k, slice):
            if (k.start, k.stop, k.step) not in ((None, None, None), (None, None, 1)):
                start, stop, step = _bounds(k)
                starts.append(start), stops.append(stop), axes.append(axis), steps.append(step)
            rest.append(slice(None))
            made += 1
        elif ints:
            picked.append((axis, k))
        else:
            rest.append(k)
            made += _reads(k)
        axis += _reads(k) if not isinstance(k, slice) else 1
    name = sliced(w, x, starts, stops, axes, steps if set(steps) != {1} else None) if axes else w.name(x)
    for axis, k in reversed(picked):
        at = w.name(k) if isinstance(k, KerasTensor) else w.constant(np.asarray(int(k), np.int64))
        name = w.op("Gather", name, at, axis=axis)
    if new:
        name = w.op("Unsqueeze", name, w.ints(new))
    return name, rest, axis


def _bounds(k):
    step = 1 if k.step is None else int(k.step)
    start = k.start if k.start is not None else 0 if step > 0 else FAR
    stop = k.stop if k.stop is not None else FAR if step > 0 else -FAR
    return start, stop, step


def _advanced(w, name, rest):
    """Index arrays (with slices of everything between them) by `Gather`, or by `GatherND` if there are
    several.
    """
    positions = [i for i, k in enumerate(rest) if not isinstance(k, slice)]
    indices, axes, axis = [], [], 0
    for k in rest:
        if isinstance(k, slice):
            axis += 1
            continue
        for index in _index_vectors(w, k):
            indices.append(index)
            axes.append(axis)
            axis += 1
    rank = axis
    together = all(b - a == 1 for a, b in zip(positions, positions[1:]))
    if len(indices) == 1:
        return w.op("Gather", name, indices[0][0], axis=axes[0])
    others = [a for a in range(rank) if a not in axes]
    name = w.transpose(name, [*axes, *others])
    result = w.op("GatherND", name, _columns(w, indices))
    dims = max(r for _, r in indices)
    if not together or axes[0] == 0:
        return result
    # The dimensions of the index arrays stand in the place of the axes that they index.
    before = axes[0]
    total = dims + len(others)
    order = [*range(dims, dims + before), *range(dims), *range(dims + before, total)]
    return w.transpose(result, order)


def _index_vectors(w, k):
    """`[(name, rank), …]` of int64 index arrays: a boolean mask gives one for each of its dimensions."""
    if not hasattr(k, "shape"):
        return [(w.constant(np.asarray(int(k), np.int64)), 0)]
    if dtypes.standardize_dtype(k.dtype) == "bool":
        return [(n, 1) for n in nonzero(w, k)]
    return [(_int64(w, k), len(k.shape))]


def _columns(w, indices):
    """Index arrays, broadcast, side by side along a new last axis."""
    known = [w.known(n) for n, _ in indices]
    if all(a is not None for a in known):
        return w.constant(np.stack(np.broadcast_arrays(*known), -1))
    # A sum with zeros of all the others broadcasts.
    total = None
    for n, _ in indices:
        zero = w.op("Mul", n, w.name(0, "int64"))
        total = zero if total is None else w.op("Add", total, zero)
    return w.op(
        "Concat", *[w.op("Unsqueeze", w.op("Add", n, total), w.ints([-1])) for n, _ in indices], axis=-1
    )


def nonzero(w, x):
    """One int64 vector of positions for each dimension."""
    dtype = w.dtype(x)
    wide = dtype if dtype in ("bool", "float32", "int32", "int64") else "bool"
    rank = len(x.shape)
    found = w.op("NonZero", w.cast(w.name(x), dtype, wide))
    return [w.op("Gather", found, w.constant(np.asarray(i, np.int64)), axis=0) for i in range(rank)]


@emits("nonzero")
def _nonzero(w, out, x):
    return [w.cast(n, "int64", "int32") for n in nonzero(w, x)]


# ------------------------------------------------------------------ writing


@emits("scatter")
def _scatter(w, out, indices, values, shape):
    zeros = w.op("Expand", w.name(0, w.dtype(out)), w.dims(shape))
    return _scattered(w, out, zeros, indices, values, "add", shape)


@emits("scatter_update")
def _scatter_update(w, out, inputs, indices, updates, reduction):
    return _scattered(w, out, w.name(inputs), indices, updates, reduction, w.shape_of(inputs))


def _scattered(w, out, data, indices, updates, reduction, shape):
    dtype = w.dtype(out)
    wide = {"float64": "float64", "int64": "int64"}.get(
        dtype, "float32" if dtypes.is_float(dtype) else "int32"
    )
    wide = dtype if reduction is None and dtype != "bool" else wide
    depth = indices.shape[-1]
    if depth is None:
        depth = len(out.shape) - (len(updates.shape) - len(indices.shape) + 1)
    name = w.cast(w.name(updates, dtype), dtype, wide)
    if tuple(updates.shape) != (*indices.shape[:-1], *out.shape[depth:]):
        name = w.op("Expand", name, w.dims([*w.shape_of(indices)[:-1], *list(shape)[depth:]]))
    result = w.op("ScatterND", w.cast(data, dtype, wide), _int64(w, indices), name, reduction=reduction)
    return w.cast(result, wide, dtype)


@emits("slice")
def _slice(w, out, inputs, start_indices, shape):
    starts, stops, axes = [], [], []
    for axis, (start, size) in enumerate(zip(start_indices, shape)):
        length = inputs.shape[axis]
        if type(size) is int and size == length:
            continue
        start = _clamped(
            w, start, w.dim(length if length is not None else w.length(inputs, axis)), w.dim(size)
        )
        starts.append(start), axes.append(axis)
        stops.append(w.op("Add", start, w.dim(size)))
    return sliced(w, inputs, starts, stops, axes) if axes else w.name(inputs)


def _clamped(w, start, length, size):
    """Where a window begins that is moved to lie inside."""
    last = w.op("Sub", length, size)
    return w.op("Max", w.op("Min", w.dim(start), last), w.ints([0]))


@emits("slice_update")
def _slice_update(w, out, inputs, start_indices, updates):
    windows = []
    for axis, start in enumerate(start_indices):
        length, size = inputs.shape[axis], updates.shape[axis]
        # Both unknown: a batch, all of which is written.
        if length != size or (length is None and not (type(start) is int and start == 0)):
            windows.append(
                (
                    axis,
                    _clamped(w, start, w.length(inputs, axis), w.length(updates, axis)),
                    w.length(updates, axis),
                )
            )
    return _window_written(w, w.name(inputs), w.name(updates, out.dtype), windows)


def _window_written(w, name, updates, windows):
    """Axis by axis: what is before the window, the window (with the rest of the axes written in it), what is
    after.
    """
    if not windows:
        return updates
    (axis, start, size), *others = windows
    stop = w.op("Add", start, size)
    inside = (
        _window_written(w, sliced(w, name, [start], [stop], [axis]), updates, others) if others else updates
    )
    before, after = sliced(w, name, [0], [start], [axis]), sliced(w, name, [stop], [FAR], [axis])
    return w.op("Concat", before, inside, after, axis=axis)


@emits("one_hot")
def _one_hot(w, out, x, num_classes, axis, dtype):
    axis %= len(out.shape)
    wide = "int64" if w.dtype(x) in ("int64", "uint32", "uint64") else "int32"
    name = w.cast(w.name(x), w.dtype(x), wide)
    shape = [1] * len(out.shape)
    shape[axis] = num_classes
    classes = w.constant(np.arange(num_classes, dtype=wide).reshape(shape))
    return w.cast(w.op("Equal", w.op("Unsqueeze", name, w.ints([axis])), classes), "bool", w.dtype(out))


# ------------------------------------------------------------------ order


def _ordered(w, x, axis, largest, k=None):
    """Values and positions along an axis, in order; equal ones keep their order."""
    dtype = w.dtype(x)
    wide = (
        dtype
        if dtype in ("float32", "float64", "int32", "int64")
        else "float32"
        if dtypes.is_float(dtype)
        else "int64"
    )
    axis %= len(x.shape)
    count = w.length(x, axis) if k is None else w.ints([k])
    values, at = w.op(
        "TopK", w.cast(w.name(x), dtype, wide), count, outputs=2, axis=axis, largest=int(largest), sorted=1
    )
    return w.cast(values, wide, dtype), w.cast(at, "int64", "int32")


@emits("sort")
def _sort(w, out, x, axis):
    return _ordered(w, x, axis, largest=False)[0]


@emits("argsort")
def _argsort(w, out, x, axis):
    return _ordered(w, x, axis, largest=False)[1]


@emits("top_k")
def _top_k(w, out, x, k, sorted):
    return list(_ordered(w, x, -1, largest=True, k=k))


@lowers("searchsorted")
def _searchsorted(sorted_sequence, values, side):
    # As many elements as stand before: found by comparing with all of them.
    values = ops.expand_dims(values, -1)
    before = ops.less(sorted_sequence, values) if side == "left" else ops.less_equal(sorted_sequence, values)
    return ops.sum(ops.cast(before, "int32"), axis=-1)


@lowers("segment_sum")
def _segment_sum(data, segment_ids, num_segments):
    # Rows of no segment go into one more, which is cut off.
    ids = ops.cast(segment_ids, "int32")
    ids = ops.where((ids >= 0) & (ids < num_segments), ids, num_segments)
    shape = (num_segments + 1, *ops.shape(data)[1:])
    return ops.scatter(ops.expand_dims(ids, -1), data, shape)[:num_segments]
