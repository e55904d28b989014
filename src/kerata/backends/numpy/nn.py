"""Convolution, pooling, attention and recurrence on NumPy: windows as strided views, work in matrix products."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kerata.backends import windows
from kerata.backends.numpy.core import NARROW
from kerata.backends.numpy.elementwise import sigmoid
from kerata.backends.numpy.linalg import matmul
from kerata.backends.numpy.reduction import logsumexp
from kerata.backends.numpy.reduction import max as _max
from kerata.backends.numpy.reduction import sum as _sum


def _channels_last(native):
    """Give `native` channels_last inputs in float32 or wider, and its result back as the caller's layout and dtype."""

    def wrapped(inputs, *args):
        # The data format is the last argument that is one: its place differs.
        at = next(i for i, a in enumerate(args) if isinstance(a, str) and a.startswith("channels"))
        to, back = windows.spatial_last(args[at], inputs.ndim)
        dtype = inputs.dtype
        wide = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype in NARROW else a for a in args]
        x = inputs.astype(np.float32) if dtype in NARROW else inputs
        out = native(x.transpose(to), *wide[:at], *wide[at + 1 :])
        return out.astype(dtype, copy=False).transpose(back)

    wrapped.__name__ = native.__name__
    return wrapped


def _windows(x, sizes, strides, dilations, pads, fill=0):
    """View [batch, *out, channels, *window] of channels_last x."""
    if any(map(any, pads)):
        x = np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=fill)
    axes = tuple(range(1, 1 + len(sizes)))
    spans = tuple(map(windows.span, sizes, dilations))
    view = sliding_window_view(x, spans, axes)
    steps = (slice(None), *(slice(None, None, s) for s in strides), slice(None))
    return view[(*steps, *(slice(None, None, d) for d in dilations))]


def _conv(x, kernel, strides, padding, dilations, groups):
    sizes = kernel.shape[:-2]
    rank = len(sizes)
    pads = windows.pads(padding, x.shape[1:-1], sizes, strides, dilations)
    view = _windows(x, sizes, strides, dilations, pads)
    # Rows of (*window, channels) in the kernel's own order, so that the kernel is not copied.
    order = (*range(1 + rank), *range(2 + rank, 2 + 2 * rank), 1 + rank)
    patches = view.transpose(order)
    if groups == 1:
        rows = patches.reshape(*patches.shape[: 1 + rank], -1)
        return rows @ kernel.reshape(-1, kernel.shape[-1])
    inputs = np.split(patches, groups, -1)
    kernels = np.split(kernel, groups, -1)
    outputs = [
        p.reshape(*p.shape[: 1 + rank], -1) @ k.reshape(-1, k.shape[-1]) for p, k in zip(inputs, kernels, strict=True)
    ]
    return np.concatenate(outputs, -1)


@_channels_last
def conv(inputs, kernel, strides, padding, dilation_rate, groups):
    return _conv(inputs, kernel, strides, padding, dilation_rate, groups)


def conv_bias(inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups):
    return bias_add(conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups), bias, data_format)


@_channels_last
def depthwise_conv(inputs, kernel, strides, padding, dilation_rate):
    sizes = kernel.shape[:-2]
    pads = windows.pads(padding, inputs.shape[1:-1], sizes, strides, dilation_rate)
    view = _windows(inputs, sizes, strides, dilation_rate, pads)
    out = 0
    for place in np.ndindex(*sizes):
        out = out + view[(..., *place)][..., None] * kernel[place]
    return out.reshape(*out.shape[:-2], -1)


