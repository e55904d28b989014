"""Reductions on PyTorch."""

import torch

# torch neither adds nor multiplies these: they go through 64 bits.
_UNSIGNED = frozenset(getattr(torch, n) for n in ("uint16", "uint32", "uint64") if hasattr(torch, n))


def sum(x, axis, keepdims):
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


def max(x, axis, keepdims):
    return torch.amax(x, () if axis is None else axis, keepdims)


def min(x, axis, keepdims):
    return torch.amin(x, () if axis is None else axis, keepdims)


any = torch.any
all = torch.all
mean = torch.mean


def var(x, axis, keepdims):
    return torch.var(x, axis, correction=0, keepdim=keepdims)


def std(x, axis, keepdims):
    return torch.std(x, axis, correction=0, keepdim=keepdims)


def moments(x, axes, keepdims, synchronized):
    variance, mean = torch.var_mean(x, axes, correction=0, keepdim=keepdims)
    return mean, variance


def argmax(x, axis, keepdims):
    if x.dtype is torch.bool:
        x = x.to(torch.uint8)
    return torch.argmax(x, axis, keepdims).to(torch.int32)


def argmin(x, axis, keepdims):
    if x.dtype is torch.bool:
        x = x.to(torch.uint8)
    return torch.argmin(x, axis, keepdims).to(torch.int32)


def cumsum(x, axis):
    return torch.cumsum(x.reshape(-1), 0, dtype=x.dtype) if axis is None else torch.cumsum(x, axis, dtype=x.dtype)


def cumprod(x, axis):
    return torch.cumprod(x.reshape(-1), 0, dtype=x.dtype) if axis is None else torch.cumprod(x, axis, dtype=x.dtype)


def logsumexp(x, axis, keepdims):
    # Clamped, rows of -inf alone have gradient 0; torch.logsumexp's would be NaN.
    lowest = torch.finfo(x.dtype).min
    result = torch.logsumexp(x.clamp(lowest), tuple(range(x.ndim)) if axis is None else axis, keepdims)
    return torch.where(result <= lowest, float("-inf"), result)
