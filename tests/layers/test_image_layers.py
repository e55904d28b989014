"""Image layers: the same numbers as Keras's for the same draw, and as on the other backends for the same seed."""

import json

import numpy as np
import pytest

import kerata
from kerata import backends, config, layers, ops

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (3, 9, 7, 3)).astype("float32")
MASKS = RNG.integers(0, 3, (3, 9, 7, 1)).astype("int32")
LABELS = np.eye(4, dtype="float32")[[0, 2, 1]]
BOXES = {
    "boxes": np.float32([[[1, 1, 3, 4], [0, 2, 4, 5]], [[1, 0, 2, 2], [2, 2, 5, 6]], [[0, 0, 6, 8], [2, 2, 3, 3]]]),
    "labels": np.int32([[0, 1], [2, 1], [3, 3]]),
}
DRAWN = {
    "Solarization": {"addition_factor": 0.3, "threshold_factor": 0.5},
    "RandomBrightness": {"factor": 0.5},
    "RandomColorDegeneration": {"factor": 0.5},
    "RandomContrast": {"factor": 0.5},
    "RandomCrop": {"height": 4, "width": 3},
    "RandomErasing": {"fill_value": 3.0},
    "RandomFlip": {},
    "RandomGaussianBlur": {"kernel_size": (3, 5)},
    "RandomGrayscale": {},
    "RandomHue": {"factor": 0.5},
    "RandomInvert": {},
    "RandomPerspective": {},
    "RandomPosterization": {"factor": (2, 5)},
    "RandomRotation": {"factor": 0.5},
    "RandomSaturation": {"factor": (0.2, 0.6)},
    "RandomSharpness": {"factor": 0.9},
    "RandomShear": {"x_factor": 0.5, "y_factor": 0.4},
    "RandomTranslation": {"height_factor": 0.3, "width_factor": 0.2, "fill_mode": "constant", "fill_value": 9.0},
    "RandomZoom": {"height_factor": 0.3, "width_factor": 0.2, "fill_mode": "wrap"},
    "CutMix": {"factor": (0.5, 0.5)},
    "MixUp": {"alpha": 0.8},
}
# Several draws in one: what Keras draws for them isn't one dictionary, or changes its input on NumPy.
POLICIES = {
    "RandomColorJitter": {"brightness_factor": 0.2, "contrast_factor": 0.3, "hue_factor": 0.1},
    "RandomElasticTransform": {"factor": (1.0, 1.0)},
    "RandAugment": {"num_ops": 3},
    "AugMix": {"num_chains": 2, "chain_depth": 2},
}
FIXED = {
    "AutoContrast": {},
    "ContrastLimitedAdaptiveHistogramEqualization": {"tile_grid_size": (2, 2)},
    "Equalization": {"bins": 128},
    "CenterCrop": {"height": 4, "width": 5},
    "Resizing": {"height": 4, "width": 6, "crop_to_aspect_ratio": True},
    "MaxNumBoundingBoxes": {"max_number": 3},
}
EVERY = {**DRAWN, **POLICIES, **FIXED}
# Tests that compile much take these, and the others when there's time.
QUICK = ("RandomFlip", "RandomRotation", "RandomContrast", "RandomCrop", "MixUp", "Equalization", "RandomErasing")
SOME = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in EVERY]
# What Keras does not do, or does to garbage: boxes of CutMix, masks and the labels of boxes of MixUp, and others.
NOT_IN_KERAS = {
    ("CutMix", "bounding_boxes"),
    ("CutMix", "segmentation_masks"),  # get as many channels as the images have
    ("MixUp", "segmentation_masks"),
    ("MixUp", "bounding_boxes"),
    ("RandomGrayscale", "bounding_boxes"),
    ("RandomCrop", "bounding_boxes"),  # boxes are cut off at the edges too
    ("Resizing", "bounding_boxes"),  # Keras takes the width for the height
    ("AutoContrast", "channels_first"),
    *(("ContrastLimitedAdaptiveHistogramEqualization", p) for p in ("labels", "segmentation_masks", "bounding_boxes")),
}
FLAGS = ("apply_inversion", "apply_erasing", "should_apply_blur", "apply_perspective")


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


