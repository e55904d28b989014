"""Activations, convolution, pooling, normalization."""

import math

import numpy as np

from kerata.backends import windows
from kerata.core import dtypes
from kerata.graph.onnx.table import emits, emits_each
from kerata.ops import rules

# ------------------------------------------------------------------ activations

_SINGLE = ("float16", "float32")


@emits_each({"softplus": "Softplus", "softsign": "Softsign", "hard_silu": "HardSwish"})
def _activation(kind, w, out, x):
    return w.op(kind, x) if w.dtype(out) in _SINGLE else NotImplemented


@emits_each({"elu": "Elu", "celu": "Celu", "leaky_relu": "LeakyRelu"})
def _with_alpha(kind, w, out, x, alpha):
    return w.op(kind, x, alpha=float(alpha)) if w.dtype(out) in _SINGLE else NotImplemented


@emits("selu")
def _selu(w, out, x):
    from kerata.ops.nn import SELU_ALPHA, SELU_SCALE

    return w.op("Selu", x, alpha=SELU_ALPHA, gamma=SELU_SCALE) if w.dtype(out) in _SINGLE else NotImplemented


@emits("hard_sigmoid")
def _hard_sigmoid(w, out, x):
    return w.op("HardSigmoid", x, alpha=1 / 6, beta=0.5) if w.dtype(out) in _SINGLE else NotImplemented


@emits("relu6")
def _relu6(w, out, x):
    dtype = w.dtype(out)
    return w.op("Clip", x, w.name(0, dtype), w.name(6, dtype)) if dtypes.is_float(dtype) else NotImplemented


@emits("gelu")
def _gelu(w, out, x, approximate):
    dtype = w.dtype(out)
    if w.opset >= 20:
        return w.op("Gelu", x, approximate="tanh" if approximate else "none")
    if approximate or dtype not in _SINGLE:
        return NotImplemented
    # In the order of operations that runtimes know as one.
    inner = w.op("Erf", w.op("Div", x, w.name(math.sqrt(2), dtype)))
    return w.op("Mul", w.op("Mul", x, w.op("Add", inner, w.name(1.0, dtype))), w.name(0.5, dtype))


@emits_each({"softmax": "Softmax", "log_softmax": "LogSoftmax"})
def _softmax(kind, w, out, x, axis):
    if not x.shape or not isinstance(axis, int):
        return NotImplemented
    return w.op(kind, x, axis=axis % len(x.shape))


# ------------------------------------------------------------------ convolution


def _channels_first(w, x, data_format):
    rank = len(x.shape)
    return w.transpose(x, windows.spatial_first(data_format, rank)[0])


def _back(w, name, data_format, rank):
    return w.transpose(name, windows.spatial_first(data_format, rank)[1])


def _pads(padding, lengths, sizes, strides, dilations):
    """Attributes that say how much is padded; `"same"` with strides over an unknown length is left to the
    runtime.
    """
    if padding == "same" and any(n is None and s > 1 for n, s in zip(lengths, strides)):
        return {"auto_pad": "SAME_UPPER"}
    # With a stride of 1 the padding doesn't depend on the length.
    lengths = [windows.span(k, d) if n is None else n for n, k, d in zip(lengths, sizes, dilations)]
    pads = windows.pads(padding, lengths, sizes, strides, dilations)
    if not any(map(any, pads)):
        return {}
    return {"pads": [*(p[0] for p in pads), *(p[1] for p in pads)]}


def _convolved(w, out, inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups, sizes):
    spatial = rules.split_layout(tuple(inputs.shape), data_format)[1]
    pads = _pads(padding, spatial, sizes, strides, dilation_rate)
    result = w.op(
        "Conv",
        _channels_first(w, inputs, data_format),
        kernel,
        bias,
        kernel_shape=list(sizes),
        strides=list(strides),
        dilations=list(dilation_rate),
        group=groups,
        **pads,
    )
    return _back(w, result, data_format, len(inputs.shape))


