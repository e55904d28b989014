"""Contrast by the distribution of an image's values: `AutoContrast`, `Equalization`, and the latter by tiles."""

from kerata import ops
from kerata.core.errors import int_tuple, positive_int
from kerata.layers.preprocessing.image.arguments import is_number, pixel_range
from kerata.layers.preprocessing.image.color_layer import BYTE, to_range
from kerata.layers.preprocessing.image.image_layer import FreeImages, ImageLayer, as_float
from kerata.ops.counting import category_counts


class AutoContrast(FreeImages):
    """Stretch the values of each image, channel by channel, over the whole range, in training and in inference.

    Args:
        value_range: the lowest and the highest value of a pixel. A channel of one value stays as it is.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.AutoContrast()([[[1.0], [2.0], [3.0]]])).ravel().tolist()
    [0.0, 127.5, 255.0]
    """

    _always = True

    def __init__(self, value_range=(0, 255), **kwargs):
        super().__init__(**kwargs)
        self.value_range = pixel_range(value_range, self)

    def _images(self, images, transformation):
        axes = self._axes[:2]
        low, high = ops.min(images, axis=axes, keepdims=True), ops.max(images, axis=axes, keepdims=True)
        flat = high <= low
        bottom, top = self.value_range
        scale = (top - bottom) / ops.where(flat, 1.0, high - low)
        return ops.where(flat, images, ops.clip((images - low) * scale + bottom, bottom, top))


