"""`Wrapper`: a layer around a layer."""

from kerata.layers.layer import Layer


class Wrapper(Layer):
    """The base of layers that hold one other layer.

    Args:
        layer: the layer inside.

    Raises:
        ValueError: `layer` is no layer.

    >>> import kerata
    >>> class Twice(kerata.layers.Wrapper):
    ...     def call(self, inputs):
    ...         return self.layer(self.layer(inputs))
    >>> tuple(Twice(kerata.layers.Dense(3))(kerata.ops.ones((2, 3))).shape)
    (2, 3)
    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Layer {layer!r} supplied to {type(self).__name__} isn't a supported layer type. "
                "Please ensure wrapped layer is a valid Keras layer."
            )
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
