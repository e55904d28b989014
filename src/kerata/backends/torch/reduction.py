"""Reductions on PyTorch.

An empty tuple of axes means all of them to PyTorch, and none to everybody else.
"""

import builtins
import math

import torch

from kerata.backends.torch.core import VALUES_ALONE, on_host, watched

# torch neither adds, multiplies nor compares these: they go through 64 bits.
_UNSIGNED = frozenset(getattr(torch, n) for n in ("uint16", "uint32", "uint64") if hasattr(torch, n))
_LOWEST = torch.iinfo(torch.int64).min


def sum(x, axis, keepdims):
    if axis == ():
        return x
    if x.dtype in _UNSIGNED:
        return torch.sum(x.to(torch.int64), axis, keepdims).to(x.dtype)
    return torch.sum(x, axis, keepdims, dtype=x.dtype)


def prod(x, axis, keepdims):
    if x.dtype in _UNSIGNED:
        return prod(x.to(torch.int64), axis, keepdims).to(x.dtype)
    if isinstance(axis, int):
        return torch.prod(x, axis, keepdims, dtype=x.dtype)
    # torch.prod takes one axis at a time.
    for a in sorted(_axes(x, axis), reverse=True):
        x = torch.prod(x, a, keepdims, dtype=x.dtype)
    return x


def _axes(x, axis):
    return range(x.ndim) if axis is None else [a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]


def signed(x):
    """Unsigned integers as int64 in the same order."""
    return x.view(torch.int64) ^ _LOWEST if x.dtype is torch.uint64 else x.to(torch.int64)


def unsigned(x, dtype):
    """The inverse of `signed`."""
    return (x ^ _LOWEST).view(dtype) if dtype is torch.uint64 else x.to(dtype)


def max(x, axis, keepdims):
    if axis == ():
        return x
    if x.dtype in _UNSIGNED:
        return unsigned(max(signed(x), axis, keepdims), x.dtype)
    return torch.amax(x, () if axis is None else axis, keepdims)


def min(x, axis, keepdims):
    if axis == ():
        return x
    if x.dtype in _UNSIGNED:
        return unsigned(min(signed(x), axis, keepdims), x.dtype)
    return torch.amin(x, () if axis is None else axis, keepdims)


def any(x, axis, keepdims):
    return x if axis == () else torch.any(x, axis, keepdims)


def all(x, axis, keepdims):
    return x if axis == () else torch.all(x, axis, keepdims)


def mean(x, axis, keepdims):
    return x if axis == () else torch.mean(x, axis, keepdims)


def var(x, axis, keepdims):
    return _no_spread(x) if axis == () else torch.var(x, axis, correction=0, keepdim=keepdims)


def std(x, axis, keepdims):
    return _no_spread(x) if axis == () else torch.std(x, axis, correction=0, keepdim=keepdims)


def _no_spread(x):
    # NaN and infinity have none.
    return abs(x - x)


def moments(x, axes, keepdims, synchronized):
    if axes == ():
        return x, _no_spread(x)
    if x.dtype is torch.float16:
        variance, mean = torch.var_mean(x.float(), axes, correction=0, keepdim=keepdims)
        return mean.to(x.dtype), variance.clamp(max=torch.finfo(x.dtype).max).to(x.dtype)
    variance, mean = torch.var_mean(x, axes, correction=0, keepdim=keepdims)
    return mean, variance


def argmax(x, axis, keepdims):
    return torch.argmax(_comparable(x), axis, keepdims).to(torch.int32)


def argmin(x, axis, keepdims):
    return torch.argmin(_comparable(x), axis, keepdims).to(torch.int32)


def _comparable(x):
    if x.dtype in _UNSIGNED:
        return signed(x)
    return x.to(torch.uint8) if x.dtype is torch.bool else x


def cumsum(x, axis):
    return _accumulated(torch.cumsum, x, axis)


def cumprod(x, axis):
    return _accumulated(torch.cumprod, x, axis)


