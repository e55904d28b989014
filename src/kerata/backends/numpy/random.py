"""Random natives on NumPy: Threefry in place, or, with `set_rng("native")`, NumPy's Philox seeded by the
key.
"""

import numpy as np

from kerata.core import config, threefry
from kerata.core.dtypes import to_numpy_dtype

__all__ = [
    "random_bits", "random_dropout", "random_fold", "random_mask", "random_next", "random_normal",
    "random_permutation", "random_randint", "random_randint_between", "random_split",
    "random_truncated_normal", "random_uniform",
]  # fmt: skip

_STEP = np.array([0, 1], np.uint32)


def random_next(state):
    return state, state + _STEP


def random_split(key, num):
    return threefry.split(key, num)


def random_fold(key, data):
    return threefry.fold(key, data)


def random_bits(key, shape):
    return threefry.host_bits(shape, key)


def random_uniform(key, shape, minval, maxval, dtype):
    if config.rng_mode() == "native":
        values = _generator(key).random(shape, np.float64 if dtype == "float64" else np.float32)
        low, scale = threefry.affine_constants(minval, maxval, dtype)
        return (values * scale + low).astype(to_numpy_dtype(dtype))
    return threefry.host_uniform(shape, key, minval, maxval, dtype)


def random_normal(key, shape, dtype):
    if config.rng_mode() == "native":
        kind = np.float64 if dtype == "float64" else np.float32
        return _generator(key).standard_normal(shape, kind).astype(to_numpy_dtype(dtype))
    return threefry.host_normal(shape, key, dtype=dtype)


def random_truncated_normal(key, shape, dtype):
    return threefry.host_truncated_normal(shape, key, dtype=dtype)


def random_randint(key, shape, minval, maxval, dtype):
    return threefry.host_randint(shape, key, minval, maxval, dtype)


def random_randint_between(key, minval, maxval, shape, dtype):
    bounds = (np.broadcast_to(bound, shape).reshape(-1) for bound in (minval, maxval))
    return threefry.host_randint(shape, key, *bounds, dtype)


def random_mask(key, shape, keep_prob):
    if config.rng_mode() == "native":
        return _generator(key).random(shape, np.float32) < np.float32(keep_prob)
    return threefry.host_mask(shape, key, keep_prob)


def random_dropout(x, key, rate, noise_shape):
    mask = random_mask(key, x.shape if noise_shape is None else noise_shape, 1 - rate)
    scale = 1 / (1 - rate)
    kept = x * scale if x.dtype.itemsize > 2 else (x.astype(np.float32) * scale).astype(x.dtype)
    return np.where(mask, kept, x.dtype.type(0))


def random_permutation(key, n):
    return threefry.permutation(key, n)


def _generator(key):
    return np.random.Generator(np.random.Philox(key=threefry.key_pair(key)))
