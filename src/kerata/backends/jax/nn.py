"""Convolution, pooling, attention, recurrence and fused activations on JAX."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kerata.backends import windows
from kerata.backends.jax.core import HALF, static
from kerata.backends.jax.reduction import logsumexp

_SPATIAL = "XYZ"
# Windows of up to so many places are reduced place by place, larger overlapping ones axis by axis: measured on CPUs.
_MAX_PLACES, _SUM_PLACES = 4, 16

softmax = static(1)(lambda x, axis: jax.nn.softmax(x, axis))
gelu = static(1)(lambda x, approximate: jax.nn.gelu(x, approximate))
silu = static()(lambda x: jax.nn.silu(x))
softplus = static()(lambda x: jax.nn.softplus(x))
softsign = static()(lambda x: x / (1 + jnp.abs(x)))
log_sigmoid = static()(lambda x: jax.nn.log_sigmoid(x))
relu6 = static()(lambda x: jax.nn.relu6(x))
selu = static()(lambda x: jax.nn.selu(x))
hard_sigmoid = static()(lambda x: jax.nn.hard_sigmoid(x))
hard_silu = static()(lambda x: jax.nn.hard_silu(x))


@static(1)
def elu(x, alpha):
    return jax.nn.elu(x, alpha)


@static(1)
def leaky_relu(x, negative_slope):
    return jax.nn.leaky_relu(x, negative_slope)


@static(1)
def log_softmax(x, axis):
    return x - logsumexp(x, axis, True)


def _layout(rank, data_format):
    space = _SPATIAL[: rank - 2]
    return f"N{space}C" if data_format == "channels_last" else f"NC{space}"


@static(2, 3, 4, 5, 6)
def conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups):
    layout = _layout(inputs.ndim, data_format)
    return lax.conv_general_dilated(
        inputs,
        kernel,
        strides,
        padding.upper() if isinstance(padding, str) else padding,
        rhs_dilation=dilation_rate,
        dimension_numbers=(layout, _SPATIAL[: inputs.ndim - 2] + "IO", layout),
        feature_group_count=groups,
    )


@static(3, 4, 5, 6, 7)
def conv_bias(inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups):
    return bias_add(conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups), bias, data_format)


@static(2, 3, 4, 5)
def depthwise_conv(inputs, kernel, strides, padding, data_format, dilation_rate):
    *sizes, channels, multiplier = kernel.shape
    flat = jnp.reshape(kernel, (*sizes, 1, channels * multiplier))
    return conv(inputs, flat, strides, padding, data_format, dilation_rate, channels)


@static(2, 3, 4, 5, 6)
def conv_transpose(inputs, kernel, strides, padding, output_padding, data_format, dilation_rate):
    rank = inputs.ndim - 2
    lengths = inputs.shape[1:-1] if data_format == "channels_last" else inputs.shape[2:]
    pads = []
    for n, k, s, d, p in zip(
        lengths, kernel.shape, strides, dilation_rate, output_padding or (None,) * rank, strict=False
    ):
        length, cut = windows.transposed(n, k, s, d, padding, p)
        before = windows.span(k, d) - 1 - cut
        pads.append((before, length + windows.span(k, d) - 1 - ((n - 1) * s + 1) - before))
    layout = _layout(inputs.ndim, data_format)
    return lax.conv_general_dilated(
        inputs,
        jnp.flip(kernel, tuple(range(rank))),
        (1,) * rank,
        pads,
        lhs_dilation=strides,
        rhs_dilation=dilation_rate,
        dimension_numbers=(layout, _SPATIAL[:rank] + "OI", layout),
    )


def _spatial_axes(x, data_format):
    return tuple(range(1, x.ndim - 1)) if data_format == "channels_last" else tuple(range(2, x.ndim))


def _larger(a, b):
    # The first of equal values keeps the gradient, as on the other backends; NaN wins.
    return jnp.where((b > a) | (b != b), b, a)


def _reduce_places(x, axes, sizes, strides, combine):
    """Combine strided slices, one a place of the window.

    On CPUs several times faster than `reduce_window`, thirty times with the gradient.
    """
    counts = [(x.shape[a] - k) // s + 1 for a, k, s in zip(axes, sizes, strides, strict=True)]
    result = None
    for place in itertools.product(*map(range, sizes)):
        start, limit, step = [0] * x.ndim, list(x.shape), [1] * x.ndim
        for a, p, n, s in zip(axes, place, counts, strides, strict=True):
            start[a], limit[a], step[a] = p, p + (n - 1) * s + 1, s
        part = lax.slice(x, start, limit, step)
        result = part if result is None else combine(result, part)
    return result


def _pool(x, axes, sizes, strides, padding, fill, combine, places):
    pads = windows.pads(padding, [x.shape[a] for a in axes], sizes, strides, (1,) * len(sizes))
    if any(map(any, pads)):
        width = [(0, 0, 0)] * x.ndim
        for a, (before, after) in zip(axes, pads, strict=True):
            width[a] = (before, after, 0)
        x = lax.pad(x, jnp.asarray(fill, x.dtype), width)
    if math.prod(sizes) <= places or all(s >= k for s, k in zip(strides, sizes, strict=True)):
        return _reduce_places(x, axes, sizes, strides, combine)
    for a, k, s in reversed(list(zip(axes, sizes, strides, strict=True))):
        x = _reduce_places(x, (a,), (k,), (s,), combine)
    return x


@static(1, 2, 3, 4)
def max_pool(inputs, pool_size, strides, padding, data_format):
    lowest = -np.inf if jnp.issubdtype(inputs.dtype, jnp.floating) else jnp.iinfo(inputs.dtype).min
    axes = _spatial_axes(inputs, data_format)
    return _pool(inputs, axes, pool_size, strides, padding, lowest, _larger, _MAX_PLACES)


@static(1, 2, 3, 4)
def average_pool(inputs, pool_size, strides, padding, data_format):
    axes = _spatial_axes(inputs, data_format)
    wide = inputs.astype(jnp.float32) if inputs.dtype in HALF else inputs
    total = _pool(wide, axes, pool_size, strides, padding, 0, jnp.add, _SUM_PLACES)
    return (total / _counts(inputs.shape, axes, pool_size, strides, padding, wide.dtype)).astype(inputs.dtype)


def _counts(shape, axes, sizes, strides, padding, dtype):
    """Real places in each window, made on the host: padding is not counted."""
    if padding == "valid":
        return np.asarray(math.prod(sizes), dtype)
    result = np.ones((1,) * len(shape), dtype)
    for a, k, s in zip(axes, sizes, strides, strict=True):
        before, after = windows.same_pads(shape[a], k, s)
        starts = np.arange(0, before + shape[a] + after - k + 1, s)
        counts = np.minimum(starts + k, before + shape[a]) - np.maximum(starts, before)
        result = result * counts.astype(dtype).reshape([-1 if i == a else 1 for i in range(len(shape))])
    return result


@static(5, 6)
def dot_product_attention(query, key, value, bias, mask, scale, is_causal):
    logits = jnp.einsum("btnh,bsnh->bnts", query, key, preferred_element_type=_wide(query.dtype)) * scale
    if bias is not None:
        logits = logits + bias
    if is_causal:
        causal = jnp.tri(*logits.shape[-2:], dtype=bool)
        mask = causal if mask is None else mask & causal
    if mask is not None:
        # Finite, so that a row with nothing to attend to is a plain average and not NaN.
        logits = jnp.where(mask, logits, 0.7 * jnp.finfo(logits.dtype).min)
    weights = jax.nn.softmax(logits, -1).astype(query.dtype)
    return jnp.einsum("bnts,bsnh->btnh", weights, value)


def _wide(dtype):
    return jnp.float32 if dtype in HALF else dtype


@static(6, 7)
def lstm(x, h, c, kernel, recurrent_kernel, bias, reverse, sequences):
    return masked_lstm(x, h, c, kernel, recurrent_kernel, bias, None, reverse, sequences)


@static(7, 8)
def masked_lstm(x, h, c, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    rows, project = _projection(x, kernel, bias)

    def advance(row, h, c):
        i, f, g, o = jnp.split(project(row) + jnp.matmul(h, recurrent_kernel), 4, -1)
        c = lax.logistic(f) * c + lax.logistic(i) * jnp.tanh(g)
        return lax.logistic(o) * jnp.tanh(c), c

    return _recurrence(advance, rows, (h, c), mask, reverse, sequences)


@static(5, 6)
def gru(x, h, kernel, recurrent_kernel, bias, reverse, sequences):
    return masked_gru(x, h, kernel, recurrent_kernel, bias, None, reverse, sequences)


@static(6, 7)
def masked_gru(x, h, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    rows, project = _projection(x, kernel, bias[0])

    def advance(row, h):
        xz, xr, xh = jnp.split(project(row), 3, -1)
        hz, hr, hh = jnp.split(jnp.matmul(h, recurrent_kernel) + bias[1], 3, -1)
        z = lax.logistic(xz + hz)
        return (z * h + (1 - z) * jnp.tanh(xh + lax.logistic(xr + hr) * hh),)

    return _recurrence(advance, rows, (h,), mask, reverse, sequences)


def _recurrence(advance, rows, state, mask, reverse, sequences):
    """Outputs (or the last alone) and the last state of a cell; where the mask is false the state stays."""

    def step(state, at):
        new = advance(at[0], *state)
        if mask is not None:
            new = tuple(jnp.where(at[1], n, old) for n, old in zip(new, state, strict=True))
        return new, new[0] if sequences else None

    counts = None if mask is None else jnp.swapaxes(mask, 0, 1)[..., None]
    state, outputs = lax.scan(step, state, (rows, counts), reverse=reverse)
    return jnp.swapaxes(outputs, 0, 1) if sequences else state[0], *state


def _projection(x, kernel, bias):
    """`(rows [time, batch, features], function of a row)`: all rows' products at once, but on the CPU.

    There a small product in each step takes less than reading and, backwards, collecting the large one's rows: measured
    0.4 to 0.75 of the time forwards, 0.6 to 0.95 in training.
    """
    rows = jnp.swapaxes(x, 0, 1)
    if jax.default_backend() == "cpu":
        return rows, lambda row: jnp.matmul(row, kernel) + bias
    return jnp.matmul(rows, kernel) + bias, lambda row: row


@static(2)
def bias_add(x, bias, data_format):
    return x + (bias if data_format == "channels_last" else jnp.reshape(bias, (-1, *(1,) * (x.ndim - 2))))


@static(3, 4)
def layer_normalization(x, gamma, beta, axis, epsilon):
    wide = x.astype(jnp.float32) if x.dtype in HALF else x
    deviation = wide - jnp.mean(wide, axis, keepdims=True)
    y = deviation * lax.rsqrt(jnp.mean(jnp.square(deviation), axis, keepdims=True) + epsilon)
    y = y if gamma is None else y * gamma
    return (y if beta is None else y + beta).astype(x.dtype)


@static(2, 3)
def rms_normalization(x, scale, axis, epsilon):
    wide = x.astype(jnp.float32) if x.dtype in HALF else x
    y = wide * lax.rsqrt(jnp.mean(jnp.square(wide), axis, keepdims=True) + epsilon)
    return (y if scale is None else y * scale).astype(x.dtype)


@static(3, 6)
def batch_normalization(x, mean, variance, axis, offset, scale, epsilon):
    shape = [1] * x.ndim
    shape[axis] = -1
    inverse = lax.rsqrt(variance + epsilon)
    inverse = inverse if scale is None else inverse * scale
    y = (x - mean.reshape(shape)) * inverse.reshape(shape)
    return (y if offset is None else y + offset.reshape(shape)).astype(x.dtype)


@static()
def binary_crossentropy_with_logits(target, logits):
    return jnp.maximum(logits, 0) - logits * target + jnp.log1p(jnp.exp(-jnp.abs(logits)))


@static(2)
def categorical_crossentropy_with_logits(target, logits, axis):
    return -jnp.sum(target * log_softmax(logits, axis), axis)


@static(2)
def sparse_categorical_crossentropy_with_logits(target, logits, axis):
    inside = (target >= 0) & (target < logits.shape[axis])
    picked = jnp.take_along_axis(logits, jnp.expand_dims(jnp.where(inside, target, 0), axis), axis)
    return jnp.where(inside, logsumexp(logits, axis, False) - jnp.squeeze(picked, axis), 0)
