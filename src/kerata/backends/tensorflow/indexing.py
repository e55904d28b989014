"""Indexing, scattering and ordering on TensorFlow."""

import builtins
import math

import numpy as np

from kerata.backends.tensorflow.core import VALUES_ALONE, dynamic_shape, size_of, tf
from kerata.backends.tensorflow.eager_calls import in_one
from kerata.backends.tensorflow.shape import transpose

_INDEX = (tf.int32, tf.int64)


def _wrapped(indices, size):
    """Indices of an index dtype, counted from the front."""
    if indices.dtype not in _INDEX:
        indices = tf.cast(indices, tf.int64 if indices.dtype.size > 2 else tf.int32)
    # The sign spread over all bits is -1 or 0: a choice takes several times as long.
    negative = tf.bitwise.right_shift(indices, tf.constant(indices.dtype.size * 8 - 1, indices.dtype))
    return indices - negative * tf.cast(size, indices.dtype)


def _within(indices, size):
    """Whether all are known to be counted from the front and in bounds: looking takes less than moving them there."""
    if not tf.executing_eagerly() or indices.dtype not in _INDEX:
        return False
    return bool(tf.reduce_min(indices) >= 0 and tf.reduce_max(indices) < size)


def take(x, indices, axis):
    size = size_of(x, axis)
    if not _within(indices, size):
        indices = _wrapped(indices, size)
        indices = tf.minimum(tf.maximum(indices, 0), tf.cast(size, indices.dtype) - 1)
    return tf.gather(x, indices, axis=axis)


@in_one
def take_along_axis(x, indices, axis):
    rank = x.shape.rank
    axis %= rank
    if not _within(indices, size_of(x, axis)):
        indices = _wrapped(indices, size_of(x, axis))
    lead = [
        tf.maximum(a, b) if not (isinstance(a, int) and isinstance(b, int)) else builtins.max(a, b)
        for a, b in zip(dynamic_shape(x), dynamic_shape(indices), strict=True)
    ]
    x = _stretched(x, [*lead[:axis], size_of(x, axis), *lead[axis + 1 :]])
    indices = _stretched(indices, [*lead[:axis], size_of(indices, axis), *lead[axis + 1 :]])
    if axis == rank - 1:
        # TensorFlow copies even what stays in order.
        return tf.gather(x, indices, batch_dims=axis)
    order = [a for a in range(rank) if a != axis] + [axis]
    back = [*range(axis), rank - 1, *range(axis, rank - 1)]
    picked = tf.gather(tf.transpose(x, order), tf.transpose(indices, order), batch_dims=rank - 1)
    return tf.transpose(picked, back)


def _stretched(x, shape):
    return x if x.shape.as_list() == shape else tf.broadcast_to(x, shape)


def get_item(x, key):
    keys = key if type(key) is tuple else (key,)
    if builtins.all(map(_is_basic, keys)):
        return x[key]
    return _advanced(x, _spelled_out(x, keys))


def _is_basic(k):
    if k is None or k is Ellipsis or type(k) is int:
        return True
    if type(k) is builtins.slice:
        return builtins.all(v is None or isinstance(v, (int, np.integer, tf.Tensor)) for v in (k.start, k.stop, k.step))
    return isinstance(k, tf.Tensor) and k.shape.rank == 0 and k.dtype in _INDEX


def _spelled_out(x, keys):
    """One entry for each axis (and each new one): no ellipsis, masks turned to the places where they hold."""
    entries = []
    for k in keys:
        if isinstance(k, (np.ndarray, np.generic, list, tf.Tensor, tf.Variable)):
            k = tf.convert_to_tensor(np.asarray(k, np.int32) if isinstance(k, list) and not k else k)
            if k.dtype.is_bool:
                entries.extend(tf.unstack(tf.where(k), axis=1, num=k.shape.rank))
                continue
        entries.append(k)
    used = builtins.sum(k is not None and k is not Ellipsis for k in entries)
    rest = [builtins.slice(None)] * (x.shape.rank - used)
    at = next((i for i, k in enumerate(entries) if k is Ellipsis), len(entries))
    return [*entries[:at], *rest, *entries[at + 1 :]]