@_channels_last
def conv_transpose(inputs, kernel, strides, padding, output_padding, dilation_rate):
    sizes = kernel.shape[:-2]
    rank = len(sizes)
    extra = output_padding or (None,) * rank
    lengths, crops = zip(
        *(
            windows.transposed(n, k, s, d, padding, p)
            for n, k, s, d, p in zip(inputs.shape[1:-1], sizes, strides, dilation_rate, extra, strict=True)
        ),
        strict=True,
    )
    reach = [
        max((n - 1) * s + windows.span(k, d), c + length)
        for n, k, s, d, c, length in zip(inputs.shape[1:-1], sizes, strides, dilation_rate, crops, lengths, strict=True)
    ]
    full = np.zeros((inputs.shape[0], *reach, kernel.shape[-2]), inputs.dtype)
    for place in np.ndindex(*sizes):
        at = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(place, dilation_rate, inputs.shape[1:-1], strides, strict=True)
        )
        full[(slice(None), *at)] += inputs @ kernel[place].T
    return full[(slice(None), *(slice(c, c + n) for c, n in zip(crops, lengths, strict=True)))]


@_channels_last
def max_pool(inputs, pool_size, strides, padding):
    ones = (1,) * len(pool_size)
    pads = windows.pads(padding, inputs.shape[1:-1], pool_size, strides, ones)
    lowest = -np.inf if inputs.dtype.kind == "f" else np.iinfo(inputs.dtype).min
    view = _windows(inputs, pool_size, strides, ones, pads, lowest)
    return view.max(tuple(range(-len(pool_size), 0)))


@_channels_last
def average_pool(inputs, pool_size, strides, padding):
    ones = (1,) * len(pool_size)
    axes = tuple(range(-len(pool_size), 0))
    pads = windows.pads(padding, inputs.shape[1:-1], pool_size, strides, ones)
    total = _windows(inputs, pool_size, strides, ones, pads).sum(axes)
    present = np.ones((1, *inputs.shape[1:-1], 1), inputs.dtype)
    return total / _windows(present, pool_size, strides, ones, pads).sum(axes)


def dot_product_attention(query, key, value, bias, mask, scale, is_causal):
    dtype = query.dtype
    q, k, v = (np.moveaxis(x, 2, 1) for x in (query, key, value))
    logits = matmul(q, np.swapaxes(k, -1, -2)) * dtype.type(scale)
    if bias is not None:
        logits = logits + bias
    if is_causal:
        causal = np.tri(*logits.shape[-2:], dtype=bool)
        mask = causal if mask is None else mask & causal
    if mask is not None:
        logits = np.where(mask, logits, _lowest(dtype))
    return np.moveaxis(matmul(softmax(logits, -1), v), 1, 2)


def _lowest(dtype):
    """Finite, so that a row with nothing to attend to is a plain average and not NaN."""
    import ml_dtypes

    return np.asarray(0.7 * float(ml_dtypes.finfo(dtype).min), dtype)


def lstm(x, h, c, kernel, recurrent_kernel, bias, reverse, sequences):
    projected = np.moveaxis(matmul(x, kernel) + bias, 1, 0)
    outputs = np.empty((*projected.shape[:2], h.shape[-1]), x.dtype)
    for t in _times(len(projected), reverse):
        i, f, g, o = np.split(projected[t] + matmul(h, recurrent_kernel), 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs[t] = h
    return np.moveaxis(outputs, 0, 1) if sequences else h, h, c


def gru(x, h, kernel, recurrent_kernel, bias, reverse, sequences):
    projected = np.moveaxis(matmul(x, kernel) + bias[0], 1, 0)
    outputs = np.empty((*projected.shape[:2], h.shape[-1]), x.dtype)
    for t in _times(len(projected), reverse):
        xz, xr, xh = np.split(projected[t], 3, -1)
        hz, hr, hh = np.split(matmul(h, recurrent_kernel) + bias[1], 3, -1)
        z, candidate = sigmoid(xz + hz), np.tanh(xh + sigmoid(xr + hr) * hh)
        h = z * h + (1 - z) * candidate
        outputs[t] = h
    return np.moveaxis(outputs, 0, 1) if sequences else h, h


def _times(length, reverse):
    return range(length - 1, -1, -1) if reverse else range(length)


def bias_add(x, bias, data_format):
    return x + (bias if data_format == "channels_last" else bias.reshape(-1, *(1,) * (x.ndim - 2)))


def softmax(x, axis):
    e = np.exp(x - _max(x, axis, True))
    return e / _sum(e, axis, True)


def log_softmax(x, axis):
    return x - logsumexp(x, axis, True)
