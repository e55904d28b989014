"""Indexing, scattering and ordering on JAX."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kerata.backends.jax.core import static


@static(2)
def take(x, indices, axis):
    if jnp.issubdtype(indices.dtype, jnp.signedinteger):
        indices = jnp.where(indices < 0, indices + x.shape[axis], indices)
    return jnp.take(x, indices, axis, mode="clip")


@static(2)
def take_along_axis(x, indices, axis):
    return jnp.take_along_axis(x, indices, axis)


def get_item(x, key):
    keys = key if type(key) is tuple else (key,)
    if any(type(k) is list for k in keys):
        return x[tuple(np.asarray(k) if type(k) is list else k for k in keys)]
    if all(type(k) is int for k in keys):
        _check_bounds(keys, x.shape)
    return x[key]


def _check_bounds(keys, shape):
    # JAX would take the nearest element.
    for axis, (k, n) in enumerate(zip(keys, shape)):
        if not -n <= k < n:
            raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")


@static(2)
def scatter(indices, values, shape):
    return jnp.zeros(shape, values.dtype).at[tuple(jnp.moveaxis(indices, -1, 0))].add(values)


@static(3)
def scatter_update(inputs, indices, updates, reduction):
    at = inputs.at[tuple(jnp.moveaxis(indices, -1, 0))]
    return getattr(at, reduction or "set")(updates)


def _starts(start_indices):
    return [jnp.asarray(s, jnp.int32) for s in start_indices]


@static(2)
def slice(inputs, start_indices, shape):
    return lax.dynamic_slice(inputs, _starts(start_indices), shape)


@static()
def slice_update(inputs, start_indices, updates):
    return lax.dynamic_update_slice(inputs, updates, _starts(start_indices))


@static(1, 2, 3)
def one_hot(x, num_classes, axis, dtype):
    return jax.nn.one_hot(x, num_classes, axis=axis, dtype=dtype)


@static(1)
def sort(x, axis):
    return jnp.sort(x, axis)


@static(1)
def argsort(x, axis):
    return jnp.argsort(x, axis, stable=True).astype(jnp.int32)


@static(1, 2)
def top_k(x, k, sorted):
    values, indices = lax.top_k(x, k)
    return values, indices.astype(jnp.int32)


@static(2)
def searchsorted(sorted_sequence, values, side):
    return jnp.searchsorted(sorted_sequence, values, side).astype(jnp.int32)


def nonzero(x):
    return tuple(i.astype(jnp.int32) for i in jnp.nonzero(x))


@static(2)
def segment_sum(data, segment_ids, num_segments):
    return jax.ops.segment_sum(data, segment_ids, num_segments)
