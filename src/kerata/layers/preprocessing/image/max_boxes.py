"""`MaxNumBoundingBoxes`: as many boxes for each image."""

from kerata import ops
from kerata.core.errors import positive_int
from kerata.layers.preprocessing.image.image_layer import Free


class MaxNumBoundingBoxes(Free):
    """Cut off or fill up the boxes of images to one number, in training and in inference.

    Args:
        max_number: how many.
        fill_value: coordinates and label of the boxes that fill up.

    Input: a dictionary with images and boxes. Output: the same.

    >>> import kerata
    >>> boxes = {"boxes": [[0.0, 0, 1, 1]], "labels": [3]}
    >>> layer = kerata.layers.MaxNumBoundingBoxes(2, bounding_box_format="xyxy")
    >>> fitted = layer({"images": kerata.ops.ones((4, 4, 3)), "bounding_boxes": boxes})["bounding_boxes"]
    >>> kerata.ops.convert_to_numpy(fitted["labels"]).tolist()
    [3, -1]
    """

    _always = True
    _keeps_integers = True
    # Keras's config doesn't have it; ours does unless it's the default.
    _config_unless = {**Free._config_unless, "fill_value": -1}

    def __init__(self, max_number, fill_value=-1, **kwargs):
        super().__init__(**kwargs)
        self.max_number = positive_int(max_number, "max_number", self._where())
        self.fill_value = fill_value

    def _images(self, images, transformation):
        return images

    def _boxes(self, bounding_boxes, transformation):
        boxes, labels = ops.cast(bounding_boxes["boxes"], "float32"), bounding_boxes["labels"]
        axis = len(boxes.shape) - 2
        return {"boxes": self._fitted(boxes, axis), "labels": self._fitted(labels, axis)}

    def _fitted(self, x, axis):
        """`max_number` entries along an axis."""
        # Filled up by the whole number and cut: so it works for any number of boxes, known or not.
        widths = [(0, 0)] * len(x.shape)
        widths[axis] = (0, self.max_number)
        x = ops.pad(x, widths, constant_values=self.fill_value)
        key = [slice(None)] * len(x.shape)
        key[axis] = slice(0, self.max_number)
        return x[tuple(key)]
