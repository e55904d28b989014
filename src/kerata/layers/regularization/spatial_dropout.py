"""Dropout of whole channels (Tompson et al., 2014)."""

from kerata import ops
from kerata.layers.input_spec import InputSpec
from kerata.layers.ranks import standardize_data_format
from kerata.layers.regularization.dropout import Dropout


class SpatialDropout(Dropout):
    """Base of the spatial dropout layers: a subclass sets `rank` and `data_format`."""

    rank = None
    data_format = "channels_last"

    def _noise_shape(self, inputs):
        shape = ops.shape(inputs)
        ones = (1,) * self.rank
        return (shape[0], *ones, shape[-1]) if self.data_format == "channels_last" else (*shape[:2], *ones)


class SpatialDropout1D(SpatialDropout):
    """In training, drop whole channels over all steps.

    Args:
        rate: share of channels to drop, from 0 to 1.
        seed: int; by default one is drawn.
        name: name.
        dtype: dtype policy.

    Input: `(batch, steps, channels)`. Output: the same shape.

    >>> import kerata
    >>> y = kerata.layers.SpatialDropout1D(0.5, seed=3)(kerata.ops.ones((1, 3, 8)), training=True)
    >>> bool(kerata.ops.all(y[0, 0] == y[0, 2]))
    True
    """

    rank = 1

    def __init__(self, rate, seed=None, name=None, dtype=None):
        super().__init__(rate, seed=seed, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=3)

    def get_config(self):
        return {"rate": self.rate, "seed": self.seed, "name": self.name, "dtype": self.dtype}


class SpatialDropout2D(SpatialDropout):
    """In training, drop whole feature maps of an image.

    Args:
        rate: share of channels to drop, from 0 to 1.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.
        name: name.
        dtype: dtype policy.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same shape.

    >>> import kerata
    >>> y = kerata.layers.SpatialDropout2D(0.5, seed=3)(kerata.ops.ones((1, 3, 3, 8)), training=True)
    >>> bool(kerata.ops.all(y[0, 0, 0] == y[0, 2, 1]))
    True
    """

    rank = 2

    def __init__(self, rate, data_format=None, seed=None, name=None, dtype=None):
        super().__init__(rate, seed=seed, name=name, dtype=dtype)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def get_config(self):
        return {
            "rate": self.rate,
            "seed": self.seed,
            "name": self.name,
            "dtype": self.dtype,
            "data_format": self.data_format,
        }


class SpatialDropout3D(SpatialDropout2D):
    """In training, drop whole feature maps of a volume. The arguments are those of `SpatialDropout2D`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same shape.

    >>> import kerata
    >>> y = kerata.layers.SpatialDropout3D(0.5, seed=3)(kerata.ops.ones((1, 2, 2, 2, 8)), training=True)
    >>> bool(kerata.ops.all(y[0, 0, 0, 0] == y[0, 1, 1, 0]))
    True
    """

    rank = 3
