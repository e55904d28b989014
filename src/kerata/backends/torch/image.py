"""Images on PyTorch."""

import torch
from torch.nn import functional

from kerata.backends.torch.core import VALUES_ALONE


def resize_bilinear(images, height, width, axis):
    # torch wants channels first; a view of channels last is as good to it.
    last = axis == 1
    x = images.permute(0, 3, 1, 2) if last else images
    x = functional.interpolate(x, (height, width), mode="bilinear", align_corners=False)
    return x.permute(0, 2, 3, 1) if last else x


def _stretched(images, size, scale, translation, method, antialias):
    inside = all(n <= s * old for n, s, old in zip(size, scale, images.shape[1:3], strict=True))
    if method not in ("linear", "bilinear", "triangle") or antialias or any(translation) or not inside:
        return NotImplemented
    x = torch._C._nn.upsample_bilinear2d(images.permute(0, 3, 1, 2), size, False, *scale)
    return x.permute(0, 2, 3, 1)


VALUES_ALONE["stretched"] = _stretched


def weighted_sum(x, weights, axis):
    if axis == -1:
        return torch.matmul(x, weights.reshape(-1, 1))
    return torch.sum(x * weights, axis, True)


_MODES = {"constant": "zeros", "nearest": "border", "mirror": "reflection", "reflect": "reflection"}


def sampled(images, rows, columns, fill_mode, fill_value):
    height, width = images.shape[1:3]
    # Mirrored at the centres of the outer pixels, otherwise at their edges.
    centres = fill_mode == "mirror"
    # In place: new memory takes longer than the numbers.
    across, down = (
        (c.to(images.dtype) * 2).add_(0 if centres else 1).div_(n - centres).sub_(1)
        for c, n in ((columns, width), (rows, height))
    )
    x = images.permute(0, 3, 1, 2)
    x = x - fill_value if fill_value and fill_mode == "constant" else x
    y = functional.grid_sample(x, torch.stack((across, down), -1), "bilinear", _MODES[fill_mode], centres)
    y = y.permute(0, 2, 3, 1)
    return y + fill_value if fill_value and fill_mode == "constant" else y
