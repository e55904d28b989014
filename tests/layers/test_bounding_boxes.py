"""Bounding boxes: the same numbers as Keras's, and plain arithmetic."""

import itertools

import numpy as np
import pytest

from kerata import backends, ops
from kerata.utils import bounding_boxes as boxes

FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")
SIZE = {"height": 100, "width": 200}
CORNERS = np.float32([[[10, 20, 40, 50], [60, 10, 90, 30]], [[0, 0, 200, 100], [150, 80, 160, 99]]])
FEW = np.float32([[10, 20, 40, 60], [0, 0, 10, 10], [100, 50, 140, 90]])
OTHERS = np.float32([[12, 18, 50, 61], [1, 2, 8, 9], [100, 40, 150, 90]])


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


@pytest.fixture
def theirs(real_keras):
    return real_keras.utils.bounding_boxes


def close(found, wanted, tolerance=1e-4):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=tolerance)


@pytest.mark.parametrize(("source", "target"), itertools.permutations(FORMATS, 2))
def test_formats(source, target, theirs):
    given = theirs.convert_format(CORNERS, "xyxy", source, **SIZE)
    close(boxes.convert_format(given, source, target, **SIZE), theirs.convert_format(given, source, target, **SIZE))
    close(boxes.convert_format(boxes.convert_format(given, source, target, **SIZE), target, source, **SIZE), given)


def test_formats_in_any_case_and_of_dictionaries():
    found = boxes.convert_format({"boxes": CORNERS, "labels": 1}, "XYXY", "xyWH")
    assert found["labels"] == 1
    close(found["boxes"][0, 0], [10, 20, 30, 30])


CHANGES = ({}, {"angle": 30.0}, {"scale": 1.5, "translate_x": 0.1}, {"shear_x": 20.0, "shear_y": 10.0, "angle": -20.0})


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("centre", ({}, {"center_x": 0.2, "center_y": 0.3}))
def test_affine(change, centre, theirs):
    still = dict.fromkeys(("angle", "translate_x", "translate_y", "shear_x", "shear_y"), 0.0) | {"scale": 1.0}
    given = {k: np.full(2, v, "float32") for k, v in (still | change).items()}
    arguments = given | SIZE | centre
    close(boxes.affine_transform(CORNERS, **arguments), theirs.affine_transform(CORNERS, **arguments), 1e-3)


def test_regions(theirs):
    close(boxes.crop(CORNERS, 10, 20, 30, 40), theirs.crop(CORNERS, 10, 20, 30, 40))
    close(boxes.pad(CORNERS, 5, 7), theirs.pad(CORNERS, 5, 7))
    given = {"boxes": np.float32([[[-10, -20, 150, 160], [300, 300, 310, 310]]]), "labels": np.array([[0, 2]])}
    found, wanted = (b.clip_to_image_size(dict(given), 100, 120) for b in (boxes, theirs))
    close(found["boxes"], wanted["boxes"])
    close(found["labels"], wanted["labels"])


@pytest.mark.parametrize("source", FORMATS)
def test_overlap(source, theirs):
    one, other = (theirs.convert_format(b, "xyxy", source, **SIZE) for b in (FEW, OTHERS))
    shape = (100, 200, 3)
    close(
        boxes.compute_iou(one, other, source, image_shape=shape),
        theirs.compute_iou(one, other, source, image_shape=shape),
    )
    if not source.startswith("rel_"):
        close(boxes.compute_ciou(one, other, source), theirs.compute_ciou(one, other, source))


def test_overlap_by_hand_and_masked():
    close(boxes.compute_iou([[0, 0, 4, 4]], [[2, 2, 6, 6], [4, 4, 5, 5]], "xyxy"), [[4 / 28, 0]])
    close(boxes.compute_iou(FEW, -np.ones((1, 4)), "xyxy", use_masking=True, mask_val=-2), np.full((3, 1), -2))
    assert boxes.compute_iou(CORNERS, FEW, "xyxy").shape == (2, 2, 3)


@pytest.mark.parametrize("order", ("center_yxhw", "center_xywh"))
@pytest.mark.parametrize("variance", (None, [0.1, 0.1, 0.2, 0.2]))
def test_deltas(order, variance, theirs):
    found = boxes.encode_box_to_deltas(FEW, OTHERS, "xyxy", "xyxy", encoding_format=order, variance=variance)
    close(found, theirs.encode_box_to_deltas(FEW, OTHERS, "xyxy", "xyxy", encoding_format=order, variance=variance))
    back = boxes.decode_deltas_to_boxes(FEW, found, "xyxy", "xywh", encoded_format=order, variance=variance)
    close(boxes.convert_format(back, "xywh", "xyxy"), OTHERS, 1e-3)
    levels = boxes.decode_deltas_to_boxes(
        {"p": FEW}, {"p": found}, "xyxy", "xyxy", encoded_format=order, variance=variance
    )
    close(levels["p"], OTHERS, 1e-3)


def test_on_every_backend(backend):
    found = boxes.compute_ciou(ops.convert_to_tensor(FEW), ops.convert_to_tensor(OTHERS), "xyxy")
    with backends.use_backend("numpy"):
        wanted = boxes.compute_ciou(FEW, OTHERS, "xyxy")
    close(ops.convert_to_numpy(found), wanted)


BAD = {
    "unknown bounding box format.*Did you mean 'xyxy'": lambda: boxes.convert_format(CORNERS, "xyxyy", "xywh"),
    "must receive `height` and `width`": lambda: boxes.convert_format(CORNERS, "xyxy", "rel_xyxy"),
    "last dimension of 4": lambda: boxes.convert_format(np.ones((3, 5)), "xyxy", "xywh"),
    "need the image's size": lambda: boxes.clip_to_image_size({"boxes": CORNERS, "labels": np.ones((2, 2))}),
    "`variance` must be length 4": lambda: boxes.encode_box_to_deltas(FEW, FEW, "xyxy", "xyxy", variance=[1]),
    "`encoding_format` must be one of": lambda: boxes.encode_box_to_deltas(
        FEW, FEW, "xyxy", "xyxy", encoding_format="xyxy"
    ),
    r"`boxes2` must have shape \(boxes, 4\)": lambda: boxes.compute_iou(FEW, np.ones(4), "xyxy"),
}


@pytest.mark.parametrize("message", BAD)
def test_mistakes(message):
    with pytest.raises(ValueError, match=message):
        BAD[message]()