def _advanced(x, entries):
    """NumPy's rules: index arrays broadcast together, an integer beside them is one.

    Where they stand side by side their shape takes their place, otherwise it goes first.
    """
    is_index = [k is not None and type(k) is not builtins.slice for k in entries]
    x = x[tuple(builtins.slice(None) if index else k for k, index in zip(entries, is_index, strict=True))]
    axes = [i for i, index in enumerate(is_index) if index]
    indices = [tf.cast(_wrapped(tf.convert_to_tensor(entries[i]), size_of(x, i)), tf.int32) for i in axes]
    zero = builtins.sum(tf.zeros_like(i) for i in indices)
    rest = [i for i in range(len(entries)) if i not in axes]
    picked = tf.gather_nd(tf.transpose(x, [*axes, *rest]), tf.stack([i + zero for i in indices], -1))
    together = axes == list(range(axes[0], axes[-1] + 1))
    rank, front = zero.shape.rank, builtins.sum(r < axes[0] for r in rest) if together else 0
    order = [*range(rank, rank + front), *range(rank), *range(rank + front, rank + len(rest))]
    return tf.transpose(picked, order)


def _counted_from_front(indices, shape):
    if indices.dtype not in _INDEX:
        indices = tf.cast(indices, tf.int64)
    sizes = tf.convert_to_tensor(list(shape)[: indices.shape[-1]])
    return tf.where(indices < 0, indices + tf.cast(sizes, indices.dtype), indices)


def scatter(indices, values, shape):
    indices = _counted_from_front(indices, shape)
    return tf.scatter_nd(indices, values, tf.cast(tf.convert_to_tensor(list(shape)), indices.dtype))


_SCATTER = {
    None: tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
}


@in_one
def scatter_update(inputs, indices, updates, reduction):
    indices = _counted_from_front(indices, dynamic_shape(inputs))
    if reduction == "mul":
        return inputs * _products(inputs, indices, updates)
    return _SCATTER[reduction](inputs, indices, updates)


def _products(inputs, indices, updates):
    """For each place the product of its updates, 1 where there is none."""
    shape = dynamic_shape(inputs)
    depth = indices.shape[-1]
    at = tf.zeros_like(indices[..., 0])
    for axis in range(depth):
        at = at * tf.cast(shape[axis], at.dtype) + indices[..., axis]
    rows = math.prod(shape[:depth])
    at, updates = tf.reshape(at, (-1,)), tf.reshape(updates, (-1, *shape[depth:]))
    return tf.reshape(tf.math.unsorted_segment_prod(updates, at, rows), shape)


def _starts(x, start_indices, sizes):
    """Where a window begins, moved inside the bounds as `lax.dynamic_slice` moves it."""
    starts = []
    for start, n, size in zip(start_indices, dynamic_shape(x), sizes, strict=True):
        if builtins.all(isinstance(v, (int, np.integer)) for v in (start, n, size)):
            starts.append(builtins.min(builtins.max(start + n if start < 0 else start, 0), n - size))
        else:
            start = tf.cast(start, tf.int32)
            starts.append(tf.minimum(tf.maximum(tf.where(start < 0, start + n, start), 0), n - size))
    return starts


def slice(inputs, start_indices, shape):
    if builtins.all(isinstance(v, (int, np.integer)) for v in start_indices):
        return tf.slice(inputs, _starts(inputs, start_indices, shape), list(shape))
    starts = tf.stack([tf.cast(start, tf.int32) for start in start_indices])
    sizes, last = tf.stack(dynamic_shape(inputs)), tf.stack(list(shape))
    return tf.slice(inputs, tf.minimum(tf.maximum(_wrapped(starts, sizes), 0), sizes - last), list(shape))


def slice_update(inputs, start_indices, updates):
    """Updates gathered to their places, chosen where the window is: no shape depends on the start, as XLA wants it."""
    inside = tf.ones((1,) * inputs.shape.rank, tf.bool)
    sizes = dynamic_shape(updates)
    for axis, start in enumerate(_starts(inputs, start_indices, sizes)):
        places = tf.range(size_of(inputs, axis)) - start
        within = (places >= 0) & (places < sizes[axis])
        inside &= tf.reshape(within, [-1 if a == axis else 1 for a in range(inputs.shape.rank)])
        updates = tf.gather(updates, tf.clip_by_value(places, 0, sizes[axis] - 1), axis=axis)
    return tf.where(inside, updates, inputs)


