"""Changes of each pixel's colour by itself."""

from kerata import ops
from kerata.layers.preprocessing.image.arguments import number_range, pixel_range, probability
from kerata.layers.preprocessing.image.color_layer import BYTE, ColorLayer, drawn_choice, to_range
from kerata.layers.preprocessing.image.image_layer import FreeImages, RandomImageLayer

BITS = 8


class RandomBrightness(ColorLayer):
    """In training, add a number to all pixels of an image.

    Args:
        factor: number f for a range of (-f, f), or two numbers, within [-1, 1]: shares of the value range. -1 makes
            images black, 1 white.
        value_range: the lowest and the highest value of a pixel; results are clipped to it.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomBrightness((0.25, 0.25), value_range=(0, 1))
    >>> kerata.ops.convert_to_numpy(layer(kerata.ops.zeros((1, 1, 1)))).tolist()
    [[[0.25]]]
    """

    _bounds, _symmetric = (-1, 1), True

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, seed=seed, **kwargs)

    def _draw(self, images, seed):
        low, high = self.value_range
        return {"rgb_delta": self._factors(images, seed) * (high - low)}

    def _images(self, images, transformation):
        return self._clipped(images + ops.cast(transformation["rgb_delta"], ops.dtype(images)))


class RandomContrast(ColorLayer):
    """In training, move pixels away from their image's mean, channel by channel, or towards it.

    A pixel x of a channel with mean m becomes `(x - m) * c + m`, c being drawn from `(1 - lower, 1 + upper)`.

    Args:
        factor: number f for (0, f), or `(lower, upper)`, within [0, 1].
        value_range: the lowest and the highest value of a pixel; results are clipped to it.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomContrast((0.0, 0.0))
    >>> kerata.ops.convert_to_numpy(layer([[[1.0], [3.0]]])).tolist()
    [[[1.0], [3.0]]]
    """

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, seed=seed, **kwargs)

    def _draw(self, images, seed):
        lower, upper = self.factor
        return {"contrast_factor": self._factors(images, seed, (1 - lower, 1 + upper))}

    def _images(self, images, transformation):
        factor = ops.cast(transformation["contrast_factor"], ops.dtype(images))
        mean = ops.mean(images, axis=self._axes[:2], keepdims=True)
        # One pass less over the pixels than `(x - m) * c + m`.
        return self._clipped(images * factor + mean * (1 - factor))


class RandomColorDegeneration(ColorLayer, FreeImages):
    """In training, blend images with their grey versions.

    Args:
        factor: number f for (-f, f), or two numbers, within [-1, 1]: share of grey. Below 0 colours become stronger.
        value_range: the lowest and the highest value of a pixel; results are clipped to it.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> grey = kerata.layers.RandomColorDegeneration((1.0, 1.0))(kerata.ops.ones((1, 1, 3)))
    >>> tuple(grey.shape)
    (1, 1, 3)
    """

    _bounds, _symmetric = (-1, 1), True

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, data_format=data_format, seed=seed, **kwargs)

    def _draw(self, images, seed):
        return {"factor": self._factors(images, seed)}

    def _images(self, images, transformation):
        factor = ops.cast(transformation["factor"], ops.dtype(images))
        grey = ops.image.rgb_to_grayscale(images, data_format=self.data_format)
        return self._clipped(images + (grey - images) * factor)


class RandomGrayscale(RandomImageLayer):
    """In training, make some images grey; they keep their three channels.

    Args:
        factor: probability, from 0 to 1.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary. Output: of the same dtype.

    >>> import kerata
    >>> grey = kerata.layers.RandomGrayscale(1.0)(kerata.ops.reshape(kerata.ops.arange(3.0), (1, 1, 3)))
    >>> bool(kerata.ops.max(grey) == kerata.ops.min(grey))
    True
    """

    _keeps_integers = True

    def __init__(self, factor=0.5, data_format=None, seed=None, **kwargs):
        super().__init__(data_format=data_format, seed=seed, **kwargs)
        self.factor = probability(factor, "factor", self)

    def compute_output_spec(self, inputs, **kwargs):
        """Shapes and dtypes of the outputs."""
        return super().compute_output_spec(inputs)

    def get_random_transformation(self, images, training=True, seed=None):
        return super().get_random_transformation(images, training=training, seed=seed)

    def transform_labels(self, labels, transformations=None, **kwargs):
        return labels

    def transform_segmentation_masks(self, segmentation_masks, transformations=None, **kwargs):
        return segmentation_masks

    def transform_bounding_boxes(self, bounding_boxes, **kwargs):
        return bounding_boxes

    def _draw(self, images, seed):
        return self._uniform((self._count(images), 1, 1, 1), (0, 1), seed) < self.factor

    def _images(self, images, transformation):
        grey = ops.image.rgb_to_grayscale(images, data_format=self.data_format)
        return ops.where(self._spread(transformation, images), grey, images)


