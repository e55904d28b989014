"""Images of another size: resized, cropped in the middle, cropped anywhere."""

from kerata import ops
from kerata.core.errors import integer
from kerata.layers.preprocessing.image.arguments import choice
from kerata.layers.preprocessing.image.boxes.formats import convert_format
from kerata.layers.preprocessing.image.boxes.regions import clip_to_image_size
from kerata.layers.preprocessing.image.image_layer import Free, FreeImages, ImageLayer, RandomImageLayer, as_float
from kerata.ops.image.resizing import INTERPOLATIONS


class SizedLayer(ImageLayer):
    """Base of layers whose results have a given size.

    Args:
        height, width: size of the result in pixels.
    """

    def _set_size(self, height, width):
        self.height = integer(height, "height", self._where(), minimum=1)
        self.width = integer(width, "width", self._where(), minimum=1)

    def _resized(self, images, **options):
        return ops.image.resize(images, (self.height, self.width), data_format=self.data_format, **options)

    def _window(self, height, width, largest=False):
        """`(tall, wide)`: the part of an image that becomes the result.

        That is the result's size if the image is large enough, else (or if wanted) the largest part with the result's
        ratio.
        """
        if isinstance(height, int) and isinstance(width, int):
            if height >= self.height and width >= self.width and not largest:
                return self.height, self.width
            tall, wide = int(width * self.height / self.width), int(height * self.width / self.height)
            return max(min(height, tall), 1), max(min(width, wide), 1)
        height, width = ops.cast(height, "int32"), ops.cast(width, "int32")
        tall = ops.cast(ops.cast(width, "float32") * (self.height / self.width), "int32")
        wide = ops.cast(ops.cast(height, "float32") * (self.width / self.height), "int32")
        tall, wide = ops.maximum(ops.minimum(height, tall), 1), ops.maximum(ops.minimum(width, wide), 1)
        if largest:
            return tall, wide
        large = ops.logical_and(height >= self.height, width >= self.width)
        return ops.where(large, self.height, tall), ops.where(large, self.width, wide)

    def _middle(self, height, width, largest=False):
        """The window in the middle: `(top, left, tall, wide)`."""
        tall, wide = self._window(height, width, largest)
        return (height - tall) // 2, (width - wide) // 2, tall, wide

    def _windowed(self, images, window, interpolation):
        """What is in a window, in the result's size."""
        top, left, tall, wide = window
        begin, shape = [0] * len(images.shape), list(ops.shape(images))
        for axis, first, size in zip(self._axes, (top, left), (tall, wide), strict=False):
            begin[axis], shape[axis] = first, size
        cut = ops.slice(images, begin, shape)
        if isinstance(tall, int) and (tall, wide) == (self.height, self.width):
            return cut
        return self._resized(cut, interpolation=interpolation)

    def _windowed_boxes(self, bounding_boxes, height, width, window):
        top, left, tall, wide = map(as_float, window)
        across, down = self.width / wide, self.height / tall
        return self._boxes_changed(
            bounding_boxes,
            height,
            width,
            lambda x1, y1, x2, y2: [(x1 - left) * across, (y1 - top) * down, (x2 - left) * across, (y2 - top) * down],
        )

    def _boxes_changed(self, bounding_boxes, height, width, change):
        """Boxes in pixels of the old image changed into those of the new one, cut off at its edges."""
        own = self.bounding_box_format or "xyxy"
        boxes = convert_format(bounding_boxes["boxes"], own, "xyxy", height=height, width=width)
        boxes = ops.stack(change(*ops.unstack(boxes, 4, axis=-1)), axis=-1)
        new = {"height": self.height, "width": self.width}
        changed = clip_to_image_size({**bounding_boxes, "boxes": boxes}, **new)
        return {**changed, "boxes": convert_format(changed["boxes"], "xyxy", own, **new)}


