"""Upsampling: each element several times."""

from kerata import ops
from kerata.core.errors import int_tuple, integer, one_of
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import standardize_data_format
from kerata.ops.image.resizing import enlarged

INTERPOLATIONS = ("bicubic", "bilinear", "lanczos3", "lanczos5", "nearest")


def repeated(inputs, sizes, data_format):
    """Each element of spatial dimension i `sizes[i]` times."""
    first = 1 if data_format == "channels_last" else 2
    for axis, size in enumerate(sizes, first):
        if size > 1:
            inputs = ops.repeat(inputs, size, axis=axis)
    return inputs


class UpSampling1D(Layer):
    """Each step `size` times.

    Args:
        size: how often.

    Input: `(batch, steps, features)`. Output: `(batch, size * steps, features)`.

    >>> import kerata
    >>> tuple(kerata.layers.UpSampling1D(2)(kerata.ops.ones((1, 3, 2))).shape)
    (1, 6, 2)
    """

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        try:
            self.size = integer(size, "size", self._where())
        except ValueError:
            raise TypeError(f"{self._where()}: Expected an integer value for `size`, but {size!r} was given.") from None
        if self.size < 1:
            raise ValueError(f"{self._where()}: `size` should be a positive integer, but {size!r} was given.")
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs):
        return repeated(inputs, (self.size,), "channels_last")


class UpSampling2D(Layer):
    """Rows and columns of an image several times, or interpolated.

    Args:
        size: factors of height and width; one int for both.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        interpolation: `"nearest"`, `"bilinear"`, `"bicubic"`, `"lanczos3"` or `"lanczos5"`.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same, larger.

    >>> import kerata
    >>> tuple(kerata.layers.UpSampling2D((1, 2))(kerata.ops.ones((1, 3, 3, 2))).shape)
    (1, 3, 6, 2)
    """

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(**kwargs)
        self.size = int_tuple(size, 2, "size", self._where())
        self.data_format = standardize_data_format(data_format)
        self.interpolation = one_of(interpolation.lower(), INTERPOLATIONS, "interpolation", self._where())
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs):
        if self.interpolation == "nearest":
            return repeated(inputs, self.size, self.data_format)
        first = 1 if self.data_format == "channels_last" else 2
        shape = inputs.shape[first : first + 2]
        if None in shape:
            return enlarged(inputs, self.size, self.interpolation, self.data_format)
        size = tuple(n * factor for n, factor in zip(shape, self.size, strict=True))
        return ops.image.resize(inputs, size, interpolation=self.interpolation, data_format=self.data_format)


class UpSampling3D(Layer):
    """Each element of a volume several times along each spatial dimension.

    Args:
        size: factors of the three dimensions; one int for all.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same, larger.

    >>> import kerata
    >>> tuple(kerata.layers.UpSampling3D(2)(kerata.ops.ones((1, 2, 2, 2, 1))).shape)
    (1, 4, 4, 4, 1)
    """

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.size = int_tuple(size, 3, "size", self._where())
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=5)

    def call(self, inputs):
        return repeated(inputs, self.size, self.data_format)
