"""Images on PyTorch."""

from torch.nn import functional


def resize_bilinear(images, height, width, axis):
    # torch wants channels first; a view of channels last is as good to it.
    last = axis == 1
    x = images.permute(0, 3, 1, 2) if last else images
    x = functional.interpolate(x, (height, width), mode="bilinear", align_corners=False)
    return x.permute(0, 2, 3, 1) if last else x
