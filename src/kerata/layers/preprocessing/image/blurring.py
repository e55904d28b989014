"""Blurred and sharpened images."""

import numpy as np

from kerata import ops
from kerata.core.errors import int_tuple
from kerata.layers.preprocessing.image.arguments import number_range
from kerata.layers.preprocessing.image.color_layer import ColorLayer, drawn_choice
from kerata.layers.preprocessing.image.image_layer import FreeImages

# The smoothing kernel of PIL's `ImageFilter.SMOOTH`.
SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], "float32") / 13


class RandomSharpness(ColorLayer, FreeImages):
    """In training, blend images with smoothed versions of themselves.

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]. 0 gives the smoothed image, 0.5 the image itself, 1
            one as much sharper as the smoothed one is softer.
        value_range: the lowest and the highest value of a pixel; results are clipped to it.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomSharpness((0.5, 0.5))
    >>> tuple(layer(kerata.ops.ones((4, 4, 3))).shape)
    (4, 4, 3)
    """

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, data_format=data_format, seed=seed, **kwargs)

    def _draw(self, images, seed):
        return {"factor": self._uniform((self._count(images),), self.factor, seed)}

    def _images(self, images, transformation):
        factor = ops.cast(self._spread(transformation["factor"], images), ops.dtype(images)) * 2.0
        smooth = filtered(images, [SMOOTH], self.data_format)
        return self._clipped(smooth + (images - smooth) * factor)


class RandomGaussianBlur(ColorLayer, FreeImages):
    """In training, blur some images with a Gaussian kernel; outside the image is black.

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]: the probability is drawn from it for each image.
        kernel_size: odd number of pixels, or `(width, height)`.
        sigma: number s for (0, s), or two numbers, within [0, 1]: standard deviations in pixels, one along each
            axis, are drawn from it for the whole batch.
        value_range: the lowest and the highest value of a pixel.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> tuple(kerata.layers.RandomGaussianBlur()(kerata.ops.ones((2, 4, 4, 3))).shape)
    (2, 4, 4, 3)
    """

    def __init__(
        self, factor=1.0, kernel_size=3, sigma=1.0, value_range=(0, 255), data_format=None, seed=None, **kwargs
    ):
        super().__init__(factor=factor, value_range=value_range, data_format=data_format, seed=seed, **kwargs)
        self.kernel_size = int_tuple(kernel_size, 2, "kernel_size", self._where())
        if any(n % 2 == 0 for n in self.kernel_size):
            raise ValueError(f"{self._where()}: `kernel_size` must be odd, but {kernel_size!r} was given.")
        self.sigma = number_range(sigma, "sigma", self, 0, 1)

    def _draw(self, images, seed):
        return {
            "should_apply_blur": drawn_choice(self, images, seed),
            "blur_factor": self._uniform((2,), self.sigma, seed),
        }

    def _images(self, images, transformation):
        across, down = ops.unstack(ops.cast(transformation["blur_factor"], ops.dtype(images)), 2)
        wide, tall = self.kernel_size
        kernels = [ops.expand_dims(gaussian_weights(tall, down), 1), ops.expand_dims(gaussian_weights(wide, across), 0)]
        blurred = filtered(images, kernels, self.data_format)
        return ops.where(self._spread(transformation["should_apply_blur"], images), blurred, images)


def gaussian_weights(size, sigma):
    """Gaussian weights that sum to 1; a standard deviation of 0 gives a single one."""
    places = np.arange(size, dtype="float32") - (size - 1) / 2
    # As narrow as makes no difference: the neighbours' weights vanish.
    sigma = ops.maximum(sigma, 1e-2)
    weights = ops.exp(ops.square(ops.cast(places, ops.dtype(sigma)) / sigma) * -0.5)
    return weights / ops.sum(weights)


def filtered(images, kernels, data_format):
    """Each channel filtered with the kernels, one after the other, zeros outside."""
    single = len(images.shape) == 3
    x = ops.expand_dims(images, 0) if single else images
    if data_format == "channels_first":
        x = ops.transpose(x, (0, 2, 3, 1))
    channels = ops.shape(x)[-1]
    for kernel in kernels:
        kernel = ops.cast(ops.expand_dims(ops.expand_dims(kernel, -1), -1), ops.dtype(x))
        kernel = ops.tile(kernel, (1, 1, channels, 1))
        x = ops.depthwise_conv(x, kernel, 1, "same", "channels_last")
    if data_format == "channels_first":
        x = ops.transpose(x, (0, 3, 1, 2))
    return ops.squeeze(x, 0) if single else x