def made(module, name, seed=None, **more):
    arguments = EVERY[name] | {"bounding_box_format": "xyxy"} | more
    if seed is not None and name not in FIXED:
        arguments["seed"] = seed
    return getattr(module, name)(**arguments)


def data():
    return {
        "images": IMAGES.copy(),
        "labels": LABELS.copy(),
        "segmentation_masks": MASKS.copy(),
        "bounding_boxes": {k: v.copy() for k, v in BOXES.items()},
    }


def flat(result):
    boxes = {f"bounding_boxes/{k}": v for k, v in result.get("bounding_boxes", {}).items()}
    found = {k: v for k, v in result.items() if not isinstance(v, dict)} | boxes
    return {k: ops.convert_to_numpy(v) for k, v in found.items()}


def close(found, wanted, tolerance=2e-3):
    assert set(found) == set(wanted)
    for k in wanted:
        assert found[k].shape == wanted[k].shape, k
        np.testing.assert_allclose(found[k].astype("f8"), wanted[k].astype("f8"), atol=tolerance, rtol=1e-4, err_msg=k)


# ------------------------------------------------------------------ Keras as the oracle


@pytest.mark.parametrize("data_format", ("channels_last", "channels_first"))
@pytest.mark.parametrize("name", {**DRAWN, **FIXED})
def test_same_as_keras_for_the_same_draw(name, data_format, real_keras):
    """Images, labels, masks and boxes, given what Keras drew."""
    theirs = made(real_keras.layers, name, seed=3, data_format=data_format)
    ours = made(layers, name, seed=3, data_format=data_format)
    given = data()
    if data_format == "channels_first":
        given |= {k: np.moveaxis(given[k], -1, 1).copy() for k in ("images", "segmentation_masks")}
    drawn = theirs.get_random_transformation(given["images"])
    for flag in FLAGS:
        if isinstance(drawn, dict) and flag in drawn:
            drawn[flag] = np.array([True, False, True])
    for part, value in given.items():
        if (name, part) in NOT_IN_KERAS or (name, data_format) in NOT_IN_KERAS:
            continue
        copy = {k: v.copy() for k, v in value.items()} if isinstance(value, dict) else value.copy()
        wanted = getattr(theirs, f"transform_{part}")(copy, drawn, training=True)
        found = getattr(ours, f"transform_{part}")(value, drawn, training=True)
        wanted, found = (v if isinstance(v, dict) else {part: v} for v in (wanted, found))
        close({k: np.asarray(v) for k, v in found.items()}, {k: np.asarray(v) for k, v in wanted.items()})


@pytest.mark.parametrize("name", ("RandomFlip", "RandomShear", "RandomTranslation", "RandomZoom"))
def test_boxes_without_a_batch(name, real_keras):
    theirs, ours = (made(m, name, seed=3) for m in (real_keras.layers, layers))
    drawn = theirs.get_random_transformation(IMAGES[0])
    found, wanted = (
        np.asarray(layer.transform_bounding_boxes({k: v[0].copy() for k, v in BOXES.items()}, drawn)["boxes"])
        for layer in (ours, theirs)
    )
    np.testing.assert_allclose(found.reshape(2, 4), wanted.reshape(2, 4), atol=1e-4)


