"""`Identity`: the inputs as they are."""

from kerata.layers.layer import Layer


class Identity(Layer):
    """The inputs as they are: a placeholder where a layer is expected.

    >>> import kerata
    >>> float(kerata.layers.Identity()(kerata.ops.ones(())))
    1.0
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return inputs
