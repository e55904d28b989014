"""A penalty on activations."""

from kerata import regularizers
from kerata.layers.layer import Layer


class ActivityRegularization(Layer):
    """The inputs themselves, whose size is added to the loss.

    Args:
        l1: factor of the sum of absolute values.
        l2: factor of the sum of squares.

    Input: any shape. Output: the same. The penalty is the mean over examples.

    >>> import kerata
    >>> layer = kerata.layers.ActivityRegularization(l1=0.5)
    >>> y = layer(kerata.ops.ones((2, 2)))
    >>> float(layer.losses[0])
    1.0
    """

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1 = l1
        self.l2 = l2
        self.supports_masking = True

    def call(self, inputs):
        return inputs

    def get_config(self):
        # The regularizer is the two numbers.
        return {
            **{k: v for k, v in self.common_config().items() if k != "activity_regularizer"},
            "l1": self.l1,
            "l2": self.l2,
        }
