"""Creation natives on JAX."""

import jax.numpy as jnp

from kerata.backends.jax.core import canonical, static


def zeros(shape, dtype):
    return jnp.zeros(shape, canonical(dtype))


def ones(shape, dtype):
    return jnp.ones(shape, canonical(dtype))


def full(shape, fill_value, dtype):
    return jnp.full(shape, fill_value, canonical(dtype))


_arange = static(0, 1, 2, 3)(jnp.arange)


def arange(start, stop, step, dtype):
    plain = all(type(v) in (int, float) for v in (start, stop, step))
    return (_arange if plain else jnp.arange)(start, stop, step, canonical(dtype))


def eye(N, M, k, dtype):
    return jnp.eye(N, M, k, canonical(dtype))


@static(2, 3, 4, 5)
def linspace(start, stop, num, endpoint, dtype, axis):
    return jnp.linspace(start, stop, num, endpoint, dtype=canonical(dtype), axis=axis)
