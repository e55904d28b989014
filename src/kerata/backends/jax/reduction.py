"""Reductions on JAX."""

import jax.numpy as jnp
from jax import lax

from kerata.backends.jax.core import HALF, static


def sum(x, axis, keepdims):
    # Without a dtype JAX widens small integers.
    return jnp.sum(x, axis, x.dtype, None, keepdims)


def prod(x, axis, keepdims):
    return jnp.prod(x, axis, x.dtype, None, keepdims)


def max(x, axis, keepdims):
    return jnp.max(x, axis, None, keepdims)


def min(x, axis, keepdims):
    return jnp.min(x, axis, None, keepdims)


def any(x, axis, keepdims):
    return jnp.any(x, axis, None, keepdims)


def all(x, axis, keepdims):
    return jnp.all(x, axis, None, keepdims)


def mean(x, axis, keepdims):
    return jnp.mean(x, axis, None, None, keepdims)


def var(x, axis, keepdims):
    return jnp.var(x, axis, None, None, 0, keepdims)


def std(x, axis, keepdims):
    return jnp.std(x, axis, None, None, 0, keepdims)


@static(1, 2, 3)
def moments(x, axes, keepdims, synchronized):
    # Over a sharded axis XLA's reductions are global already: `synchronized` needs nothing more.
    wide = x.astype(jnp.float32) if x.dtype in HALF else x
    mean_ = jnp.mean(wide, axes, keepdims=True)
    var_ = jnp.mean(jnp.square(wide - mean_), axes, keepdims=keepdims)
    if not keepdims:
        mean_ = jnp.squeeze(mean_, axes)
    if x.dtype == jnp.float16:
        var_ = jnp.minimum(var_, jnp.finfo(x.dtype).max)  # what float16 can't hold is its largest number
    return mean_.astype(x.dtype), var_.astype(x.dtype)


@static(1, 2)
def argmax(x, axis, keepdims):
    return jnp.argmax(x, axis, keepdims=keepdims).astype(jnp.int32)


@static(1, 2)
def argmin(x, axis, keepdims):
    return jnp.argmin(x, axis, keepdims=keepdims).astype(jnp.int32)


@static(1)
def cumsum(x, axis):
    return jnp.cumsum(x, axis, x.dtype)


@static(1)
def cumprod(x, axis):
    return jnp.cumprod(x, axis, x.dtype)


@static(1, 2)
def logsumexp(x, axis, keepdims):
    top = lax.stop_gradient(jnp.max(x, axis, keepdims=True, initial=-jnp.inf))
    # A row of -inf alone is shifted by 0, and its logarithm's gradient (0 / 0) kept out of the backward pass.
    top = jnp.where(jnp.isfinite(top), top, 0)
    total = jnp.sum(jnp.exp(x - top), axis, keepdims=True)
    empty = total == 0
    result = jnp.where(empty, -jnp.inf, jnp.log(jnp.where(empty, 1, total))) + top
    return result if keepdims else jnp.squeeze(result, axis)
