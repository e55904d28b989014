"""Images on PyTorch."""

import torch
from torch.nn import functional

from kerata.backends.torch.core import VALUES_ALONE, watched


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
    # Counted from the centres of the outer pixels, or from their edges where that's what is mirrored at.
    centres = fill_mode != "reflect"
    grid = _grid((columns.to(images.dtype), rows.to(images.dtype)), (width, height), centres)
    x = images.permute(0, 3, 1, 2)
    x = x - fill_value if fill_value and fill_mode == "constant" else x
    y = functional.grid_sample(x, grid, "bilinear", _MODES[fill_mode], centres)
    y = y.permute(0, 2, 3, 1)
    return y + fill_value if fill_value and fill_mode == "constant" else y


def _grid(places, sizes, centres):
    """Places as PyTorch counts them, -1 at one end and 1 at the other, side by side in the last dimension."""
    halves = [(n - 1) / 2 if centres else n / 2 for n in sizes]
    if not centres:
        places = [p + 0.5 for p in places]
    if watched(*places):
        return torch.stack([p / half for p, half in zip(places, halves, strict=True)], -1) - 1
    # In place: new memory takes longer than the numbers.
    grid = torch.empty((*places[0].shape, 2), dtype=places[0].dtype, device=places[0].device)
    for i, half in enumerate(halves):
        torch.div(places[i], half, out=grid[..., i])
    return grid.sub_(1)
