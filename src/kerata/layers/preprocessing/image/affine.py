"""Turned, sheared, moved and zoomed images: one affine map for images, masks and boxes."""

import math

from kerata import ops, random
from kerata.layers.preprocessing.image.arguments import FILL_MODES, INTERPOLATIONS, choice, is_number, number_range
from kerata.layers.preprocessing.image.boxes.regions import (
    affine_transform,
    around_points,
    clip_to_image_size,
    corner_points,
)
from kerata.layers.preprocessing.image.image_layer import RandomImageLayer, as_float


class AffineLayer(RandomImageLayer):
    """Base of the affine layers.

    A subclass draws, says which map an image's draw stands for (`_map`, rows as `ops.image.affine_transform` takes
    them), and what it does to the corners of boxes.

    Args:
        fill_mode: what is outside of the image: `"reflect"` (`d c b a | a b c d | d c b a`), `"wrap"`, `"constant"` or
            `"nearest"` (the edge).
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        fill_value: value of fill mode `"constant"`.
    """

    def __init__(self, *, fill_mode="reflect", interpolation="bilinear", fill_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.fill_mode = choice(fill_mode, FILL_MODES, "fill_mode", self)
        self.interpolation = choice(interpolation, INTERPOLATIONS, "interpolation", self)
        self.fill_value = fill_value

    def _map(self, transformation, images):
        """Tensor `(batch, 8)`."""
        raise NotImplementedError

    def _images(self, images, transformation):
        return self._warped(images, transformation, self.interpolation)

    def _masks(self, masks, transformation):
        return self._warped(masks, transformation, "nearest")

    def _warped(self, images, transformation, interpolation):
        return ops.image.affine_transform(
            images,
            ops.cast(self._map(transformation, images), "float32"),
            interpolation=interpolation,
            fill_mode=self.fill_mode,
            fill_value=self.fill_value,
            data_format=self.data_format,
        )

    def _image_size(self, shape):
        """Height and width from the shape of images."""
        return shape[self._axes[0]], shape[self._axes[1]]

    def _boxes(self, bounding_boxes, transformation):
        height, width = self._image_size(transformation["input_shape"])
        changed = self._in_corners(
            bounding_boxes, height, width, lambda *corners: self._moved(transformation, height, width, *corners)
        )
        return clip_to_image_size(changed, height, width, self.bounding_box_format or "xyxy")

    def _moved(self, transformation, height, width, x1, y1, x2, y2):
        """The four coordinates of changed boxes."""
        raise NotImplementedError

    def get_transformed_x_y(self, x, y, transform):
        """Where a map takes points.

        Args:
            x, y: tensors of coordinates.
            transform: tensor `(batch, 8)`, as `ops.image.affine_transform` takes.

        Returns:
            `(x, y)`, the new coordinates.
        """
        a0, a1, a2, b0, b1, b2, c0, c1 = ops.unstack(ops.cast(transform, "float32"), 8, axis=1)
        x, y = ops.cast(x, "float32"), ops.cast(y, "float32")
        scale = c0 * x + c1 * y + 1
        return (a0 * x + a1 * y + a2) / scale, (b0 * x + b1 * y + b2) / scale


def _rows(*columns):
    """Maps `(batch, 8)` from their coefficients, tensors `(batch,)` or numbers; those that are missing are 0."""
    tensor = next(c for c in columns if hasattr(c, "shape"))
    columns = [c if hasattr(c, "shape") else ops.zeros_like(tensor) + c for c in columns]
    return ops.stack([*columns, *[ops.zeros_like(tensor)] * (8 - len(columns))], axis=-1)


class RandomRotation(AffineLayer):
    """In training, turn images about their middle.

    Args:
        factor: number f for (-f, f), or two numbers: shares of a full turn; positive ones are counterclockwise.
        fill_mode: what is outside of the image: `"reflect"` (`d c b a | a b c d | d c b a`), `"wrap"`, `"constant"` or
            `"nearest"` (the edge).
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        seed: int; by default one is drawn.
        fill_value: value of fill mode `"constant"`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    turned too (a box becomes the upright one around it). Output: the same, floating.

    >>> import kerata
    >>> x = kerata.ops.reshape(kerata.ops.arange(4.0), (2, 2, 1))
    >>> turned = kerata.layers.RandomRotation((0.5, 0.5))(x)
    >>> kerata.ops.convert_to_numpy(turned).round(3).ravel().tolist()
    [3.0, 2.0, 1.0, 0.0]
    """

    def __init__(
        self,
        factor,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        data_format=None,
        **kwargs,
    ):
        super().__init__(
            fill_mode=fill_mode,
            interpolation=interpolation,
            seed=seed,
            fill_value=fill_value,
            data_format=data_format,
            **kwargs,
        )
        self.factor = number_range(factor, "factor", self, -1, 1, symmetric=True)

    def _draw(self, images, seed):
        height, width = self._size(images)
        angle = self._uniform((self._count(images),), self.factor, seed) * 360.0
        turn = angle * (math.pi / 180)
        cos, sin = ops.cos(turn), ops.sin(turn)
        wide, tall = as_float(width) - 1.0, as_float(height) - 1.0
        right = (wide - (cos * wide - sin * tall)) / 2.0
        down = (tall - (sin * wide + cos * tall)) / 2.0
        return {
            "angle": angle,
            "rotation_matrix": _rows(cos, -sin, right, sin, cos, down),
            "image_height": height,
            "image_width": width,
            "batch_size": self._count(images),
        }

    def _map(self, transformation, images):
        return transformation["rotation_matrix"]

    def _boxes(self, bounding_boxes, transformation):
        height, width = transformation["image_height"], transformation["image_width"]
        angle = transformation["angle"]
        still = ops.zeros_like(angle)
        own = self.bounding_box_format or "xyxy"
        boxes = affine_transform(
            bounding_boxes["boxes"],
            angle,
            still,
            still,
            still + 1,
            still,
            still,
            height,
            width,
            bounding_box_format=own,
        )
        return clip_to_image_size({**bounding_boxes, "boxes": boxes}, height, width, own)


class RandomTranslation(AffineLayer):
    """In training, move images.

    Args:
        height_factor: number f for (-f, f), or two numbers, within [-1, 1]: shares of the height; positive ones are down.
        width_factor: likewise, of the width; positive ones are to the right.
        fill_mode: what is outside of the image: `"reflect"` (`d c b a | a b c d | d c b a`), `"wrap"`, `"constant"` or
            `"nearest"` (the edge).
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        seed: int; by default one is drawn.
        fill_value: value of fill mode `"constant"`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    moved too. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomTranslation((0.5, 0.5), 0.0, fill_mode="constant")
    >>> kerata.ops.convert_to_numpy(layer(kerata.ops.ones((2, 1, 1)))).ravel().tolist()
    [0.0, 1.0]
    """

    def __init__(
        self,
        height_factor,
        width_factor,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        data_format=None,
        **kwargs,
    ):
        super().__init__(
            fill_mode=fill_mode,
            interpolation=interpolation,
            seed=seed,
            fill_value=fill_value,
            data_format=data_format,
            **kwargs,
        )
        self.height_factor = height_factor
        self.height_lower, self.height_upper = number_range(height_factor, "height_factor", self, -1, 1, symmetric=True)
        self.width_factor = width_factor
        self.width_lower, self.width_upper = number_range(width_factor, "width_factor", self, -1, 1, symmetric=True)

    def _draw(self, images, seed):
        height, width = self._size(images)
        count = (self._count(images), 1)
        down = self._uniform(count, (self.height_lower, self.height_upper), seed)
        right = self._uniform(count, (self.width_lower, self.width_upper), seed)
        moves = [right * as_float(width), down * as_float(height)]
        return {"translations": ops.concatenate(moves, axis=-1), "input_shape": ops.shape(images)}

    def _map(self, transformation, images):
        right, down = ops.unstack(ops.cast(transformation["translations"], "float32"), 2, axis=-1)
        return _rows(1.0, 0.0, -right, 0.0, 1.0, -down)

    def _moved(self, transformation, height, width, x1, y1, x2, y2):
        moves = ops.cast(transformation["translations"], ops.dtype(x1))
        right, down = ops.unstack(moves, 2, axis=-1)
        if len(x1.shape) == 2:
            right, down = ops.expand_dims(right, -1), ops.expand_dims(down, -1)
        return x1 + right, y1 + down, x2 + right, y2 + down

    def get_shifted_bbox(self, bounding_boxes, w_shift_factor, h_shift_factor):
        """Boxes `xyxy` moved.

        Args:
            bounding_boxes: tensor `(..., 4)`.
            w_shift_factor, h_shift_factor: pixels to the right and down.
        """
        x1, y1, x2, y2 = ops.unstack(ops.cast(bounding_boxes, "float32"), 4, axis=-1)
        moved = (x1 + w_shift_factor, y1 + h_shift_factor, x2 + w_shift_factor, y2 + h_shift_factor)
        return ops.stack(moved, axis=-1)


class RandomZoom(AffineLayer):
    """In training, zoom images in or out.

    Args:
        height_factor: number f for (-f, f), or two numbers, within (-1, 1]: an image is made `1 + f` times as small
            vertically; negative ones zoom in.
        width_factor: likewise, horizontally; `None`: the same as vertically.
        fill_mode: what is outside of the image: `"reflect"` (`d c b a | a b c d | d c b a`), `"wrap"`, `"constant"` or
            `"nearest"` (the edge).
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        seed: int; by default one is drawn.
        fill_value: value of fill mode `"constant"`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    zoomed too. Output: the same, floating.

    >>> import kerata
    >>> layer = kerata.layers.RandomZoom((-0.5, -0.5))
    >>> x = kerata.ops.reshape(kerata.ops.arange(5.0), (1, 5, 1))
    >>> kerata.ops.convert_to_numpy(layer(x)).round(3).ravel().tolist()
    [1.0, 1.5, 2.0, 2.5, 3.0]
    """

    def __init__(
        self,
        height_factor,
        width_factor=None,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        data_format=None,
        **kwargs,
    ):
        super().__init__(
            fill_mode=fill_mode,
            interpolation=interpolation,
            seed=seed,
            fill_value=fill_value,
            data_format=data_format,
            **kwargs,
        )
        self.height_factor = height_factor
        self.height_lower, self.height_upper = number_range(height_factor, "height_factor", self, -1, 1, symmetric=True)
        self.width_factor = width_factor
        if width_factor is not None:
            bounds = number_range(width_factor, "width_factor", self, -1, 1, symmetric=True)
            self.width_lower, self.width_upper = bounds

    def _draw(self, images, seed):
        count = (self._count(images), 1)
        tall = wide = self._uniform(count, (1 + self.height_lower, 1 + self.height_upper), seed)
        if self.width_factor is not None:
            wide = self._uniform(count, (1 + self.width_lower, 1 + self.width_upper), seed)
        return {"height_zoom": tall, "width_zoom": wide, "input_shape": ops.shape(images)}

    def _map(self, transformation, images):
        tall, wide = (ops.reshape(ops.cast(transformation[k], "float32"), (-1,)) for k in ("height_zoom", "width_zoom"))
        height, width = self._size(images)
        right, down = (1.0 - wide) * (as_float(width) - 1.0) / 2.0, (1.0 - tall) * (as_float(height) - 1.0) / 2.0
        return _rows(wide, 0.0, right, 0.0, tall, down)

    def _moved(self, transformation, height, width, x1, y1, x2, y2):
        tall, wide = (ops.cast(transformation[k], ops.dtype(x1)) for k in ("height_zoom", "width_zoom"))
        middle_x, middle_y = (as_float(width) - 1.0) / 2.0, (as_float(height) - 1.0) / 2.0

        def across(x):
            return (x - middle_x) / wide + middle_x

        def along(y):
            return (y - middle_y) / tall + middle_y

        return across(x1), along(y1), across(x2), along(y2)

    def get_clipped_bbox(self, bounding_boxes, h_end, h_start, w_end, w_start):
        """Boxes `xyxy` as seen from a part of the image.

        Args:
            bounding_boxes: dictionary with `"boxes"`.
            h_end, h_start, w_end, w_start: edges of the part, in pixels.
        """
        x1, y1, x2, y2 = ops.unstack(ops.cast(bounding_boxes["boxes"], "float32"), 4, axis=-1)
        x1, x2 = (ops.clip(x, w_start, w_end) - w_start for x in (x1, x2))
        y1, y2 = (ops.clip(y, h_start, h_end) - h_start for y in (y1, y2))
        return {**bounding_boxes, "boxes": ops.stack([x1, y1, x2, y2], axis=-1)}


class RandomShear(AffineLayer):
    """In training, shear images: shift rows, columns or both by shares of their place.

    Args:
        x_factor: number f for (0, f), or two numbers, within [0, 1]: pixels by which a row is shifted against that above.
        y_factor: likewise, for columns. Directions are drawn too.
        interpolation: `"nearest"` or `"bilinear"`; masks always take the nearest.
        fill_mode: what is outside of the image: `"reflect"` (`d c b a | a b c d | d c b a`), `"wrap"`, `"constant"` or
            `"nearest"` (the edge).
        fill_value: value of fill mode `"constant"`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary, in which boxes and masks are
    sheared too. Output: the same, floating.

    >>> import kerata
    >>> tuple(kerata.layers.RandomShear(0.2, 0.1)(kerata.ops.ones((2, 4, 4, 3))).shape)
    (2, 4, 4, 3)
    """

    def __init__(
        self,
        x_factor=0.0,
        y_factor=0.0,
        interpolation="bilinear",
        fill_mode="reflect",
        fill_value=0.0,
        data_format=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(
            interpolation=interpolation,
            fill_mode=fill_mode,
            fill_value=fill_value,
            data_format=data_format,
            seed=seed,
            **kwargs,
        )
        self.x_factor = _shear_range(x_factor, "x_factor", self)
        self.y_factor = _shear_range(y_factor, "y_factor", self)

    def get_config(self):
        """The arguments; a range of both directions as its number, since as a pair Keras refuses it."""
        config = super().get_config()
        config |= {
            "x_factor": self.x_factor,
            "y_factor": self.y_factor,
            "fill_mode": self.fill_mode,
            "interpolation": self.interpolation,
            "seed": self.seed,
            "fill_value": self.fill_value,
        }
        return config | {k: v[1] for k, v in config.items() if k in ("x_factor", "y_factor") and v[0] < 0}

    def _draw(self, images, seed):
        count = (self._count(images), 1)
        back = random.uniform(count, seed=seed) > 0.5
        shears = [self._uniform(count, bounds, seed) for bounds in (self.x_factor, self.y_factor)]
        shear = ops.concatenate(shears, axis=1)
        return {"shear_factor": ops.where(back, -shear, shear), "input_shape": ops.shape(images)}

    def _map(self, transformation, images):
        across, down = ops.unstack(ops.cast(transformation["shear_factor"], "float32"), 2, axis=-1)
        return _rows(1.0, across, 0.0, down, 1.0, 0.0)

    def _moved(self, transformation, height, width, x1, y1, x2, y2):
        shear = ops.cast(transformation["shear_factor"], ops.dtype(x1))
        if len(x1.shape) == 1:
            x1, y1, x2, y2 = (ops.expand_dims(v, 0) for v in (x1, y1, x2, y2))
        return _sheared(shear[:, :1], shear[:, 1:], height, width, x1, y1, x2, y2)

    def get_shifted_bbox(self, bounding_boxes, w_shift_factor, h_shift_factor):
        """Boxes `xyxy` sheared.

        Args:
            bounding_boxes: tensor `(..., 4)`.
            w_shift_factor, h_shift_factor: shears of rows and of columns, in pixels for a pixel.
        """
        corners = ops.unstack(ops.cast(bounding_boxes, "float32"), 4, axis=-1)
        return _sheared(w_shift_factor, h_shift_factor, 1, 1, *corners)


def _shear_range(factor, name, layer):
    """`(lower, upper)`; a number stands for both directions, a pair is of magnitudes."""
    if is_number(factor):
        factor = number_range(factor, name, layer, 0, 1)[1]
        return (-factor, factor)
    low, high = number_range(factor, name, layer, -1, 1)
    if low < 0 and low != -high:
        number_range(factor, name, layer, 0, 1)
    return (low, high)


def _sheared(across, down, height, width, x1, y1, x2, y2):
    """Upright boxes around sheared ones: around the sheared rows first, then the columns of that.

    Shears are in shares of the size, as Keras measures them for boxes.
    """
    ratio = as_float(width) / as_float(height)
    across, down = ops.expand_dims(across, -1) * ratio, ops.expand_dims(down, -1) / ratio
    x, y = corner_points(x1, y1, x2, y2)
    boxes = around_points(x - across * y, y)
    x, y = corner_points(*ops.unstack(boxes, 4, axis=-1))
    return around_points(x, y - down * x)
