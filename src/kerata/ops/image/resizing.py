"""Resizing as products with one weight matrix an axis, made on the host where the sizes are known.

The weights are those of `jax.image.scale_and_translate` and TensorFlow's `ScaleAndTranslate`: pixel centres are at
half-integers, weights that fall outside the image are shared out among those inside.
"""

import numpy as np

from kerata import ops as symbolic
from kerata.core import dtypes
from kerata.core.errors import int_tuple, one_of
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Index, Key, Tensor, composite
from kerata.ops.elementwise import cast
from kerata.ops.image.layout import back_to, computing_dtype, layout, spatial_axes
from kerata.ops.indexing import take
from kerata.ops.lengths import least, most
from kerata.ops.linalg import matmul, tensordot
from kerata.ops.movement import moveaxis, pad, reshape

INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic")


@composite
def resize(
    images: Tensor,
    size,
    interpolation="bilinear",
    antialias=False,
    crop_to_aspect_ratio=False,
    pad_to_aspect_ratio=False,
    fill_mode="constant",
    fill_value=0.0,
    data_format=None,
):
    """Resize images.

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch, in the layout
            that `data_format` says.
        size: `(height, width)` of the result.
        interpolation: `"nearest"`, `"bilinear"`, `"bicubic"` (Keys, 1981), `"lanczos3"` or `"lanczos5"`.
        antialias: whether the kernel is widened when an axis shrinks.
        crop_to_aspect_ratio: whether the largest central part with the ratio of `size` is resized.
        pad_to_aspect_ratio: whether images are padded evenly to the ratio of `size` first.
        fill_mode: of the padding; only `"constant"`.
        fill_value: of the padding.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' rank and dtype; integers are rounded and kept within their range.

    >>> ops.image.resize(ops.ones((4, 4, 1)), (2, 2)).shape[0]
    2
    """
    data_format = layout("resize", images, data_format)
    height, width = int_tuple(tuple(size), 2, "size", "resize", minimum=None)
    if height < 1 or width < 1:
        raise ValueError(f"resize: `size` must have positive height and width, but is {tuple(size)}.")
    one_of(interpolation, INTERPOLATIONS, "interpolation", "resize")
    one_of(fill_mode, ("constant",), "fill_mode", "resize")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError("resize: only one of `crop_to_aspect_ratio` and `pad_to_aspect_ratio` can be True.")
    axes = spatial_axes(images, data_format)
    if crop_to_aspect_ratio:
        images = _cropped(images, axes, height, width)
    elif pad_to_aspect_ratio:
        images = _padded(images, axes, height, width, fill_value)
    return _resized(images, axes, (height, width), interpolation, antialias)


def enlarged(images, factors, interpolation, data_format):
    """`resize` by whole factors, of floating images whose size needn't be known (not public)."""
    axes = spatial_axes(images, layout("resize", images, data_format))
    sizes = tuple(n * factor for n, factor in zip(_sizes(images, axes), factors, strict=True))
    return _resized(images, axes, sizes, interpolation, False)


def _sizes(images, axes):
    """Height and width: ints, or scalar tensors where the shape doesn't say them."""
    shape = shape_of(images)
    return shape[axes[0]], shape[axes[1]]


