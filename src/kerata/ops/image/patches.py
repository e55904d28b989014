"""Patches of images and volumes, by a convolution with a kernel of ones and zeros."""

import numpy as np

from kerata.core import config
from kerata.core.errors import int_tuple
from kerata.ops.core import dtype as dtype_of
from kerata.ops.declare import Float, composite
from kerata.ops.movement import expand_dims, pad, reshape, squeeze, transpose


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
    if strides == size and dilation_rate in (1, (1,) * rank, [1] * rank) and data_format == "channels_last":
        if None not in images.shape[1:]:
            result = _tiles(images, size, padding)
            return squeeze(result, 0) if single else result
    count = int(np.prod(size)) * channels
    # Output channel (place, channel) picks that one place and channel.
    kernel = np.eye(count, dtype="float32").reshape(*size, channels, count)
    result = conv(images, kernel.astype(_numpy_name(dtype_of(images))), strides, padding, data_format, dilation_rate)
    return squeeze(result, 0) if single else result


def _tiles(images, size, padding):
    """Patches side by side are the same numbers in another order."""
    *lengths, channels = images.shape[1:]
    if padding == "same":
        missing = [-n % k for n, k in zip(lengths, size)]
        images = pad(images, ((0, 0), *((m // 2, m - m // 2) for m in missing), (0, 0)))
        lengths = [n + m for n, m in zip(lengths, missing)]
    counts = [n // k for n, k in zip(lengths, size)]
    images = images[(slice(None), *(slice(0, c * k) for c, k in zip(counts, size)))]
    x = reshape(images, (-1, *(d for pair in zip(counts, size) for d in pair), channels))
    rank = len(size)
    x = transpose(x, (0, *range(1, 2 * rank, 2), *range(2, 2 * rank + 1, 2), 2 * rank + 1))
    return reshape(x, (-1, *counts, int(np.prod(size)) * channels))


def _numpy_name(dtype):
    return dtype if dtype != "bfloat16" else "float32"
