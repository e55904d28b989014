"""Shape natives on PyTorch."""

import builtins

import torch
import torch.nn.functional as F

from kerata.backends import windows

reshape = torch.reshape
transpose = torch.permute
broadcast_to = torch.broadcast_to
concatenate = torch.cat
stack = torch.stack
flip = torch.flip
roll = torch.roll
tile = torch.tile
tril = torch.tril
triu = torch.triu
diag = torch.diag
diagonal = torch.diagonal


def expand_dims(x, axis):
    if isinstance(axis, int):
        return torch.unsqueeze(x, axis)
    rank = x.ndim + len(axis)
    for a in sorted(a % rank for a in axis):
        x = torch.unsqueeze(x, a)
    return x


def squeeze(x, axis):
    if axis is None:
        return torch.squeeze(x)
    # torch.squeeze keeps an axis longer than 1 in silence.
    for a in (axis,) if isinstance(axis, int) else axis:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} of shape {tuple(x.shape)} is not of size 1.")
    return torch.squeeze(x, axis)


def unstack(x, axis):
    return list(torch.unbind(x, axis))


def split(x, indices_or_sections, axis):
    if isinstance(indices_or_sections, int):
        size = x.shape[axis]
        if size % indices_or_sections:
            raise ValueError(f"split: {size} places are not divisible into {indices_or_sections} equal parts.")
        return list(torch.tensor_split(x, indices_or_sections, axis))
    return list(torch.tensor_split(x, tuple(indices_or_sections), axis))


def pad(x, pad_width, mode, constant_values):
    if mode == "constant":
        flat = [n for pair in reversed(pad_width) for n in pair]
        return F.pad(x, flat, "constant", constant_values or 0)
    padded = [axis for axis, pair in enumerate(pad_width) if builtins.any(pair)]
    if mode == "reflect" and _can_be_reflected(x, pad_width, padded):
        return _reflected(x, pad_width, padded)
    for axis, pair in enumerate(pad_width):
        if builtins.any(pair):
            places = windows.padded_places(x.shape[axis], *pair, mode)
            x = torch.index_select(x, axis, torch.as_tensor(places, device=x.device))
    return x


def _can_be_reflected(x, pad_width, padded):
    """Whether PyTorch has a kernel: of up to three axes behind one or two others, mirrored once."""
    return (
        x.is_floating_point()
        and 0 < len(padded) <= 3
        and x.ndim - len(padded) in (1, 2)
        and builtins.all(builtins.max(pad_width[axis]) < x.shape[axis] for axis in padded)
    )


def _reflected(x, pad_width, padded):
    order = [axis for axis in range(x.ndim) if axis not in padded] + padded
    y = F.pad(x.permute(order), [n for axis in reversed(padded) for n in pad_width[axis]], "reflect")
    return y.permute([order.index(axis) for axis in range(x.ndim)])


def repeat(x, repeats, axis):
    if isinstance(repeats, (tuple, list)):
        repeats = torch.tensor(repeats, device=x.device)
    return torch.repeat_interleave(x, repeats, axis)


def frames_of(x, sequence_length, sequence_stride):
    return x.unfold(-1, sequence_length, sequence_stride)


def shape_dim(x, axis):
    return x.shape[axis]
