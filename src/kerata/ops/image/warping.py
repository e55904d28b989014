"""Sampling at computed places: affine, perspective and elastic transforms."""

import math

from kerata.core.errors import one_of
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import arange
from kerata.ops.declare import Float, Index, composite
from kerata.ops.draws import random_normal
from kerata.ops.elementwise import cast, clip, floor, logical_and, mod, where
from kerata.ops.image.filters import gaussian_blur
from kerata.ops.image.layout import as_batch, back_to, computing_dtype, layout
from kerata.ops.indexing import take
from kerata.ops.lengths import most
from kerata.ops.linalg import solve
from kerata.ops.movement import broadcast_to, concatenate, expand_dims, reshape, stack, unstack

FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


def _folded(index, size, mode):
    """Index of the pixel that stands for a place outside."""
    if mode == "wrap":
        return mod(index, size)
    if mode == "mirror":
        # d c b | a b c d | c b a
        period = most(2 * size - 2, 1)
        index = mod(index, period)
        return where(index >= size, period - index, index)
    if mode == "reflect":
        # c b a | a b c | c b a
        index = mod(index, 2 * size)
        return where(index >= size, 2 * size - 1 - index, index)
    return clip(index, 0, size - 1)


def _sampled(x, places, order, mode, fill_value):
    """Values of `x` at `places`, a list with a tensor of coordinates for each dimension."""
    sizes = shape_of(x)[: len(places)]
    flat = reshape(x, (-1, *shape_of(x)[len(places) :]))
    corners = [_neighbours(c, order) for c in places]
    total = 0.0
    for corner in _combinations(corners):
        index, weight, inside = 0, 1.0, None
        for (at, share), size in zip(corner, sizes):
            index = index * size + _folded(at, size, mode)
            weight = weight * share
            if mode == "constant":
                valid = logical_and(at >= 0, at < size)
                inside = valid if inside is None else logical_and(inside, valid)
        value = take(flat, index, axis=0)
        if inside is not None:
            value = where(_spread(inside, value), value, cast(fill_value, dtype_of(value)))
        total = total + value * cast(_spread(weight, value), dtype_of(value)) if order else value
    return total


def _spread(x, value):
    """`x` with dimensions of 1 behind, as many as `value` has more."""
    for _ in range(len(value.shape) - len(x.shape)):
        x = expand_dims(x, -1)
    return x


def _neighbours(place, order):
    """`[(index, share), …]` along one axis."""
    if order == 0:
        # Halves go up, as in SciPy.
        return [(cast(floor(place + 0.5), "int32"), 1.0)]
    below = floor(place)
    share = place - below
    index = cast(below, "int32")
    return [(index, 1.0 - share), (index + 1, share)]


def _combinations(corners):
    if not corners:
        return [()]
    rest = _combinations(corners[1:])
    return [(one, *others) for one in corners[0] for others in rest]


@composite
def map_coordinates(inputs: Index, coordinates: Float, order, fill_mode="constant", fill_value=0):
    """Values of a tensor at given places, interpolated (`scipy.ndimage.map_coordinates`).

    Args:
        inputs: tensor of n dimensions.
        coordinates: tensor of shape `(n, ...)`: for each place its coordinate along each dimension.
        order: 0 for the nearest element, 1 for linear interpolation.
        fill_mode: what is outside: `"constant"`, `"nearest"` (the edge), `"wrap"`, `"mirror"` (without
            repeating the edge) or `"reflect"` (with it).
        fill_value: value of mode `"constant"`.

    Returns:
        Tensor of `coordinates`' shape without its first dimension, of `inputs`' dtype.

    >>> ops.image.map_coordinates([1.0, 3.0], [[0.5]], 1)
    [2.]
    """
    one_of(fill_mode, FILL_MODES, "fill_mode", "map_coordinates")
    one_of(order, (0, 1), "order", "map_coordinates")
    rank = len(inputs.shape)
    if coordinates.shape[0] not in (rank, None):
        raise ValueError(
            f"map_coordinates: `coordinates` must have a first dimension of {rank}, the rank of `inputs`, "
            f"but shapes are {tuple(inputs.shape)} and {tuple(coordinates.shape)}."
        )
    dtype = dtype_of(inputs)
    work = computing_dtype(dtype)
    x = inputs if order == 0 else cast(inputs, work)
    places = [cast(coordinates[i], "float64" if dtype_of(coordinates) == "float64" else "float32") for i in range(rank)]
    if rank == 2 and order and _can_be_sampled(x, fill_mode, fill_value):
        # A picture of one channel.
        rows, columns = (expand_dims(p, 0) if len(p.shape) == 2 else reshape(p, (1, 1, -1)) for p in places)
        picture = expand_dims(x, (0, -1))
        result = reshape(sampled(picture, rows, columns, fill_mode, fill_value), shape_of(coordinates)[1:])
    else:
        result = _sampled(x, places, order, fill_mode, fill_value)
    return back_to(result, dtype) if order else result


