"""Patches of images and volumes, by a convolution with a kernel of ones and zeros."""

import numpy as np

from kerata.core import config
from kerata.core.errors import int_tuple
from kerata.ops.core import dtype as dtype_of
from kerata.ops.declare import Float, composite
from kerata.ops.movement import expand_dims, squeeze


@composite
def extract_patches(images: Float, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """Patches of images, each flattened into channels (`tf.image.extract_patches`).

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        size: `(height, width)` of a patch, or one number for both.
        strides: distance between patches, by default `size`.
        dilation_rate: distance between the pixels of a patch.
        padding: `"valid"`, or `"same"`: images are padded with zeros so that `ceil(size / strides)` fit.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of shape `(batch, rows, columns, height * width * channels)`, or channels first.

    >>> ops.image.extract_patches(ops.ones((1, 4, 4, 1)), 2).shape[-1]
    4
    """
    return _patches("extract_patches", 2, images, size, strides, dilation_rate, padding, data_format)


@composite
def extract_patches_3d(volumes: Float, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """Patches of volumes, each flattened into channels.

    Args:
        volumes: tensor of shape `(batch, depth, height, width, channels)` or without the batch.
        size: `(depth, height, width)` of a patch, or one number for all.
        strides: distance between patches, by default `size`.
        dilation_rate: distance between the voxels of a patch.
        padding: `"valid"` or `"same"`.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of shape `(batch, planes, rows, columns, depth * height * width * channels)`, or channels first.

    >>> ops.image.extract_patches_3d(ops.ones((1, 4, 4, 4, 1)), 2).shape[-1]
    8
    """
    return _patches("extract_patches_3d", 3, volumes, size, strides, dilation_rate, padding, data_format)


def _patches(owner, rank, images, size, strides, dilation_rate, padding, data_format):
    from kerata.ops.nn import conv

    data_format = config.standardize_data_format(data_format)
    if len(images.shape) not in (rank + 1, rank + 2):
        raise ValueError(
            f"{owner}: {rank + 1} or {rank + 2} dimensions are needed, but the shape is {tuple(images.shape)}."
        )
    if isinstance(size, (tuple, list)) and len(size) != rank:
        raise TypeError(f"{owner}: `size` must be an integer or {rank} integers, not {size!r}.")
    size = int_tuple(size, rank, "size", owner)
    strides = size if strides is None else int_tuple(strides, rank, "strides", owner)
    single = len(images.shape) == rank + 1
    if single:
        images = expand_dims(images, 0)
    channels = images.shape[-1 if data_format == "channels_last" else 1]
    if channels is None:
        raise ValueError(f"{owner}: the number of channels must be known, but the shape is {tuple(images.shape)}.")
    count = int(np.prod(size)) * channels
    # Output channel (place, channel) picks that one place and channel.
    kernel = np.eye(count, dtype="float32").reshape(*size, channels, count)
    result = conv(images, kernel.astype(_numpy_name(dtype_of(images))), strides, padding, data_format, dilation_rate)
    return squeeze(result, 0) if single else result


def _numpy_name(dtype):
    return dtype if dtype != "bfloat16" else "float32"
