"""Pooling by windows, in 1, 2 and 3 dimensions."""

from kerata import ops
from kerata.core.errors import int_tuple
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import ForRank, standardize_data_format, standardize_padding


class Pooling(ForRank, Layer):
    """What windowed pooling layers share. A subclass gives `reduce(inputs, …)`."""

    spatial = ("pool_size",)

    def _set_geometry(self, pool_size, strides, padding, data_format):
        self.pool_size = int_tuple(pool_size, self.rank, "pool_size", self._where())
        self.strides = self.pool_size
        if strides is not None:
            self.strides = int_tuple(strides, self.rank, "strides", self._where())
        self.padding = standardize_padding(padding, self._where())
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        return self.reduce(inputs, self.pool_size, self.strides, self.padding, self.data_format)


class MaxPooling(Pooling):
    """Base of `MaxPooling1D`, `MaxPooling2D` and `MaxPooling3D`.

    Args:
        pool_size: size of the window: int, or one for each spatial dimension.
        strides: steps of the window; `None`: `pool_size`.
        padding: `"valid"` or `"same"`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        name: name.
    """

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self._set_geometry(pool_size, strides, padding, data_format)

    def reduce(self, *arguments):
        return ops.max_pool(*arguments)


class AveragePooling(Pooling):
    """Base of `AveragePooling1D`, `AveragePooling2D` and `AveragePooling3D`. The arguments are `MaxPooling`'s."""

    def __init__(self, pool_size, strides=None, padding="valid", data_format=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self._set_geometry(pool_size, strides, padding, data_format)

    def reduce(self, *arguments):
        return ops.average_pool(*arguments)


class MaxPooling1D(MaxPooling, rank=1):
    """Largest value of each window of steps. The arguments are explained at `MaxPooling2D`.

    Input: `(batch, steps, channels)`. Output: `(batch, fewer steps, channels)`.

    >>> import kerata
    >>> tuple(kerata.layers.MaxPooling1D(2)(kerata.ops.ones((1, 6, 3))).shape)
    (1, 3, 3)
    """


class MaxPooling2D(MaxPooling, rank=2):
    """Largest value of each window of an image.

    Args:
        pool_size: height and width of the window; one int for both.
        strides: steps of the window; `None`: `pool_size`.
        padding: `"valid"`: whole windows only; `"same"`: windows may reach over the edge.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        name: name.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same, smaller.

    >>> import kerata
    >>> tuple(kerata.layers.MaxPooling2D()(kerata.ops.ones((1, 6, 6, 3))).shape)
    (1, 3, 3, 3)
    """


class MaxPooling3D(MaxPooling, rank=3):
    """Largest value of each window of a volume. The arguments are explained at `MaxPooling2D`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same, smaller.

    >>> import kerata
    >>> tuple(kerata.layers.MaxPooling3D()(kerata.ops.ones((1, 4, 4, 4, 3))).shape)
    (1, 2, 2, 2, 3)
    """


class AveragePooling1D(AveragePooling, rank=1):
    """Mean of each window of steps. The arguments are explained at `AveragePooling2D`.

    Input: `(batch, steps, channels)`. Output: `(batch, fewer steps, channels)`.

    >>> import kerata
    >>> tuple(kerata.layers.AveragePooling1D(2)(kerata.ops.ones((1, 6, 3))).shape)
    (1, 3, 3)
    """


class AveragePooling2D(AveragePooling, rank=2):
    """Mean of each window of an image.

    Args:
        pool_size: height and width of the window; one int for both.
        strides: steps of the window; `None`: `pool_size`.
        padding: `"valid"`: whole windows only; `"same"`: windows may reach over the edge, where nothing is counted.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        name: name.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same, smaller.

    >>> import kerata
    >>> tuple(kerata.layers.AveragePooling2D(2)(kerata.ops.ones((1, 6, 6, 3))).shape)
    (1, 3, 3, 3)
    """


class AveragePooling3D(AveragePooling, rank=3):
    """Mean of each window of a volume. The arguments are explained at `AveragePooling2D`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same, smaller.

    >>> import kerata
    >>> tuple(kerata.layers.AveragePooling3D(2)(kerata.ops.ones((1, 4, 4, 4, 3))).shape)
    (1, 2, 2, 2, 3)
    """
