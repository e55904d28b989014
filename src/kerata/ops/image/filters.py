"""Filters over neighbourhoods: blur, edges, structural similarity."""

import functools

import numpy as np

from kerata.core.errors import int_tuple
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Float, composite
from kerata.ops.elementwise import cast
from kerata.ops.image.layout import as_batch, computing_dtype, layout
from kerata.ops.movement import pad, reshape
from kerata.ops.reduction import mean


@functools.lru_cache(64)
def _gaussian(size, sigma):
    """One-dimensional kernel that sums to 1."""
    places = np.arange(size) - (size - 1) / 2
    kernel = np.exp(-0.5 * (places / sigma) ** 2)
    return kernel / kernel.sum()


def _filtered(images, kernels, padding):
    """Each channel of channels_last images filtered with each of the kernels `(height, width, n)`."""
    from kerata.ops.nn import depthwise_conv

    channels = images.shape[-1]
    if channels is None:
        raise ValueError(f"the number of channels must be known, but the shape is {tuple(images.shape)}.")
    kernel = np.repeat(kernels[:, :, None, :], channels, axis=2).astype(dtype_of(images))
    return depthwise_conv(images, kernel, 1, padding, "channels_last")


@composite
def gaussian_blur(images: Float, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None):
    """Blur images with a Gaussian kernel; outside they count as 0.

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        kernel_size: size of the kernel along width and height, in this order, as in Keras.
        sigma: standard deviations along width and height.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' shape.

    >>> ops.image.gaussian_blur(ops.ones((3, 3, 1))).shape[0]
    3
    """
    data_format = layout("gaussian_blur", images, data_format)
    wide, tall = int_tuple(_plain(kernel_size), 2, "kernel_size", "gaussian_blur")
    across, down = np.broadcast_to(np.asarray(_plain(sigma), "float64"), (2,)).tolist()
    if not (down > 0 and across > 0):
        raise ValueError(f"gaussian_blur: `sigma` must be positive, but is {sigma}.")
    dtype = dtype_of(images)
    batch, undo = as_batch(cast(images, computing_dtype(dtype)), data_format)
    # One axis after the other: the kernel is a product.
    batch = _filtered(batch, _gaussian(tall, down)[:, None, None], "same")
    batch = _filtered(batch, _gaussian(wide, across)[None, :, None], "same")
    return cast(undo(batch), dtype)


def _plain(value):
    return tuple(value.tolist()) if isinstance(value, np.ndarray) and value.ndim else value


@composite
def sobel_edges(images: Float, data_format=None):
    """Slopes along height and width by Sobel's kernels, edges mirrored (`tf.image.sobel_edges`).

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor with a last dimension of 2 more: along height, along width.

    >>> ops.image.sobel_edges(ops.ones((1, 3, 3, 1))).shape[-1]
    2
    """
    data_format = layout("sobel_edges", images, data_format)
    dtype = dtype_of(images)
    batch, undo = as_batch(cast(images, computing_dtype(dtype)), data_format)
    batch = pad(batch, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], "float32")
    slopes = _filtered(batch, np.stack([down, down.T], -1), "valid")
    return cast(undo(reshape(slopes, (*shape_of(slopes)[:-1], batch.shape[-1], 2))), dtype)


@composite
def ssim(
    image1: Float, image2: Float, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, data_format=None
):
    """Structural similarity of two images, 1 for equal ones (Wang et al., 2004).

    Args:
        image1, image2: tensors of one shape `(batch, height, width, channels)` or without the batch.
        max_val: largest value that a pixel can have.
        filter_size, filter_sigma: of the Gaussian window in which statistics are taken.
        k1, k2: constants that keep the quotients stable.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of shape `(batch,)`, or a scalar for one image.

    >>> ops.round(ops.image.ssim(ops.ones((11, 11, 1)), ops.ones((11, 11, 1))), 4)
    1.
    """
    data_format = layout("ssim", image1, data_format, "image1")
    single = len(image1.shape) == 3
    window = _gaussian(filter_size, filter_sigma)
    a, _ = as_batch(image1, data_format)
    b, _ = as_batch(image2, data_format)
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2

    def local(x):
        # The window is a product of one down and one across.
        return _filtered(_filtered(x, window[:, None, None], "valid"), window[None, :, None], "valid")

    mean_a, mean_b = local(a), local(b)
    products = mean_a * mean_b
    squares = mean_a * mean_a + mean_b * mean_b
    covariance = local(a * b) - products
    variances = local(a * a + b * b) - squares
    similarity = (2.0 * products + c1) / (squares + c1) * (2.0 * covariance + c2) / (variances + c2)
    result = mean(similarity, axis=(1, 2, 3))
    return reshape(result, ()) if single else result
