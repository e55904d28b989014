"""`Rescaling`: numbers to another range."""

import numpy as np

from kerata import ops
from kerata.core import config
from kerata.core.registry import CustomObjectScope
from kerata.layers.preprocessing.data_layer import DataLayer


class Rescaling(DataLayer):
    """`inputs * scale + offset`, in training and in inference.

    Args:
        scale: number, or one for each channel (which is the first dimension after the batch if the configuration says
            `"channels_first"`). `1 / 255` brings pixels to 0…1.
        offset: number, or one for each channel.

    Input: any shape, integers too. Output: the same shape, floating.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.Rescaling(0.5, offset=1.0)([2, 4])).tolist()
    [2.0, 3.0]
    """

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.offset = (v.tolist() if isinstance(v, np.ndarray) else v for v in (scale, offset))
        self.supports_masking = True

    def call(self, inputs):
        x = ops.cast(inputs, self.compute_dtype)
        scale, offset = (self._of_channels(v, len(x.shape)) for v in (self.scale, self.offset))
        return x * scale + offset

    def _of_channels(self, value, rank):
        if isinstance(value, (int, float)):
            return value
        # Not a tensor until now: the layer may be called on several backends.
        value = np.asarray(value)
        if value.ndim == 1 and rank > 2 and config.image_data_format() == "channels_first":
            value = value.reshape(-1, *(1,) * (rank - 2))
        return ops.convert_to_tensor(value, self.compute_dtype)

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
