"""Conversions between colour spaces."""

import numpy as np

from kerata.core import dtypes
from kerata.ops.core import dtype as dtype_of
from kerata.ops.declare import Index, composite
from kerata.ops.elementwise import abs, cast, clip, equal, mod, multiply, where
from kerata.ops.image.layout import channel_axis, computing_dtype, layout
from kerata.ops.movement import split, squeeze, stack
from kerata.ops.reduction import max, min, sum

# ITU-R BT.601: what red, green and blue give to brightness.
LUMA = (0.2989, 0.587, 0.114)


def _bands(owner, images, data_format):
    axis = channel_axis(layout(owner, images, data_format))
    if images.shape[axis] not in (3, None):
        raise ValueError(f"{owner}: three channels are needed, but the shape is {tuple(images.shape)}.")
    return axis


def _floating(owner, images):
    if not dtypes.is_float(dtype_of(images)):
        raise ValueError(f"{owner}: images must be floating, within [0, 1], but their dtype is {dtype_of(images)}.")


@composite
def rgb_to_grayscale(images: Index, data_format=None):
    """Brightness of colour images, weighted as ITU-R BT.601 says.

    Args:
        images: tensor of shape `(batch, height, width, 3)` or without the batch.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' rank and dtype with one channel.

    >>> ops.round(ops.image.rgb_to_grayscale(ops.ones((1, 1, 3))), 3)
    [[[1.]]]
    """
    axis = _bands("rgb_to_grayscale", images, data_format)
    dtype = dtype_of(images)
    work = computing_dtype(dtype)
    weights = np.asarray(LUMA, work).reshape((3,) + (1,) * (-1 - axis))
    return cast(weighted_sum(cast(images, work), weights, axis), dtype)


@composite
def weighted_sum(x: Index, weights: Index, axis):
    """Sum of the bands, which as a product of matrices would be rounded on some accelerators."""
    return sum(multiply(x, weights), axis=axis, keepdims=True)


@composite
def rgb_to_hsv(images: Index, data_format=None):
    """Red, green and blue as hue, saturation and value (Smith, 1978).

    Args:
        images: floating tensor of shape `(batch, height, width, 3)` or without the batch, within [0, 1].
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' shape and dtype, within [0, 1].

    >>> ops.image.rgb_to_hsv(np.float32([[[0, 1, 0]]]))[0, 0, 1:]
    [1., 1.]
    """
    axis = _bands("rgb_to_hsv", images, data_format)
    _floating("rgb_to_hsv", images)
    return hue_saturation_value(images, axis)


@composite
def hue_saturation_value(images: Index, axis):
    """`rgb_to_hsv` of checked images (not public: one kernel where the framework has it)."""
    red, green, blue = (squeeze(c, axis) for c in split(images, 3, axis=axis))
    value = max(images, axis=axis)
    spread = value - min(images, axis=axis)
    safe = where(equal(spread, 0.0), 1.0, spread)
    saturation = where(value > 0.0, spread / where(value > 0.0, value, 1.0), 0.0)
    hue = where(
        equal(value, red),
        (green - blue) / safe,
        where(equal(value, green), 2.0 + (blue - red) / safe, 4.0 + (red - green) / safe),
    )
    hue = where(spread > 0.0, mod(hue / 6.0, 1.0), 0.0)
    return stack([hue, saturation, value], axis=axis)


@composite
def hsv_to_rgb(images: Index, data_format=None):
    """Hue, saturation and value as red, green and blue (Smith, 1978).

    Args:
        images: floating tensor of shape `(batch, height, width, 3)` or without the batch, within [0, 1].
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' shape and dtype, within [0, 1].

    >>> ops.image.hsv_to_rgb(np.float32([[[0, 1, 1]]]))
    [[[1., 0., 0.]]]
    """
    axis = _bands("hsv_to_rgb", images, data_format)
    _floating("hsv_to_rgb", images)
    return red_green_blue(images, axis)


@composite
def red_green_blue(images: Index, axis):
    """`hsv_to_rgb` of checked images (not public: one kernel where the framework has it)."""
    hue, saturation, value = (squeeze(c, axis) for c in split(images, 3, axis=axis))
    turn = hue * 6.0
    red = clip(abs(turn - 3.0) - 1.0, 0.0, 1.0)
    green = clip(2.0 - abs(turn - 2.0), 0.0, 1.0)
    blue = clip(2.0 - abs(turn - 4.0), 0.0, 1.0)
    white = 1.0 - saturation
    return stack([(white + saturation * band) * value for band in (red, green, blue)], axis=axis)
