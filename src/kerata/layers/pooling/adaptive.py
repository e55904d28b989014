"""Pooling to an output size that is given."""

from kerata import ops
from kerata.core.errors import int_tuple
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import ForRank, standardize_data_format


class AdaptivePooling(ForRank, Layer):
    """What adaptive pooling layers share. A subclass gives `reduce(inputs, …)`.

    Args:
        output_size: int, or one for each spatial dimension.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
    """

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.output_size = int_tuple(output_size, self.rank, "output_size", self._where())
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        return self.reduce(inputs, self.output_size, self.data_format)


class AdaptiveAveragePooling(AdaptivePooling):
    """Base of the adaptive layers that take means."""

    def reduce(self, *arguments):
        return ops.adaptive_average_pool(*arguments)


class AdaptiveMaxPooling(AdaptivePooling):
    """Base of the adaptive layers that take maxima."""

    def reduce(self, *arguments):
        return ops.adaptive_max_pool(*arguments)


class AdaptiveAveragePooling1D(AdaptiveAveragePooling, rank=1):
    """Means over as many windows of steps as are asked for.

    Args:
        output_size: number of steps of the output.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    >>> import kerata
    >>> tuple(kerata.layers.AdaptiveAveragePooling1D(2)(kerata.ops.ones((1, 5, 3))).shape)
    (1, 2, 3)
    """


class AdaptiveAveragePooling2D(AdaptiveAveragePooling, rank=2):
    """Means over windows of an image chosen so that the output has the size asked for.

    Args:
        output_size: height and width of the output; one int for both.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    >>> import kerata
    >>> tuple(kerata.layers.AdaptiveAveragePooling2D(2)(kerata.ops.ones((1, 5, 5, 3))).shape)
    (1, 2, 2, 3)
    """


class AdaptiveAveragePooling3D(AdaptiveAveragePooling, rank=3):
    """Means over windows of a volume. The arguments are those of `AdaptiveAveragePooling2D`.

    >>> import kerata
    >>> tuple(kerata.layers.AdaptiveAveragePooling3D(2)(kerata.ops.ones((1, 5, 5, 5, 3))).shape)
    (1, 2, 2, 2, 3)
    """


class AdaptiveMaxPooling1D(AdaptiveMaxPooling, rank=1):
    """Maxima over as many windows of steps as are asked for.

    Args:
        output_size: number of steps of the output.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    >>> import kerata
    >>> tuple(kerata.layers.AdaptiveMaxPooling1D(2)(kerata.ops.ones((1, 5, 3))).shape)
    (1, 2, 3)
    """


class AdaptiveMaxPooling2D(AdaptiveMaxPooling, rank=2):
    """Maxima over windows of an image chosen so that the output has the size asked for.

    Args:
        output_size: height and width of the output; one int for both.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    >>> import kerata
    >>> tuple(kerata.layers.AdaptiveMaxPooling2D(2)(kerata.ops.ones((1, 5, 5, 3))).shape)
    (1, 2, 2, 3)
    """


class AdaptiveMaxPooling3D(AdaptiveMaxPooling, rank=3):
    """Maxima over windows of a volume. The arguments are those of `AdaptiveMaxPooling2D`.

    >>> import kerata
    >>> tuple(kerata.layers.AdaptiveMaxPooling3D(2)(kerata.ops.ones((1, 5, 5, 5, 3))).shape)
    (1, 2, 2, 2, 3)
    """
