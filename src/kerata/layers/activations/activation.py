"""An activation function as a layer."""

from kerata import activations
from kerata.layers.layer import Layer


class Activation(Layer):
    """An activation function, element by element.

    Args:
        activation: function, or its name.

    Input: any shape. Output: the same.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.Activation("relu")([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.supports_masking = True

    def call(self, inputs):
        return self.activation(inputs)