def _accumulated(native, x, axis):
    if axis is None:
        x, axis = x.reshape(-1), 0
    if x.dtype in _UNSIGNED:
        return native(x.to(torch.int64), axis).to(x.dtype)
    return native(x, axis, dtype=x.dtype)


def logsumexp(x, axis, keepdims):
    if axis == ():
        return x
    if not watched(x):
        return torch.logsumexp(x, tuple(range(x.ndim)) if axis is None else axis, keepdims)
    # Clamped, rows of -inf alone have gradient 0; torch.logsumexp's would be NaN.
    lowest = torch.finfo(x.dtype).min
    result = torch.logsumexp(x.clamp(lowest), tuple(range(x.ndim)) if axis is None else axis, keepdims)
    return torch.where(result <= lowest, float("-inf"), result)


def nansum(x, axis, keepdims):
    if axis == () or not x.is_floating_point():
        return sum(
            torch.nan_to_num(x, 0.0, float("inf"), float("-inf")) if x.is_floating_point() else x, axis, keepdims
        )
    return torch.nansum(x, axis, keepdims)


def nanmean(x, axis, keepdims):
    return x if axis == () else torch.nanmean(x, axis, keepdims)


def root_of_squares(x, axis, keepdims):
    # Its gradient at zero is zero.
    return torch.abs(x) if axis == () else torch.linalg.vector_norm(x, 2, axis, keepdims)


def nanmax(x, axis, keepdims):
    return _extreme_without_nan(torch.amax, -math.inf, x, axis, keepdims)


def nanmin(x, axis, keepdims):
    return _extreme_without_nan(torch.amin, math.inf, x, axis, keepdims)


def _extreme_without_nan(extreme, filler, x, axis, keepdims):
    if not x.is_floating_point():
        return (max if extreme is torch.amax else min)(x, axis, keepdims)
    if axis == ():
        return x
    axis = () if axis is None else axis
    result = extreme(torch.nan_to_num(x, filler, math.inf, -math.inf), axis, keepdims)
    return torch.where(_nothing(x, axis, keepdims), math.nan, result)


def nanprod(x, axis, keepdims):
    return prod(torch.nan_to_num(x, 1.0, math.inf, -math.inf) if x.is_floating_point() else x, axis, keepdims)


def nanargmax(x, axis, keepdims):
    return _place_without_nan(torch.argmax, -math.inf, x, axis, keepdims)


def nanargmin(x, axis, keepdims):
    return _place_without_nan(torch.argmin, math.inf, x, axis, keepdims)


def _place_without_nan(find, filler, x, axis, keepdims):
    if not x.is_floating_point():
        return find(_comparable(x), axis, keepdims).to(torch.int32)
    place = find(torch.nan_to_num(x, filler, math.inf, -math.inf), axis, keepdims)
    return torch.where(_nothing(x, () if axis is None else axis, keepdims), -1, place).to(torch.int32)


def _nothing(x, axis, keepdims):
    """Where all elements are NaN. As bytes: torch.all takes ten times as long."""
    return torch.amin(torch.isnan(x).view(torch.uint8), axis, keepdims).view(torch.bool)


def _nanvar(x, axis, keepdims):
    if axis == ():
        return x - x
    return torch.nanmean(torch.square(x - torch.nanmean(x, axis, True)), axis, keepdims)


# Of all elements the gradient is NaN by way of the mean.
VALUES_ALONE |= {"nanvar": _nanvar, "nanstd": lambda *args: torch.sqrt(_nanvar(*args))}


_SORTED_IN = (torch.float32, torch.float64)


def _counted_between(x, bins, range):
    tensors = [x, *(v for v in range or () if isinstance(v, torch.Tensor))]
    if x.dtype not in _SORTED_IN or not x.numel() or watched(*tensors) or not builtins.all(map(on_host, tensors)):
        return NotImplemented
    low, high = (float(v) for v in (torch.aminmax(x) if range is None else range))
    if not math.isfinite(high - low):
        return NotImplemented
    # It compares with the bounds too.
    return tuple(torch.histogram(x, bins, range=(low, high)))


VALUES_ALONE["counted_between"] = _counted_between
