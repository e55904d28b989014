"""`RandomElasticTransform`: images as if on rubber."""

from kerata import ops, random
from kerata.layers.preprocessing.image.arguments import INTERPOLATIONS, choice, number_range, pixel_range
from kerata.layers.preprocessing.image.blurring import filtered, gaussian_weights
from kerata.layers.preprocessing.image.color_layer import drawn_choice
from kerata.layers.preprocessing.image.image_layer import RandomImageLayer, as_float
from kerata.ops.image.layout import as_batch
from kerata.ops.image.warping import FILL_MODES, displaced
from kerata.random.seeds import draw_seed

# Offsets in pixels, and how far they are alike, in shares of the image's size (Simard et al., 2003).
STRENGTH, SMOOTHNESS = 0.2, 0.05
# Length of the smoothing kernel where the size of images isn't known.
UNKNOWN_TAPS = 31


class RandomElasticTransform(RandomImageLayer):
    """In training, displace the pixels of some images by smooth random offsets (Simard et al., 2003).

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]: the probability is drawn from it for each image.
        scale: number s for (0, s), or two numbers, within [0, 1]: how strong; drawn for the whole batch.
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        fill_mode: what is outside of the image: `"constant"`, `"nearest"`, `"wrap"`, `"mirror"` or `"reflect"`.
        fill_value: value of fill mode `"constant"`.
        value_range: the lowest and the highest value of a pixel; results are clipped to it.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which masks follow; boxes
    stay. Output: the same, floating.

    >>> import kerata
    >>> tuple(kerata.layers.RandomElasticTransform()(kerata.ops.ones((2, 8, 8, 3))).shape)
    (2, 8, 8, 3)
    """

    def __init__(
        self,
        factor=1.0,
        scale=1.0,
        interpolation="bilinear",
        fill_mode="reflect",
        fill_value=0.0,
        value_range=(0, 255),
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(seed=seed, data_format=data_format, **kwargs)
        self.factor = number_range(factor, "factor", self, 0, 1)
        self.scale = number_range(scale, "scale", self, 0, 1)
        self.interpolation = choice(interpolation, INTERPOLATIONS, "interpolation", self)
        self.fill_mode = choice(fill_mode, FILL_MODES, "fill_mode", self)
        self.fill_value = fill_value
        self.value_range = pixel_range(value_range, self)

    def _draw(self, images, seed):
        return {
            "apply_transform": drawn_choice(self, images, seed),
            "distortion_factor": self._uniform((), self.scale, seed),
            # A key, so that images and masks are displaced alike.
            "seed": draw_seed(seed),
        }

    def get_elastic_transform_params(self, height, width, factor):
        """`(alpha, sigma)` for images of a size: strength of the offsets and their smoothness, in pixels.

        Args:
            height, width: size of the images.
            factor: how strong, from 0 to 1.
        """
        size = ops.minimum(height, width) if hasattr(height, "shape") or hasattr(width, "shape") else min(height, width)
        return as_float(size) * STRENGTH * factor, as_float(size) * SMOOTHNESS * factor

    def _images(self, images, transformation):
        return ops.clip(self._displaced(images, transformation, self.interpolation), *self.value_range)

    def _masks(self, masks, transformation):
        return self._displaced(masks, transformation, "nearest")

    def _displaced(self, images, transformation, interpolation):
        height, width = self._size(images)
        alpha, sigma = self.get_elastic_transform_params(height, width, transformation["distortion_factor"])
        batch, undo = as_batch(images, self.data_format)
        count = self._count(images)
        noise = random.normal((2 * count, height, width, 1), seed=transformation["seed"])
        bell = gaussian_weights(self._taps(height, width), ops.cast(sigma, "float32"))
        # One axis after the other: the kernel is a product.
        smooth = filtered(noise, [ops.expand_dims(bell, 1), ops.expand_dims(bell, 0)], "channels_last")
        offsets = ops.reshape(smooth, (2, count, height, width)) * (alpha * sigma)
        moved = undo(displaced(batch, offsets, interpolation, self.fill_mode, self.fill_value))
        return ops.where(self._spread(transformation["apply_transform"], images), moved, images)

    def _taps(self, height, width):
        """Odd length of the smoothing kernel: six standard deviations, where the size is known."""
        if not (isinstance(height, int) and isinstance(width, int)):
            return UNKNOWN_TAPS
        return int(6 * min(height, width) * SMOOTHNESS * self.scale[1]) | 1
