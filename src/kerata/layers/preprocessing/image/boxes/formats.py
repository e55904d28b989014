"""Formats of bounding boxes, and from each to each."""

from kerata import ops
from kerata.core import dtypes
from kerata.core.errors import unknown

FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw")
# Coordinates as shares of the image's width and height.
RELATIVE = "rel_"


def check_format(name, argument, owner):
    """`(format in pixels, whether it's relative)` of a format's name, in any case.

    Raises:
        ValueError: no such format.
    """
    known = [*FORMATS, *(RELATIVE + f for f in FORMATS)]
    low = name.lower() if isinstance(name, str) else name
    if low not in known:
        raise unknown(f"bounding box format `{argument}`", name, known, owner)
    return low.removeprefix(RELATIVE), low.startswith(RELATIVE)


def convert_format(boxes, source, target, height=None, width=None, dtype="float32"):
    """Boxes in another format.

    | format | the four numbers |
    | --- | --- |
    | `xyxy` | x and y of the upper left corner, x and y of the lower right one |
    | `yxyx` | the same, each y before its x |
    | `xywh` | x and y of the upper left corner, then the size: width, height |
    | `center_xywh` | x and y of the middle, then the size: width, height |
    | `center_yxhw` | y and x of the middle, then the size: height, width |

    With `rel_` before the name they are shares of the image's width and height.

    Args:
        boxes: tensor `(..., 4)`, or a dictionary with it under `"boxes"`.
        source, target: formats; case doesn't matter.
        height, width: size of the image in pixels (numbers, or tensors that broadcast to the boxes without
            their last dimension); needed unless both formats are of pixels, or both relative.
        dtype: dtype of the result.

    Returns:
        Tensor of `boxes`' shape, or the dictionary with it.

    Raises:
        ValueError: an unknown format, another last dimension than 4, or no size where one is needed.

    >>> import kerata
    >>> kerata.utils.bounding_boxes.convert_format([[10, 20, 30, 60]], "xyxy", "xywh")
    [[10., 20., 20., 40.]]
    """
    if isinstance(boxes, dict):
        changed = convert_format(boxes["boxes"], source, target, height, width, dtype)
        return {**boxes, "boxes": changed}
    owner = "convert_format"
    (start, from_shares), (end, to_shares) = (
        check_format(f, n, owner) for f, n in ((source, "source"), (target, "target"))
    )
    boxes = _floating(boxes, dtype, owner)
    if start == end and from_shares == to_shares:
        return boxes
    x1, y1, x2, y2 = _INTO_CORNERS[start](*ops.unstack(boxes, 4, axis=-1))
    if from_shares != to_shares:
        if height is None or width is None:
            raise ValueError(
                f"{owner}: to go from {source!r} to {target!r} it must receive `height` and `width` of the image, but "
                f"height={height} and width={width}."
            )
        height, width = (_size(v, boxes) for v in (height, width))
        scale = (lambda v, size: v * size) if from_shares else (lambda v, size: v / size)
        x1, y1, x2, y2 = scale(x1, width), scale(y1, height), scale(x2, width), scale(y2, height)
    return ops.stack(_FROM_CORNERS[end](x1, y1, x2, y2), axis=-1)


def _floating(boxes, dtype, owner):
    boxes = ops.cast(ops.convert_to_tensor(boxes), dtypes.standardize_dtype(dtype))
    if len(boxes.shape) < 1 or boxes.shape[-1] not in (4, None):
        raise ValueError(f"{owner}: `boxes` must have a last dimension of 4, but the shape is {tuple(boxes.shape)}.")
    return boxes


def _size(value, boxes):
    return float(value) if isinstance(value, (int, float)) else ops.cast(value, ops.dtype(boxes))


_INTO_CORNERS = {
    "xyxy": lambda a, b, c, d: (a, b, c, d),
    "yxyx": lambda a, b, c, d: (b, a, d, c),
    "xywh": lambda a, b, c, d: (a, b, a + c, b + d),
    "center_xywh": lambda a, b, c, d: (a - c / 2, b - d / 2, a + c / 2, b + d / 2),
    "center_yxhw": lambda a, b, c, d: (b - d / 2, a - c / 2, b + d / 2, a + c / 2),
}
_FROM_CORNERS = {
    "xyxy": lambda a, b, c, d: (a, b, c, d),
    "yxyx": lambda a, b, c, d: (b, a, d, c),
    "xywh": lambda a, b, c, d: (a, b, c - a, d - b),
    "center_xywh": lambda a, b, c, d: ((a + c) / 2, (b + d) / 2, c - a, d - b),
    "center_yxhw": lambda a, b, c, d: ((b + d) / 2, (a + c) / 2, d - b, c - a),
}


def dense_boxes(bounding_boxes, fill_value=0.0, label_value=-1):
    """A boxes dictionary as tensors; TensorFlow's ragged ones are filled up.

    Args:
        bounding_boxes: `{"boxes": ..., "labels": ...}`.
        fill_value: coordinates of the boxes that fill up.
        label_value: their labels.

    Raises:
        ValueError: it isn't a dictionary with these keys.
    """
    if not isinstance(bounding_boxes, dict) or not {"boxes", "labels"} <= set(bounding_boxes):
        found = (
            ", ".join(map(repr, bounding_boxes)) if isinstance(bounding_boxes, dict) else type(bounding_boxes).__name__
        )
        raise ValueError(
            f'Bounding boxes must be a dictionary with the keys "boxes" and "labels", but it is or has: {found}.'
        )
    filled = {"boxes": fill_value, "labels": label_value}
    return {
        k: ops.convert_to_tensor(v.to_tensor(default_value=filled.get(k)) if hasattr(v, "to_tensor") else v)
        for k, v in bounding_boxes.items()
    }