def _kernel(w, kernel):
    """`(*window, in, out)` as `(out, in, *window)`."""
    rank = len(kernel.shape)
    return w.transpose(kernel, [rank - 1, rank - 2, *range(rank - 2)])


@emits("conv_general")
def _conv(w, out, inputs, kernel, strides, padding, data_format, dilation_rate, groups):
    sizes = kernel.shape[:-2]
    return _convolved(
        w, out, inputs, _kernel(w, kernel), None, strides, padding, data_format, dilation_rate, groups, sizes
    )


@emits("conv_bias")
def _conv_bias(w, out, inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups):
    if len(bias.shape) != 1:
        return NotImplemented
    sizes = kernel.shape[:-2]
    return _convolved(
        w, out, inputs, _kernel(w, kernel), bias, strides, padding, data_format, dilation_rate, groups, sizes
    )


@emits("depthwise_conv")
def _depthwise_conv(w, out, inputs, kernel, strides, padding, data_format, dilation_rate):
    *sizes, channels, multiplier = kernel.shape
    rank = len(sizes)
    moved = w.transpose(kernel, [rank, rank + 1, *range(rank)])
    moved = w.reshape(moved, [channels * multiplier, 1, *sizes])
    return _convolved(
        w, out, inputs, moved, None, strides, padding, data_format, dilation_rate, channels, sizes
    )


@emits("conv_transpose")
def _conv_transpose(w, out, inputs, kernel, strides, padding, output_padding, data_format, dilation_rate):
    sizes, rank = kernel.shape[:-2], len(kernel.shape) - 2
    before, after, extra = [], [], []
    for size, stride, dilation, more in zip(sizes, strides, dilation_rate, output_padding or [None] * rank):
        # What is cut off doesn't depend on the length: that of 1 serves for all.
        length, crop = windows.transposed(1, size, stride, dilation, padding, more)
        rest = windows.span(size, dilation) - crop - length
        before.append(crop), after.append(max(rest, 0)), extra.append(max(-rest, 0))
    result = w.op(
        "ConvTranspose",
        _channels_first(w, inputs, data_format),
        w.transpose(kernel, [rank + 1, rank, *range(rank)]),
        kernel_shape=list(sizes),
        strides=list(strides),
        dilations=list(dilation_rate),
        pads=[*before, *after],
        output_padding=extra if any(extra) else None,
    )
    return _back(w, result, data_format, rank + 2)


# ------------------------------------------------------------------ pooling


@emits_each({"max_pool": "MaxPool", "average_pool": "AveragePool"})
def _pool(kind, w, out, inputs, pool_size, strides, padding, data_format):
    spatial = rules.split_layout(tuple(inputs.shape), data_format)[1]
    pads = _pads(padding, spatial, pool_size, strides, (1,) * len(pool_size))
    dtype = w.dtype(out)
    wide = dtype if dtypes.is_float(dtype) else "float64" if kind == "MaxPool" else "float32"
    name = _channels_first(w, inputs, data_format)
    name = w.op(kind, w.cast(name, dtype, wide), kernel_shape=list(pool_size), strides=list(strides), **pads)
    return _back(w, w.cast(name, wide, dtype), data_format, len(inputs.shape))


# ------------------------------------------------------------------ normalization


@emits("layer_normalization_on")
def _layer_normalization(w, out, x, gamma, beta, axis, epsilon):
    rank = len(x.shape)
    if tuple(axis) != tuple(range(rank - len(axis), rank)) or w.dtype(out) not in _SINGLE:
        return NotImplemented
    sizes = tuple(x.shape[a] for a in axis)
    if None in sizes or any(v is not None and tuple(v.shape) != sizes for v in (gamma, beta)):
        return NotImplemented
    if gamma is None:
        gamma = np.ones(sizes, dtypes.to_numpy_dtype(w.dtype(out)))
    return w.op("LayerNormalization", x, gamma, beta, axis=axis[0], epsilon=float(epsilon))