class RandomInvert(ColorLayer):
    """In training, replace each pixel x of some images by `highest - x`.

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]: the probability is drawn from it for each image.
        value_range: the lowest and the highest value of a pixel.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomInvert((1.0, 1.0), value_range=(0, 1))
    >>> kerata.ops.convert_to_numpy(layer([[[0.25]]])).tolist()
    [[[0.75]]]
    """

    def __init__(self, factor=1.0, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, seed=seed, data_format=data_format, **kwargs)

    def _draw(self, images, seed):
        return {"apply_inversion": drawn_choice(self, images, seed)}

    def _images(self, images, transformation):
        apply = self._spread(transformation["apply_inversion"], images)
        # Arithmetic: a choice between pixels takes several times as long.
        sign = ops.cast(ops.where(apply, -1.0, 1.0), ops.dtype(images))
        start = ops.cast(ops.where(apply, float(self.value_range[1]), 0.0), ops.dtype(images))
        return images * sign + start


class RandomPosterization(ColorLayer, FreeImages):
    """In training, keep only the highest bits of each channel (Cubuk et al., 2018).

    Args:
        factor: number of bits b for 1 to b, or two numbers, within [1, 8]. The number that is drawn is rounded down.
        value_range: the lowest and the highest value of a pixel; it stands for 0 to 255.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.RandomPosterization((2, 2))([[[3.0], [201.0]]])).tolist()
    [[[0.0], [192.0]]]
    """

    _bounds = (1, BITS)

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, data_format=data_format, seed=seed, **kwargs)

    def _draw(self, images, seed):
        bits = ops.cast(self._uniform((self._count(images),), self.factor, seed), "int32")
        return {"shift_factor": ops.cast(BITS - bits, "uint8")}

    def _images(self, images, transformation):
        shift = ops.cast(self._spread(transformation["shift_factor"], images), "int32")
        # The lowest bits are cut off by arithmetic: exact with powers of 2, and two passes less than on integers.
        step = ops.cast(ops.left_shift(ops.ones_like(shift), shift), ops.dtype(images))
        pixels = ops.clip(to_range(images, self.value_range, (0, BYTE)), 0, BYTE)
        pixels = ops.floor(pixels * (1 / step)) * step
        return to_range(pixels, (0, BYTE), self.value_range)


class Solarization(RandomImageLayer):
    """In training, invert the bright pixels: each x of at least the threshold becomes `highest - x + lowest`.

    Args:
        addition_factor: number f for (0, f), or two numbers, within [0, 1]: what is drawn from it, times the value
            range, is added first.
        threshold_factor: likewise, for the threshold; 0 inverts all pixels.
        value_range: the lowest and the highest value of a pixel.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.Solarization()([[[55.0]]])).tolist()
    [[[200.0]]]
    """

    def __init__(self, addition_factor=0.0, threshold_factor=0.0, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.addition_factor = number_range(addition_factor, "addition_factor", self, 0, 1)
        self.threshold_factor = number_range(threshold_factor, "threshold_factor", self, 0, 1)
        self.value_range = pixel_range(value_range, self)

    def _draw(self, images, seed):
        shape = self._per_image(images)
        # In bytes, whatever the value range.
        return {
            "additions": self._uniform(shape, self.addition_factor, seed) * BYTE,
            "thresholds": self._uniform(shape, self.threshold_factor, seed) * BYTE,
        }

    def _images(self, images, transformation):
        dtype = ops.dtype(images)
        addition, threshold = (ops.cast(transformation[k], dtype) for k in ("additions", "thresholds"))
        pixels = ops.clip(to_range(images, self.value_range, (0, BYTE)) + addition, 0, BYTE)
        pixels = ops.where(pixels < threshold, pixels, BYTE - pixels)
        return to_range(pixels, (0, BYTE), self.value_range)


class RandomColorJitter(RandomImageLayer):
    """In training, change brightness, contrast, saturation and hue, one after the other.

    Args:
        value_range: the lowest and the highest value of a pixel.
        brightness_factor: `factor` of `RandomBrightness`; `None`: brightness stays.
        contrast_factor: `factor` of `RandomContrast`; `None`: contrast stays.
        saturation_factor: `factor` of `RandomSaturation`; `None`: saturation stays.
        hue_factor: `factor` of `RandomHue`; `None`: hue stays.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomColorJitter(brightness_factor=0.2, hue_factor=0.1)
    >>> tuple(layer(kerata.ops.ones((2, 4, 4, 3))).shape)
    (2, 4, 4, 3)
    """

    def __init__(
        self,
        value_range=(0, 255),
        brightness_factor=None,
        contrast_factor=None,
        saturation_factor=None,
        hue_factor=None,
        seed=None,
        data_format=None,
        **kwargs,
    ):
        from kerata.layers.preprocessing.image.hue_saturation import RandomHue, RandomSaturation

        super().__init__(seed=seed, data_format=data_format, **kwargs)
        self.value_range = pixel_range(value_range, self)
        self.brightness_factor = brightness_factor
        self.contrast_factor = contrast_factor
        self.saturation_factor = saturation_factor
        self.hue_factor = hue_factor
        given = {"value_range": value_range, "data_format": self.data_format, "dtype": self.dtype_policy, "seed": seed}
        self._steps = [
            kind(factor, **given)
            for kind, factor in (
                (RandomBrightness, brightness_factor),
                (RandomContrast, contrast_factor),
                (RandomSaturation, saturation_factor),
                (RandomHue, hue_factor),
            )
            if factor is not None
        ]

    def _draw(self, images, seed):
        return [step.get_random_transformation(images, seed=seed) for step in self._steps]

    def _images(self, images, transformation):
        for step, drawn in zip(self._steps, transformation, strict=True):
            images = step.transform_images(images, drawn)
        return images
