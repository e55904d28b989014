"""What happens to boxes when their image is cropped, padded, clipped, or changed affinely."""

import numpy as np

from kerata import ops
from kerata.layers.preprocessing.image.boxes.formats import convert_format, dense_boxes


def affine_transform(
    boxes,
    angle,
    translate_x,
    translate_y,
    scale,
    shear_x,
    shear_y,
    height,
    width,
    center_x=None,
    center_y=None,
    bounding_box_format="xyxy",
):
    """The upright boxes around boxes that are moved, scaled, sheared and turned.

    Args:
        boxes: tensor `(batch, boxes, 4)` or `(boxes, 4)`.
        angle: degrees, counterclockwise; a tensor `(batch,)`, like all up to `shear_y`.
        translate_x, translate_y: shares of width and height by which boxes move.
        scale: factor of lengths.
        shear_x, shear_y: degrees.
        height, width: size of the image in pixels.
        center_x, center_y: the point that stays, as shares of width and height; by default the middle.
        bounding_box_format: of `boxes` and of the result.

    Returns:
        Tensor of `boxes`' shape.

    >>> import kerata
    >>> kerata.utils.bounding_boxes.affine_transform(
    ...     [[0.0, 0, 1, 1]], [0.0], [0.0], [0.0], [2.0], [0.0], [0.0], 5, 5
    ... )
    [[-2., -2., 0., 0.]]
    """
    size = {"height": height, "width": width}
    boxes = convert_format(boxes, bounding_box_format, "xyxy", **size)
    single = len(boxes.shape) == 2
    boxes = ops.expand_dims(boxes, 0) if single else boxes
    turn, x_shear, y_shear = (ops.cast(v, "float32") * (np.pi / 180) for v in (angle, shear_x, shear_y))
    cos, sin, tan_x, tan_y = ops.cos(turn), ops.sin(turn), ops.tan(x_shear), ops.tan(y_shear)
    c, d = tan_y * cos - sin, tan_y * sin + cos
    # The sign in the first is Keras's; it matters only if two of turn and shears are not 0.
    a, b = cos - tan_x * c, sin + tan_x * d
    a, b, c, d = (ops.reshape(v * ops.cast(scale, "float32"), (-1, 1, 1)) for v in (a, b, c, d))
    wide, tall = (ops.cast(v - 1, "float32") for v in (width, height))
    middle_x, middle_y = (0.5 if v is None else v for v in (center_x, center_y))
    middle_x, middle_y = middle_x * wide, middle_y * tall
    x, y = corner_points(*ops.unstack(boxes, 4, axis=-1))
    x = x - middle_x + _column(translate_x) * wide
    y = y - middle_y + _column(translate_y) * tall
    boxes = around_points(a * x + b * y + middle_x, c * x + d * y + middle_y)
    boxes = ops.squeeze(boxes, 0) if single else boxes
    return convert_format(boxes, "xyxy", bounding_box_format, **size)


def _column(values):
    return ops.reshape(ops.cast(values, "float32"), (-1, 1, 1))


def corner_points(x1, y1, x2, y2):
    """x and y of the four corners, with a last dimension more."""
    return ops.stack([x1, x2, x1, x2], axis=-1), ops.stack([y1, y1, y2, y2], axis=-1)


def around_points(x, y):
    """Upright boxes around points, which are along the last dimension."""
    return ops.stack([ops.min(x, -1), ops.min(y, -1), ops.max(x, -1), ops.max(y, -1)], axis=-1)


def crop(boxes, top, left, height, width, bounding_box_format="xyxy"):
    """Boxes as seen from a part of the image, cut off at its edges.

    Args:
        boxes: tensor `(..., 4)`.
        top, left: where the part begins, in pixels.
        height, width: its size.
        bounding_box_format: of `boxes` and of the result.

    Returns:
        Tensor of `boxes`' shape.

    >>> import kerata
    >>> kerata.utils.bounding_boxes.crop([[10, 20, 40, 50]], top=10, left=20, height=30, width=40)
    [[ 0., 10., 20., 30.]]
    """
    size = {"height": height, "width": width}
    boxes = convert_format(boxes, bounding_box_format, "xyxy", **size)
    x1, y1, x2, y2 = ops.unstack(boxes, 4, axis=-1)
    return convert_format(
        _within(x1 - left, y1 - top, x2 - left, y2 - top, height, width), "xyxy", bounding_box_format, **size
    )


