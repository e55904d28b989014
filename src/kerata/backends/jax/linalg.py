"""Linear algebra on JAX."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from kerata.backends.halves import in_float32
from kerata.backends.jax.core import HALF, static

_wide = in_float32(HALF, jnp.float32, lax.convert_element_type)

matmul = jnp.matmul
inv = _wide(jnp.linalg.inv)
det = _wide(jnp.linalg.det)
tensordot = static(2)(jnp.tensordot)


@static(0)
def einsum(subscripts, operands):
    return jnp.einsum(subscripts, *operands)


def integer_einsum(subscripts, x, kernel):
    return jnp.einsum(subscripts, x, kernel, preferred_element_type=jnp.int32)


@static()
def dense(x, kernel, bias):
    y = _product(x, kernel)
    return y if bias is None else y + bias


def _product(x, kernel):
    fits = x.ndim > 2 and kernel.ndim == 2 and x.shape[-1] == kernel.shape[0]
    if not fits or jax.default_backend() != "cpu":
        return jnp.matmul(x, kernel)
    # XLA for the CPU takes 1.7 times as long for the gradient of a product with more axes.
    y = jnp.matmul(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), kernel)
    return y.reshape(*x.shape[:-1], kernel.shape[1])


@_wide
def cholesky(x, upper):
    root = _cholesky(x, upper)
    if not isinstance(root, jax.core.Tracer) and _is_nan(root) and not jnp.isnan(x).any():
        raise ValueError("cholesky: a matrix isn't positive definite.")
    return root


@static()
def _is_nan(root):
    # What is NaN makes the rest of its row and column so, and in the end the last element.
    return jnp.isnan(root[..., -1:, -1:]).any()


@static(1)
def _cholesky(x, upper):
    low = lax.linalg.cholesky(x, symmetrize_input=False)
    return jnp.conj(jnp.swapaxes(low, -1, -2)) if upper else low


@_wide
def slogdet(x):
    return tuple(jnp.linalg.slogdet(x))


@_wide
@static()
def solve(a, b):
    if b.ndim == a.ndim - 1:
        return jnp.linalg.solve(a, b[..., None])[..., 0]
    return jnp.linalg.solve(a, b)


@_wide
@static(2)
def solve_triangular(a, b, lower):
    vector = b.ndim == a.ndim - 1
    x = lax.linalg.triangular_solve(a, b[..., None] if vector else b, left_side=True, lower=lower)
    return x[..., 0] if vector else x


@_wide
def qr(x, mode):
    return tuple(jnp.linalg.qr(x, mode))


@_wide
def svd(x, full_matrices, compute_uv):
    result = jnp.linalg.svd(x, full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


@_wide
def eigh(x):
    return tuple(jnp.linalg.eigh(x, symmetrize_input=False))


@_wide
@static()
def lu_factor(x):
    lu, pivots, _ = lax.linalg.lu(x)
    return lu, pivots.astype(jnp.int32)


@_wide
def eig(x):
    return tuple(jnp.linalg.eig(x))
