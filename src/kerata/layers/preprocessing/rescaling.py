"""`Rescaling`: numbers to another range."""

import numpy as np

from kerata import ops
from kerata.core.registry import CustomObjectScope
from kerata.layers.preprocessing.data_layer import DataLayer


class Rescaling(DataLayer):
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
        scale, offset = (self._of_channels(v) for v in (self.scale, self.offset))
        return ops.cast(inputs, dtype) * scale + offset

    def _of_channels(self, value):
        # Not a tensor: the layer may be called on several backends.
        return (
            value if isinstance(value, (int, float)) else ops.convert_to_tensor(np.asarray(value), self.compute_dtype)
        )

    def compute_output_shape(self, input_shape):
        return tuple(input_shape)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make the layer from its config.

        Args:
            config: what `get_config` returned.
            custom_objects: classes by name, for objects inside the config.
        """
        with CustomObjectScope(custom_objects or {}):
            return super().from_config(config)
