"""How much boxes overlap."""

import math

from kerata import ops
from kerata.layers.preprocessing.image.boxes.formats import convert_format


def compute_iou(boxes1, boxes2, bounding_box_format, use_masking=False, mask_val=-1, image_shape=None):
    """Intersection over union of each box with each.

    Args:
        boxes1: tensor `(m, 4)` or `(batch, m, 4)`.
        boxes2: tensor `(n, 4)` or `(batch, n, 4)`.
        bounding_box_format: of both, see `convert_format`.
        use_masking: whether boxes whose numbers are all negative count as missing.
        mask_val: what missing ones get.
        image_shape: `(height, width, channels)`, for relative formats.

    Returns:
        Tensor `(m, n)`, or `(batch, m, n)` if one of the arguments is a batch.

    Raises:
        ValueError: another rank.

    >>> import kerata
    >>> kerata.utils.bounding_boxes.compute_iou([[0, 0, 2, 2]], [[0, 0, 2, 1], [4, 4, 5, 5]], "xyxy")
    [[0.5, 0.]]
    """
    boxes1, boxes2 = (ops.cast(b, "float32") for b in (boxes1, boxes2))
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        if len(boxes.shape) not in (2, 3):
            raise ValueError(
                f"compute_iou: `{name}` must have shape (boxes, 4) or (batch, boxes, 4), not {tuple(boxes.shape)}."
            )
    (left1, top1, right1, bottom1), (left2, top2, right2, bottom2) = (
        ops.unstack(_corners(b, bounding_box_format, image_shape), 4, axis=-1) for b in (boxes1, boxes2)
    )

    def rows(v):
        return ops.expand_dims(v, -1)

    def columns(v):
        return ops.expand_dims(v, -2)

    wide = ops.minimum(rows(right1), columns(right2)) - ops.maximum(rows(left1), columns(left2))
    tall = ops.minimum(rows(bottom1), columns(bottom2)) - ops.maximum(rows(top1), columns(top2))
    common = ops.maximum(wide, 0.0) * ops.maximum(tall, 0.0)
    both = rows((right1 - left1) * (bottom1 - top1)) + columns((right2 - left2) * (bottom2 - top2)) - common
    found = ops.where(both == 0, 0.0, common / ops.where(both == 0, 1.0, both))
    if use_masking:
        missing = ops.logical_or(rows(ops.max(boxes1, -1) < 0), columns(ops.max(boxes2, -1) < 0))
        found = ops.where(missing, ops.cast(mask_val, ops.dtype(found)), found)
    return found


def compute_ciou(boxes1, boxes2, bounding_box_format, image_shape=None):
    """Complete intersection over union of boxes, one to one (Zheng et al., 2020).

    It is less than the plain one where centres are apart or shapes differ, and so has a gradient where boxes don't touch.

    Args:
        boxes1, boxes2: tensors `(..., 4)`.
        bounding_box_format: of both, see `convert_format`.
        image_shape: `(height, width, channels)`, for relative formats.

    Returns:
        Tensor of the shape without the last dimension.

    >>> import kerata
    >>> bool(abs(kerata.utils.bounding_boxes.compute_ciou([[0, 0, 2, 2]], [[0, 0, 2, 2]], "xyxy")[0] - 1) < 1e-5)
    True
    """
    tiny = 1e-7
    (left1, top1, right1, bottom1), (left2, top2, right2, bottom2) = (
        ops.unstack(_corners(b, bounding_box_format, image_shape), 4, axis=-1) for b in (boxes1, boxes2)
    )
    wide1, tall1, wide2, tall2 = right1 - left1, bottom1 - top1, right2 - left2, bottom2 - top2
    wide = ops.maximum(ops.minimum(right1, right2) - ops.maximum(left1, left2), 0.0)
    tall = ops.maximum(ops.minimum(bottom1, bottom2) - ops.maximum(top1, top2), 0.0)
    common = wide * tall
    iou = common / (wide1 * tall1 + wide2 * tall2 - common + tiny)
    around = ops.square(ops.maximum(right1, right2) - ops.minimum(left1, left2)) + ops.square(
        ops.maximum(bottom1, bottom2) - ops.minimum(top1, top2)
    )
    apart = ops.square((left1 + right1 - left2 - right2) / 2) + ops.square((top1 + bottom1 - top2 - bottom2) / 2)
    shape = 4 / math.pi**2 * ops.square(ops.arctan(wide2 / (tall2 + tiny)) - ops.arctan(wide1 / (tall1 + tiny)))
    weight = shape / (shape - iou + (1 + tiny))
    return iou - (apart / (around + tiny) + shape * weight)


def _corners(boxes, source, image_shape):
    height, width = (None, None) if image_shape is None else tuple(image_shape)[:2]
    target = "rel_xyxy" if source.lower().startswith("rel_") else "xyxy"
    return convert_format(boxes, source, target, height=height, width=width)
