"""Padding and cropping of images, any two of (before, after, target size) an axis."""

from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Index, composite
from kerata.ops.image.layout import layout, spatial_axes
from kerata.ops.movement import pad, reshape


@composite
def pad_images(
    images: Index,
    top_padding=None,
    left_padding=None,
    bottom_padding=None,
    right_padding=None,
    target_height=None,
    target_width=None,
    data_format=None,
):
    """Pad images with zeros; for each axis give two of before, after and target size.

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        top_padding, bottom_padding: rows to add above and below.
        left_padding, right_padding: columns to add on the left and on the right.
        target_height, target_width: size of the result.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' rank and dtype.

    >>> ops.image.pad_images(ops.ones((2, 2, 1)), 1, 0, 0, 0)[..., 0]
    [[0., 0.], [1., 1.], [1., 1.]]
    """
    axes = spatial_axes(images, layout("pad_images", images, data_format))
    widths = [(0, 0)] * len(images.shape)
    names = (("top_padding", "bottom_padding", "target_height"), ("left_padding", "right_padding", "target_width"))
    given = ((top_padding, bottom_padding, target_height), (left_padding, right_padding, target_width))
    for axis, named, values in zip(axes, names, given):
        widths[axis] = _two_of("pad_images", images, axis, named, values, sign=1)
    return _of_size(pad(images, tuple(widths)), axes, (target_height, target_width))


@composite
def crop_images(
    images: Index,
    top_cropping=None,
    left_cropping=None,
    bottom_cropping=None,
    right_cropping=None,
    target_height=None,
    target_width=None,
    data_format=None,
):
    """Cut off the edges of images; for each axis give two of before, after and target size.

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        top_cropping, bottom_cropping: rows to drop above and below.
        left_cropping, right_cropping: columns to drop on the left and on the right.
        target_height, target_width: size of the result.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' rank and dtype.

    >>> ops.image.crop_images(ops.reshape(ops.arange(4), (2, 2, 1)), 1, 0, 0, 0)[..., 0]
    [[2, 3]]
    """
    axes = spatial_axes(images, layout("crop_images", images, data_format))
    key = [slice(None)] * len(images.shape)
    names = (("top_cropping", "bottom_cropping", "target_height"), ("left_cropping", "right_cropping", "target_width"))
    given = ((top_cropping, bottom_cropping, target_height), (left_cropping, right_cropping, target_width))
    for axis, named, values in zip(axes, names, given):
        before, after = _two_of("crop_images", images, axis, named, values, sign=-1)
        key[axis] = slice(before, -after if not isinstance(after, int) or after else None)
    return _of_size(images[tuple(key)], axes, (target_height, target_width))


def _of_size(images, axes, targets):
    """The images, with the sizes that were asked for where their shape doesn't say them."""
    shape = list(shape_of(images))
    for axis, target in zip(axes, targets):
        if target is not None and images.shape[axis] is None:
            shape[axis] = target
    return images if tuple(images.shape) == tuple(shape) or None not in images.shape else reshape(images, tuple(shape))


def _two_of(owner, images, axis, names, values, sign):
    """`(before, after)` from two of before, after and target size."""
    before, after, target = values
    if sum(v is None for v in values) != 1:
        shown = ", ".join(f"{n}={v}" for n, v in zip(names, values))
        raise ValueError(f"{owner}: Must specify exactly two of {', '.join(names)}, but {shown}.")
    if target is not None:
        size = shape_of(images)[axis]
        change = (target - size) * sign
        before, after = (before, change - before) if before is not None else (change - after, after)
    size = images.shape[axis]
    for name, value in zip(names, (before, after)):
        if isinstance(value, int) and value < 0:
            raise ValueError(
                f"{owner}: `{name}` would be {value} for images of shape {tuple(images.shape)}; it can't be negative."
            )
    if sign < 0 and isinstance(size, int) and before + after >= size:
        raise ValueError(
            f"{owner}: {before} and {after} leave nothing of a dimension of {size} ({tuple(images.shape)})."
        )
    return before, after
