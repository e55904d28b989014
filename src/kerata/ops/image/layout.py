"""What images look like: one or a batch of them, channels last or first."""

from kerata.core import config, dtypes
from kerata.ops.core import dtype as dtype_of
from kerata.ops.elementwise import cast, clip, round
from kerata.ops.movement import expand_dims, squeeze, transpose


def layout(owner, images, data_format, name="images"):
    """The data format, checked together with the rank: one image (3 dimensions) or a batch (4)."""
    data_format = config.standardize_data_format(data_format)
    if len(images.shape) not in (3, 4):
        raise ValueError(
            f"{owner}: `{name}` must have 3 dimensions (one image) or 4 (a batch), "
            f"but the shape is {tuple(images.shape)}."
        )
    return data_format


def spatial_axes(images, data_format):
    """Axes of height and width."""
    rank = len(images.shape)
    return (rank - 3, rank - 2) if data_format == "channels_last" else (rank - 2, rank - 1)


def channel_axis(data_format):
    return -1 if data_format == "channels_last" else -3


def as_batch(images, data_format):
    """`(images as a channels_last batch, function that undoes it)`. What it undoes may have more dimensions behind."""
    single = len(images.shape) == 3
    if single:
        images = expand_dims(images, 0)
    first = data_format == "channels_first"
    if first:
        images = transpose(images, (0, 2, 3, 1))

    def undo(result):
        if first:
            result = transpose(result, (0, 3, 1, 2, *range(4, len(result.shape))))
        return squeeze(result, 0) if single else result

    return images, undo


def computing_dtype(dtype):
    """Floating dtype to compute in: halves and integers go through float32."""
    return dtype if dtype in ("float32", "float64") else "float32"


def back_to(x, dtype):
    """Computed values in the images' dtype: integers rounded and kept within their range."""
    if dtypes.is_int(dtype):
        low, high = _bounds(dtype)
        x = clip(round(x), low, high)
    return x if dtype_of(x) == dtype else cast(x, dtype)


def _bounds(dtype):
    import numpy as np

    info = np.iinfo(dtype)
    # 32 bits and more have no exact bound in float32; the next number within it does.
    return (
        (float(info.min), float(info.max))
        if info.bits < 32
        else (float(info.min), float(np.float32(info.max) * (1 - 2.0**-24)))
    )
