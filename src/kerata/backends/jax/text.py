"""Hashes, computed on the host, also for compiled functions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from kerata.backends.jax.core import canonical
from kerata.core import fingerprint

__all__ = [
    "cross_buckets",
    "hash_buckets",
]


def _on_host(function, x, shape):
    dtype = canonical("int64")

    def host(x):
        return function(np.asarray(x)).astype(dtype)

    if isinstance(x, jax.core.Tracer):
        return jax.pure_callback(host, jax.ShapeDtypeStruct(shape, dtype), x)
    return jnp.asarray(host(x))


def hash_buckets(x, num_bins, salt):
    return _on_host(functools.partial(fingerprint.buckets, num_bins=num_bins, salt=salt), x, x.shape)


def cross_buckets(x, num_bins):
    return _on_host(lambda x: fingerprint.crossed([x[..., i] for i in range(x.shape[-1])], num_bins), x, x.shape[:-1])
