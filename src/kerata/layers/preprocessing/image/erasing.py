"""`RandomErasing`: images with a hole."""

import math

from kerata import ops, random
from kerata.layers.preprocessing.image.arguments import is_number, number_range, pixel_range
from kerata.layers.preprocessing.image.color_layer import drawn_choice
from kerata.layers.preprocessing.image.image_layer import FreeImages, RandomImageLayer, as_float

# The largest rectangle's sides as shares of the image's are reckoned in these, and not below this.
PARTS, LEAST_SIDE = 64, 1 / 16


def rectangles(layer, images, heights, widths, seed):
    """Masks of rectangles at random places, one for each image.

    Args:
        layer: the layer that asks.
        images: a batch.
        heights, widths: of the rectangles, tensors `(batch,)` of shares of the images' sizes.
        seed: what to draw places from.

    Returns:
        Boolean tensor of the images' shape: to spread a mask over channels later takes longer than all else.
    """
    channels, masks = [1] * 4, []
    channels[layer._axes[2]] = ops.shape(images)[layer._axes[2]]
    for axis, shares in zip(layer._axes[:2], (heights, widths), strict=True):
        size = ops.shape(images)[axis]
        length = shares * as_float(size)
        begin = random.uniform((layer._count(images),), seed=seed) * (as_float(size) - length)
        # A pixel belongs to the rectangle if its centre does.
        centres = ops.expand_dims(ops.cast(ops.arange(size, dtype="int32"), "float32") + 0.5, 0)
        begin, end = ops.expand_dims(begin, -1), ops.expand_dims(begin + length, -1)
        mask = ops.logical_and(ops.less_equal(begin, centres), ops.less(centres, end))
        shape = [-1, 1, 1, 1]
        shape[axis] = size
        masks.append(ops.reshape(mask, shape))
    return ops.logical_and(masks[0], ops.logical_and(masks[1], ops.ones(channels, "bool")))


class RandomErasing(RandomImageLayer, FreeImages):
    """In training, erase a rectangle of some images (Zhong et al., 2020).

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]: the probability is drawn from it for each image.
        scale: number s for (0, s), or two numbers, within [0, 1]: height and width of the rectangle are the roots of
            two numbers drawn from it, as shares of the image's.
        fill_value: what is put there; `None`: normal noise within the value range.
        value_range: the lowest and the highest value of a pixel.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> x = kerata.ops.ones((1, 8, 8, 3))
    >>> erased = kerata.layers.RandomErasing((1.0, 1.0), scale=(0.25, 0.25), fill_value=0)(x)
    >>> float(kerata.ops.sum(erased)) == 48 * 3
    True
    """

    def __init__(
        self,
        factor=1.0,
        scale=(0.02, 0.33),
        fill_value=None,
        value_range=(0, 255),
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(seed=seed, data_format=data_format, **kwargs)
        self.factor = number_range(factor, "factor", self, 0, 1)
        self.scale = number_range(scale, "scale", self, 0, 1)
        self.value_range = pixel_range(value_range, self)
        if fill_value is not None and not is_number(fill_value):
            raise ValueError(f"{self._where()}: `fill_value` must be a number or None, but {fill_value!r} was given.")
        self.fill_value = fill_value

    def _draw(self, images, seed):
        apply = drawn_choice(self, images, seed)
        count = (self._count(images),)
        sides = [ops.sqrt(self._uniform(count, self.scale, seed)) for _ in range(2)]
        filled = self.fill_value
        if filled is None:
            filled = self._noise(images, seed)
        return {
            "apply_erasing": apply,
            "batch_masks": rectangles(self, images, *sides, seed),
            "fill_value": filled,
        }

    def _noise(self, images, seed):
        """Normal noise of the images' shape, independent within every rectangle.

        Noise as large as the largest rectangle is repeated: to draw as much as the images have takes longer than all else.
        """
        low, high = self.value_range
        # In whole numbers, so that sizes that aren't known yet give the same noise; a pixel more, for what is rounded.
        parts = math.ceil(PARTS * max(math.sqrt(self.scale[1]), LEAST_SIDE))
        shape, repeats = list(ops.shape(images)), [1] * len(images.shape)
        for axis in self._axes[:2]:
            shape[axis], repeats[axis] = (shape[axis] * parts + PARTS - 1) // PARTS + 1, -(-PARTS // parts)
        noise = random.normal(tuple(shape), stddev=float(high), dtype="float32", seed=seed)
        noise = ops.tile(ops.clip(noise, low, high), repeats)
        return ops.slice(noise, [0] * len(shape), ops.shape(images))

    def _images(self, images, transformation):
        erased = ops.logical_and(
            transformation["batch_masks"], ops.reshape(transformation["apply_erasing"], (-1, 1, 1, 1))
        )
        return ops.where(erased, ops.cast(transformation["fill_value"], ops.dtype(images)), images)