def _grid(height, width, dtype):
    """Coordinates of the pixels: rows and columns, each of shape `(height, width)`."""
    rows = broadcast_to(expand_dims(cast(arange(height, dtype="int32"), dtype), 1), (height, width))
    columns = broadcast_to(expand_dims(cast(arange(width, dtype="int32"), dtype), 0), (height, width))
    return rows, columns


def _warped(images, rows, columns, interpolation, fill_mode, fill_value):
    """Each image of a channels_last batch at places of shape `(batch, height, width)`."""
    dtype = dtype_of(images)
    if interpolation == "nearest":
        return _gathered(images, rows, columns, 0, fill_mode, fill_value)
    x = cast(images, computing_dtype(dtype))
    if _can_be_sampled(x, fill_mode, fill_value):
        return back_to(sampled(x, rows, columns, fill_mode, fill_value), dtype)
    return back_to(_gathered(x, rows, columns, 1, fill_mode, fill_value), dtype)


def _can_be_sampled(x, fill_mode, fill_value):
    """Whether `sampled` takes such a picture or batch of pictures."""
    sizes = x.shape if len(x.shape) == 2 else x.shape[1:3]
    plain = isinstance(fill_value, (int, float)) and math.isfinite(fill_value)
    return plain and fill_mode != "wrap" and all(n is not None and n > 1 for n in sizes)


@composite
def sampled(images: Index, rows: Index, columns: Index, fill_mode, fill_value):
    """Bilinear interpolation, outside by any mode but "wrap"; `fill_value` is a finite number."""
    return _gathered(images, rows, columns, 1, fill_mode, fill_value)


def _gathered(x, rows, columns, order, fill_mode, fill_value):
    batch, height, width = shape_of(x)[:3]
    # The images under each other; the first coordinate says which one, and is never outside.
    which = expand_dims(expand_dims(arange(batch, dtype="int32"), -1), -1)
    corners = [_neighbours(c, order) for c in (rows, columns)]
    flat = reshape(x, (-1, shape_of(x)[-1]))
    total = 0.0
    for (row, share_row), (column, share_column) in _combinations(corners):
        index = (which * height + _folded(row, height, fill_mode)) * width + _folded(column, width, fill_mode)
        value = take(flat, index, axis=0)
        if fill_mode == "constant":
            inside = logical_and(logical_and(row >= 0, row < height), logical_and(column >= 0, column < width))
            value = where(expand_dims(inside, -1), value, cast(fill_value, dtype_of(value)))
        total = total + value * expand_dims(cast(share_row * share_column, dtype_of(value)), -1) if order else value
    return total


@composite
def affine_transform(
    images: Index,
    transform: Float,
    interpolation="bilinear",
    fill_mode="constant",
    fill_value=0,
    data_format=None,
):
    """Move, turn, scale and shear images.

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        transform: tensor of shape `(batch, 8)` or `(8,)`: for output pixel (x, y) the input place is
            `((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)` with `k = c0 x + c1 y + 1`, from the row
            `[a0, a1, a2, b0, b1, b2, c0, c1]`.
        interpolation: `"nearest"` or `"bilinear"`.
        fill_mode: what is outside: `"constant"`, `"nearest"`, `"wrap"`, `"mirror"` or `"reflect"`.
        fill_value: value of mode `"constant"`.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' shape and dtype.

    >>> ops.image.affine_transform(ops.ones((2, 2, 1)), [1.0, 0, 0, 0, 1, 0, 0, 0])[..., 0]
    [[1., 1.], [1., 1.]]
    """
    data_format = layout("affine_transform", images, data_format)
    one_of(interpolation, ("nearest", "bilinear"), "interpolation", "affine_transform")
    one_of(fill_mode, FILL_MODES, "fill_mode", "affine_transform")
    if len(transform.shape) not in (1, 2) or transform.shape[-1] not in (8, None):
        raise ValueError(
            f"affine_transform: `transform` must have shape (8,) or (batch, 8), not {tuple(transform.shape)}."
        )
    batch, undo = as_batch(images, data_format)
    return undo(_transformed(batch, cast(transform, "float32"), interpolation, fill_mode, fill_value))


def _transformed(images, transform, interpolation, fill_mode, fill_value):
    """Each image of a channels_last batch by its row of a transform."""
    if len(transform.shape) == 1:
        transform = expand_dims(transform, 0)
    number = isinstance(fill_value, (int, float))
    if number and interpolation == "bilinear" and dtype_of(images) == "float32":
        # Kernels fold at the edges in three ways; of the others they have notions of their own.
        interpolate = interpolated if fill_mode in ("constant", "nearest", "reflect") else interpolated.op.body
        return interpolate(images, transform, fill_mode, float(fill_value))
    return _warped(images, *_projected(transform, images), interpolation, fill_mode, fill_value)


