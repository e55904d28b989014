"""`kerata.utils.bounding_boxes`: formats of boxes, overlap, anchors, and what image changes do to boxes."""

from kerata.core import lazy

_BOXES = "kerata.layers.preprocessing.image.boxes"

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        f"{_BOXES}.deltas": ["decode_deltas_to_boxes", "encode_box_to_deltas"],
        f"{_BOXES}.formats": ["convert_format"],
        f"{_BOXES}.overlap": ["compute_ciou", "compute_iou"],
        f"{_BOXES}.regions": ["affine_transform", "clip_to_image_size", "crop", "pad"],
    },
)
