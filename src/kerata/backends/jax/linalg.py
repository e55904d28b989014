"""Linear algebra on JAX."""

import functools
import math
import re

import jax
import jax.numpy as jnp
from jax import lax

from kerata.backends.jax.core import static

matmul = jnp.matmul
inv = jnp.linalg.inv
det = jnp.linalg.det
tensordot = static(2)(jnp.tensordot)


@static(0)
def einsum(subscripts, operands):
    kept = _kept(subscripts)
    if kept is not None and _is_flat(*operands, kept):
        return _flat_product(*operands, kept)
    return jnp.einsum(subscripts, *operands)


@functools.cache
def _kept(subscripts):
    """How many leading axes of `x` a dense einsum (`ab…c…,c…d… -> ab…d…`) keeps; `None` for others."""
    if not re.fullmatch(r"[a-zA-Z]+,[a-zA-Z]+->[a-zA-Z]+", subscripts):
        return None
    x, kernel, out = re.split(",|->", subscripts)
    contracted = "".join(c for c in x if c in kernel)
    new = kernel[len(contracted) :]
    kept = x[: len(x) - len(contracted)]
    dense = x == kept + contracted and kernel == contracted + new and out == kept + new and contracted
    return len(kept) if dense and len(set(x + new)) == len(x + new) else None


def _is_flat(x, kernel, kept):
    """Whether to multiply as matrices: XLA for the CPU takes 1.7 times as long for the gradient of a product of more axes."""
    contracted = x.shape[kept:]
    return x.ndim > 2 and contracted and contracted == kernel.shape[: len(contracted)] and jax.default_backend() == "cpu"


def _flat_product(x, kernel, kept):
    columns = kernel.shape[x.ndim - kept :]
    rows, size = math.prod(x.shape[:kept]), math.prod(x.shape[kept:])
    y = jnp.matmul(x.reshape(rows, size), kernel.reshape(size, math.prod(columns)))
    return y.reshape(*x.shape[:kept], *columns)


def integer_einsum(subscripts, x, kernel):
    return jnp.einsum(subscripts, x, kernel, preferred_element_type=jnp.int32)


@static()
def dense(x, kernel, bias):
    kept = x.ndim - 1
    y = _flat_product(x, kernel, kept) if kernel.ndim == 2 and _is_flat(x, kernel, kept) else jnp.matmul(x, kernel)
    return y if bias is None else y + bias


@static(1)
def cholesky(x, upper):
    low = lax.linalg.cholesky(x, symmetrize_input=False)
    return jnp.conj(jnp.swapaxes(low, -1, -2)) if upper else low


def slogdet(x):
    return tuple(jnp.linalg.slogdet(x))


@static()
def solve(a, b):
    if b.ndim == a.ndim - 1:
        return jnp.linalg.solve(a, b[..., None])[..., 0]
    return jnp.linalg.solve(a, b)


@static(2)
def solve_triangular(a, b, lower):
    vector = b.ndim == a.ndim - 1
    x = lax.linalg.triangular_solve(a, b[..., None] if vector else b, left_side=True, lower=lower)
    return x[..., 0] if vector else x


def qr(x, mode):
    return tuple(jnp.linalg.qr(x, mode))


def svd(x, full_matrices, compute_uv):
    result = jnp.linalg.svd(x, full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


def eigh(x):
    return tuple(jnp.linalg.eigh(x, symmetrize_input=False))


@static()
def lu_factor(x):
    lu, pivots, _ = lax.linalg.lu(x)
    return lu, pivots.astype(jnp.int32)


def eig(x):
    return tuple(jnp.linalg.eig(x))
