"""`Masking`: steps that hold nothing."""

from kerata import ops
from kerata.layers.layer import Layer


class Masking(Layer):
    """Mask the steps in which every feature is `mask_value`; the output is zero there.

    Args:
        mask_value: a number.

    Input: `(batch, steps, features)`. Output: the same, with a mask `(batch, steps)`.

    >>> import kerata
    >>> y = kerata.layers.Masking()(kerata.ops.convert_to_tensor([[[1.0, 0.0], [0.0, 0.0]]]))
    >>> kerata.ops.convert_to_numpy(y._keras_mask).tolist()
    [[True, False]]
    """

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value["value"] if isinstance(mask_value, dict) else mask_value
        self.supports_masking = True

    def call(self, inputs):
        counts = ops.any(ops.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * ops.cast(counts, inputs.dtype)

    def compute_mask(self, inputs, mask=None):
        """Steps in which something isn't `mask_value`."""
        return ops.any(ops.not_equal(inputs, self.mask_value), axis=-1)