def _cropped(images, axes, target_height, target_width):
    height, width = _sizes(images, axes)
    tall = most(least(height, width * target_height // target_width), 1)
    wide = most(least(width, height * target_width // target_height), 1)
    top, left = (height - tall) // 2, (width - wide) // 2
    key = [slice(None)] * len(images.shape)
    key[axes[0]], key[axes[1]] = slice(top, top + tall), slice(left, left + wide)
    return images[tuple(key)]


def _padded(images, axes, target_height, target_width, fill_value):
    height, width = _sizes(images, axes)
    tall = most(height, width * target_height // target_width)
    wide = most(width, height * target_width // target_height)
    widths = [(0, 0)] * len(images.shape)
    for axis, extra in ((axes[0], tall - height), (axes[1], wide - width)):
        # The same on both sides, as in Keras; an odd pixel is left out.
        widths[axis] = (extra // 2, extra // 2)
    return pad(images, tuple(widths), constant_values=fill_value)


def _resized(images, axes, sizes, interpolation, antialias):
    shape = shape_of(images)
    if interpolation == "nearest":
        for axis, size in zip(axes, sizes):
            if images.shape[axis] != size:
                images = take(images, _nearest(shape[axis], size), axis=axis)
        return images
    dtype = dtype_of(images)
    x = cast(images, computing_dtype(dtype)) if computing_dtype(dtype) != dtype else images
    known = all(isinstance(size, int) for size in sizes)
    plain = interpolation == "bilinear" and not antialias and len(images.shape) == 4
    if plain and known and computing_dtype(dtype) == "float32":
        if images.shape[axes[0]] != sizes[0] or images.shape[axes[1]] != sizes[1]:
            x = resize_bilinear(x, *sizes, axes[0])
        return back_to(x, dtype)
    for axis, size in zip(axes, sizes):
        if not known or images.shape[axis] != size:
            weights = weight_matrix(shape[axis], size, interpolation, antialias, dtype=computing_dtype(dtype))
            x = _along(x, axis, weights)
    return back_to(x, dtype)


@composite
def resize_bilinear(images: Index, height, width, axis):
    """What frameworks have a function for: a float32 batch, bilinear, not smoothed.

    Args:
        images: tensor of four dimensions.
        height, width: size of the result.
        axis: of the height, 1 or 2; the width is the next.

    Returns:
        Tensor of `images`' rank and dtype.
    """
    sizes = shape_of(images)
    for i, size in ((axis, height), (axis + 1, width)):
        if images.shape[i] != size:
            images = _along(images, i, weight_matrix(sizes[i], size, "bilinear", False))
    return images


def _nearest(old, new):
    if isinstance(old, int):
        return np.minimum(np.floor((np.arange(new) + 0.5) * (old / new)), old - 1).astype("int32")
    centres = np.arange(new, dtype="float32") + 0.5
    return symbolic.minimum(
        symbolic.cast(symbolic.floor(centres * (symbolic.cast(old, "float32") / new)), "int32"), old - 1
    )


_NARROW = 16


def _along(x, axis, weights):
    """Product with `weights` (old, new) along an axis."""
    rank = len(x.shape)
    if axis == rank - 1:
        return matmul(x, weights)
    if axis == rank - 2 and x.shape[-1] is not None and x.shape[-1] < _NARROW:
        # Many products with few columns take ten times as long as one with many rows.
        return moveaxis(tensordot(x, weights, ((axis,), (0,))), -1, axis)
    if axis == rank - 2:
        return matmul(weights.T if isinstance(weights, np.ndarray) else symbolic.transpose(weights), x)
    # What follows is one dimension to it.
    shape, known = shape_of(x), weights.shape[1]
    y = _along(reshape(x, (*shape[: axis + 1], -1)), axis, weights)
    return reshape(y, (*shape[:axis], shape_of(weights)[1] if known is None else known, *shape[axis + 1 :]))


def weight_matrix(old, new, kernel, antialias, scale=None, translation=0.0, dtype="float32"):
    """Share of each old place in each new one, shape `(old, new)`: on the host unless something is a tensor."""
    host = all(isinstance(v, (int, float, np.number, type(None))) for v in (old, scale, translation))
    xp = np if host else symbolic
    # Lengths in float64 on the host; tensors have what the images are computed in.
    of = (lambda v: v) if host else (lambda v: symbolic.cast(v, dtype))
    step = of(old) / of(new) if scale is None else 1.0 / of(scale)
    width = xp.maximum(step, 1.0) if antialias else 1.0
    at = (xp.arange(new, dtype="float64" if host else dtype) + 0.5) * step - of(translation) * step - 0.5
    places = xp.arange(old, dtype="float64" if host else dtype)
    weights = _KERNELS[kernel](xp, xp.abs(at[None, :] - places[:, None]) / width)
    total = xp.sum(weights, axis=0, keepdims=True)
    enough = xp.abs(total) > 1000.0 * float(np.finfo("float32").eps)
    weights = xp.where(enough, weights / xp.where(enough, total, 1.0), 0.0)
    inside = xp.logical_and(at >= -0.5, at <= of(old) - 0.5)
    weights = xp.where(inside[None, :], weights, 0.0)
    return weights.astype(dtype) if host else weights


def _triangle(xp, x):
    return xp.maximum(1.0 - x, 0.0)


def _cubic(xp, x):
    # Keys' kernel with a = -1/2.
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return xp.where(x >= 2.0, 0.0, xp.where(x >= 1.0, far, near))


def _lanczos(radius):
    def kernel(xp, x):
        zero = x <= 1e-3
        y = xp.where(zero, 1.0, x)
        value = radius * xp.sin(np.pi * y) * xp.sin(np.pi * y / radius) / (np.pi**2 * y * y)
        return xp.where(x > radius, 0.0, xp.where(zero, 1.0, value))

    return kernel


_KERNELS = {
    "bilinear": _triangle,
    "linear": _triangle,
    "triangle": _triangle,
    "bicubic": _cubic,
    "cubic": _cubic,
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}


def scale_and_translate(images, output_shape, scale, translation, spatial_dims, method, antialias=True):
    """Scale and move images along some dimensions (`jax.image.scale_and_translate`).

    A place `x` comes to lie at `x * scale + translation`, pixel centres being at half-integers; what comes
    from outside is 0.

    Args:
        images: tensor of any shape.
        output_shape: shape of the result.
        scale, translation: vectors with a number for each of `spatial_dims`.
        spatial_dims: dimensions that are scaled.
        method: `"linear"`, `"bilinear"`, `"triangle"`, `"cubic"`, `"bicubic"`, `"lanczos3"` or `"lanczos5"`.
        antialias: whether the kernel is widened where the images shrink.

    Returns:
        Tensor of `output_shape` and `images`' dtype.

    >>> ops.image.scale_and_translate(ops.ones((2, 2)), (4, 4), np.ones(2), np.ones(2), (0, 1), "linear")[0]
    [0., 0., 0., 0.]
    """
    one_of(method, tuple(_KERNELS), "method", "scale_and_translate")
    numbers = [_numbers(v, len(spatial_dims), n) for v, n in ((scale, "scale"), (translation, "translation"))]
    return scaled_and_moved(
        convert_to_tensor(images), tuple(output_shape), *numbers, tuple(spatial_dims), method, antialias
    )


def _numbers(values, count, name):
    if isinstance(values, (list, tuple, np.ndarray)):
        values = np.asarray(values, "float64")
    if tuple(values.shape) != (count,):
        raise ValueError(f"scale_and_translate: `{name}` must have shape ({count},), but has {tuple(values.shape)}.")
    return tuple(float(v) for v in values) if isinstance(values, np.ndarray) else values


@composite
def scaled_and_moved(images: Index, output_shape, scale: Key, translation: Key, spatial_dims, method, antialias):
    """`scale_and_translate`, scale and translation being tuples of floats or vectors."""
    dtype = dtype_of(images)
    work = computing_dtype(dtype)
    axes = tuple(a % len(images.shape) for a in spatial_dims)
    x = cast(images, work)
    if axes == (1, 2) and len(images.shape) == 4 and work == "float32" and _are_known(scale, translation):
        x = stretched(x, output_shape[1:3], scale, translation, method, antialias)
    else:
        x = _moved(x, output_shape, scale, translation, axes, method, antialias)
    return back_to(x, dtype) if dtypes.is_int(dtype) else cast(x, dtype)


def _are_known(scale, translation):
    return isinstance(scale, tuple) and isinstance(translation, tuple) and min(scale) > 0


@composite
def stretched(images: Index, size, scale, translation, method, antialias):
    """`scale_and_translate` of a float32 batch along its second and third dimension, by numbers (not public)."""
    return _moved(images, (None, *size), scale, translation, (1, 2), method, antialias)


def _moved(x, output_shape, scale, translation, axes, method, antialias):
    for i, axis in enumerate(axes):
        weights = weight_matrix(
            shape_of(x)[axis], output_shape[axis], method, antialias, scale[i], translation[i], dtype_of(x)
        )
        x = _along(x, axis, weights)
    return x
