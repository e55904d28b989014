"""Boxes as offsets from anchors (Girshick et al., 2014), and back."""

import numpy as np

from kerata import ops
from kerata.core.errors import one_of
from kerata.layers.preprocessing.image.boxes.formats import convert_format

CENTERED = ("center_xywh", "center_yxhw")


def encode_box_to_deltas(
    anchors, boxes, anchor_format, box_format, encoding_format="center_yxhw", variance=None, image_shape=None
):
    """Boxes as offsets from anchors: of the centre in sizes of the anchor, of the size as a logarithm.

    Args:
        anchors: tensor `(n, 4)`.
        boxes: tensor `(n, 4)` or `(batch, n, 4)`.
        anchor_format, box_format: formats, see `convert_format`.
        encoding_format: `"center_xywh"` or `"center_yxhw"`: order of the offsets.
        variance: four numbers by which the offsets are divided.
        image_shape: `(height, width, channels)`, for relative formats.

    Returns:
        Tensor of `boxes`' shape.

    Raises:
        ValueError: another encoding format, or not four variances.

    >>> import kerata
    >>> box = [[0.0, 0, 2, 2]]
    >>> kerata.utils.bounding_boxes.encode_box_to_deltas(box, box, "xyxy", "xyxy")
    [[0., 0., 0., 0.]]
    """
    owner = "encode_box_to_deltas"
    one_of(encoding_format.lower(), CENTERED, "encoding_format", owner)
    variance = _four(variance, owner)
    centre, size = _centred(anchors, anchor_format, encoding_format, image_shape)
    box_centre, box_size = _centred(boxes, box_format, encoding_format, image_shape)
    deltas = ops.concatenate([(box_centre - centre) / size, ops.log(box_size / size)], axis=-1)
    return deltas if variance is None else deltas / variance


def decode_deltas_to_boxes(
    anchors, boxes_delta, anchor_format, box_format, encoded_format="center_yxhw", variance=None, image_shape=None
):
    """Boxes from offsets, what `encode_box_to_deltas` makes of them.

    Args:
        anchors: tensor `(n, 4)`, or a dictionary of them by level.
        boxes_delta: tensor `(n, 4)` or `(batch, n, 4)`, or a dictionary of them.
        anchor_format: format of the anchors, see `convert_format`.
        box_format: format of the result.
        encoded_format: `"center_xywh"` or `"center_yxhw"`: order of the offsets.
        variance: four numbers by which the offsets were divided.
        image_shape: `(height, width, channels)`, for relative formats.

    Returns:
        Tensor of `boxes_delta`'s shape, or a dictionary of them.

    Raises:
        ValueError: another encoding format, or not four variances.

    >>> import kerata
    >>> kerata.utils.bounding_boxes.decode_deltas_to_boxes([[0.0, 0, 2, 4]], [[0.5, 0, 0, 0]], "xyxy", "xyxy")
    [[0., 2., 2., 6.]]
    """
    owner = "decode_deltas_to_boxes"
    one_of(encoded_format.lower(), CENTERED, "encoded_format", owner)
    variance = _four(variance, owner)

    def decoded(anchors, deltas):
        centre, size = _centred(anchors, anchor_format, encoded_format, image_shape)
        deltas = ops.cast(deltas, "float32")
        deltas = deltas if variance is None else deltas * variance
        boxes = ops.concatenate([deltas[..., :2] * size + centre, ops.exp(deltas[..., 2:]) * size], axis=-1)
        return _converted(boxes, encoded_format, box_format, image_shape)

    if isinstance(boxes_delta, dict):
        return {level: decoded(anchors[level], deltas) for level, deltas in boxes_delta.items()}
    return decoded(anchors, boxes_delta)


def _four(variance, owner):
    if variance is None:
        return None
    variance = np.asarray(variance, "float32")
    if variance.shape != (4,):
        raise ValueError(f"{owner}: `variance` must be length 4, but its shape is {variance.shape}.")
    return variance


def _centred(boxes, source, target, image_shape):
    boxes = _converted(boxes, source, target, image_shape)
    return boxes[..., :2], boxes[..., 2:]


def _converted(boxes, source, target, image_shape):
    height, width = (None, None) if image_shape is None else tuple(image_shape)[:2]
    return convert_format(boxes, source, target, height=height, width=width)
