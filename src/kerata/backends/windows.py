"""Arithmetic of sliding windows that the backends share: how much to pad, how long a transposed convolution is."""

import numpy as np


def span(size, dilation):
    """Places that a dilated window covers."""
    return (size - 1) * dilation + 1


def same_pads(length, size, stride, dilation=1):
    """(before, after) such that the output has ceil(length / stride) places, the odd one after, as TensorFlow pads."""
    total = max((-(-length // stride) - 1) * stride + span(size, dilation) - length, 0)
    return total // 2, total - total // 2


def pads(padding, lengths, sizes, strides, dilations):
    """(before, after) for each spatial axis; `padding` is "valid", "same" or those pairs themselves."""
    if padding == "valid":
        return ((0, 0),) * len(sizes)
    if padding == "same":
        return tuple(map(same_pads, lengths, sizes, strides, dilations))
    return tuple(padding)


def transposed(length, size, stride, dilation, padding, output_padding):
    """Output length of a transposed convolution, and how many places of the full one are cut off in front.

    The full transposed convolution has `(length - 1) * stride + span` places. Without `output_padding` the
    length is what the forward convolution would map back to `length`; with it, it is exact.
    """
    covered = span(size, dilation)
    full = (length - 1) * stride + covered
    if output_padding is None:
        result = length * stride + (max(covered - stride, 0) if padding == "valid" else 0)
    else:
        result = full + output_padding - (2 * (covered // 2) if padding == "same" else 0)
    return result, max(full - result, 0) // 2


def spatial_first(data_format, rank):
    """Axes order that brings a tensor of this layout to channels_first, and the order that brings it back."""
    if data_format == "channels_first":
        same = tuple(range(rank))
        return same, same
    return (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)


def spatial_last(data_format, rank):
    """The same towards channels_last."""
    if data_format == "channels_last":
        same = tuple(range(rank))
        return same, same
    return (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))


def padded_places(length, before, after, mode):
    """Which place each one of a lengthened axis copies, for the modes "reflect", "symmetric" and "edge"."""
    places = np.arange(-before, length + after)
    if mode == "edge":
        return np.clip(places, 0, length - 1)
    if mode == "symmetric":
        within = places % (2 * length)
        return np.minimum(within, 2 * length - 1 - within)
    period = max(2 * (length - 1), 1)
    within = places % period
    return np.minimum(np.minimum(within, period - within), length - 1)
