"""Random natives on JAX: the bits are `jax.random`'s (partitionable Threefry), the recipes `core.threefry`'s.

Everything is a pure function of the key, for `jit`, `vmap`, `scan` and sharding alike. With
`set_rng("native")`, uniforms, normals and masks come from `rbg` on accelerators; on a CPU it is slower than
Threefry, which stays.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax import random as jr

from kerata.backends.jax.core import canonical, static
from kerata.core import config, threefry
from kerata.core.scopes import in_stateless_scope

__all__ = [
    "compiled_whole", "random_bits", "random_dropout", "random_fold", "random_mask", "random_next",
    "random_normal", "random_permutation", "random_randint", "random_randint_between", "random_split",
    "random_truncated_normal", "random_uniform",
]  # fmt: skip

_STEP = np.array([0, 1], np.uint32)


# -- keys and bits ---------------------------------------------------------------------------------


def random_next(state):
    key, advanced = _next(state)
    if isinstance(advanced, jax.core.Tracer) and not in_stateless_scope():
        raise ValueError(
            "When tracing a JAX function, you should only use seeded random ops: the state of a SeedGenerator "
            "(without `seed`, of the global one) is a variable, which can't advance in there. Give an int "
            "`seed`, compile with `kerata.transforms.jit`, or use `stateless_call`."
        )
    return key, advanced


@static()
def _next(state):
    return state, state + _STEP


@static(1)
def random_split(key, num):
    # The layout is said here, so that a process-wide setting (or an older JAX's default) doesn't change the
    # numbers.
    with jax.threefry_partitionable(True):
        return jr.key_data(jr.split(_typed(key), num))


@static()
def random_fold(key, data):
    return jr.key_data(jr.fold_in(_typed(key), data))


@static(1)
def random_bits(key, shape):
    return _bits(key, shape, 32)


def _bits(key, shape, width):
    with jax.threefry_partitionable(True):
        return jr.bits(_typed(key), shape, f"uint{width}")


def _typed(key):
    return jr.wrap_key_data(key, impl="threefry2x32")


# -- floats ----------------------------------------------------------------------------------------


def random_uniform(key, shape, minval, maxval, dtype):
    draw = _native_uniform if _is_native() else _uniform
    return draw(key, shape, minval, maxval, canonical(dtype))


def random_normal(key, shape, dtype):
    draw = _native_normal if _is_native() else _normal
    return draw(key, shape, canonical(dtype))


def random_truncated_normal(key, shape, dtype):
    return _truncated_normal(key, shape, canonical(dtype))


@static(1, 2, 3, 4)
def _uniform(key, shape, minval, maxval, dtype):
    drawn, mantissa, one = threefry.FLOAT_RECIPES[dtype]
    pattern = jnp.dtype(f"uint{max(drawn, 16)}")
    words = _bits(key, shape, drawn).astype(pattern) >> pattern.type(drawn - mantissa) | pattern.type(one)
    values = lax.bitcast_convert_type(words, dtype) - jnp.ones((), dtype)
    low, scale = threefry.affine_constants(minval, maxval, dtype)
    # XLA makes product and sum one fused multiply-add; the other backends compute what that gives.
    return values * scale if low == 0 else lax.max(values * scale + low, jnp.asarray(low))


@static(1, 2)
def _normal(key, shape, dtype):
    return _quantile(_uniform(key, shape, *threefry.normal_bounds(dtype), dtype))


@static(1, 2)
def _truncated_normal(key, shape, dtype):
    low, high = map(jnp.asarray, threefry.truncated_limits(dtype))
    return lax.clamp(low, _quantile(_uniform(key, shape, *threefry.truncated_bounds(dtype), dtype)), high)


def _quantile(u):
    return lax.erf_inv(u) * jnp.asarray(math.sqrt(2), u.dtype)


# -- masks -----------------------------------------------------------------------------------------


def random_mask(key, shape, keep_prob):
    draw = _native_mask if _is_native() else _mask
    return draw(key, shape, keep_prob)


@static(1, 2)
def _mask(key, shape, keep_prob):
    width, threshold = threefry.mask_recipe(keep_prob)
    if threshold in (0, 1 << width):
        return jnp.full(shape, threshold > 0)
    size = math.prod(shape)
    words = random_split(key, threefry.mask_blocks(size, width)).T
    if width == 1:
        elements = (words[..., None] >> np.arange(32, dtype=np.uint32)) & 1
    else:
        elements = lax.bitcast_convert_type(words, f"uint{width}")
    return (elements < threshold).reshape(-1)[:size].reshape(shape)


def random_dropout(x, key, rate, noise_shape):
    return _dropout(x, key, rate, noise_shape, _is_native())


@static(2, 3, 4)
def _dropout(x, key, rate, noise_shape, native):
    mask = (_native_mask if native else _mask)(key, x.shape if noise_shape is None else noise_shape, 1 - rate)
    kept = x.astype(jnp.promote_types(x.dtype, jnp.float32)) * (1 / (1 - rate))
    return jnp.where(mask, kept.astype(x.dtype), jnp.zeros((), x.dtype))


# -- integers and order ----------------------------------------------------------------------------


def random_randint(key, shape, minval, maxval, dtype):
    return _randint_within(key, shape, minval, maxval, canonical(dtype))


def random_randint_between(key, minval, maxval, shape, dtype):
    return _randint(key, shape, minval, maxval, canonical(dtype))


@static(1, 2, 3, 4)
def _randint_within(key, shape, minval, maxval, dtype):
    low, span, word = threefry.randint_recipe(minval, maxval)
    kind = np.dtype(f"uint{canonical(f'uint{word}')[4:]}").type
    if word == 64 and kind is np.uint32:
        raise ValueError(
            f"randint: [{minval}, {maxval}) has more than 2**32 integers. JAX draws those with jax_enable_x64 only."
        )
    return _offset(key, shape, kind, span % (1 << word), threefry.randint_multiplier(span, word), low, dtype)


@static(1, 4)
def _randint(key, shape, minval, maxval, dtype):
    low, high = minval.astype(jnp.uint32), maxval.astype(jnp.uint32)
    span = jnp.where(maxval > minval, high - low, jnp.uint32(1))
    root = jnp.uint32(1 << 16) % span
    return _offset(key, shape, np.uint32, span, root * root % span, low, dtype)


def _offset(key, shape, kind, span, multiplier, low, dtype):
    high_key, low_key = random_split(key, 2)
    width = np.dtype(kind).itemsize * 8
    # XLA's remainder by zero is the dividend: a width of 2**32, wrapped to 0, takes whole words.
    span, multiplier = jnp.asarray(span, kind), jnp.asarray(multiplier, kind)
    offset = lax.rem(_bits(high_key, shape, width), jnp.broadcast_to(span, shape)) * multiplier
    offset = lax.rem(
        offset + lax.rem(_bits(low_key, shape, width), jnp.broadcast_to(span, shape)),
        jnp.broadcast_to(span, shape),
    )
    low = kind(low % (1 << width)) if isinstance(low, int) else low
    signed = f"int{width}" if np.issubdtype(dtype, np.signedinteger) else kind
    return lax.convert_element_type(lax.bitcast_convert_type(offset + low, signed), dtype)


@static(1)
def random_permutation(key, n):
    order = lax.iota(jnp.int32, n)
    for _ in range(threefry.permutation_rounds(n)):
        key, subkey = random_split(key, 2)
        _, order = lax.sort_key_val(_bits(subkey, (n,), 32), order)
    return order


# -- programs --------------------------------------------------------------------------------------


@functools.cache
def compiled_whole(function):
    """The function compiled, its first argument static: eagerly, each call would compile each loop in it."""
    return jax.jit(function, static_argnums=0)


# -- JAX's own generator ---------------------------------------------------------------------------


def _is_native():
    return config.rng_mode() == "native" and jax.default_backend() != "cpu"


def _native_key(key):
    return jr.wrap_key_data(jnp.concatenate([key, key]), impl="rbg")


@static(1, 2, 3, 4)
def _native_uniform(key, shape, minval, maxval, dtype):
    return jr.uniform(_native_key(key), shape, dtype, minval, maxval)


@static(1, 2)
def _native_normal(key, shape, dtype):
    return jr.normal(_native_key(key), shape, dtype)


@static(1, 2)
def _native_mask(key, shape, keep_prob):
    return jr.bernoulli(_native_key(key), keep_prob, shape)