@pytest.mark.parametrize("name", DRAWN)
def test_draws_look_like_keras(name, real_keras):
    """The same names and dtypes, shapes that hold the same numbers, and the same range of values."""
    many = np.zeros((400, 24, 24, 3), "float32")
    theirs, ours = (made(m, name, seed=3).get_random_transformation(many) for m in (real_keras.layers, layers))
    if name == "RandomCrop":
        for i in range(2):
            assert 0 <= int(ours[i]) <= 24 - (4, 3)[i]
        return
    if name == "RandomGrayscale":
        theirs, ours = {"chosen": theirs}, {"chosen": ours}
    assert set(ours) == set(theirs)
    for k, wanted in theirs.items():
        if k in ("input_shape", "batch_size", "image_height", "image_width", "fill_value", "permutation_order"):
            continue
        wanted, found = np.asarray(wanted), np.asarray(ours[k])
        assert found.dtype == wanted.dtype, k
        wanted, found = wanted.astype("f8"), found.astype("f8")
        if found.size > 100:
            spread = wanted.max() - wanted.min() or 1.0
            assert abs(found.mean() - wanted.mean()) < 0.12 * spread, k
            assert abs(found.std() - wanted.std()) < 0.12 * spread, k


def test_files_both_ways(real_keras, tmp_path):
    """A `.keras` file with every layer that keeps the images' shape: Keras reads ours, and we read Keras's."""
    # Equalization gives back its input in inference, and Keras then sees a cycle.
    other = ("RandomCrop", "CenterCrop", "Resizing", "MaxNumBoundingBoxes", "Equalization")
    names = [n for n in EVERY if n not in other]

    def model(keras):
        return keras.Sequential([keras.Input((9, 7, 3))] + [made(keras.layers, n, seed=1) for n in names])

    model(kerata).save(tmp_path / "ours.keras")
    model(real_keras).save(tmp_path / "theirs.keras")
    for path, keras in (("ours.keras", real_keras), ("theirs.keras", kerata)):
        read = keras.models.load_model(tmp_path / path)
        assert [type(layer).__name__ for layer in read.layers] == names
        for layer, name in zip(read.layers, names, strict=True):
            config, wanted = layer.get_config(), made(keras.layers, name, seed=1).get_config()
            known = {
                k for k in wanted if k not in ("name", "dtype") and not (name == "RandomGrayscale" and k == "seed")
            }
            assert {k: _plain(config[k]) for k in known} == {k: _plain(wanted[k]) for k in known}
        assert read.predict(IMAGES, verbose=0).shape == IMAGES.shape


def _plain(value):
    return list(value) if isinstance(value, (list, tuple)) else value


# ------------------------------------------------------------------ one seed, one result


@pytest.mark.parametrize("name", SOME)
def test_same_on_every_backend(name, backend):
    found = flat(made(layers, name, seed=5)(data()))
    with backends.use_backend("numpy"):
        wanted = flat(made(layers, name, seed=5)(data()))
    close(found, wanted)


@pytest.mark.skipif("tensorflow" not in backends.installed(), reason="tf.data is TensorFlow's")
@pytest.mark.parametrize("name", SOME)
def test_in_tf_data(name):
    """TensorFlow's tensors in and out while another backend is in force; the same numbers."""
    import tensorflow as tf

    with backends.use_backend("jax" if "jax" in backends.installed() else "numpy"):
        layer = made(layers, name, seed=5)
        result = next(iter(tf.data.Dataset.from_tensor_slices(data()).batch(3).map(layer)))
        assert isinstance(result["images"], tf.Tensor)
        found = flat(
            {
                k: v.numpy() if not isinstance(v, dict) else {q: w.numpy() for q, w in v.items()}
                for k, v in result.items()
            }
        )
    close(found, flat(made(layers, name, seed=5)(data())))


def test_tf_data_of_any_size():
    tf = pytest.importorskip("tensorflow")
    dataset = tf.data.Dataset.from_generator(
        lambda: (np.ones((n, n + 2, 3), "uint8") for n in (4, 9)),
        output_signature=tf.TensorSpec((None, None, 3), "uint8"),
    )
    for layer in (layers.CenterCrop(6, 5), layers.RandomCrop(6, 5), layers.Resizing(6, 5)):
        assert {tuple(x.shape) for x in dataset.map(layer)} == {(6, 5, 3)}
    for layer in (
        layers.RandomZoom(0.2),
        layers.RandomRotation(0.2),
        layers.Equalization(),
        layers.RandomElasticTransform(),
    ):
        assert [tuple(x.shape) for x in dataset.map(layer)] == [(4, 6, 3), (9, 11, 3)]