def one_hot(x, num_classes, axis, dtype):
    if x.dtype not in (*_INDEX, tf.uint8):
        x = tf.cast(x, tf.int64)
    if dtype == "bool":
        return tf.one_hot(x, num_classes, True, False, axis, tf.bool)
    return tf.one_hot(x, num_classes, axis=axis, dtype=dtype)


def _order_keys(x):
    """Integers in the order of the floats, NaN last of all, both zeros equal: the sorting kernels know no NaN."""
    if not x.dtype.is_floating:
        return tf.cast(x, tf.int32) if x.dtype.size < 4 or x.dtype.is_bool else x
    x = tf.cast(x, tf.float32) if x.dtype.size < 4 else x
    x = tf.where(tf.math.is_nan(x), tf.constant(float("nan"), x.dtype), x + tf.zeros((), x.dtype))
    bits = tf.bitcast(x, tf.int64 if x.dtype.size == 8 else tf.int32)
    return tf.where(bits < 0, bits ^ bits.dtype.max, bits)


def _last(x, axis):
    """x with this axis last, and the order that brings it back."""
    rank = x.shape.rank
    axis %= rank
    order = [a for a in range(rank) if a != axis] + [axis]
    return transpose(x, order), [*range(axis), rank - 1, *range(axis, rank - 1)]


def _ascending(x):
    """Stable order along the last axis: the first of equal ones first."""
    if _is_whole(x):
        return tf.math.top_k(-x, x.shape[-1])[1]
    keys = _order_keys(x)
    if keys.dtype.is_unsigned:
        # The complement turns the order round without overflow.
        return tf.math.top_k(~keys, tf.shape(keys)[-1])[1]
    return tf.math.top_k(-1 - keys, tf.shape(keys)[-1])[1]


@in_one
def argsort(x, axis):
    x, back = _last(x, axis)
    return transpose(_ascending(x), back)


@in_one
def sort(x, axis):
    x, back = _last(x, axis)
    if _is_whole(x):
        return transpose(-tf.math.top_k(-x, x.shape[-1])[0], back)
    return transpose(tf.gather(x, _ascending(x), batch_dims=x.shape.rank - 1), back)


def _is_whole(x):
    """Whether these are floats without NaN for sure, which the kernels order as everybody does: the sum would be NaN."""
    if not x.dtype.is_floating or not tf.executing_eagerly():
        return False
    return not tf.math.is_nan(tf.reduce_sum(x))


@in_one
def top_k(x, k, sorted):
    if _is_whole(x):
        return tuple(tf.math.top_k(x, k))
    indices = tf.math.top_k(_order_keys(x), k)[1]
    return tf.gather(x, indices, batch_dims=x.shape.rank - 1), indices


@in_one
def searchsorted(sorted_sequence, values, side):
    if values.dtype.is_bool:
        sorted_sequence, values = tf.cast(sorted_sequence, tf.int32), tf.cast(values, tf.int32)
    places = tf.searchsorted(sorted_sequence, tf.reshape(values, (-1,)), side)
    return tf.reshape(places, tf.shape(values))


def nonzero(x):
    places = tf.where(x if x.dtype.is_bool else x != 0)
    return tuple(tf.unstack(tf.cast(places, tf.int32), axis=1, num=x.shape.rank))


def _dropping(segment_ids, num_segments):
    """Segments of which the kernels drop the negative ones; too large ones they'd refuse."""
    if tf.executing_eagerly() and tf.reduce_max(segment_ids) < num_segments:
        return segment_ids
    return tf.where(segment_ids < num_segments, segment_ids, -tf.ones_like(segment_ids))


@in_one
def segment_sum(data, segment_ids, num_segments):
    ids = _dropping(segment_ids, num_segments)
    return tf.math.unsorted_segment_sum(data, ids, num_segments)


