"""`Rescaling`: numbers to another range."""

from kerata import ops
from kerata.layers.layer import Layer


class Rescaling(Layer):
    """`inputs * scale + offset`, in training and in inference.

    Args:
        scale: number, or one for each channel. `1 / 255` brings pixels to 0…1.
        offset: number, or one for each channel.

    Input: any shape, integers too. Output: the same shape, floating.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.Rescaling(0.5, offset=1.0)([2, 4])).tolist()
    [2.0, 3.0]
    """

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale
        self.offset = offset
        self.supports_masking = True

    def call(self, inputs):
        dtype = self.compute_dtype
        scale, offset = (self._of_channels(v, inputs) for v in (self.scale, self.offset))
        return ops.cast(inputs, dtype) * scale + offset

    def _of_channels(self, value, inputs):
        return (
            ops.cast(value, self.compute_dtype)
            if isinstance(value, (list, tuple)) or hasattr(value, "shape")
            else value
        )
