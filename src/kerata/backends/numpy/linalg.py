"""Linear algebra on NumPy."""

import functools
import math

import numpy as np

from kerata.backends.contraction import MOST_IN_FLOAT32, as_matmul, summands
from kerata.backends.halves import in_float32
from kerata.backends.numpy.core import NARROW

_wide = in_float32(NARROW, np.dtype(np.float32), np.asarray)


def matmul(x1, x2):
    if x1.dtype in NARROW:
        return np.matmul(x1.astype(np.float32), x2.astype(np.float32)).astype(x1.dtype)
    return np.matmul(x1, x2)


def einsum(subscripts, operands):
    dtype = operands[0].dtype
    if dtype in NARROW:
        operands = [x.astype(np.float32) for x in operands]
    return np.einsum(subscripts, *operands, optimize=True).astype(dtype, copy=False)


def integer_einsum(subscripts, x, kernel):
    # Floats have fast products, and these hold the sums exactly.
    dtype = np.float32 if summands(subscripts, x.shape, kernel.shape) <= MOST_IN_FLOAT32 else np.float64
    x, kernel = x.astype(dtype), kernel.astype(dtype)
    form = as_matmul(subscripts)
    if form is None:
        return np.einsum(subscripts, x, kernel, optimize=True).astype(np.int32)
    n, first = form
    length = math.prod(x.shape[-n:])
    matrix = kernel.reshape(length, -1) if first else kernel.reshape(-1, length).T
    others = kernel.shape[n:] if first else kernel.shape[:-n]
    return (x.reshape(*x.shape[:-n], length) @ matrix).reshape(*x.shape[:-n], *others).astype(np.int32)


def tensordot(x1, x2, axes):
    if x1.dtype in NARROW:
        return np.tensordot(x1.astype(np.float32), x2.astype(np.float32), axes).astype(x1.dtype)
    return np.tensordot(x1, x2, axes)


def dense(x, kernel, bias):
    y = matmul(x, kernel)
    return y if bias is None else y + bias


@_wide
def cholesky(x, upper):
    low = np.linalg.cholesky(x)
    return np.conj(np.swapaxes(low, -1, -2)) if upper else low


inv = _wide(np.linalg.inv)
det = _wide(np.linalg.det)


@_wide
def slogdet(x):
    return tuple(np.linalg.slogdet(x))


@_wide
def solve(a, b):
    # NumPy 2 reads b as one vector only when it is 1-d; a stack of vectors has one dimension less than a.
    if b.ndim == a.ndim - 1:
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.linalg.solve(a, b)


@_wide
def solve_triangular(a, b, lower):
    return solve(np.tril(a) if lower else np.triu(a), b)


@_wide
def qr(x, mode):
    return tuple(np.linalg.qr(x, mode))


@_wide
def svd(x, full_matrices, compute_uv):
    result = np.linalg.svd(x, full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


@_wide
def eigh(x):
    return tuple(np.linalg.eigh(x))


@_wide
def lu_factor(x):
    factor = _lapack_lu()
    flat = x.reshape(-1, *x.shape[-2:])
    parts = [factor(m) for m in flat]
    size = min(x.shape[-2:])
    lu = np.stack([p[0] for p in parts]) if parts else flat
    pivots = np.stack([p[1] for p in parts]) if parts else np.zeros((0, size))
    return lu.reshape(x.shape), pivots.reshape(*x.shape[:-2], size).astype(np.int32)


@functools.cache
def _lapack_lu():
    from scipy.linalg import lu_factor as factor

    return factor


@_wide
def eig(x):
    w, v = np.linalg.eig(x)
    kind = np.result_type(x.dtype, np.complex64)
    return w.astype(kind), v.astype(kind)