def test_transforms_in_graphs():
    """TensorFlow's kernel where it is at hand, which it isn't in what XLA compiles; the same images."""
    tf = pytest.importorskip("tensorflow")
    with backends.use_backend("tensorflow"):
        turned = [tf.function(made(layers, "RandomRotation", seed=3), jit_compile=jit) for jit in (False, True)]
        graphs = [f.get_concrete_function(tf.TensorSpec(IMAGES.shape)).graph for f in turned]
        kinds = [{op.type for op in graph.get_operations()} for graph in graphs]
        assert ["ImageProjectiveTransformV3" in found for found in kinds] == [True, False]
        plain, compiled = (f(IMAGES.astype("float32")).numpy() for f in turned)
    np.testing.assert_allclose(plain, compiled, atol=1e-2)


def test_ragged_boxes():
    tf = pytest.importorskip("tensorflow")
    boxes = {"boxes": tf.ragged.constant([[[0.0, 0, 1, 1], [1, 1, 2, 2]], [[0, 0, 2, 2]]], ragged_rank=1)}
    boxes["labels"] = tf.ragged.constant([[1, 2], [3]])
    images = tf.zeros((2, 4, 4, 3))
    dataset = tf.data.Dataset.from_tensor_slices({"images": images, "bounding_boxes": boxes}).batch(2)
    found = next(iter(dataset.map(layers.MaxNumBoundingBoxes(3, bounding_box_format="xyxy"))))["bounding_boxes"]
    assert found["labels"].numpy().tolist() == [[1, 2, -1], [3, -1, -1]]
    assert found["boxes"].shape == (2, 3, 4)


@pytest.mark.parametrize("name", EVERY)
def test_one_example_is_a_batch_of_one(name):
    one = {k: v[0] if not isinstance(v, dict) else {q: w[0] for q, w in v.items()} for k, v in data().items()}
    batch = {k: v[:1] if not isinstance(v, dict) else {q: w[:1] for q, w in v.items()} for k, v in data().items()}
    found, wanted = flat(made(layers, name, seed=2)(one)), flat(made(layers, name, seed=2)(batch))
    close(found, {k: v[0] for k, v in wanted.items()})
    assert made(layers, name, seed=2)(IMAGES[0]).shape == wanted["images"].shape[1:]


@pytest.mark.parametrize("name", EVERY)
def test_channels_first(name):
    if name in ("RandomErasing", "RandomElasticTransform"):
        pytest.skip("noise is drawn in the images' layout")
    last = ops.convert_to_numpy(made(layers, name, seed=2)(IMAGES))
    first = ops.convert_to_numpy(made(layers, name, seed=2, data_format="channels_first")(np.moveaxis(IMAGES, -1, 1)))
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, atol=2e-3)


@pytest.mark.parametrize("name", EVERY)
def test_integers(name):
    """Bytes give what the same floats give, in floats; or stay bytes."""
    layer = made(layers, name, seed=2)
    found = layer(IMAGES.astype("uint8"))
    kept = name in (
        "Resizing",
        "MaxNumBoundingBoxes",
        "RandomGrayscale",
        "ContrastLimitedAdaptiveHistogramEqualization",
    )
    assert found.dtype == ("uint8" if kept else "float32")
    wanted = made(layers, name, seed=2)(IMAGES.astype("uint8").astype("float32"))
    np.testing.assert_allclose(found.astype("f8"), wanted, atol=1.01 if kept else 1e-3)
    assert made(layers, name, seed=2)(IMAGES.astype("uint8"), training=False).dtype == found.dtype