class Equalization(ImageLayer):
    """In training, give the values of each channel about equal frequencies, over all images of a batch.

    Args:
        value_range: the lowest and the highest value of a pixel.
        bins: number of values that are told apart.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> x = kerata.ops.reshape(kerata.ops.convert_to_tensor([0.0, 1, 1, 3]), (2, 2, 1))
    >>> kerata.ops.convert_to_numpy(kerata.layers.Equalization()(x)).ravel().tolist()
    [0.0, 170.0, 170.0, 255.0]
    """

    def __init__(self, value_range=(0, 255), bins=256, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = pixel_range(value_range, self)
        self.bins = positive_int(bins, "bins", self._where())

    def compute_output_spec(self, inputs, **kwargs):
        """Shapes and dtypes of the outputs."""
        return super().compute_output_spec(inputs)

    def _images(self, images, transformation):
        rows, undo = _as_rows(images, self._axes, pooled=True)
        pixels = ops.clip(to_range(rows, self.value_range, (0, BYTE)), 0, BYTE)
        values = ops.cast(pixels * ((self.bins - 1) / BYTE), "int32")
        up_to = ops.cast(ops.cumsum(histograms(values, self.bins), axis=-1), "float32")
        total = up_to[:, -1:]
        # How many have the lowest value that occurs.
        least = ops.min(ops.where(up_to > 0, up_to, total), axis=-1, keepdims=True)
        spread = total - least
        table = ops.round((up_to - least) * (BYTE / ops.where(spread > 0, spread, 1.0)))
        table = ops.clip(table, 0, BYTE)
        equal = to_range(ops.cast(looked_up(table, values), ops.dtype(images)), (0, BYTE), self.value_range)
        return undo(ops.where(spread > 0, equal, rows))


def _as_rows(images, axes, pooled=False):
    """`(a row for each channel of each image, or, pooled, of all images; function that undoes it)`."""
    x = ops.expand_dims(images, 0) if len(images.shape) == 3 else images
    order = (0, 3, 1, 2) if axes[2] == -1 else (0, 1, 2, 3)
    order = (order[1], 0, *order[2:]) if pooled else order
    x = ops.transpose(x, order)
    shape = ops.shape(x)

    def undo(rows):
        result = ops.transpose(ops.reshape(rows, shape), [order.index(a) for a in range(4)])
        return ops.squeeze(result, 0) if len(images.shape) == 3 else result

    first, second, height, width = shape
    return ops.reshape(x, (first, -1) if pooled else (first * second, height * width)), undo


def histograms(values, bins):
    """How often each of the integers 0 to `bins - 1` is in each row: int32 `(rows, bins)`."""
    return category_counts(values, bins, "int32", False)


def looked_up(tables, values):
    """Entry of each row's own table for each of its values."""
    bins = tables.shape[-1]
    place = values + ops.expand_dims(ops.arange(ops.shape(values)[0], dtype="int32") * bins, -1)
    return ops.take(ops.reshape(tables, (-1,)), place, axis=0)


class ContrastLimitedAdaptiveHistogramEqualization(FreeImages):
    """Equalize tiles of images, in training and in inference (CLAHE; Zuiderveld, 1994).

    Each tile has a table of its own, made from its histogram, whose peaks are cut off and spread over all values.
    Between the centres of tiles tables are interpolated.

    Args:
        value_range: the lowest and the highest value of a pixel.
        clip_limit: how often, in multiples of the mean frequency, a value may count; small ones change little.
        tile_grid_size: number of tiles `(vertical, horizontal)`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)` or one of them, or a dictionary. Output: of the same dtype.

    >>> import kerata
    >>> layer = kerata.layers.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 2))
    >>> tuple(layer(kerata.ops.ones((1, 8, 8, 3))).shape)
    (1, 8, 8, 3)
    """

    _always = True
    _keeps_integers = True
    BINS = 256

    def __init__(self, value_range=(0, 255), clip_limit=4.0, tile_grid_size=(8, 8), data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = pixel_range(value_range, self)
        if not is_number(clip_limit) or clip_limit <= 0:
            raise ValueError(f"{self._where()}: `clip_limit` must be a positive number, but {clip_limit!r} was given.")
        self.clip_limit = clip_limit
        self.tile_grid_size = int_tuple(tile_grid_size, 2, "tile_grid_size", self._where())

    def _images(self, images, transformation):
        dtype = ops.dtype(images)
        rows, undo = _as_rows(ops.cast(images, self.compute_dtype), self._axes)
        height, width = self._size(images)
        pixels = ops.clip(to_range(rows, self.value_range, (0, BYTE)), 0, BYTE)
        values = ops.reshape(ops.cast(pixels, "int32"), (-1, height, width))
        tables = self._tables(values, height, width)
        result = self._interpolated(tables, values, height, width)
        result = to_range(ops.cast(result, self.compute_dtype), (0, BYTE), self.value_range)
        return ops.cast(ops.clip(undo(result), *self.value_range), dtype)

    def _tables(self, values, height, width):
        """New values for old ones: `(images, vertical tiles, horizontal tiles, 256)`."""
        down, across = self.tile_grid_size
        tall, wide = -(-height // down), -(-width // across)
        values = _edge_padded(values, 1, tall * down - height)
        values = _edge_padded(values, 2, wide * across - width)
        tiles = ops.transpose(ops.reshape(values, (-1, down, tall, across, wide)), (0, 1, 3, 2, 4))
        counts = ops.cast(histograms(ops.reshape(tiles, (-1, tall * wide)), self.BINS), "float32")
        area = as_float(tall * wide)
        kept = ops.minimum(counts, self.clip_limit * area / self.BINS)
        kept = kept + (area - ops.sum(kept, axis=-1, keepdims=True)) / self.BINS
        up_to = ops.cumsum(kept, axis=-1)
        least = up_to[:, :1]
        spread = up_to[:, -1:] - least
        tables = (up_to - least) * (BYTE / ops.where(spread > 0, spread, 1.0))
        return ops.reshape(tables, (-1, down, across, self.BINS))

    def _interpolated(self, tables, values, height, width):
        down, across = self.tile_grid_size
        rows = _between(height, -(-height // down), down)
        columns = _between(width, -(-width // across), across)
        flat = ops.reshape(tables, (-1,))
        image = ops.reshape(ops.arange(ops.shape(values)[0], dtype="int32"), (-1, 1, 1))
        total = 0.0
        for row, row_share in rows:
            for column, column_share in columns:
                row_, column_ = ops.expand_dims(row, -1), ops.expand_dims(column, 0)
                place = ((image * down + row_) * across + column_) * self.BINS + values
                share = ops.expand_dims(row_share, -1) * ops.expand_dims(column_share, 0)
                total = total + ops.take(flat, place, axis=0) * share
        return total


def _edge_padded(x, axis, extra):
    """The last slice along an axis repeated `extra` times."""
    size = ops.shape(x)[axis]
    places = ops.minimum(ops.arange(size + extra, dtype="int32"), size - 1)
    return ops.take(x, places, axis=axis)


def _between(size, tile, count):
    """For each place along an axis the two tiles between whose centres it lies, with their shares."""
    at = ops.cast(ops.arange(size, dtype="int32"), "float32") / as_float(tile) - 0.5
    below = ops.floor(at)
    share = at - below
    first = ops.cast(below, "int32")
    return [(ops.clip(first, 0, count - 1), 1 - share), (ops.clip(first + 1, 0, count - 1), share)]