def counted_vector(x, weights, length):
    dtype = tf.int32 if weights is None else weights.dtype
    if dtype not in (tf.int32, tf.int64, tf.float32, tf.float64):
        return tf.math.unsorted_segment_sum(weights, x, length)
    return tf.math.bincount(x, weights, minlength=length, maxlength=length, dtype=dtype)


def counted_all(x, weights, minlength):
    dtype = tf.int32 if weights is None else weights.dtype
    if dtype not in (tf.int32, tf.int64, tf.float32, tf.float64):
        length = tf.maximum(tf.reduce_max(x) + 1, minlength) if x.shape[0] != 0 else minlength
        return counted_vector(x, weights, length)
    return tf.math.bincount(x, weights, minlength=minlength, dtype=dtype)


def _in_top_k(targets, predictions, k):
    if predictions.dtype != tf.float32 or targets.dtype not in _INDEX or targets.shape.rank != 1:
        return NotImplemented
    # To the kernel what isn't finite is nowhere. The sum isn't finite either then.
    if not tf.math.is_finite(tf.reduce_sum(predictions)):
        return NotImplemented
    return tf.math.in_top_k(targets, predictions, k)


_COUNTED = frozenset({tf.float32, tf.float64})


def _counted_between(x, bins, range):
    if x.dtype not in _COUNTED or not tf.size(x):
        return NotImplemented
    low, high = (tf.reduce_min(x), tf.reduce_max(x)) if range is None else range
    low, high = float(low), float(high)
    if not math.isfinite(high - low):
        return NotImplemented
    if low == high:
        low, high = low - 0.5, high + 0.5
    kind = x.dtype.as_numpy_dtype
    low, high = kind(low), kind(high)
    bounds = low + (high - low) * (np.arange(bins + 1) / bins).astype(kind)
    bounds[-1] = high
    x = tf.reshape(x, (-1,))
    if tf.math.is_nan(tf.reduce_sum(x)):
        x = tf.boolean_mask(x, x == x)
    doubtful = tf.gather(x, tf.where(_near_bounds(x, low, high, bins))[:, 0])
    # The kernel is right about all others.
    counts = _in_bins(x, low, high, bins) - _in_bins(doubtful, low, high, bins)
    return tf.cast(counts + np.histogram(doubtful.numpy(), bounds)[0], x.dtype), tf.constant(bounds)


def _near_bounds(x, low, high, bins):
    """Where rounding might decide on a bin, or it's outside."""
    scale = bins / (high - low)
    places = tf.minimum(tf.maximum((x - low) * scale, 0), bins)
    unsure = 16 * np.finfo(low.dtype).eps * (builtins.max(builtins.abs(low), builtins.abs(high)) * scale + bins)
    return tf.abs(places - tf.round(places)) <= unsure


def _in_bins(x, low, high, bins):
    return tf.raw_ops.HistogramFixedWidth(values=x, value_range=np.array((low, high)), nbins=bins)


VALUES_ALONE |= {"in_top_k": _in_top_k, "counted_between": _counted_between}


_SEGMENTS = {
    "max": tf.math.unsorted_segment_max,
    "min": tf.math.unsorted_segment_min,
    "mul": tf.math.unsorted_segment_prod,
}


@in_one
def segment_combined(data, segment_ids, num_segments, reduction):
    if data.dtype.is_bool:
        return tf.cast(segment_combined(tf.cast(data, tf.uint8), segment_ids, num_segments, reduction), tf.bool)
    ids = _dropping(segment_ids, num_segments)
    result = _SEGMENTS[reduction](data, ids, num_segments)
    if reduction == "mul" or not data.dtype.is_floating:
        return result
    # The kernel starts from the lowest finite number, not from infinity.
    start, nothing = (data.dtype.min, -math.inf) if reduction == "max" else (data.dtype.max, math.inf)
    if tf.executing_eagerly() and not tf.reduce_any(result == start):
        return result
    # Infinity comes out, too, if nothing but it was there.
    there = tf.math.unsorted_segment_sum(tf.cast(data == start, tf.int32), ids, num_segments) > 0
    return tf.where((result == start) & ~there, tf.constant(nothing, data.dtype), result)


def distinct_values(x):
    return sort(tf.unique(tf.reshape(x, (-1,)))[0], 0)
