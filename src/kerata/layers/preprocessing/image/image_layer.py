"""The base of image layers: one random draw for images, labels, boxes and masks."""

from kerata import ops, random
from kerata.core import config, dtypes
from kerata.graph.tensor import KerasTensor
from kerata.layers.preprocessing.data_layer import DataLayer, pipeline_safe
from kerata.layers.preprocessing.image.boxes.formats import check_format, convert_format, dense_boxes

# Parts of a dictionary that is given as data; all others pass through.
PARTS = ("images", "labels", "bounding_boxes", "segmentation_masks")


class Namespace:
    """Ops as layers of users' own reach them, `self.backend.numpy.mean(...)`: on whatever backend is current."""

    random = random

    def __getattr__(self, name):
        return ops if name in ("numpy", "core") else getattr(ops, name)


class ImageLayer(DataLayer):
    """Base of layers that change images, and with them what belongs to the images.

    It is called on images, `(batch, height, width, channels)` or without the batch (or channels first), or on a
    dictionary with `"images"` and some of `"labels"`, `"bounding_boxes"` (a dictionary with `"boxes"` and `"labels"`)
    and `"segmentation_masks"`. A subclass says

    - `_draw(images, seed)`: what is drawn at random, once for everything that belongs together;
    - `_images(images, transformation)`: what happens to images of the compute dtype;
    - `_labels`, `_boxes`, `_masks` likewise, unless these stay as they are.

    Args:
        bounding_box_format: how boxes are given, see `kerata.utils.bounding_boxes.convert_format`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
    """

    _config_unless = {"bounding_box_format": None}
    _convert_input_args = False
    # Whether it also acts in inference.
    _always = False
    # Whether integers stay integers.
    _keeps_integers = False

    def __init__(self, *, bounding_box_format=None, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.bounding_box_format = bounding_box_format
        if bounding_box_format is not None:
            check_format(bounding_box_format, "bounding_box_format", self._where())
        self.data_format = config.standardize_data_format(data_format)

    @property
    def backend(self):
        """Ops by the names that Keras's backends have, and `backend.random`."""
        return Namespace()

    def _set_seed(self, seed):
        self.seed = seed
        self.generator = random.SeedGenerator(seed)

    # ------------------------------------------------------------- what is drawn

    @pipeline_safe
    def get_random_transformation(self, data, training=True, seed=None):
        """Draw what is random about one call.

        Args:
            data: images, or the dictionary with them.
            training: whether to draw at all.
            seed: int, `SeedGenerator`; `None`: the layer's own generator.

        Returns:
            What the `transform_...` methods take, `None` if nothing is random.
        """
        if not (training or self._always):
            return None
        images = data["images"] if isinstance(data, dict) else data
        if not hasattr(images, "shape"):
            images = ops.convert_to_tensor(images)
        return self._draw(images, self._seed(seed)) if training else self._undrawn(images)

    def _seed(self, seed):
        if seed is not None or not hasattr(self, "generator"):
            return seed
        return self._seed_source()

    def _draw(self, images, seed):
        return None

    def _undrawn(self, images):
        """What stands for a draw in inference, in layers that act then too."""
        return self._draw(images, None)

    # ------------------------------------------------------------- what is done

    @pipeline_safe
    def transform_images(self, images, transformation, training=True):
        """The images changed.

        Args:
            images: tensor `(batch, height, width, channels)`, or one image without the batch.
            transformation: what `get_random_transformation` returned.
            training: whether to change anything.
        """
        images = self._pixels(images)
        return self._images(images, transformation) if training or self._always else images

    @pipeline_safe
    def transform_labels(self, labels, transformation, training=True):
        """The labels changed (few layers do).

        Args:
            labels: tensor whose first dimension is the batch.
            transformation: what `get_random_transformation` returned.
            training: whether to change anything.
        """
        return self._labels(labels, transformation) if training or self._always else labels

    @pipeline_safe
    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """The boxes changed as the images are.

        Args:
            bounding_boxes: `{"boxes": (batch, boxes, 4), "labels": (batch, boxes)}`, or both without the batch.
            transformation: what `get_random_transformation` returned.
            training: whether to change anything.
        """
        if not (training or self._always):
            return bounding_boxes
        return self._boxes(dense_boxes(bounding_boxes), transformation)

    @pipeline_safe
    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """The masks changed as the images are.

        Args:
            segmentation_masks: tensor `(batch, height, width, 1)`, or one hot; or one without the batch.
            transformation: what `get_random_transformation` returned.
            training: whether to change anything.
        """
        masks = segmentation_masks
        return self._masks(masks, transformation) if training or self._always else masks

    def _images(self, images, transformation):
        raise NotImplementedError(f"{type(self).__name__} must define `transform_images`, or `_images`.")

    def _labels(self, labels, transformation):
        return labels

    def _boxes(self, bounding_boxes, transformation):
        return bounding_boxes

    def _masks(self, masks, transformation):
        return masks

    # One example: as a batch of one.

    def transform_single_image(self, image, transformation, training=True):
        """`transform_images` of one image."""
        return self._single(self.transform_images, image, transformation, training)

    def transform_single_label(self, label, transformation, training=True):
        """`transform_labels` of one label."""
        return self._single(self.transform_labels, label, transformation, training)

    def transform_single_bounding_box(self, bounding_box, transformation, training=True):
        """`transform_bounding_boxes` of the boxes of one image."""
        bounding_box = {k: ops.expand_dims(v, 0) for k, v in dense_boxes(bounding_box).items()}
        changed = self.transform_bounding_boxes(bounding_box, transformation, training=training)
        return {k: _squeezed(v) for k, v in changed.items()}

    def transform_single_segmentation_mask(self, segmentation_mask, transformation, training=True):
        """`transform_segmentation_masks` of the mask of one image."""
        return self._single(self.transform_segmentation_masks, segmentation_mask, transformation, training)

    @pipeline_safe
    def _single(self, transform, value, transformation, training):
        return _squeezed(transform(ops.expand_dims(value, 0), transformation, training=training))

    # ------------------------------------------------------------- the call

    def call(self, data, training=True):
        if not isinstance(data, dict):
            return self._transformed({"images": data}, training)["images"]
        if "images" not in data:
            raise ValueError(
                f'{self._where()}: data given as a dictionary must have the key "images", '
                f"but its keys are {', '.join(map(repr, data))}."
            )
        return self._transformed(data, training)

    def _transformed(self, data, training):
        data = dict(data)
        data["images"] = images = self._pixels(data["images"])
        if "bounding_boxes" in data:
            if self.bounding_box_format is None:
                raise ValueError(
                    f'{self._where()}: the data has "bounding_boxes", but no bounding box format was specified. Give '
                    "the layer `bounding_box_format`, for instance 'xyxy'."
                )
            data["bounding_boxes"] = dense_boxes(data["bounding_boxes"])
        single = len(images.shape) == 3
        if single:
            data = {k: _lifted(v) if k in PARTS else v for k, v in data.items()}
        drawn = self.get_random_transformation(data if len(data) > 1 else data["images"], training=training)
        done = {}
        for part, transform in (
            ("images", self.transform_images),
            ("labels", self.transform_labels),
            ("bounding_boxes", self.transform_bounding_boxes),
            ("segmentation_masks", self.transform_segmentation_masks),
        ):
            if data.get(part) is not None:
                value = data[part] if isinstance(data[part], dict) else self._tensor(data[part])
                done[part] = transform(value, transformation=drawn, training=training)
        if single:
            done = {k: _squeezed(v) for k, v in done.items()}
        return {k: done.get(k, v) for k, v in data.items()}

    def compute_output_shape(self, input_shape):
        """Shape of the images, given that of the inputs (or a dictionary of them).

        Args:
            input_shape: tuple.
        """
        return super().compute_output_shape(input_shape)

    # ------------------------------------------------------------- for subclasses

    def _pixels(self, images):
        """Images as a tensor, checked; in the compute dtype unless integers stay."""
        images = self._tensor(images)
        if len(images.shape) not in (3, 4):
            raise ValueError(
                f"{self._where()}: Expected the input image to be rank 3 or 4 (one image, or a batch of them), but its "
                f"shape is {tuple(images.shape)}."
            )
        if self._keeps_integers or ops.dtype(images) == self.compute_dtype:
            return images
        return ops.cast(images, self.compute_dtype)

    def _tensor(self, x):
        if not isinstance(x, KerasTensor):
            x = ops.convert_to_tensor(x)
        dtype = ops.dtype(x)
        return ops.cast(x, self.compute_dtype) if dtypes.is_float(dtype) and dtype != self.compute_dtype else x

    @property
    def _axes(self):
        """Axes of height, width and channels."""
        return (-3, -2, -1) if self.data_format == "channels_last" else (-2, -1, -3)

    def _size(self, images):
        """Height and width: ints where they're known, else scalars."""
        shape = ops.shape(images)
        return shape[self._axes[0]], shape[self._axes[1]]

    def _count(self, images):
        """Number of images."""
        return ops.shape(images)[0] if len(images.shape) == 4 else 1

    def _per_image(self, images):
        """Shape of one number for each image that broadcasts with them."""
        return (ops.shape(images)[0], 1, 1, 1) if len(images.shape) == 4 else (1, 1, 1)

    def _spread(self, values, images):
        """One number (or truth value) for each image, to broadcast with them."""
        return ops.reshape(values, (-1, 1, 1, 1) if len(images.shape) == 4 else (1, 1, 1))

    def _uniform(self, shape, bounds, seed):
        low, high = bounds
        return random.uniform(shape, float(low), float(high), dtype="float32", seed=seed)

    def _in_corners(self, bounding_boxes, height, width, change):
        """Boxes changed as `xyxy` corners in pixels, by a function of the four coordinates."""
        own = self.bounding_box_format or "xyxy"
        boxes = convert_format(bounding_boxes["boxes"], own, "xyxy", height=height, width=width)
        corners = change(*ops.unstack(boxes, 4, axis=-1))
        boxes = corners if hasattr(corners, "shape") else ops.stack(corners, axis=-1)
        boxes = convert_format(boxes, "xyxy", own, height=height, width=width)
        return {**bounding_boxes, "boxes": boxes}


class RandomImageLayer(ImageLayer):
    """An image layer that draws at random: it has a `seed`.

    Args:
        seed: int; by default one is drawn.
    """

    def __init__(self, *, seed=None, **kwargs):
        super().__init__(**kwargs)
        self._set_seed(seed)


class FreeImages(ImageLayer):
    """An image layer whose `transform_images` may be called without a draw."""

    def transform_images(self, images, transformation=None, training=True):
        return super().transform_images(images, transformation, training)


class Free(FreeImages):
    """An image layer that draws nothing: all but boxes may be changed without."""

    def transform_labels(self, labels, transformation=None, training=True):
        return super().transform_labels(labels, transformation, training)

    def transform_segmentation_masks(self, segmentation_masks, transformation=None, training=True):
        return super().transform_segmentation_masks(segmentation_masks, transformation, training)


def as_float(size):
    """A dimension to reckon with: a number if it's known, else a float32 scalar."""
    return float(size) if isinstance(size, (int, float)) else ops.cast(size, "float32")


def _lifted(value):
    """A batch of one."""
    return (
        {k: ops.expand_dims(v, 0) for k, v in value.items()} if isinstance(value, dict) else ops.expand_dims(value, 0)
    )


def _squeezed(value):
    return {k: ops.squeeze(v, 0) for k, v in value.items()} if isinstance(value, dict) else ops.squeeze(value, 0)
