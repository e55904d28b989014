"""Orthogonal matrices."""

import math

import numpy as np

from kerata.core import threefry
from kerata.initializers.seeded import SeededInitializer


class Orthogonal(SeededInitializer):
    """A random matrix with orthonormal rows or columns (whichever are fewer), times `gain`.

    Weights of more than two axes are orthogonal as matrices `(prod(shape[:-1]), shape[-1])`. Source: Saxe et
    al., 2014.

    Args:
        gain: factor.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: for weights of fewer than two axes.

    >>> from kerata import initializers, ops
    >>> w = initializers.Orthogonal(seed=1)((4, 2))
    >>> ops.round(ops.abs(ops.transpose(w) @ w), 5)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, gain=1.0, seed=None):
        super().__init__(seed)
        self.gain = gain

    def host(self, shape, dtype):
        if len(shape) < 2:
            raise ValueError(
                f"Orthogonal: the weight must be at least two-dimensional, but its shape is {shape} (rank "
                f"{len(shape)})."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        tall = (max(rows, columns), min(rows, columns))
        # LAPACK takes no half precision.
        q, r = np.linalg.qr(self._draw(threefry.host_normal, tall, dtype).astype("float32"))
        # With positive entries on R's diagonal the decomposition is unique and Q uniformly distributed.
        q *= np.sign(np.diag(r))
        return self.gain * (q.T if rows < columns else q).reshape(shape)