class Resizing(SizedLayer, Free):
    """Resize images, in training and in inference.

    Args:
        height, width: size of the result in pixels.
        interpolation: `"nearest"`, `"bilinear"`, `"bicubic"`, `"lanczos3"` or `"lanczos5"`; masks always take the nearest.
        crop_to_aspect_ratio: whether the largest central part with the ratio of the result is resized.
        pad_to_aspect_ratio: whether images are padded evenly to the ratio of the result first.
        fill_mode: of the padding; only `"constant"`.
        fill_value: of the padding.
        antialias: whether to smooth where images shrink.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    resized too. Output: of the same dtype.

    >>> import kerata
    >>> tuple(kerata.layers.Resizing(2, 3)(kerata.ops.ones((1, 4, 4, 3))).shape)
    (1, 2, 3, 3)
    """

    _always = True
    _keeps_integers = True

    def __init__(
        self,
        height,
        width,
        interpolation="bilinear",
        crop_to_aspect_ratio=False,
        pad_to_aspect_ratio=False,
        fill_mode="constant",
        fill_value=0.0,
        antialias=False,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self._set_size(height, width)
        self.interpolation = choice(interpolation, INTERPOLATIONS, "interpolation", self)
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self.pad_to_aspect_ratio = pad_to_aspect_ratio
        if crop_to_aspect_ratio and pad_to_aspect_ratio:
            raise ValueError(
                f"{self._where()}: only one of `crop_to_aspect_ratio` and `pad_to_aspect_ratio` can be True."
            )
        self.fill_mode = choice(fill_mode, ("constant",), "fill_mode", self)
        self.fill_value = fill_value
        self.antialias = antialias

    def _draw(self, images, seed):
        return self._size(images)

    def _images(self, images, transformation):
        return self._scaled(images, self.interpolation, self.fill_value)

    def _masks(self, masks, transformation):
        return self._scaled(masks, "nearest", -1)

    def _scaled(self, images, interpolation, fill_value):
        return self._resized(
            images,
            interpolation=interpolation,
            antialias=self.antialias,
            crop_to_aspect_ratio=self.crop_to_aspect_ratio,
            pad_to_aspect_ratio=self.pad_to_aspect_ratio,
            fill_mode=self.fill_mode,
            fill_value=fill_value,
        )

    def _boxes(self, bounding_boxes, transformation):
        height, width = (as_float(v) for v in transformation)
        top, seen_height = self._seen(height, width, self.height, self.width)
        left, seen_width = self._seen(width, height, self.width, self.height)
        across, down = self.width / seen_width, self.height / seen_height
        return self._boxes_changed(
            bounding_boxes,
            height,
            width,
            lambda x1, y1, x2, y2: [(x1 - left) * across, (y1 - top) * down, (x2 - left) * across, (y2 - top) * down],
        )

    def _seen(self, size, other, target, other_target):
        """Where along one axis what is resized begins, and how long it is: whole pixels, as `ops.image.resize` takes them."""
        fitting = ops.floor(other * target / other_target)
        if self.crop_to_aspect_ratio:
            seen = ops.maximum(ops.minimum(size, fitting), 1)
            return ops.floor((size - seen) / 2), seen
        if self.pad_to_aspect_ratio:
            margin = ops.floor((ops.maximum(size, fitting) - size) / 2)
            return -margin, size + 2 * margin
        return 0, size


class CenterCrop(SizedLayer, FreeImages):
    """Cut out the middle of images, in training and in inference.

    Images that are smaller are first cropped to the ratio of the result, and then resized.

    Args:
        height, width: size of the result in pixels.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    cropped too. Output: the same, floating.

    >>> import kerata
    >>> x = kerata.ops.reshape(kerata.ops.arange(5.0), (1, 5, 1))
    >>> kerata.ops.convert_to_numpy(kerata.layers.CenterCrop(1, 3)(x)).ravel().tolist()
    [1.0, 2.0, 3.0]
    """

    _always = True

    def __init__(self, height, width, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_size(height, width)

    def _draw(self, images, seed):
        return {"input_shape": ops.shape(images)}

    def _images(self, images, transformation):
        return self._windowed(images, self._middle(*self._size(images)), "bilinear")

    def _masks(self, masks, transformation):
        return self._windowed(masks, self._middle(*self._size(masks)), "nearest")

    def _boxes(self, bounding_boxes, transformation):
        shape = transformation["input_shape"]
        height, width = shape[self._axes[0]], shape[self._axes[1]]
        return self._windowed_boxes(bounding_boxes, height, width, self._middle(height, width))


class RandomCrop(SizedLayer, RandomImageLayer):
    """In training, cut a window of a given size out of images, at a random place that is the same for the whole batch.

    From images that are smaller, and in inference, the largest window in the middle that has the result's ratio of
    height and width is taken, and resized.

    Args:
        height, width: size of the result in pixels.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    cropped too. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomCrop(2, 3)
    >>> tuple(layer(kerata.ops.ones((1, 4, 4, 3))).shape)
    (1, 2, 3, 3)
    """

    _always = True

    def __init__(self, height, width, seed=None, data_format=None, name=None, **kwargs):
        super().__init__(seed=seed, data_format=data_format, name=name, **kwargs)
        self._set_size(height, width)

    # A transformation is a window and the images' size; of Keras's, which is but the window's place, the rest follows.

    def _draw(self, images, seed):
        height, width = self._size(images)
        _, _, tall, wide = middle = self._middle(height, width)
        if isinstance(tall, int) and (tall, wide) != (self.height, self.width):
            return *middle, height, width
        # A uniform number is below 1 by more than the product is rounded.
        shares = ops.unstack(self._uniform((2,), (0, 1), seed), 2)
        rooms = (height - tall + 1, width - wide + 1)
        place = [ops.cast(share * as_float(room), "int32") for share, room in zip(shares, rooms, strict=True)]
        if not isinstance(tall, int):
            fits = ops.logical_and(ops.equal(tall, self.height), ops.equal(wide, self.width))
            place = [ops.where(fits, drawn, still) for drawn, still in zip(place, middle, strict=False)]
        return *place, tall, wide, height, width

    def _undrawn(self, images):
        height, width = self._size(images)
        return *self._middle(height, width, largest=True), height, width

    def _images(self, images, transformation):
        return self._windowed(images, self._window_of(transformation, images), "bilinear")

    def _masks(self, masks, transformation):
        return self._windowed(masks, self._window_of(transformation, masks), "nearest")

    def _window_of(self, transformation, images):
        top, left, *rest = transformation
        return top, left, *(rest[:2] or self._window(*self._size(images)))

    def _boxes(self, bounding_boxes, transformation):
        *window, height, width = transformation
        return self._windowed_boxes(bounding_boxes, height, width, window)

    def compute_output_shape(self, input_shape, *args, **kwargs):
        """The images' shape with the given height and width.

        Args:
            input_shape: shape of the images.
        """
        shape = list(input_shape)
        for axis, size in zip(self._axes, (self.height, self.width), strict=False):
            shape[axis] = size
        return tuple(shape)