@pytest.mark.parametrize("name", {**DRAWN, **POLICIES})
def test_inference_changes_nothing(name):
    if name == "RandomCrop":
        pytest.skip("it takes the middle then")
    given = data()
    close(flat(made(layers, name, seed=2)(given, training=False)), flat(given), 0)


def test_what_is_given_is_not_changed():
    given = data() | {"weights": np.ones(3)}
    result = made(layers, "RandomCrop", seed=2)(given)
    assert given["images"].shape == IMAGES.shape
    assert result["weights"] is given["weights"]


# ------------------------------------------------------------------ in models


@pytest.mark.parametrize("name", ("RandomFlip", "RandomZoom", "RandomContrast"))
def test_in_a_model(name, training_backend):
    """Compiled, and for images of any size; random in training only."""
    inputs = kerata.Input((None, None, 3))
    model = kerata.Model(inputs, made(layers, name, seed=3)(inputs))
    np.testing.assert_allclose(model.predict(IMAGES, verbose=0), IMAGES, atol=1e-4)
    first, second = (ops.convert_to_numpy(model(IMAGES, training=True)) for _ in range(2))
    assert first.shape == IMAGES.shape
    assert not np.allclose(first, second)


def test_training_with_augmentation(training_backend):
    kerata.utils.set_random_seed(0)
    model = kerata.Sequential(
        [
            layers.RandomTranslation(0.2, 0.2, seed=1),
            layers.RandomBrightness(0.1, (0, 1)),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    # Enough images for what the augmentation does to each to even out.
    images = np.tile(IMAGES / 255, (40, 1, 1, 1))
    history = model.fit(images, np.zeros((120, 1)), batch_size=60, epochs=10, verbose=0).history["loss"]
    assert history[-1] < history[0]


def test_in_a_torch_dataset():
    torch = pytest.importorskip("torch")
    with backends.use_backend("torch"):
        flip = layers.RandomFlip("horizontal", seed=1)

        class Flipped(torch.utils.data.Dataset):
            def __len__(self):
                return 3

            def __getitem__(self, i):
                return flip(IMAGES[i])

        batch = next(iter(torch.utils.data.DataLoader(Flipped(), batch_size=3)))
    assert tuple(batch.shape) == IMAGES.shape
    for image, original in zip(batch.numpy(), IMAGES, strict=True):
        assert np.array_equal(image, original) or np.array_equal(image, original[:, ::-1])


# ------------------------------------------------------------------ what the draws are like


def test_seeds_repeat_and_go_on():
    one, two = (layers.RandomRotation(0.3, seed=4) for _ in range(2))
    first, second, again = one(IMAGES), one(IMAGES), two(IMAGES)
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(first, again)


def test_labels_mix_in_the_share_of_the_images():
    """Of two images, all 0 and all 1, with labels 0 and 1: the label is the mean of the pixels, and masks mix like images."""
    images = np.zeros((64, 30, 30, 2), "float32")
    images[32:] = 1
    masks, labels = images[..., :1], images[:, 0, 0]
    for layer, tolerance in ((layers.CutMix(seed=1), 0.08), (layers.MixUp(alpha=1.0, seed=1), 1e-5)):
        mixed = layer({"images": images, "labels": labels, "segmentation_masks": masks})
        np.testing.assert_allclose(mixed["images"].mean((1, 2)), mixed["labels"], atol=tolerance)
        np.testing.assert_array_equal(mixed["segmentation_masks"], mixed["images"][..., :1])
        assert 0.1 < mixed["labels"].std() < 0.5


MOVING = {
    "RandomFlip": {"mode": "horizontal_and_vertical"},
    "RandomTranslation": {"height_factor": 0.2, "width_factor": 0.2, "fill_mode": "constant"},
    "RandomZoom": {"height_factor": 0.3, "width_factor": 0.2, "fill_mode": "constant"},
    "RandomRotation": {"factor": (0.25, 0.25), "fill_mode": "constant"},
    "RandomPerspective": {"factor": (1.0, 1.0), "scale": 0.2},
    "RandomCrop": {"height": 50, "width": 64},
    "CenterCrop": {"height": 40, "width": 60},
    "Resizing": {"height": 40, "width": 90},
    "Resizing-crop": {"height": 40, "width": 70, "crop_to_aspect_ratio": True},
    "Resizing-pad": {"height": 90, "width": 60, "pad_to_aspect_ratio": True},
}


@pytest.mark.parametrize("bounding_box_format", ("xyxy", "rel_yxyx", "center_xywh"))
@pytest.mark.parametrize("name", MOVING)
def test_boxes_and_masks_follow_the_images(name, bounding_box_format):
    """A painted rectangle, its mask and its box come to lie at the same place."""
    images = np.zeros((2, 60, 80, 1), "float32")
    images[0, 20:38, 30:54] = 255
    images[1, 25:30, 25:55] = 255
    corners = np.float32([[[30, 20, 54, 38]], [[25, 25, 55, 30]]])
    boxes = kerata.utils.bounding_boxes.convert_format(corners, "xyxy", bounding_box_format, height=60, width=80)
    layer = getattr(layers, name.split("-")[0])(**MOVING[name], bounding_box_format=bounding_box_format)
    labels = np.zeros((2, 1), "int32")
    result = layer(
        {
            "images": images,
            "segmentation_masks": (images > 0).astype("int32"),
            "bounding_boxes": {"boxes": boxes, "labels": labels},
        }
    )
    height, width = result["images"].shape[1:3]
    found = kerata.utils.bounding_boxes.convert_format(
        result["bounding_boxes"]["boxes"], bounding_box_format, "xyxy", height=height, width=width
    )
    for image, mask, box in zip(result["images"], result["segmentation_masks"], found[:, 0], strict=True):
        painted = image[..., 0] > 127
        assert (painted != (mask[..., 0] > 0)).mean() < 0.02
        rows, columns = np.nonzero(painted.any(1))[0], np.nonzero(painted.any(0))[0]
        seen = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
        np.testing.assert_allclose(box, seen, atol=1.7)


@pytest.mark.parametrize(("how", "size"), (("crop_to_aspect_ratio", 80), ("pad_to_aspect_ratio", 110)))
def test_boxes_where_an_odd_pixel_is_left_out(how, size):
    image = np.zeros((11, 8, 1), "float32")
    image[3:6, 2:5] = 1
    layer = layers.Resizing(size, size, interpolation="nearest", bounding_box_format="xyxy", **{how: True})
    boxes = {"boxes": np.float32([[2, 3, 5, 6]]), "labels": np.zeros(1, "int32")}
    result = layer({"images": image, "bounding_boxes": boxes})
    columns, rows = (np.nonzero(np.asarray(result["images"])[..., 0].any(axis))[0] for axis in (0, 1))
    seen = [[columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]]
    np.testing.assert_allclose(result["bounding_boxes"]["boxes"], seen, atol=1e-4)


@pytest.mark.parametrize("size", ((12, 9), (4, 9), (9, 3), (3, 4)))
def test_random_crops_in_inference_are_the_largest_middle(size, backend, real_keras):
    """As Keras documents it, and as its `Resizing` does it."""
    images = np.random.default_rng(0).uniform(0, 255, (2, *size, 3)).astype("float32")
    boxes = {"boxes": np.float32([[[0, 0, size[1], size[0]]]] * 2), "labels": np.zeros((2, 1), "int32")}
    layer = layers.RandomCrop(6, 5, bounding_box_format="xyxy")
    given = {"images": images, "segmentation_masks": (images[..., :1] > 99).astype("int32"), "bounding_boxes": boxes}
    found = {k: ops.convert_to_numpy(v) for k, v in flat(layer(given, training=False)).items()}
    theirs = real_keras.layers.Resizing(6, 5, crop_to_aspect_ratio=True)
    np.testing.assert_allclose(found["images"], np.asarray(theirs(images)), atol=2e-3)
    assert found["segmentation_masks"].shape == (2, 6, 5, 1) and set(found["segmentation_masks"].ravel()) <= {0, 1}
    assert found["bounding_boxes/boxes"].tolist() == [[[0, 0, 5, 6]]] * 2
    drawn = [np.asarray(m.get_random_transformation(images, training=False)[:2]) for m in
             (layer, real_keras.layers.RandomCrop(6, 5))]  # fmt: skip
    np.testing.assert_array_equal(*drawn)


def test_random_crops_are_windows_anywhere(backend):
    """In training: one window a batch, of the images, masks and boxes alike; each place some time."""
    rows, columns = np.mgrid[:5, :6]
    images = np.stack([rows, columns, rows + columns], -1)[None].repeat(2, 0).astype("float32")
    boxes = {"boxes": np.float32([[[2, 1, 4, 5]]] * 2), "labels": np.zeros((2, 1), "int32")}
    layer, seen = layers.RandomCrop(4, 4, seed=5, bounding_box_format="xyxy"), set()
    for _ in range(60):
        result = flat(layer({"images": images, "segmentation_masks": images[..., :1], "bounding_boxes": boxes}))
        top, left = result["images"][0, 0, 0, :2].astype(int)
        wanted = images[:, top : top + 4, left : left + 4]
        np.testing.assert_array_equal(result["images"], wanted)
        np.testing.assert_array_equal(result["segmentation_masks"], wanted[..., :1])
        box = np.clip([2 - left, 1 - top, 4 - left, 5 - top], 0, 4)
        np.testing.assert_array_equal(result["bounding_boxes/boxes"], [[box]] * 2)
        seen.add((top, left))
    assert len(seen) == 6


def test_erased_areas():
    erased = layers.RandomErasing((1.0, 1.0), scale=(0.2, 0.2), fill_value=0.0, seed=1)(
        np.ones((200, 50, 40, 1), "float32")
    )
    share = 1 - erased.mean((1, 2, 3))
    assert abs(share.mean() - 0.2) < 0.01
    assert share.std() < 0.02
    # Anywhere with about the same probability, but at the edges.
    middle = erased.mean((0, 3))[22:28, 18:22]
    assert middle.std() < 0.1


def test_aug_mix_is_between_its_chains():
    """With one chain of the identity nothing changes; weights sum to 1."""
    layer = layers.AugMix(num_chains=4, chain_depth=1, factor=0.0, all_ops=True, seed=1)
    drawn = layer.get_random_transformation(IMAGES)
    assert abs(drawn["chain_mixing_weights"].sum() - 1) < 1e-6
    drawn["layer_idxes"] = np.full(4, layer._choices.index("random_shear"), "int32")
    np.testing.assert_allclose(layer.transform_images(IMAGES, drawn), IMAGES, atol=1e-3)


def test_rand_augment_is_its_choices_in_turn():
    layer = layers.RandAugment(num_ops=2, seed=1)
    drawn = layer.get_random_transformation(IMAGES)
    drawn["layer_idxes"] = np.array(
        [layer._choices.index(n) for n in ("random_contrast", "random_translation")], "int32"
    )
    wanted = IMAGES
    for name in ("random_contrast", "random_translation"):
        wanted = getattr(layer, name).transform_images(wanted, drawn["transforms"][name])
    np.testing.assert_allclose(layer.transform_images(IMAGES, drawn), wanted, atol=1e-4)


def test_what_was_drawn_and_cannot_be_read_is_not_taken_for_traced():
    class Broken:
        def __array__(self, *args, **kwargs):
            raise MemoryError("too large")

    layer = layers.RandAugment(num_ops=1, seed=1)
    drawn = layer.get_random_transformation(IMAGES)
    with pytest.raises(MemoryError, match="too large"):
        layer.transform_images(IMAGES, {**drawn, "layer_idxes": Broken()})


# ------------------------------------------------------------------ mistakes

BAD = {
    r"RandomBrightness \"b\": The `factor` argument.*within \[-1, 1\], but 2": lambda: layers.RandomBrightness(
        2, name="b"
    ),
    "`factor` argument should be a number": lambda: layers.RandomHue((0.1, 0.2, 0.3)),
    "`value_range` argument should be a list of two numbers.*but 3": lambda: layers.RandomContrast(0.1, 3),
    "`mode` must be one of": lambda: layers.RandomFlip("horizontally"),
    "`fill_mode` must be one of.*Did you mean": lambda: layers.RandomRotation(0.1, fill_mode="constat"),
    "`interpolation` must be one of": lambda: layers.Resizing(2, 2, interpolation="linear"),
    "`height` must be a positive integer, but 0": lambda: layers.CenterCrop(0, 2),
    "only one of `crop_to_aspect_ratio`": lambda: layers.Resizing(
        2, 2, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True
    ),
    "rank 3 or 4": lambda: layers.RandomFlip()(np.ones((2, 2))),
    "must have the key \"images\".*'labels'": lambda: layers.RandomFlip()({"labels": np.ones(2)}),
    "no bounding box format": lambda: layers.RandomFlip()({"images": IMAGES, "bounding_boxes": BOXES}),
    "unknown bounding box format.*Did you mean": lambda: layers.RandomFlip(bounding_box_format="xxyy"),
    '"boxes" and "labels"': lambda: layers.RandomFlip(bounding_box_format="xyxy")(
        {"images": IMAGES, "bounding_boxes": 3}
    ),
    "`kernel_size` must be odd": lambda: layers.RandomGaussianBlur(kernel_size=4),
    "`alpha` must be a positive number": lambda: layers.MixUp(alpha=0),
    "`max_number` must be a positive integer": lambda: layers.MaxNumBoundingBoxes(0),
    "`layers` must be layers": lambda: layers.Pipeline([lambda x: x]),
    "three channels": lambda: layers.RandomGrayscale(1.0)(np.ones((2, 2, 1), "float32")),
    "`clip_limit` must be a positive": lambda: layers.ContrastLimitedAdaptiveHistogramEqualization(clip_limit=0),
}


@pytest.mark.parametrize("message", BAD)
def test_mistakes(message):
    with pytest.raises(ValueError, match=message):
        BAD[message]()


def test_rescaling_by_channels_first(backend):
    images = np.ones((2, 3, 4, 4), "float32")
    config.set_image_data_format("channels_first")
    try:
        y = layers.Rescaling([1.0, 2.0, 3.0], offset=0.5)(images)
    finally:
        config.set_image_data_format("channels_last")
    np.testing.assert_allclose(ops.convert_to_numpy(y)[0, :, 0, 0], [1.5, 2.5, 3.5])


def test_rescaling_by_arrays_is_saved(backend):
    layer = layers.Rescaling(np.array([0.5, 1.0]), offset=np.array(0.5))
    again = layers.Rescaling.from_config(json.loads(json.dumps(layer.get_config())))
    np.testing.assert_allclose(ops.convert_to_numpy(again(np.ones((1, 2), "float32"))), [[1.0, 1.5]])


@pytest.mark.parametrize("factor", [1, 3, 8])
def test_posterized_bytes_are_exact(factor, backend):
    pixels = np.arange(256, dtype="uint8").reshape(1, 16, 16, 1)
    layer = layers.RandomPosterization((factor, factor), seed=1)
    found = ops.convert_to_numpy(layer(pixels.astype("float32") + 0.4, training=True))
    np.testing.assert_array_equal(found, pixels >> (8 - factor) << (8 - factor))
