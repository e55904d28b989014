"""Creation natives on JAX."""

import jax.numpy as jnp

from kerata.backends.jax.core import canonical


def zeros(shape, dtype):
    return jnp.zeros(shape, canonical(dtype))


def ones(shape, dtype):
    return jnp.ones(shape, canonical(dtype))


def full(shape, fill_value, dtype):
    return jnp.full(shape, fill_value, canonical(dtype))


def arange(start, stop, step, dtype):
    return jnp.arange(start, stop, step, canonical(dtype))


def eye(N, M, k, dtype):
    return jnp.eye(N, M, k, canonical(dtype))


def linspace(start, stop, num, endpoint, dtype, axis):
    return jnp.linspace(start, stop, num, endpoint, dtype=canonical(dtype), axis=axis)
