"""Images on JAX."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kerata.backends.jax.core import static

__all__ = ["resize_bilinear", "weighted_sum"]


@static(1, 2, 3)
def resize_bilinear(images, height, width, axis):
    if jax.default_backend() == "tpu":
        # Products with matrices, which are what it's made for.
        shape = list(images.shape)
        shape[axis : axis + 2] = height, width
        return jax.image.resize(images, shape, "bilinear", antialias=False)
    # Elsewhere picking rows, then columns, takes a tenth of that.
    return _along(_along(images, axis, height), axis + 1, width)


def _along(x, axis, new):
    """Between the two nearest places of an axis."""
    old = x.shape[axis]
    if new == old:
        return x
    centre = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    below = np.floor(centre).astype("int32")
    share = (centre - below).astype("float32").reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    a, b = (jnp.take(x, at, axis=axis, mode="clip") for at in (below, np.minimum(below + 1, old - 1)))
    return a * (1 - share) + b * share


@static(2)
def weighted_sum(x, weights, axis):
    if axis == -1:
        return jnp.matmul(x, jnp.reshape(weights, (-1, 1)), precision=lax.Precision.HIGHEST)
    return jnp.sum(x * weights, axis, keepdims=True)
