"""Indexing, scattering and ordering on PyTorch."""

import builtins
import math

import numpy as np
import torch

from kerata.backends.torch.core import DTYPES, VALUES_ALONE, on_host

_INDEX = (torch.int64, torch.int32)
_RANKED = frozenset({torch.float32, torch.float64, torch.int32, torch.int64})


def _wrapped(indices, size):
    """Indices as torch takes them: of an index dtype, counted from the front."""
    if indices.dtype not in _INDEX:
        indices = indices.to(torch.int64)
    # The sign bit everywhere, and so the size where it's negative: a third of the time of `where`.
    negative = torch.bitwise_right_shift(indices, 31 if indices.dtype is torch.int32 else 63)
    return torch.add(indices, torch.bitwise_and(negative, size))


def _within(indices, size):
    """Whether all are known to be counted from the front and in bounds: looking takes a fifth of moving them there."""
    if indices.dtype not in _INDEX or not on_host(indices) or not indices.numel():
        return False
    low, high = torch.aminmax(indices)
    return low.item() >= 0 and high.item() < size


def take(x, indices, axis):
    if not _within(indices, x.shape[axis]):
        indices = _wrapped(indices, x.shape[axis]).clamp(0, x.shape[axis] - 1)
    if x.ndim == 2 and axis == 0:
        return torch.embedding(x, indices)
    rows = torch.index_select(x, axis, indices.reshape(-1))
    axis %= x.ndim
    return rows.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def take_along_axis(x, indices, axis):
    if not _within(indices, x.shape[axis]):
        indices = _wrapped(indices, x.shape[axis])
    return torch.take_along_dim(x, indices.to(torch.int64), axis)


_PLAIN = frozenset((int, type(None), type(Ellipsis)))


def get_item(x, key):
    if type(key) is not tuple:
        key = (key,)
    for k in key:
        if type(k) not in _PLAIN and _is_foreign(k):
            return _get_foreign(x, key)
    return x[key]


def _is_foreign(k):
    """What torch's indexing takes otherwise than NumPy's, or not at all."""
    if type(k) is builtins.slice:
        return k.step is not None and k.step < 0
    return isinstance(k, (np.ndarray, np.generic, list, torch.Tensor))


def _get_foreign(x, keys):
    """First, on their own axes, turn negative steps round and select what scalar tensors say; then index.

    As an index PyTorch would read a scalar's value, which neither compilation nor vmap allows.
    """
    keys = [_as_index(k, x.device) for k in keys]
    used = builtins.sum(_consumed(k) for k in keys)
    flips, axis = [], 0
    for i, k in enumerate(keys):
        if type(k) is builtins.slice and (k.step or 1) < 0:
            n = x.shape[axis]
            places = range(*k.indices(n))
            # In the flipped axis place p is n - 1 - p.
            keys[i] = (
                builtins.slice(n - 1 - places.start, n - 1 - places.stop, -k.step) if places else builtins.slice(0, 0)
            )
            flips.append(axis)
        elif isinstance(k, torch.Tensor) and k.ndim == 0 and k.dtype is torch.int64:
            x, keys[i] = torch.index_select(x, axis, _wrapped(k, x.shape[axis]).reshape(1)), 0
        axis += x.ndim - used if k is Ellipsis else _consumed(k)
    if builtins.any(isinstance(k, torch.Tensor) and k.ndim for k in keys):
        # Beside an array NumPy counts an integer as an array too, which matters for where the result's axes go.
        keys = [torch.tensor([k], device=x.device) if type(k) is int else k for k in keys]
    return (torch.flip(x, flips) if flips else x)[tuple(keys)]


def _consumed(k):
    if k is None or k is Ellipsis:
        return 0
    return k.ndim if isinstance(k, torch.Tensor) and k.dtype is torch.bool else 1


def _as_index(k, device):
    if isinstance(k, np.integer):
        return int(k)
    if isinstance(k, (np.ndarray, list, np.bool_)):
        k = torch.as_tensor(k, device=device) if len(k) else torch.zeros(0, dtype=torch.int64, device=device)
    if isinstance(k, torch.Tensor) and k.dtype is not torch.bool:
        return k.to(torch.int64)
    return k


def _columns(indices):
    return tuple(indices.to(torch.int64).unbind(-1))


def scatter(indices, values, shape):
    out = torch.zeros(shape, dtype=values.dtype, device=values.device)
    return torch.index_put(out, _columns(indices), values, accumulate=True)


_REDUCTIONS = {"max": "amax", "min": "amin", "mul": "prod"}


def scatter_update(inputs, indices, updates, reduction):
    if reduction is None or reduction == "add":
        return torch.index_put(inputs, _columns(indices), updates.to(inputs.dtype), accumulate=reduction == "add")
    depth = indices.shape[-1]
    lead = inputs.shape[:depth]
    rows = inputs.reshape(math.prod(lead), -1)
    at = torch.zeros(indices.shape[:-1], dtype=torch.int64, device=indices.device)
    for column, size in zip(_columns(indices), lead, strict=True):
        at = at * size + _wrapped(column, size)
    updates = updates.reshape(-1, rows.shape[1])
    at = at.reshape(-1, 1).expand_as(updates)
    return torch.scatter_reduce(rows, 0, at, updates, _REDUCTIONS[reduction]).reshape(inputs.shape)


