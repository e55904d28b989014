"""Indexing, scattering and ordering on NumPy."""

import builtins
import math

import numpy as np


def take(x, indices, axis):
    if indices.dtype.kind == "i":
        indices = np.where(indices < 0, indices + x.shape[axis], indices)
    return x.take(indices, axis, mode="clip")


take_along_axis = np.take_along_axis


def get_item(x, key):
    return x[key]


def scatter(indices, values, shape):
    out = np.zeros(shape, values.dtype)
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), values)
    return out


_REDUCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}


def scatter_update(inputs, indices, updates, reduction):
    out, at = np.array(inputs), tuple(np.moveaxis(indices, -1, 0))
    if reduction is None:
        out[at] = updates
    else:
        _REDUCTIONS[reduction].at(out, at, updates)
    return out


def _window(x, starts, sizes):
    """Index of a window moved inside the bounds, as `lax.dynamic_slice` moves it."""
    window = []
    for s, n, size in zip(starts, x.shape, sizes, strict=True):
        s = builtins.min(builtins.max(int(s) + (n if s < 0 else 0), 0), n - size)
        window.append(builtins.slice(s, s + size))
    return tuple(window)


def slice(inputs, start_indices, shape):
    return inputs[_window(inputs, start_indices, shape)]


def slice_update(inputs, start_indices, updates):
    out = np.array(inputs)
    out[_window(inputs, start_indices, updates.shape)] = updates
    return out


def one_hot(x, num_classes, axis, dtype):
    hot = x[..., None] == np.arange(num_classes)
    return np.moveaxis(hot, -1, axis).astype(dtype)


def _ordered(x):
    # The comparisons of ml_dtypes leave NaN anywhere.
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def sort(x, axis):
    return np.sort(_ordered(x), axis).astype(x.dtype, copy=False)


def argsort(x, axis):
    return np.argsort(_ordered(x), axis, kind="stable").astype(np.int32)


def top_k(x, k, sorted):
    # Stable on the reversed row, then reversed again: of equal values the first comes first.
    n = x.shape[-1]
    indices = n - 1 - np.argsort(_ordered(x)[..., ::-1], -1, kind="stable")[..., ::-1][..., :k]
    return np.take_along_axis(x, indices, -1), indices.astype(np.int32)


def searchsorted(sorted_sequence, values, side):
    return np.asarray(np.searchsorted(sorted_sequence, values, side)).astype(np.int32)


def nonzero(x):
    return tuple(i.astype(np.int32) for i in np.nonzero(x))


def segment_sum(data, segment_ids, num_segments):
    out = np.zeros((num_segments, *data.shape[1:]), data.dtype)
    inside = (segment_ids >= 0) & (segment_ids < num_segments)
    np.add.at(out, segment_ids[inside], data[inside])
    return out


def category_counts(indices, depth, dtype, hot):
    # Two counters more in each row take what is outside.
    shape, width = (*indices.shape[:-1], depth), depth + 2
    rows = math.prod(shape[:-1])
    places = np.clip(indices.reshape(rows, indices.shape[-1]).astype(np.int64), -1, depth)
    places += np.arange(1, rows * width + 1, width)[:, None]
    counts = np.bincount(places.ravel(), minlength=rows * width).reshape(rows, width)[:, 1:-1]
    return (np.minimum(counts, 1) if hot else counts).astype(dtype).reshape(shape)
