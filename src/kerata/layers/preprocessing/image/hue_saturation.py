"""Changes of colours in terms of hue and saturation."""

from kerata import ops, random
from kerata.layers.preprocessing.image.color_layer import ColorLayer, to_range
from kerata.layers.preprocessing.image.image_layer import FreeImages

# A factor of 1 is half a turn either way.
HALF_TURN = 0.5


class RandomHue(ColorLayer, FreeImages):
    """In training, turn the hue of colours.

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]; at 1 the hue turns by half a circle. The
            direction is drawn too.
        value_range: the lowest and the highest value of a pixel.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.RandomHue(0.0)([[[200.0, 0, 0]]])).round(3).tolist()
    [[[200.0, 0.0, 0.0]]]
    """

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, data_format=data_format, seed=seed, **kwargs)

    def _draw(self, images, seed):
        count = (self._count(images),)
        back = random.uniform(count, seed=seed) > 0.5
        turn = self._uniform(count, self.factor, seed) * HALF_TURN
        return {"factor": ops.where(back, -turn, turn)}

    def _images(self, images, transformation):
        turn = ops.cast(self._spread(transformation["factor"], images), ops.dtype(images))
        # Only black has to be 0: hue and saturation are those of the pixel times any number, and the value is linear.
        low, high = self.value_range
        black = (0, high - low)
        hue, saturation, value = ops.split(
            ops.image.rgb_to_hsv(to_range(images, self.value_range, black), data_format=self.data_format),
            3,
            axis=self._axes[2],
        )
        turned = ops.concatenate([ops.mod(hue + turn, 1.0), saturation, value], axis=self._axes[2])
        return to_range(ops.image.hsv_to_rgb(turned, data_format=self.data_format), black, self.value_range)


class RandomSaturation(ColorLayer, FreeImages):
    """In training, make colours paler or stronger.

    A factor f multiplies the saturation by `f / (1 - f)`: 0 makes images grey, 0.5 leaves them as they are.

    Args:
        factor: number f for (-f, f), or two numbers, within [-1, 1].
        value_range: the lowest and the highest value of a pixel.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomSaturation((0.5, 0.5))
    >>> kerata.ops.convert_to_numpy(layer([[[200.0, 100, 50]]])).round(2).tolist()
    [[[200.0, 100.0, 50.0]]]
    """

    _bounds, _symmetric = (-1, 1), True

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(factor=factor, value_range=value_range, data_format=data_format, seed=seed, **kwargs)

    def _draw(self, images, seed):
        factor = self._uniform((self._count(images),), self.factor, seed)
        return {"factor": factor / (1.0 - factor + 1e-7)}

    def _images(self, images, transformation):
        factor = ops.cast(self._spread(transformation["factor"], images), ops.dtype(images))
        hue, saturation, value = ops.split(
            ops.image.rgb_to_hsv(images, data_format=self.data_format), 3, axis=self._axes[2]
        )
        # Keras clips the saturation to the range of the pixels, and its numbers are kept.
        saturation = self._clipped(saturation * factor)
        changed = ops.concatenate([hue, saturation, value], axis=self._axes[2])
        return ops.image.hsv_to_rgb(changed, data_format=self.data_format)