def _places(start, size, length, device):
    """Places of a window moved inside the bounds, as `lax.dynamic_slice` moves it."""
    start = torch.as_tensor(start, device=device).to(torch.int64)
    start = torch.where(start < 0, start + length, start).clamp(0, length - size)
    return start + torch.arange(size, device=device)


def _window(x, starts, sizes):
    """The same as Python slices where all starts are known, else None."""
    window = []
    for s, n, size in zip(starts, x.shape, sizes, strict=True):
        if type(s) is not int and not isinstance(s, np.integer):
            return None
        # Moved inside the bounds, as `lax.dynamic_slice` moves it.
        if s < 0:
            s = s + n if s + n > 0 else 0
        if s > n - size:
            s = n - size
        window.append(builtins.slice(s, s + size))
    return tuple(window)


def slice(inputs, start_indices, shape):
    window = _window(inputs, start_indices, shape)
    if window is not None:
        return inputs[window]
    for axis, (start, size) in enumerate(zip(start_indices, shape, strict=True)):
        inputs = torch.index_select(inputs, axis, _places(start, size, inputs.shape[axis], inputs.device))
    return inputs


def slice_update(inputs, start_indices, updates):
    window = _window(inputs, start_indices, updates.shape)
    if window is not None:
        out = inputs.clone()
        out[window] = updates
        return out
    places = [
        _places(s, size, n, inputs.device).reshape([-1 if i == axis else 1 for i in range(inputs.ndim)])
        for axis, (s, size, n) in enumerate(zip(start_indices, updates.shape, inputs.shape, strict=True))
    ]
    return torch.index_put(inputs, places, updates)


def one_hot(x, num_classes, axis, dtype):
    axis = axis % (x.ndim + 1)
    if _within(x, num_classes):
        shape = (*x.shape[:axis], num_classes, *x.shape[axis:])
        return torch.zeros(shape, dtype=DTYPES[dtype], device=x.device).scatter_(
            axis, x.unsqueeze(axis).to(torch.int64), 1
        )
    classes = torch.arange(num_classes, device=x.device).reshape(-1, *(1,) * (x.ndim - axis))
    return (x.unsqueeze(axis) == classes).to(DTYPES[dtype])


def sort(x, axis):
    return torch.sort(x, axis)[0]


def argsort(x, axis):
    return torch.sort(x, dim=axis, stable=True)[1].to(torch.int32)


def top_k(x, k, sorted):
    # torch.topk takes any of equal values, where there are some; a stable sort takes the first.
    if x.dtype in _RANKED and on_host(x):
        values, indices = torch.topk(x, builtins.min(k + 1, x.shape[-1]))
        if torch.all(values[..., :-1] > values[..., 1:]):
            return values[..., :k], indices[..., :k].to(torch.int32)
    values, indices = torch.sort(x, dim=-1, descending=True, stable=True)
    return values[..., :k], indices[..., :k].to(torch.int32)


def searchsorted(sorted_sequence, values, side):
    if values.dtype is torch.bool:
        sorted_sequence, values = sorted_sequence.to(torch.uint8), values.to(torch.uint8)
    return torch.searchsorted(sorted_sequence, values, out_int32=True, right=side == "right")


def nonzero(x):
    return tuple(i.to(torch.int32) for i in torch.nonzero(x, as_tuple=True))


def segment_sum(data, segment_ids, num_segments):
    # Segments outside the range are gathered in one that is cut off.
    inside = (segment_ids >= 0) & (segment_ids < num_segments)
    ids = torch.where(inside, segment_ids, num_segments).to(torch.int64)
    out = torch.zeros((num_segments + 1, *data.shape[1:]), dtype=data.dtype, device=data.device)
    return torch.index_add(out, 0, ids, data)[:num_segments]


def isin(x1, x2, assume_unique, invert):
    if x1.dtype is torch.bool:
        x1, x2 = x1.to(torch.uint8), x2.to(torch.uint8)
    return torch.isin(x1, x2, assume_unique=False, invert=invert)


def distinct_values(x):
    return torch.unique(x)


def counted_vector(x, weights, length):
    return counted_all(x, weights, length)


def counted_all(x, weights, minlength):
    counts = torch.bincount(x, weights, int(minlength))
    return counts.to(torch.int32 if weights is None else weights.dtype)


def _category_counts(indices, depth, dtype, hot):
    if not on_host(indices):
        return NotImplemented
    # Two counters more in each row take what is outside.
    shape, width = (*indices.shape[:-1], depth), depth + 2
    rows = math.prod(shape[:-1])
    places = torch.clamp(indices.reshape(rows, indices.shape[-1]), -1, depth)
    places = places.to(torch.int64) + torch.arange(1, rows * width + 1, width)[:, None]
    counts = torch.bincount(places.reshape(-1), minlength=rows * width).reshape(rows, width)[:, 1:-1]
    return (counts.clamp(max=1) if hot else counts).to(DTYPES[dtype]).reshape(shape)


VALUES_ALONE["category_counts"] = _category_counts
