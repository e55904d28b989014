"""`RandomPerspective`: images as seen from the side."""

import numpy as np

from kerata import ops
from kerata.layers.preprocessing.image.arguments import INTERPOLATIONS, choice, number_range, probability
from kerata.layers.preprocessing.image.boxes.regions import around_points, clip_to_image_size, corner_points
from kerata.layers.preprocessing.image.color_layer import drawn_choice
from kerata.layers.preprocessing.image.image_layer import RandomImageLayer, as_float
from kerata.ops.image.warping import homography


class RandomPerspective(RandomImageLayer):
    """In training, pull the corners of some images, so they look as if seen from another place.

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]: the probability is drawn from it for each image.
        scale: from 0 to 1: corners move by up to half this share of the size.
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        fill_value: value outside of the image.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks
    follow. Output: the same, floating.

    >>> import kerata
    >>> tuple(kerata.layers.RandomPerspective()(kerata.ops.ones((2, 4, 4, 3))).shape)
    (2, 4, 4, 3)
    """

    def __init__(
        self,
        factor=1.0,
        scale=1.0,
        interpolation="bilinear",
        fill_value=0.0,
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(seed=seed, data_format=data_format, **kwargs)
        self.factor = number_range(factor, "factor", self, 0, 1)
        self.scale = probability(scale, "scale", self)
        self.interpolation = choice(interpolation, INTERPOLATIONS, "interpolation", self)
        self.fill_value = fill_value

    def _draw(self, images, seed):
        count = self._count(images)
        height, width = self._size(images)
        # Corners as shares of the size: top left, top right, bottom left, bottom right.
        shares = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], "float32")
        across, down = (ops.multiply(shares[:, i], as_float(n) - 1.0) for i, n in enumerate((width, height)))
        start = ops.broadcast_to(ops.expand_dims(ops.stack([across, down], axis=-1), 0), (count, 4, 2))
        apply = drawn_choice(self, images, seed)
        half = self.scale / 2
        return {
            "apply_perspective": apply,
            "start_points": start,
            "end_points": start * self._uniform((count, 4, 2), (1 - half, 1 + half), seed),
            "input_shape": ops.shape(images),
        }

    def _images(self, images, transformation):
        return self._pulled(images, transformation, self.interpolation)

    def _masks(self, masks, transformation):
        return self._pulled(masks, transformation, "nearest")

    def _pulled(self, images, transformation, interpolation):
        start, end = (ops.cast(transformation[k], "float32") for k in ("start_points", "end_points"))
        pulled = ops.image.perspective_transform(
            images,
            start,
            end,
            interpolation=interpolation,
            fill_value=self.fill_value,
            data_format=self.data_format,
        )
        return ops.where(self._spread(transformation["apply_perspective"], images), pulled, images)

    def _boxes(self, bounding_boxes, transformation):
        shape = transformation["input_shape"]
        height, width = shape[self._axes[0]], shape[self._axes[1]]
        start, end = (ops.cast(transformation[k], "float32") for k in ("start_points", "end_points"))
        # Where points of the image come to lie: the map of images goes the other way.
        a0, a1, a2, b0, b1, b2, c0, c1 = (
            ops.reshape(c, (-1, 1, 1)) for c in ops.unstack(homography(end, start), 8, axis=-1)
        )
        apply = ops.reshape(transformation["apply_perspective"], (-1, 1))

        def pulled(x1, y1, x2, y2):
            x, y = corner_points(x1, y1, x2, y2)
            scale = c0 * x + c1 * y + 1.0
            boxes = around_points((a0 * x + a1 * y + a2) / scale, (b0 * x + b1 * y + b2) / scale)
            return [
                ops.where(apply, new, old)
                for new, old in zip(ops.unstack(boxes, 4, axis=-1), (x1, y1, x2, y2), strict=True)
            ]

        changed = self._in_corners(bounding_boxes, height, width, pulled)
        return clip_to_image_size(changed, height, width, self.bounding_box_format or "xyxy")
