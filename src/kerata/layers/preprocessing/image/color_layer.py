"""The base of layers that change colours."""

from kerata import ops
from kerata.layers.preprocessing.image.arguments import number_range, pixel_range
from kerata.layers.preprocessing.image.image_layer import RandomImageLayer

BYTE = 255.0


class ColorLayer(RandomImageLayer):
    """Base of layers that change colours: labels, boxes and masks stay as they are.

    Args:
        factor: number or two, from which a number is drawn for each image.
        value_range: the lowest and the highest value of a pixel.
    """

    # What a factor may be, and whether a single number f means (-f, f) instead of (lowest, f).
    _bounds = (0, 1)
    _symmetric = False

    def __init__(self, *, factor, value_range=(0, 255), **kwargs):
        super().__init__(**kwargs)
        self._set_factor(factor)
        self._set_value_range(value_range)

    def _set_factor(self, factor):
        self.factor = number_range(factor, "factor", self, *self._bounds, symmetric=self._symmetric)

    def _set_value_range(self, value_range):
        self.value_range = pixel_range(value_range, self)

    def _clipped(self, images):
        return ops.clip(images, *self.value_range)

    def _factors(self, images, seed, bounds=None):
        """A factor for each image, to broadcast with them."""
        return self._uniform(self._per_image(images), bounds or self.factor, seed)


def to_range(x, source, target):
    """Pixels from one range to another, linearly."""
    if tuple(source) == tuple(target):
        return x
    (low, high), (new_low, new_high) = source, target
    for step, number, neutral in (
        (ops.subtract, low, 0),
        (ops.multiply, (new_high - new_low) / (high - low), 1),
        (ops.add, new_low, 0),
    ):
        # Each is a pass over the pixels.
        x = x if number == neutral else step(x, number)
    return x


def drawn_choice(layer, images, seed):
    """For each image whether it is chosen, with a probability that is itself drawn from the layer's `factor`."""
    count = (layer._count(images),)
    return layer._uniform(count, (0, 1), seed) < layer._uniform(count, layer.factor, seed)
