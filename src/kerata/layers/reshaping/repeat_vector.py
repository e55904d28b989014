"""`RepeatVector`: a vector at each of several steps."""

from kerata import ops
from kerata.core.errors import integer
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer


class RepeatVector(Layer):
    """The input, `n` times along a new dimension.

    Args:
        n: how often.

    Input: `(batch, features)`. Output: `(batch, n, features)`.

    >>> import kerata
    >>> tuple(kerata.layers.RepeatVector(3)(kerata.ops.ones((2, 4))).shape)
    (2, 3, 4)
    """

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        try:
            self.n = integer(n, "n", self._where())
        except ValueError as error:
            raise TypeError(str(error)) from None
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        return ops.repeat(ops.expand_dims(inputs, 1), self.n, axis=1)
