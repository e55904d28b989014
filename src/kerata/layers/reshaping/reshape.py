"""`Reshape`: the same elements in another shape."""

import math

from kerata import ops
from kerata.core.errors import integer
from kerata.layers.layer import Layer
from kerata.layers.reshaping.flatten import with_batch


class Reshape(Layer):
    """The same elements in another shape; the batch stays.

    Args:
        target_shape: tuple of integers, without the batch; one of them may be -1, which is then found.

    Input: `(batch, …)`. Output: `(batch, *target_shape)`.

    Raises:
        ValueError: the elements don't fill the target shape.

    >>> import kerata
    >>> tuple(kerata.layers.Reshape((-1, 2))(kerata.ops.ones((2, 3, 4))).shape)
    (2, 6, 2)
    """

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        given = target_shape if isinstance(target_shape, (list, tuple)) else (target_shape,)
        target = tuple(integer(d, "target_shape", self._where(), minimum=-1) for d in given)
        if target.count(-1) > 1:
            raise ValueError(f"{self._where()}: only one dimension of `target_shape` may be -1, not {target}.")
        self.target_shape = target

    def call(self, inputs):
        return ops.reshape(inputs, with_batch(inputs, self._resolved(inputs.shape[1:])))

    def _resolved(self, shape):
        """The target shape with the -1 found, where the input's shape allows it."""
        if None in shape:
            return self.target_shape
        size, known = math.prod(shape), math.prod(d for d in self.target_shape if d != -1)
        if (known != size) if -1 not in self.target_shape else (not known or size % known):
            raise ValueError(
                f"{self._where()}: an input of shape (batch, {', '.join(map(str, shape))}) has {size} elements in each "
                f"example, which don't fill `target_shape` {self.target_shape}."
            )
        return tuple(size // known if d == -1 else d for d in self.target_shape)
