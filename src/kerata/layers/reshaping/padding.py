"""Zero padding: zeros around."""

from kerata import ops
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import standardize_data_format
from kerata.layers.reshaping.borders import border_pair, border_pairs


class ZeroPadding(Layer):
    """What padding layers share: a subclass sets `rank`, and `padding` as pairs."""

    rank = None

    def _set_format(self, data_format):
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _pairs(self):
        return self.padding

    def call(self, inputs):
        none = (0, 0)
        if self.data_format == "channels_last":
            return ops.pad(inputs, (none, *self._pairs(), none))
        return ops.pad(inputs, (none, none, *self._pairs()))


class ZeroPadding1D(ZeroPadding):
    """Steps of zeros before and after.

    Args:
        padding: int, or pair `(before, after)`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: `(batch, steps, features)`. Output: the same with more steps.

    >>> import kerata
    >>> tuple(kerata.layers.ZeroPadding1D(2)(kerata.ops.ones((1, 3, 2))).shape)
    (1, 7, 2)
    """

    rank = 1

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.padding = border_pair(padding, "padding", self._where())
        self._set_format(data_format)

    def _pairs(self):
        return (self.padding,)


class ZeroPadding2D(ZeroPadding):
    """Zeros around an image.

    Args:
        padding: int; or one for height and one for width; or for each a pair `(before, after)`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same, larger.

    >>> import kerata
    >>> tuple(kerata.layers.ZeroPadding2D(((1, 0), (2, 2)))(kerata.ops.ones((1, 3, 3, 2))).shape)
    (1, 4, 7, 2)
    """

    rank = 2

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.padding = border_pairs(padding, self.rank, "padding", self._where())
        self._set_format(data_format)


class ZeroPadding3D(ZeroPadding):
    """Zeros around a volume.

    Args:
        padding: int; or one for each spatial dimension; or for each a pair `(before, after)`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same, larger.

    >>> import kerata
    >>> tuple(kerata.layers.ZeroPadding3D(1)(kerata.ops.ones((1, 2, 2, 2, 2))).shape)
    (1, 4, 4, 4, 2)
    """

    rank = 3

    def __init__(self, padding=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.padding = border_pairs(padding, self.rank, "padding", self._where())
        self._set_format(data_format)
