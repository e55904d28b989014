"""Padding and cropping of images, any two of (before, after, target size) an axis."""

from kerata.ops.core import convert_to_tensor
from kerata.ops.image.layout import layout, spatial_axes
from kerata.ops.movement import pad


def pad_images(
    images,
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
    images = convert_to_tensor(images)
    axes = spatial_axes(images, layout("pad_images", images, data_format))
    widths = [(0, 0)] * len(images.shape)
    names = (("top_padding", "bottom_padding", "target_height"), ("left_padding", "right_padding", "target_width"))
    given = ((top_padding, bottom_padding, target_height), (left_padding, right_padding, target_width))
    for axis, named, values in zip(axes, names, given):
        widths[axis] = _two_of("pad_images", images, axis, named, values, sign=1)
    return pad(images, tuple(widths))


def crop_images(
    images,
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
    images = convert_to_tensor(images)
    axes = spatial_axes(images, layout("crop_images", images, data_format))
    key = [slice(None)] * len(images.shape)
    names = (("top_cropping", "bottom_cropping", "target_height"), ("left_cropping", "right_cropping", "target_width"))
    given = ((top_cropping, bottom_cropping, target_height), (left_cropping, right_cropping, target_width))
    for axis, named, values in zip(axes, names, given):
        before, _, target = values
        if images.shape[axis] is None and before is not None and target is not None:
            # What is cut off behind need not be known.
            key[axis] = slice(before, before + target)
            continue
        before, after = _two_of("crop_images", images, axis, named, values, sign=-1)
        key[axis] = slice(before, -after if after else None)
    return images[tuple(key)]


def _two_of(owner, images, axis, names, values, sign):
    """`(before, after)` from two of before, after and target size."""
    before, after, target = values
    if sum(v is None for v in values) != 1:
        shown = ", ".join(f"{n}={v}" for n, v in zip(names, values))
        raise ValueError(f"{owner}: Must specify exactly two of {', '.join(names)}, but {shown}.")
    if target is not None:
        size = images.shape[axis]
        if size is None:
            raise ValueError(f"{owner}: `{names[2]}` needs a known size, but the shape is {tuple(images.shape)}.")
        change = (target - size) * sign
        before, after = (before, change - before) if before is not None else (change - after, after)
    size = images.shape[axis]
    for name, value in zip(names, (before, after)):
        if value < 0:
            raise ValueError(
                f"{owner}: `{name}` would be {value} for images of shape {tuple(images.shape)}; it can't be negative."
            )
    if sign < 0 and size is not None and before + after >= size:
        raise ValueError(
            f"{owner}: {before} and {after} leave nothing of a dimension of {size} ({tuple(images.shape)})."
        )
    return before, after
