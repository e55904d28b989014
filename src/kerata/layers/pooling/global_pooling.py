"""Pooling over all of space or time."""

from kerata import ops
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import ForRank, standardize_data_format


class GlobalPooling(ForRank, Layer):
    """What global pooling layers share. A subclass gives `reduce(inputs, axes)`.

    Args:
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        keepdims: keep the pooled dimensions with length 1.
    """

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.keepdims = keepdims
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _axes(self):
        first = 1 if self.data_format == "channels_last" else 2
        return tuple(range(first, first + self.rank))


class GlobalMaxPooling(GlobalPooling):
    """Base of `GlobalMaxPooling1D`, `GlobalMaxPooling2D` and `GlobalMaxPooling3D`."""

    def call(self, inputs):
        return ops.max(inputs, axis=self._axes, keepdims=self.keepdims)


class GlobalAveragePooling(GlobalPooling):
    """Base of `GlobalAveragePooling2D` and `GlobalAveragePooling3D`."""

    def call(self, inputs):
        return ops.mean(inputs, axis=self._axes, keepdims=self.keepdims)


class GlobalMaxPooling1D(GlobalMaxPooling, rank=1):
    """Largest value over all steps.

    Args:
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        keepdims: keep the steps' dimension with length 1.

    Input: `(batch, steps, channels)`. Output: `(batch, channels)`.

    >>> import kerata
    >>> tuple(kerata.layers.GlobalMaxPooling1D()(kerata.ops.ones((2, 5, 3))).shape)
    (2, 3)
    """


class GlobalMaxPooling2D(GlobalMaxPooling, rank=2):
    """Largest value over height and width.

    Args:
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        keepdims: keep height and width with length 1.

    Input: `(batch, height, width, channels)`, or channels second. Output: `(batch, channels)`.

    >>> import kerata
    >>> tuple(kerata.layers.GlobalMaxPooling2D()(kerata.ops.ones((2, 5, 5, 3))).shape)
    (2, 3)
    """


class GlobalMaxPooling3D(GlobalMaxPooling, rank=3):
    """Largest value over depth, height and width. The arguments are those of `GlobalMaxPooling2D`.

    >>> import kerata
    >>> tuple(kerata.layers.GlobalMaxPooling3D()(kerata.ops.ones((2, 4, 4, 4, 3))).shape)
    (2, 3)
    """


class GlobalAveragePooling1D(GlobalPooling, rank=1):
    """Mean over all steps, masked ones left out.

    Args:
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        keepdims: keep the steps' dimension with length 1.

    Input: `(batch, steps, channels)`, and by `mask` a boolean `(batch, steps)`. Output: `(batch, channels)`.

    >>> import kerata
    >>> x = kerata.ops.convert_to_tensor([[[1.0], [3.0], [8.0]]])
    >>> float(kerata.layers.GlobalAveragePooling1D()(x, mask=kerata.ops.convert_to_tensor([[True, True, False]]))[0, 0])
    2.0
    """

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return ops.mean(inputs, axis=self._axes, keepdims=self.keepdims)
        axis = self._axes[0]
        counts = ops.expand_dims(ops.cast(mask, inputs.dtype), 2 if axis == 1 else 1)
        total = ops.sum(inputs * counts, axis=axis, keepdims=self.keepdims)
        return total / ops.sum(counts, axis=axis, keepdims=self.keepdims)

    def compute_mask(self, inputs, mask=None):
        """None: there are no steps any more."""
        return None


class GlobalAveragePooling2D(GlobalAveragePooling, rank=2):
    """Mean over height and width.

    Args:
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        keepdims: keep height and width with length 1.

    Input: `(batch, height, width, channels)`, or channels second. Output: `(batch, channels)`.

    >>> import kerata
    >>> tuple(kerata.layers.GlobalAveragePooling2D()(kerata.ops.ones((2, 5, 5, 3))).shape)
    (2, 3)
    """


class GlobalAveragePooling3D(GlobalAveragePooling, rank=3):
    """Mean over depth, height and width. The arguments are those of `GlobalAveragePooling2D`.

    >>> import kerata
    >>> tuple(kerata.layers.GlobalAveragePooling3D()(kerata.ops.ones((2, 4, 4, 4, 3))).shape)
    (2, 3)
    """
