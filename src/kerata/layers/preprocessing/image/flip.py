"""`RandomFlip`: mirrored images."""

from kerata import ops, random
from kerata.layers.preprocessing.image.arguments import choice
from kerata.layers.preprocessing.image.image_layer import RandomImageLayer, as_float

HORIZONTAL, VERTICAL, BOTH = "horizontal", "vertical", "horizontal_and_vertical"


class RandomFlip(RandomImageLayer):
    """In training, mirror every other image or so.

    Args:
        mode: `"horizontal"` (left is right), `"vertical"` (top is bottom) or `"horizontal_and_vertical"`, both at once.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    mirrored too. Output: the same, floating.

    >>> import kerata
    >>> x = kerata.ops.reshape(kerata.ops.arange(4.0), (1, 4, 1))
    >>> flipped = kerata.layers.RandomFlip("horizontal", seed=1)(x)
    >>> sorted(kerata.ops.convert_to_numpy(flipped).ravel().tolist())
    [0.0, 1.0, 2.0, 3.0]
    """

    def __init__(self, mode=BOTH, seed=None, data_format=None, **kwargs):
        super().__init__(seed=seed, data_format=data_format, **kwargs)
        self.mode = choice(mode, (HORIZONTAL, VERTICAL, BOTH), "mode", self)

    def _draw(self, images, seed):
        return {
            "flips": random.uniform(self._per_image(images), seed=seed) <= 0.5,
            "input_shape": ops.shape(images),
        }

    def _images(self, images, transformation):
        rows, columns, _ = self._axes
        axes = {HORIZONTAL: (columns,), VERTICAL: (rows,), BOTH: (rows, columns)}[self.mode]
        return ops.where(self._spread(transformation["flips"], images), ops.flip(images, axis=axes), images)

    def _masks(self, masks, transformation):
        return self._images(masks, transformation)

    def _boxes(self, bounding_boxes, transformation):
        shape = transformation["input_shape"]
        height, width = shape[self._axes[0]], shape[self._axes[1]]
        rank = len(bounding_boxes["boxes"].shape)
        flips = ops.reshape(transformation["flips"], (-1, 1) if rank == 3 else (-1,))

        def flipped(x1, y1, x2, y2):
            if self.mode != VERTICAL:
                w = as_float(width)
                x1, x2 = ops.where(flips, w - x2, x1), ops.where(flips, w - x1, x2)
            if self.mode != HORIZONTAL:
                h = as_float(height)
                y1, y2 = ops.where(flips, h - y2, y1), ops.where(flips, h - y1, y2)
            return x1, y1, x2, y2

        return self._in_corners(bounding_boxes, height, width, flipped)
