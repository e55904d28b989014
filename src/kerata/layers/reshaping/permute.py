"""`Permute`: dimensions in another order."""

from kerata import ops
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer


class Permute(Layer):
    """The dimensions in another order; the batch stays first.

    Args:
        dims: tuple of the input's dimensions, counted from 1, in the order wanted.

    Input: `(batch, …)`. Output: the dimensions reordered.

    Raises:
        ValueError: `dims` isn't a permutation of 1, 2, …

    >>> import kerata
    >>> tuple(kerata.layers.Permute((2, 1))(kerata.ops.ones((5, 3, 4))).shape)
    (5, 4, 3)
    """

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"{self._where()}: Invalid permutation for argument `dims`: it must hold each number from 1 to "
                f"{len(self.dims)} once, but {dims!r} was given."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        return ops.transpose(inputs, (0, *self.dims))