@composite
def interpolated(images: Float, transform: Index, fill_mode, fill_value):
    """Images under transforms, bilinearly interpolated in float32 (not public: one kernel where the framework has it)."""
    return _warped(images, *_projected(transform, images), "bilinear", fill_mode, fill_value)


def _projected(transform, images):
    """Input places of all output pixels."""
    count, height, width = shape_of(images)[:3]
    y, x = _grid(height, width, "float32")
    a0, a1, a2, b0, b1, b2, c0, c1 = (reshape(transform[:, i], (-1, 1, 1)) for i in range(8))
    scale = c0 * x + c1 * y + 1.0
    rows, columns = (b0 * x + b1 * y + b2) / scale, (a0 * x + a1 * y + a2) / scale
    return tuple(broadcast_to(v, (count, height, width)) for v in (rows, columns))


@composite
def perspective_transform(
    images: Index, start_points: Float, end_points: Float, interpolation="bilinear", fill_value=0, data_format=None
):
    """Pull four points of an image to four others.

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        start_points: tensor of shape `(batch, 4, 2)` or `(4, 2)`: points (x, y) in the images.
        end_points: where they come to lie.
        interpolation: `"nearest"` or `"bilinear"`.
        fill_value: value outside.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' shape and dtype.

    >>> corners = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> ops.image.perspective_transform(ops.ones((2, 2, 1)), corners, corners).shape[0]
    2
    """
    data_format = layout("perspective_transform", images, data_format)
    one_of(interpolation, ("nearest", "bilinear"), "interpolation", "perspective_transform")
    for name, points in (("start_points", start_points), ("end_points", end_points)):
        if len(points.shape) not in (2, 3) or points.shape[-2] not in (4, None) or points.shape[-1] not in (2, None):
            raise ValueError(
                f"perspective_transform: `{name}` must have shape (4, 2) or (batch, 4, 2), not {tuple(points.shape)}."
            )
    batch, undo = as_batch(images, data_format)
    start, end = (cast(p if len(p.shape) == 3 else expand_dims(p, 0), "float32") for p in (start_points, end_points))
    return undo(_transformed(batch, homography(start, end), interpolation, "constant", fill_value))


def homography(start, end):
    """The eight coefficients that map end points back onto start points."""
    x, y, u, v = end[..., 0], end[..., 1], start[..., 0], start[..., 1]
    one, zero = x * 0.0 + 1.0, x * 0.0
    first = stack([x, y, one, zero, zero, zero, -u * x, -u * y], axis=-1)
    second = stack([zero, zero, zero, x, y, one, -v * x, -v * y], axis=-1)
    equations = concatenate([first, second], axis=-2)
    right = expand_dims(concatenate([u, v], axis=-1), -1)
    return solve(equations, right)[..., 0]


@composite
def elastically_warped(images: Index, key: Index, alpha, sigma, interpolation, fill_mode, fill_value, data_format):
    """Displace pixels by `alpha` times blurred noise, which the key gives.

    Args:
        images: as `elastic_transform`.
        key: uint32[2].
        alpha, sigma, interpolation, fill_mode, fill_value, data_format: as `elastic_transform`.

    Returns:
        Tensor of `images`' shape and dtype.
    """
    one_of(interpolation, ("nearest", "bilinear"), "interpolation", "elastic_transform")
    one_of(fill_mode, FILL_MODES, "fill_mode", "elastic_transform")
    batch, undo = as_batch(images, data_format)
    count, height, width = shape_of(batch)[:3]
    noise = random_normal(key, (2, count, height, width), "float32")
    size = int(6 * sigma) | 1
    stacked = expand_dims(reshape(noise * sigma, (-1, height, width)), -1)
    offsets = gaussian_blur(stacked, (size, size), (sigma, sigma), "channels_last")
    offsets = reshape(offsets * alpha, (2, -1, height, width))
    return undo(displaced(batch, offsets, interpolation, fill_mode, fill_value))


@composite
def displaced(images: Index, offsets: Index, interpolation, fill_mode, fill_value):
    """Images read at the places of their pixels plus offsets.

    Args:
        images: tensor `(batch, height, width, channels)`.
        offsets: float32 tensor `(2, batch, height, width)`: pixels to the right, and down.
        interpolation, fill_mode, fill_value: as `elastic_transform`.

    Returns:
        Tensor of `images`' shape and dtype.
    """
    height, width = shape_of(images)[1:3]
    across, down = unstack(offsets)
    y, x = _grid(height, width, "float32")
    return _warped(images, y + down, x + across, interpolation, fill_mode, fill_value)
