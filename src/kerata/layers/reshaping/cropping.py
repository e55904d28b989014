"""Cropping: cut off the borders."""

from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import standardize_data_format
from kerata.layers.reshaping.borders import border_pair, border_pairs


class Cropping(Layer):
    """What cropping layers share: a subclass sets `rank`, and `cropping` as pairs."""

    rank = None
    data_format = "channels_last"

    def _pairs(self):
        return self.cropping

    def call(self, inputs):
        first = 1 if self.data_format == "channels_last" else 2
        key = [slice(None)] * len(inputs.shape)
        for axis, (before, after) in enumerate(self._pairs(), first):
            size = inputs.shape[axis]
            if size is not None and before + after >= size:
                raise ValueError(
                    f"{self._where()}: Values in `cropping` argument should be smaller than the corresponding spatial "
                    f"dimension of the input. Dimension {axis} has length {size} (shape {tuple(inputs.shape)}), of which "
                    f"{before} and {after} would be cut off."
                )
            key[axis] = slice(before, -after if after else None)
        return inputs[tuple(key)]


class Cropping1D(Cropping):
    """Cut steps off at both ends.

    Args:
        cropping: int, or pair `(before, after)`.

    Input: `(batch, steps, features)`. Output: the same with fewer steps.

    >>> import kerata
    >>> tuple(kerata.layers.Cropping1D(2)(kerata.ops.ones((1, 7, 3))).shape)
    (1, 3, 3)
    """

    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(**kwargs)
        self.cropping = border_pair(cropping, "cropping", self._where())
        self.input_spec = InputSpec(ndim=3)

    def _pairs(self):
        return (self.cropping,)


class Cropping2D(Cropping):
    """Cut the borders off an image.

    Args:
        cropping: int; or one for height and one for width; or for each a pair `(before, after)`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same, smaller.

    >>> import kerata
    >>> tuple(kerata.layers.Cropping2D(((1, 0), (2, 2)))(kerata.ops.ones((1, 6, 6, 3))).shape)
    (1, 5, 2, 3)
    """

    rank = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.cropping = border_pairs(cropping, self.rank, "cropping", self._where())
        self.input_spec = InputSpec(ndim=self.rank + 2)


class Cropping3D(Cropping):
    """Cut the borders off a volume.

    Args:
        cropping: int; or one for each spatial dimension; or for each a pair `(before, after)`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same, smaller.

    >>> import kerata
    >>> tuple(kerata.layers.Cropping3D(1)(kerata.ops.ones((1, 4, 4, 4, 2))).shape)
    (1, 2, 2, 2, 2)
    """

    rank = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.cropping = border_pairs(cropping, self.rank, "cropping", self._where())
        self.input_spec = InputSpec(ndim=self.rank + 2)
