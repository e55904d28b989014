"""Reductions on NumPy, through the ufuncs' own `reduce`: `np.sum` and its like cost twice as much on small arrays."""

import numpy as np

from kerata.backends.numpy.core import NARROW

_add, _multiply = np.add.reduce, np.multiply.reduce
_maximum, _minimum = np.maximum.reduce, np.minimum.reduce
_or, _and = np.logical_or.reduce, np.logical_and.reduce


def sum(x, axis, keepdims):
    dtype = x.dtype
    if dtype in NARROW:
        return _add(x, axis, np.float32, None, keepdims).astype(dtype)
    return _add(x, axis, dtype, None, keepdims)


def prod(x, axis, keepdims):
    dtype = x.dtype
    if dtype in NARROW:
        return _multiply(x, axis, np.float32, None, keepdims).astype(dtype)
    return _multiply(x, axis, dtype, None, keepdims)


def max(x, axis, keepdims):
    return _maximum(x, axis, None, None, keepdims)


def min(x, axis, keepdims):
    return _minimum(x, axis, None, None, keepdims)


def any(x, axis, keepdims):
    return _or(x, axis, None, None, keepdims)


def all(x, axis, keepdims):
    return _and(x, axis, None, None, keepdims)


def mean(x, axis, keepdims):
    dtype = x.dtype
    if dtype in NARROW:
        return mean(x.astype(np.float32), axis, keepdims).astype(dtype)
    total = _add(x, axis, None, None, keepdims)
    return total / dtype.type(x.size // total.size) if total.size else total


def var(x, axis, keepdims):
    dtype = x.dtype
    if dtype in NARROW:
        return var(x.astype(np.float32), axis, keepdims).astype(dtype)
    deviation = x - mean(x, axis, True)
    if dtype.kind == "c":
        return mean(deviation.real**2 + deviation.imag**2, axis, keepdims)
    return mean(deviation * deviation, axis, keepdims)


def std(x, axis, keepdims):
    return np.sqrt(var(x, axis, keepdims))


def moments(x, axes, keepdims, synchronized):
    if x.dtype == np.float16:
        # A variance that float16 doesn't hold is its largest number.
        average, variance = moments(x.astype(np.float32), axes, keepdims, synchronized)
        return average.astype(x.dtype), np.minimum(variance, np.finfo(np.float16).max).astype(x.dtype)
    return mean(x, axes, keepdims), var(x, axes, keepdims)


def argmax(x, axis, keepdims):
    return np.argmax(x, axis, keepdims=keepdims).astype(np.int32)


def argmin(x, axis, keepdims):
    return np.argmin(x, axis, keepdims=keepdims).astype(np.int32)


def cumsum(x, axis):
    return _accumulate(np.add, x, axis)


def cumprod(x, axis):
    return _accumulate(np.multiply, x, axis)


def _accumulate(ufunc, x, axis):
    if axis is None:
        x, axis = x.reshape(-1), 0
    if x.dtype in NARROW:
        return ufunc.accumulate(x, axis, np.float32).astype(x.dtype)
    return ufunc.accumulate(x, axis, x.dtype)


def logsumexp(x, axis, keepdims):
    if x.dtype in NARROW:
        return logsumexp(x.astype(np.float32), axis, keepdims).astype(x.dtype)
    top = _maximum(x, axis, None, None, True, -np.inf)
    # A row of -inf alone is shifted by 0: -inf - -inf would be NaN.
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    with np.errstate(divide="ignore"):
        result = np.log(_add(np.exp(x - top), axis, None, None, True)) + top
    return result if keepdims else np.squeeze(result, axis)
