"""The one image op that draws random numbers."""

from kerata.core.errors import one_of
from kerata.ops.core import convert_to_tensor
from kerata.ops.image.layout import layout
from kerata.ops.image.warping import FILL_MODES, elastically_warped
from kerata.random.seeds import draw_seed


def elastic_transform(
    images,
    alpha=20.0,
    sigma=5.0,
    interpolation="bilinear",
    fill_mode="reflect",
    fill_value=0.0,
    seed=None,
    data_format=None,
):
    """Displace pixels by smooth random offsets (Simard et al., 2003).

    Args:
        images: tensor of shape `(batch, height, width, channels)` or without the batch.
        alpha: size of the offsets, in pixels.
        sigma: how far offsets are alike: standard deviation of the blur that smooths them.
        interpolation: `"nearest"` or `"bilinear"`.
        fill_mode: what is outside: `"constant"`, `"nearest"`, `"wrap"`, `"mirror"` or `"reflect"`.
        fill_value: value of mode `"constant"`.
        seed: int, `SeedGenerator` or `None`.
        data_format: `"channels_last"` or `"channels_first"`, by default that of the configuration.

    Returns:
        Tensor of `images`' shape and dtype.

    >>> ops.image.elastic_transform(ops.ones((4, 4, 1)), seed=1).shape[0]
    4
    """
    images = convert_to_tensor(images)
    data_format = layout("elastic_transform", images, data_format)
    one_of(fill_mode, FILL_MODES, "fill_mode", "elastic_transform")
    if not sigma > 0:
        raise ValueError(f"elastic_transform: `sigma` must be positive, but is {sigma}.")
    key = draw_seed(seed, "elastic_transform")
    return elastically_warped(
        images, key, float(alpha), float(sigma), interpolation, fill_mode, fill_value, data_format
    )