def pad(boxes, top, left, height=None, width=None, bounding_box_format="xyxy"):
    """Boxes as seen from an image to which rows above and columns on the left were added.

    Args:
        boxes: tensor `(..., 4)`.
        top, left: what was added, in pixels.
        height, width: size of the image; needed for relative formats.
        bounding_box_format: of `boxes` and of the result.

    Returns:
        Tensor of `boxes`' shape.

    >>> import kerata
    >>> kerata.utils.bounding_boxes.pad([[10, 20, 40, 50]], top=1, left=2)
    [[12., 21., 42., 51.]]
    """
    size = {"height": height, "width": width}
    boxes = convert_format(boxes, bounding_box_format, "xyxy", **size)
    x1, y1, x2, y2 = ops.unstack(boxes, 4, axis=-1)
    moved = ops.stack([x1 + left, y1 + top, x2 + left, y2 + top], axis=-1)
    return convert_format(moved, "xyxy", bounding_box_format, **size)


def clip_to_image_size(bounding_boxes, height=None, width=None, bounding_box_format="xyxy"):
    """Boxes cut off at the image's edges; the label of one of which nothing is left becomes -1.

    Args:
        bounding_boxes: `{"boxes": (..., 4), "labels": (...)}`.
        height, width: size of the image in pixels; not needed for relative formats.
        bounding_box_format: of the boxes.

    Returns:
        A dictionary like the one given.

    Raises:
        ValueError: a format of pixels, but no size.

    >>> import kerata
    >>> boxes = {"boxes": [[-5.0, 0, 4, 4], [8.0, 0, 9, 4]], "labels": [3, 4]}
    >>> clipped = kerata.utils.bounding_boxes.clip_to_image_size(boxes, height=8, width=8)
    >>> kerata.ops.convert_to_numpy(clipped["labels"]).tolist()
    [3, -1]
    """
    given = dense_boxes(bounding_boxes)
    relative = bounding_box_format.lower().startswith("rel_")
    if relative:
        # In shares of the image: 1 by 1.
        height = width = 1
    elif height is None or width is None:
        raise ValueError(
            f"clip_to_image_size: boxes in pixels ({bounding_box_format!r}) need the image's size, but "
            f"height={height} and width={width}."
        )
    size = {"height": height, "width": width}
    x1, y1, x2, y2 = ops.unstack(convert_format(given["boxes"], bounding_box_format, "xyxy", **size), 4, axis=-1)
    boxes = _within(x1, y1, x2, y2, height, width)
    x1, y1, x2, y2 = ops.unstack(boxes, 4, axis=-1)
    empty = (x2 - x1) * (y2 - y1) <= 0
    labels = given["labels"]
    if len(labels.shape) == len(empty.shape) and _alike(labels.shape, empty.shape):
        labels = ops.where(empty, ops.cast(-1, ops.dtype(labels)), labels)
    return {**given, "boxes": convert_format(boxes, "xyxy", bounding_box_format, **size), "labels": labels}


def _alike(one, other):
    return all(a == b or None in (a, b) for a, b in zip(one, other, strict=True))


def _within(x1, y1, x2, y2, height, width):
    """Corners cut off at the edges."""
    wide, tall = (v if isinstance(v, (int, float)) else ops.cast(v, ops.dtype(x1)) for v in (width, height))

    def cut(v, end):
        return ops.minimum(ops.maximum(v, 0.0), end)

    return ops.stack([cut(x1, wide), cut(y1, tall), cut(x2, wide), cut(y2, tall)], axis=-1)
