"""Neural-network ops: activations, convolution, pooling, normalization, attention, losses, recurrent kernels.

Also the namespace `keras.ops.nn`.
"""

import functools
import math
import re
import warnings

from kerata.core import config, dtypes
from kerata.core.errors import int_tuple, one_of
from kerata.graph.tensor import KerasTensor, spec
from kerata.ops import rules
from kerata.ops.core import shape as shape_of
from kerata.ops.core import stop_gradient
from kerata.ops.creation import ones_like, zeros_like
from kerata.ops.ctc import ctc_decode, ctc_loss
from kerata.ops.declare import Bool, Float, Index, Tensor, composite, primitive, warn
from kerata.ops.elementwise import (
    abs,
    cast,
    clip,
    erf,
    exp,
    expm1,
    less_equal,
    log,
    log1p,
    logical_and,
    maximum,
    minimum,
    rsqrt,
    sign,
    sqrt,
    square,
    tanh,
    where,
)
from kerata.ops.indexing import multi_hot, one_hot
from kerata.ops.linalg import einsum, matmul, root_of_squares
from kerata.ops.movement import concatenate, expand_dims, reshape, split, squeeze, swapaxes, transpose
from kerata.ops.reduction import cumsum, logsumexp, max, mean, sum
from kerata.ops.sliding import fold, unfold
from kerata.ops.sorting import sort

# Declared elsewhere, but `keras.ops.nn` has them too.
__all__ = ["ctc_decode", "ctc_loss", "fold", "multi_hot", "one_hot", "unfold"]

# ------------------------------------------------------------------ activations


@primitive(rule=rules.same)
def relu(x: Tensor):
    """`max(x, 0)`, element by element; the gradient at 0 is 0.

    Args:
        x: tensor.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.relu([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """


@composite
def relu6(x: Tensor):
    """`min(max(x, 0), 6)`.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.relu6([-1.0, 2.0, 7.0])).tolist()
    [0.0, 2.0, 6.0]
    """
    return minimum(relu(x), 6)


@primitive(rule=rules.same)
def sigmoid(x: Float):
    """Logistic function `1 / (1 + exp(-x))`.

    >>> from kerata import ops
    >>> float(ops.sigmoid(0.0))
    0.5
    """


@composite
def softmax(x: Float, axis=-1):
    """Exponentials that sum to one along `axis`.

    Args:
        x: tensor.
        axis: int, tuple of ints, or `None` for all.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.softmax([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    if (
        isinstance(x, KerasTensor)
        and isinstance(axis, int)
        and -len(x.shape) <= axis < len(x.shape)
        and x.shape[axis] == 1
    ):
        # Once, when the model is built: natives are called without looking.
        warn(
            f"softmax: axis {axis} of a tensor of shape {tuple(x.shape)} has size 1, so that the result is 1 whatever "
            "is given. Was `sigmoid` meant?"
        )
    e = exp(x - stop_gradient(max(x, axis=axis, keepdims=True)))
    return e / sum(e, axis=axis, keepdims=True)


@composite
def log_softmax(x: Float, axis=-1):
    """Logarithm of the softmax, without overflow.

    >>> from kerata import ops
    >>> float(ops.exp(ops.log_softmax([0.0, 0.0]))[0])
    0.5
    """
    x = x - stop_gradient(max(x, axis=axis, keepdims=True))
    return x - log(sum(exp(x), axis=axis, keepdims=True))


@composite
def softplus(x: Float):
    """`log(1 + exp(x))`, right for large |x| too.

    >>> from kerata import ops
    >>> float(ops.softplus(100.0))
    100.0
    """
    return relu(x) + log1p(exp(-abs(x)))


@composite
def softsign(x: Float):
    """`x / (1 + |x|)`.

    >>> from kerata import ops
    >>> float(ops.softsign(1.0))
    0.5
    """
    return x / (1 + abs(x))


@composite
def silu(x: Float):
    """`x * sigmoid(x)`, also called swish (Hendrycks & Gimpel, 2016; Elfwing et al., 2017).

    >>> from kerata import ops
    >>> float(ops.silu(0.0))
    0.0
    """
    return x * sigmoid(x)


swish = silu


@composite
def log_sigmoid(x: Float):
    """`log(sigmoid(x))`, right for very negative `x` too.

    >>> from kerata import ops
    >>> float(ops.log_sigmoid(-200.0))
    -200.0
    """
    return -softplus(-x)


@composite
def leaky_relu(x: Float, negative_slope=0.2):
    """`x` where positive, `negative_slope * x` elsewhere (Maas et al., 2013).

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.leaky_relu([-2.0, 2.0], negative_slope=0.5)).tolist()
    [-1.0, 2.0]
    """
    return where(x > 0, x, negative_slope * x)


@composite
def elu(x: Float, alpha=1.0):
    """`x` where positive, `alpha * (exp(x) - 1)` elsewhere (Clevert et al., 2015).

    >>> from kerata import ops
    >>> float(ops.elu(2.0))
    2.0
    """
    # The inner `where` keeps the unused branch finite, so its gradient is no NaN.
    return where(x > 0, x, alpha * expm1(where(x > 0, zeros_like(x), x)))


SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # Klambauer et al., 2017


@composite
def selu(x: Float):
    """Scaled ELU with self-normalizing constants (Klambauer et al., 2017).

    >>> from kerata import ops
    >>> round(float(ops.selu(1.0)), 4)
    1.0507
    """
    return SELU_SCALE * elu(x, SELU_ALPHA)


@composite
def celu(x: Float, alpha=1.0):
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))` (Barron, 2017).

    >>> from kerata import ops
    >>> float(ops.celu(3.0))
    3.0
    """
    return maximum(x, 0.0) + alpha * expm1(minimum(x, 0.0) / alpha)


@composite
def gelu(x: Float, approximate=True):
    """Gaussian error linear unit, `x * Phi(x)` (Hendrycks & Gimpel, 2016).

    Args:
        x: tensor.
        approximate: use the tanh form instead of the error function.

    >>> from kerata import ops
    >>> round(float(ops.gelu(1.0, approximate=False)), 4)
    0.8413
    """
    if approximate:
        return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + erf(x * (1 / math.sqrt(2))))


@composite
def hard_sigmoid(x: Float):
    """`clip(x / 6 + 1/2, 0, 1)`.

    >>> from kerata import ops
    >>> float(ops.hard_sigmoid(0.0))
    0.5
    """
    return relu6(x + 3) / 6


@composite
def hard_silu(x: Float):
    """`x * hard_sigmoid(x)` (Howard et al., 2019).

    >>> from kerata import ops
    >>> float(ops.hard_silu(3.0))
    3.0
    """
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@composite
def hard_tanh(x: Float):
    """`clip(x, -1, 1)`.

    >>> from kerata import ops
    >>> float(ops.hard_tanh(-3.0))
    -1.0
    """
    return clip(x, -1.0, 1.0)


@composite
def tanh_shrink(x: Float):
    """`x - tanh(x)`.

    >>> from kerata import ops
    >>> float(ops.tanh_shrink(0.0))
    0.0
    """
    return x - tanh(x)


@composite
def soft_shrink(x: Float, threshold=0.5):
    """Towards zero by `threshold`, and zero within it.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.soft_shrink([-1.0, 0.2, 1.0])).tolist()
    [-0.5, 0.0, 0.5]
    """
    if isinstance(threshold, (int, float)) and threshold >= 0:
        return x - clip(x, -threshold, threshold)
    return where(abs(x) > threshold, x - sign(x) * threshold, 0.0)


@composite
def hard_shrink(x: Float, threshold=0.5):
    """`x` where `|x| > threshold`, else 0.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.hard_shrink([-1.0, 0.2, 1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return where(less_equal(abs(x), threshold), 0.0, x)


@composite
def threshold(x: Float, threshold, default_value):
    """`x` where it exceeds `threshold`, else `default_value`.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.threshold([0.0, 2.0], 1.0, 9.0)).tolist()
    [9.0, 2.0]
    """
    return where(less_equal(x, threshold), default_value, x)


@composite
def squareplus(x: Float, b=4):
    """`(x + sqrt(x² + b)) / 2` (Barron, 2021).

    >>> from kerata import ops
    >>> float(ops.squareplus(0.0))
    1.0
    """
    return (x + sqrt(square(x) + b)) / 2


@composite
def sparse_plus(x: Float):
    """0 up to -1, `(x + 1)² / 4` up to 1, `x` beyond.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.sparse_plus([-2.0, 0.0, 2.0])).tolist()
    [0.0, 0.25, 2.0]
    """
    return where(x < 1, square(maximum(x, -1.0) + 1) * 0.25, x)


@composite
def sparse_sigmoid(x: Float):
    """`clip((x + 1) / 2, 0, 1)`: the slope of `sparse_plus`.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.sparse_sigmoid([-2.0, 0.0, 2.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return clip(0.5 * (x + 1), 0.0, 1.0)


@composite(native="")
def glu(x: Float, axis=-1):
    """First half along `axis` times the sigmoid of the second (Dauphin et al., 2016).

    Raises:
        ValueError: an odd dimension.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.glu([2.0, 0.0])).tolist()
    [1.0]
    """
    size = x.shape[axis]
    if size is not None and size % 2:
        raise ValueError(f"glu: dimension {axis} must be even to be halved, but the shape is {tuple(x.shape)}.")
    return gated(x, axis)


@composite
def gated(x: Float, axis):
    """`glu` of an even dimension."""
    a, gate = split(x, 2, axis)
    return a * sigmoid(gate)


@composite
def sparsemax(x: Float, axis=-1):
    """Projection onto the probability simplex along `axis` (Martins & Astudillo, 2016).

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.sparsemax([3.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    descending = -sort(-x, axis=axis)
    total = cumsum(descending, axis=axis) - 1
    rank = cumsum(ones_like(descending), axis=axis)
    inside = cast(rank * descending > total, x.dtype)
    support = sum(inside, axis=axis, keepdims=True)
    tau = sum(descending * inside, axis=axis, keepdims=True) - 1
    return relu(x - tau / support)


# ------------------------------------------------------------------ dense, convolution, pooling


@composite
def dense(x: Float, kernel: Float, bias: Float = None):
    """`x @ kernel + bias` (not public: what a Dense layer is, so that a backend can do it in one call)."""
    x = matmul(x, kernel)
    return x if bias is None else x + bias


@composite(native="")
def einsum_dense(equation, x: Float, kernel: Float, bias: Float = None):
    """`einsum(equation, x, kernel) + bias`, as a product of matrices where it is one (not public)."""
    kept = _kept_axes(equation, len(x.shape))
    if kept is None or None in x.shape[kept:]:
        y = einsum(equation, x, kernel)
        return y if bias is None else y + bias
    summed, new = kernel.shape[: len(x.shape) - kept], tuple(kernel.shape[len(x.shape) - kept :])
    whole = bias is not None and tuple(bias.shape) == new
    if len(summed) > 1:
        x = reshape(x, (*_sizes(x, kept), math.prod(summed)))
    if len(kernel.shape) > 2:
        kernel = reshape(kernel, (math.prod(summed), math.prod(new)))
    y = dense(x, kernel, reshape(bias, (-1,)) if whole and len(new) > 1 else bias if whole else None)
    if len(new) > 1:
        y = reshape(y, (*_sizes(x, kept), *new))
    return y if bias is None or whole else y + bias


@functools.cache
def _kept_axes(equation, rank):
    """How many leading axes of `x` an equation like `ab…c…,c…d…->ab…d…` keeps, `None` for others."""
    match = re.fullmatch(r"(\.\.\.)?([a-zA-Z]+),([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)", equation.replace(" ", ""))
    if match is None or match[1] != match[4]:
        return None
    _, x, kernel, _, out = match.groups()
    summed = "".join(c for c in x if c in kernel)
    kept, new = x[: len(x) - len(summed)], kernel[len(summed) :]
    matrices = summed and new and x == kept + summed and kernel == summed + new and out == kept + new
    return rank - len(summed) if matrices and len(set(x + new)) == len(x + new) else None


def _sizes(x, count):
    """The first dimensions of `x`, for `reshape`."""
    sizes = tuple(x.shape[:count])
    if sizes.count(None) < 2:
        return tuple(-1 if s is None else s for s in sizes)
    return tuple(shape_of(x)[:count])


@composite
def bias_add(x: Tensor, bias: Tensor, data_format="channels_last"):
    """Add a bias for each channel (not public)."""
    if data_format == "channels_first" and len(x.shape) > 2:
        bias = reshape(bias, (1, -1) + (1,) * (len(x.shape) - 2))
    return x + bias


def _geometry(owner, rank, strides, padding, data_format, dilation_rate):
    strides = int_tuple(strides, rank, "strides", owner)
    dilation_rate = int_tuple(dilation_rate, rank, "dilation_rate", owner)
    return strides, _padding(owner, padding), config.standardize_data_format(data_format), dilation_rate


def _known(owner, name, shape):
    """Raise the error for a shape that has to be known and isn't."""
    if None in tuple(shape):
        raise ValueError(f"{owner}: every dimension of `{name}` must be known, but its shape is {tuple(shape)}.")


def _padding(owner, padding):
    if isinstance(padding, (tuple, list)):
        return tuple(tuple(p) for p in padding)
    return one_of(str(padding).lower(), ("valid", "same"), "padding", owner)


@primitive(rule=rules.conv, native="conv")
def conv_general(inputs: Float, kernel: Float, strides, padding, data_format, dilation_rate, groups):
    """Convolution with canonical arguments (not public)."""


@composite(native="")
def conv(inputs: Float, kernel: Float, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolution (cross-correlation, as in every deep-learning library) in 1, 2 or 3 dimensions.

    Args:
        inputs: `(batch, *spatial, channels)`, or channels second with `"channels_first"`.
        kernel: `(*window, channels / groups, filters)`; several groups if its channels divide the inputs'.
        strides: int, or one for each spatial dimension.
        padding: `"valid"`, `"same"` (zeros; the odd one at the end), or pairs `(before, after)`.
        data_format: `"channels_last"`, `"channels_first"`, or `None` for the default.
        dilation_rate: int, or one for each spatial dimension.

    Returns:
        Tensor with `filters` channels.

    Raises:
        ValueError: shapes that don't fit, or strides and dilation both above 1.

    >>> from kerata import ops
    >>> ops.conv(ops.ones((1, 5, 5, 3)), ops.ones((2, 2, 3, 4))).shape[-1]
    4
    """
    _known("conv", "kernel", kernel.shape)
    rank = len(kernel.shape) - 2
    strides, padding, data_format, dilation_rate = _geometry("conv", rank, strides, padding, data_format, dilation_rate)
    channels = inputs.shape[-1 if data_format == "channels_last" else 1]
    groups = channels // kernel.shape[-2] if channels is not None and channels % kernel.shape[-2] == 0 else 1
    return conv_general(inputs, kernel, strides, padding, data_format, dilation_rate, groups or 1)


@composite
def conv_bias(inputs: Float, kernel: Float, bias: Float, strides, padding, data_format, dilation_rate, groups):
    """Convolution plus bias (not public: one native call where the framework has it)."""
    out = conv_general(inputs, kernel, strides, padding, data_format, dilation_rate, groups)
    return bias_add(out, bias, data_format)


@primitive(rule=rules.depthwise_conv)
def depthwise_conv(inputs: Float, kernel: Float, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolution of each channel on its own.

    Args:
        inputs: `(batch, *spatial, channels)`, or channels second.
        kernel: `(*window, channels, multiplier)`.
        strides, padding, data_format, dilation_rate: as in `conv`.

    Returns:
        Tensor with `channels * multiplier` channels.

    >>> from kerata import ops
    >>> ops.depthwise_conv(ops.ones((1, 5, 5, 3)), ops.ones((2, 2, 3, 2))).shape[-1]
    6
    """
    _known("depthwise_conv", "kernel", kernel.shape)
    return (
        inputs,
        kernel,
        *_geometry("depthwise_conv", len(kernel.shape) - 2, strides, padding, data_format, dilation_rate),
    )


@composite(native="")
def separable_conv(
    inputs: Float,
    depthwise_kernel: Float,
    pointwise_kernel: Float,
    strides=1,
    padding="valid",
    data_format=None,
    dilation_rate=1,
):
    """A depthwise convolution followed by a 1x1 convolution (Sifre, 2014; Chollet, 2016).

    Args:
        inputs: `(batch, *spatial, channels)`, or channels second.
        depthwise_kernel: `(*window, channels, multiplier)`.
        pointwise_kernel: `(1, …, 1, channels * multiplier, filters)`.
        strides, padding, data_format, dilation_rate: of the depthwise part, as in `conv`.

    >>> from kerata import ops
    >>> ops.separable_conv(ops.ones((1, 4, 4, 3)), ops.ones((2, 2, 3, 1)), ops.ones((1, 1, 3, 8))).shape[-1]
    8
    """
    hidden = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(hidden, pointwise_kernel, 1, "valid", data_format, 1)


@primitive(rule=rules.conv_transpose)
def conv_transpose(
    inputs: Float, kernel: Float, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1
):
    """Transposed convolution: the gradient of `conv` with respect to its inputs.

    Args:
        inputs: `(batch, *spatial, channels)`, or channels second.
        kernel: `(*window, filters, channels)`.
        strides, padding, data_format, dilation_rate: as in `conv`.
        output_padding: extra length of each spatial dimension, below its stride; `None` for the usual length.

    >>> from kerata import ops
    >>> tuple(ops.conv_transpose(ops.ones((1, 4, 4, 3)), ops.ones((2, 2, 5, 3)), strides=2).shape)
    (1, 8, 8, 5)
    """
    _known("conv_transpose", "kernel", kernel.shape)
    rank = len(kernel.shape) - 2
    strides = int_tuple(strides, rank, "strides", "conv_transpose")
    dilation_rate = int_tuple(dilation_rate, rank, "dilation_rate", "conv_transpose")
    padding, data_format = _padding("conv_transpose", padding), config.standardize_data_format(data_format)
    if output_padding is not None:
        output_padding = int_tuple(output_padding, rank, "output_padding", "conv_transpose", minimum=0)
        if any(o >= s for o, s in zip(output_padding, strides, strict=True)):
            raise ValueError(f"conv_transpose: `output_padding` {output_padding} must be below the strides {strides}.")
    return inputs, kernel, strides, padding, output_padding, data_format, dilation_rate


def _pooling(owner, inputs, pool_size, strides, padding, data_format):
    rank = len(inputs.shape) - 2
    pool_size = int_tuple(pool_size, rank, "pool_size", owner)
    strides = pool_size if strides is None else int_tuple(strides, rank, "strides", owner)
    return inputs, pool_size, strides, _padding(owner, padding), config.standardize_data_format(data_format)


@primitive(rule=rules.pool)
def max_pool(inputs: Tensor, pool_size, strides=None, padding="valid", data_format=None):
    """Largest value of each window.

    Args:
        inputs: `(batch, *spatial, channels)`, or channels second.
        pool_size: int, or one for each spatial dimension.
        strides: the same; `None`: `pool_size`.
        padding: `"valid"` or `"same"`.
        data_format: layout of the inputs.

    >>> from kerata import ops
    >>> float(ops.max_pool(ops.reshape(ops.arange(4.0), (1, 2, 2, 1)), 2)[0, 0, 0, 0])
    3.0
    """
    return _pooling("max_pool", inputs, pool_size, strides, padding, data_format)


@primitive(rule=rules.pool)
def average_pool(inputs: Float, pool_size, strides=None, padding="valid", data_format=None):
    """Mean of each window; with `"same"`, padded places aren't counted.

    Args:
        inputs, pool_size, strides, padding, data_format: as in `max_pool`.

    >>> from kerata import ops
    >>> float(ops.average_pool(ops.reshape(ops.arange(4.0), (1, 2, 2, 1)), 2)[0, 0, 0, 0])
    1.5
    """
    return _pooling("average_pool", inputs, pool_size, strides, padding, data_format)


def _adaptive(inputs, output_size, data_format, reduce, pool, owner):
    data_format = config.standardize_data_format(data_format)
    rank = len(inputs.shape) - 2
    sizes = int_tuple(output_size, rank, "output_size", owner)
    first = 1 if data_format == "channels_last" else 2
    lengths = inputs.shape[first : first + rank]
    if rank < 4 and None not in lengths and not any(n % out or n < out for n, out in zip(lengths, sizes, strict=True)):
        # All windows are of one size, and side by side.
        return pool(inputs, tuple(n // out for n, out in zip(lengths, sizes, strict=True)), data_format=data_format)
    x = inputs
    for i, out in enumerate(sizes):
        axis = first + i
        length = shape_of(x)[axis]
        key = (slice(None),) * axis
        pieces = [
            reduce(x[(*key, slice(j * length // out, -(-(j + 1) * length // out)))], axis=axis, keepdims=True)
            for j in range(out)
        ]
        x = concatenate(pieces, axis=axis)
    return x


@composite(native="")
def adaptive_average_pool(inputs: Float, output_size, data_format=None):
    """Mean over windows chosen so that the output has the size asked for.

    Args:
        inputs: `(batch, *spatial, channels)`, or channels second.
        output_size: int, or one for each spatial dimension.
        data_format: layout of the inputs.

    >>> from kerata import ops
    >>> tuple(ops.adaptive_average_pool(ops.ones((1, 5, 5, 2)), 2).shape)
    (1, 2, 2, 2)
    """
    return _adaptive(inputs, output_size, data_format, mean, average_pool, "adaptive_average_pool")


@composite(native="")
def adaptive_max_pool(inputs: Float, output_size, data_format=None):
    """Maximum over windows chosen so that the output has the size asked for.

    Args:
        inputs, output_size, data_format: as in `adaptive_average_pool`.

    >>> from kerata import ops
    >>> tuple(ops.adaptive_max_pool(ops.ones((1, 5, 5, 2)), 2).shape)
    (1, 2, 2, 2)
    """
    return _adaptive(inputs, output_size, data_format, max, max_pool, "adaptive_max_pool")


# ------------------------------------------------------------------ normalization


def _half(x):
    return x.dtype if isinstance(x, KerasTensor) else dtypes.standardize_dtype(x.dtype)


def _wide(x):
    """Statistics of half-precision tensors are taken in float32."""
    return cast(x, "float32") if _half(x) in ("float16", "bfloat16") else x


@composite(native="")
def moments(x: Float, axes, keepdims=False, synchronized=False):
    """Mean and variance over `axes`.

    Args:
        x: tensor.
        axes: axes to reduce.
        keepdims: keep them with length 1.
        synchronized: over all replicas (under distribution).

    Returns:
        `(mean, variance)` in the dtype of `x`; half precision is accumulated in float32.

    >>> from kerata import ops
    >>> [float(m) for m in ops.moments([1.0, 3.0], axes=0)]
    [2.0, 1.0]
    """
    return moments_of(x, tuple(axes) if isinstance(axes, (list, tuple)) else axes, bool(keepdims), bool(synchronized))


def _within(x, dtype):
    """A float32 variance that float16 may not hold, clipped to its largest number."""
    return minimum(x, FLOAT16_MAX) if dtype == "float16" else x


FLOAT16_MAX = 65504.0


@composite(native="moments")
def moments_of(x: Float, axes, keepdims, synchronized):
    """Mean and variance (not public: canonical arguments)."""
    wide = _wide(x)
    average = mean(wide, axis=axes, keepdims=True)
    variance = mean(square(wide - stop_gradient(average)), axis=axes, keepdims=True)
    # d variance/d mean is zero in sum, so the mean may be held fixed above.
    average, variance = cast(average, _half(x)), cast(_within(variance, _half(x)), _half(x))
    if keepdims:
        return average, variance
    return squeeze(average, axis=axes), squeeze(variance, axis=axes)


@composite(native="")
def batch_normalization(
    x: Float, mean: Float, variance: Float, axis, offset: Float = None, scale: Float = None, epsilon=1e-3
):
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`, with statistics for each index along `axis`.

    Args:
        x: tensor.
        mean, variance, offset, scale: vectors as long as `axis`; the last two optional.
        axis: the axis they belong to.
        epsilon: added to the variance.

    Source: Ioffe & Szegedy, 2015.

    >>> from kerata import ops
    >>> x = ops.convert_to_tensor([[1.0], [3.0]])
    >>> float(ops.batch_normalization(x, [2.0], [1.0], axis=-1, epsilon=0.0)[1, 0])
    1.0
    """
    rank = len(x.shape)
    return batch_normalization_on(
        x, mean, variance, rules.axis_in(axis, rank, "batch_normalization"), offset, scale, epsilon
    )


@composite(native="batch_normalization")
def batch_normalization_on(
    x: Float, mean: Float, variance: Float, axis, offset: Float = None, scale: Float = None, epsilon=1e-3
):
    """Batch normalization with a non-negative axis (not public)."""
    shape = [1] * len(x.shape)
    shape[axis] = mean.shape[0] if mean.shape[0] is not None else -1
    factor = rsqrt(variance + epsilon)
    if scale is not None:
        factor = factor * scale
    shift = -mean * factor
    if offset is not None:
        shift = shift + offset
    if axis != len(x.shape) - 1:
        factor, shift = reshape(factor, shape), reshape(shift, shape)
    return x * factor + shift


@composite
def batch_normalization_training(x: Float, axis, offset: Float = None, scale: Float = None, epsilon=1e-3):
    """Normalize by the batch's own statistics (not public: one fused kernel where the framework has it).

    Returns:
        `(result, mean, variance)`; no gradient flows through the latter two.
    """
    axis = rules.axis_in(axis, len(x.shape), "batch_normalization_training")
    average, variance = moments(x, tuple(i for i in range(len(x.shape)) if i != axis))
    out = batch_normalization_on(x, average, variance, axis, offset, scale, epsilon)
    return out, stop_gradient(average), stop_gradient(variance)


def _last_axes(x, axis, owner):
    axes = tuple(sorted(rules.axes_in(axis, len(x.shape), owner)))
    return axes


def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **kwargs):
    """Normalize over `axis`, then scale and shift (Ba et al., 2016).

    Args:
        x: tensor.
        gamma, beta: scale and shift, of the shape of the normalized axes; optional.
        axis: int or sequence of ints.
        epsilon: added to the variance; `None`: `config.epsilon()`.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.layer_normalization([[1.0, 3.0]], epsilon=0.0)).tolist()
    [[-1.0, 1.0]]
    """
    if kwargs.pop("rms_scaling", False):
        warnings.warn(
            "You passed `rms_scaling=True`, which is deprecated; call `ops.rms_normalization`.",
            UserWarning,
            stacklevel=2,
        )
        return rms_normalization(x, gamma, axis, epsilon)
    if kwargs:
        raise TypeError(f"layer_normalization: unknown arguments {', '.join(kwargs)}.")
    x = x if hasattr(x, "shape") else _tensor(x)
    axes = _last_axes(x, axis, "layer_normalization")
    epsilon = config.epsilon() if epsilon is None else epsilon
    # Natives take the weights as they are, which fits the last axes only.
    normalize_on = layer_normalization_on if _are_last(axes, x) else layer_normalization_on.op.body
    return normalize_on(x, gamma, beta, axes, epsilon)


def _are_last(axes, x):
    return axes == tuple(range(len(x.shape) - len(axes), len(x.shape)))


def _tensor(x):
    from kerata.ops.core import convert_to_tensor

    return convert_to_tensor(x)


@composite(native="layer_normalization")
def layer_normalization_on(x: Float, gamma: Float = None, beta: Float = None, axis=(-1,), epsilon=1e-3):
    """Layer normalization over a sorted tuple of axes (not public)."""
    wide = _wide(x)
    centred = wide - mean(wide, axis=axis, keepdims=True)
    variance = mean(square(centred), axis=axis, keepdims=True)
    out = cast(centred * rsqrt(variance + epsilon), _half(x))
    if gamma is not None:
        out = out * _spread(gamma, x, axis)
    if beta is not None:
        out = out + _spread(beta, x, axis)
    return out


def _spread(weight, x, axis):
    """A weight of the normalized axes' shape, shaped to broadcast against `x`."""
    rank = len(x.shape)
    if len(weight.shape) == rank or tuple(axis) == tuple(range(rank - len(axis), rank)):
        return weight
    shape = [1] * rank
    for i, a in enumerate(axis):
        shape[a] = weight.shape[i]
    return reshape(weight, tuple(shape))


@composite(native="")
def rms_normalization(x: Float, scale: Float = None, axis=-1, epsilon=None):
    """Divide by the root mean square over `axis` (Zhang & Sennrich, 2019).

    Args:
        x: tensor.
        scale: factor of the shape of the normalized axes; optional.
        axis: int or sequence of ints.
        epsilon: added to the mean square; `None`: `config.epsilon()`.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.rms_normalization([[2.0, 2.0]], epsilon=0.0)).tolist()
    [[1.0, 1.0]]
    """
    axes = _last_axes(x, axis, "rms_normalization")
    epsilon = config.epsilon() if epsilon is None else epsilon
    return (rms_normalization_on if _are_last(axes, x) else rms_normalization_on.op.body)(x, scale, axes, epsilon)


@composite(native="rms_normalization")
def rms_normalization_on(x: Float, scale: Float = None, axis=(-1,), epsilon=1e-3):
    """RMS normalization over a sorted tuple of axes (not public)."""
    wide = _wide(x)
    out = cast(wide * rsqrt(mean(square(wide), axis=axis, keepdims=True) + epsilon), _half(x))
    return out if scale is None else out * _spread(scale, x, axis)


@composite
def normalize(x: Float, axis=-1, order=2, epsilon=None):
    """Divide by the norm of order `order` over `axis`, taken to be at least `epsilon`.

    >>> from kerata import ops
    >>> [round(float(v), 3) for v in ops.normalize([3.0, 4.0])]
    [0.6, 0.8]
    """
    epsilon = config.epsilon() if epsilon is None else epsilon
    if not isinstance(order, (int, float)) or order < 1 or (order != math.inf and order != int(order)):
        raise ValueError(f"normalize: Argument `order` must be an int >= 1 (or inf), not {order!r}.")
    if order == 2:
        # Whose gradient is finite at zero.
        size = root_of_squares(x, axis, True)
    elif order == math.inf:
        size = max(abs(x), axis=axis, keepdims=True)
    else:
        size = sum(abs(x) ** order, axis=axis, keepdims=True) ** (1 / order)
    return x / maximum(size, epsilon)


# ------------------------------------------------------------------ attention


def _attention_rule(query, key, value, bias, mask, scale, is_causal):
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if len(tensor.shape) != 4:
            raise ValueError(
                f"dot_product_attention: `{name}` must be (batch, length, heads, size), but its shape is {tensor.shape}."
            )
    return spec((*query.shape[:3], value.shape[3]), query.dtype)


@composite(native="dot_product_attention")
def attention(
    query: Float, key: Float, value: Float, bias: Float = None, mask: Bool = None, scale=1.0, is_causal=False
):
    """Scaled dot-product attention with canonical arguments (not public: the framework's fused kernel where there is one)."""
    _attention_rule(query, key, value, bias, mask, scale, is_causal)
    heads, groups = query.shape[2], key.shape[2]
    if heads != groups:
        key, value = (repeat_heads(t, heads // groups) for t in (key, value))
    scores = einsum("btnh,bsnh->bnts", query * scale, key)
    if bias is not None:
        scores = scores + bias
    scores = _wide(scores)
    keep = mask
    if is_causal:
        causal = causal_mask(query, key)
        keep = causal if keep is None else keep & causal
    if keep is not None:
        scores = where(keep, scores, FAR_BELOW[_half(scores)])
    weights = cast(softmax(scores), _half(query))
    return einsum("bnts,bsnh->btnh", weights, value)


# Scores of places not attended to: large enough to vanish, finite so that a row without any place has no NaN.
FAR_BELOW = {"float32": -0.7 * 3.4028235e38, "float64": -0.7 * 1.7976931348623157e308}


def repeat_heads(x, times):
    """Each key and value head for `times` query heads (grouped queries)."""
    from kerata.ops.movement import repeat

    return repeat(x, times, axis=2)


def causal_mask(query, key):
    """`(1, 1, T, S)`: True where the key's place isn't later than the query's."""
    from kerata.ops.creation import arange

    t, s = shape_of(query)[1], shape_of(key)[1]
    rows, columns = reshape(arange(t), (-1, 1)), reshape(arange(s), (1, -1))
    return expand_dims(columns <= rows, (0, 1))


@composite(native="")
def dot_product_attention(
    query: Float,
    key: Float,
    value: Float,
    bias: Float = None,
    mask: Bool = None,
    scale=None,
    is_causal=False,
    flash_attention=None,
    attn_logits_soft_cap=None,
):
    """`softmax(query · key * scale + bias) · value` (Vaswani et al., 2017).

    Args:
        query: `(batch, T, heads, size)`.
        key: `(batch, S, key heads, size)`; the key heads divide the heads.
        value: `(batch, S, key heads, size)`.
        bias: added to the scores, broadcastable to `(batch, heads, T, S)`.
        mask: boolean, broadcastable to the same; True: attend.
        scale: factor of the scores; `None`: `size ** -0.5`.
        is_causal: no place attends to later ones.
        flash_attention: kept for Keras's signature; the framework chooses its kernel.
        attn_logits_soft_cap: cap scores by `cap * tanh(score / cap)`.

    Returns:
        `(batch, T, heads, size)`.

    >>> from kerata import ops
    >>> x = ops.ones((1, 2, 1, 4))
    >>> float(ops.dot_product_attention(x, x, x)[0, 0, 0, 0])
    1.0
    """
    if scale is None:
        _known("dot_product_attention", "query", query.shape[-1:])
    if scale is None:
        scale = query.shape[-1] ** -0.5
    if attn_logits_soft_cap is not None:
        return _capped_attention(query, key, value, bias, mask, scale, is_causal, attn_logits_soft_cap)
    if query.shape[2] != key.shape[2]:
        # Natives take as many key heads as query heads.
        key, value = (repeat_heads(t, query.shape[2] // key.shape[2]) for t in (key, value))
    return attention(query, key, value, bias, mask, float(scale), bool(is_causal))


@composite
def _capped_attention(query: Float, key: Float, value: Float, bias: Float, mask: Bool, scale, is_causal, cap):
    """Attention whose scores are capped (not public)."""
    if query.shape[2] != key.shape[2]:
        key, value = (repeat_heads(t, query.shape[2] // key.shape[2]) for t in (key, value))
    scores = einsum("btnh,bsnh->bnts", query * scale, key)
    if bias is not None:
        scores = scores + bias
    scores = _wide(cap * tanh(scores / cap))
    keep = mask
    if is_causal:
        causal = causal_mask(query, key)
        keep = causal if keep is None else keep & causal
    if keep is not None:
        scores = where(keep, scores, FAR_BELOW[_half(scores)])
    return einsum("bnts,bsnh->btnh", cast(softmax(scores), _half(query)), value)


# ------------------------------------------------------------------ losses


@composite
def binary_crossentropy_with_logits(target: Float, output: Float):
    """Element-wise binary crossentropy of logits (not public)."""
    return relu(output) - output * target + log1p(exp(-abs(output)))


def _same_shapes(owner, target, output):
    if len(target.shape) != len(output.shape) or any(
        a is not None and b is not None and a != b for a, b in zip(target.shape, output.shape, strict=True)
    ):
        raise ValueError(
            f"{owner}: target and output must have the same shape, but have {tuple(target.shape)} and {tuple(output.shape)}."
        )


@composite(native="")
def binary_crossentropy(target: Float, output: Float, from_logits=False):
    """`-t log(o) - (1 - t) log(1 - o)`, element by element.

    Args:
        target: numbers from 0 to 1.
        output: probabilities, or logits with `from_logits`; same shape.
        from_logits: whether `output` is before the sigmoid.

    >>> from kerata import ops
    >>> round(float(ops.binary_crossentropy([1.0], [0.5])[0]), 4)
    0.6931
    """
    _same_shapes("binary_crossentropy", target, output)
    if from_logits:
        return binary_crossentropy_with_logits(target, output)
    return _binary_crossentropy(target, output)


@composite
def _binary_crossentropy(target: Float, output: Float):
    """Element-wise binary crossentropy of probabilities (not public)."""
    output = clip(output, config.epsilon(), 1 - config.epsilon())
    return -(target * log(output) + (1 - target) * log(1 - output))


@composite(native="")
def categorical_crossentropy(target: Float, output: Float, from_logits=False, axis=-1):
    """`-sum(t log(o))` along `axis`.

    Args:
        target: probabilities of the classes (one-hot), same shape as `output`.
        output: probabilities (scaled to sum to one), or logits with `from_logits`.
        from_logits: whether `output` is before the softmax.
        axis: the classes' axis.

    >>> from kerata import ops
    >>> round(float(ops.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])[0]), 4)
    0.6931
    """
    if not output.shape:
        raise ValueError("categorical_crossentropy: the output has no dimensions; one of classes is needed.")
    _same_shapes("categorical_crossentropy", target, output)
    if from_logits:
        return categorical_crossentropy_with_logits(target, output, axis)
    return _categorical_crossentropy(target, output, axis)


@composite
def categorical_crossentropy_with_logits(target: Float, output: Float, axis=-1):
    """Categorical crossentropy of logits (not public)."""
    return -sum(target * log_softmax(output, axis), axis=axis)


@composite
def _categorical_crossentropy(target: Float, output: Float, axis):
    """Categorical crossentropy of probabilities (not public)."""
    return cast(-sum(_wide(target) * log(_proper(output, axis)), axis=axis), _half(output))


@composite(native="")
def sparse_categorical_crossentropy(target: Index, output: Float, from_logits=False, axis=-1):
    """`-log(output[target])`: categorical crossentropy with classes by number.

    Args:
        target: integers, of `output`'s shape without `axis` (or with it, of length 1). Numbers that are no class, such as
            -1, have loss 0 and no gradient on every backend (PyTorch and TensorFlow by themselves raise an error, which
            JAX can't).
        output: probabilities (scaled to sum to one), or logits with `from_logits`.
        from_logits: whether `output` is before the softmax.
        axis: the classes' axis.

    >>> from kerata import ops
    >>> round(float(ops.sparse_categorical_crossentropy([1], [[0.5, 0.5]])[0]), 4)
    0.6931
    """
    if not output.shape:
        raise ValueError("sparse_categorical_crossentropy: the output has no dimensions; one of classes is needed.")
    rest = list(output.shape)
    axis = rules.axis_in(axis, len(rest), "sparse_categorical_crossentropy")
    if len(target.shape) == len(rest) and 1 in (target.shape[axis], target.shape[-1]):
        target = squeeze(target, axis=axis if target.shape[axis] == 1 else -1)
    del rest[axis]
    if len(target.shape) != len(rest) or any(
        a is not None and b is not None and a != b for a, b in zip(target.shape, rest, strict=True)
    ):
        raise ValueError(
            "sparse_categorical_crossentropy: the target must have the output's shape without the classes' axis, but the "
            f"shapes are {tuple(target.shape)} and {tuple(output.shape)} (axis={axis})."
        )
    if from_logits:
        return sparse_categorical_crossentropy_with_logits(target, output, axis)
    return _sparse_categorical_crossentropy(target, output, axis)


@composite
def sparse_categorical_crossentropy_with_logits(target: Index, output: Float, axis=-1):
    """Sparse categorical crossentropy of logits (not public)."""
    loss = logsumexp(output, axis=axis) - _picked(output, target, axis)
    return where(_is_class(target, output, axis), loss, zeros_like(loss))


@composite
def _sparse_categorical_crossentropy(target: Index, output: Float, axis):
    """Sparse categorical crossentropy of probabilities (not public)."""
    picked = _picked(_proper(output, axis), target, axis)
    return cast(-log(where(_is_class(target, output, axis), picked, ones_like(picked))), _half(output))


def _is_class(target, output, axis):
    return logical_and(target >= 0, target < shape_of(output)[axis])


def _proper(output, axis):
    """Probabilities that sum to one along `axis` and have finite logarithms; half precision can't add up many of them."""
    wide = _wide(output)
    wide = wide / sum(wide, axis=axis, keepdims=True)
    return clip(wide, config.epsilon(), 1 - config.epsilon())


def _picked(output, target, axis):
    """`output[target]` along `axis`, and 0 for a class that doesn't exist."""
    classes = output.shape[axis]
    hot = one_hot(cast(target, "int32"), classes, axis=axis, dtype=_half(output))
    return sum(hot * output, axis=axis)


# ------------------------------------------------------------------ recurrent kernels


def _outputs(x, h, sequences):
    return spec((x.shape[0], x.shape[1], h.shape[-1]) if sequences else h.shape, x.dtype)


def _lstm_rule(x, h, c, kernel, recurrent_kernel, bias, reverse, sequences):
    return [_outputs(x, h, sequences), spec(h.shape, x.dtype), spec(c.shape, x.dtype)]


@primitive(rule=_lstm_rule)
def lstm(x: Float, h: Float, c: Float, kernel: Float, recurrent_kernel: Float, bias: Float, reverse, sequences=True):
    """A whole LSTM layer (Hochreiter & Schmidhuber, 1997; gates i f c o), by the framework's fused kernel (not public).

    `x` is `(batch, time, features)`; returns `(outputs, last h, last c)`, outputs being the last alone unless `sequences`.
    """


def _gru_rule(x, h, kernel, recurrent_kernel, bias, reverse, sequences):
    return [_outputs(x, h, sequences), spec(h.shape, x.dtype)]


@primitive(rule=_gru_rule)
def gru(x: Float, h: Float, kernel: Float, recurrent_kernel: Float, bias: Float, reverse, sequences=True):
    """A whole GRU layer (Cho et al., 2014; gates z r h, reset after the product), by the framework's fused kernel (not public).

    `x` is `(batch, time, features)`, `bias` `(2, 3 * units)`; returns `(outputs, last h)`, outputs being the
    last alone unless `sequences`.
    """


@composite
def masked_lstm(
    x: Float,
    h: Float,
    c: Float,
    kernel: Float,
    recurrent_kernel: Float,
    bias: Float,
    mask: Bool,
    reverse,
    sequences=True,
):
    """`lstm` whose states stay as they are at steps where `mask`, `(batch, time)`, is false (not public)."""

    def advance(row, h, c):
        i, f, g, o = split(row + matmul(h, recurrent_kernel), 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c

    return _by_counting_steps(advance, matmul(x, kernel) + bias, (h, c), mask, reverse, sequences)


@composite
def masked_gru(
    x: Float, h: Float, kernel: Float, recurrent_kernel: Float, bias: Float, mask: Bool, reverse, sequences=True
):
    """`gru` whose state stays as it is at steps where `mask`, `(batch, time)`, is false (not public)."""

    def advance(row, h):
        xz, xr, xh = split(row, 3, axis=-1)
        hz, hr, hh = split(matmul(h, recurrent_kernel) + bias[1], 3, axis=-1)
        z = sigmoid(xz + hz)
        return (z * h + (1 - z) * tanh(xh + sigmoid(xr + hr) * hh),)

    return _by_counting_steps(advance, matmul(x, kernel) + bias[0], (h,), mask, reverse, sequences)


def _by_counting_steps(advance, rows, state, mask, reverse, sequences):
    """Outputs (or the last alone) and the last state of a cell that goes on where the mask is true."""
    from kerata.ops.control import scan

    def step(state, at):
        row, counts = at
        state = tuple(where(counts, new, old) for new, old in zip(advance(row, *state), state))
        return state, state[0]

    steps = swapaxes(rows, 0, 1), expand_dims(swapaxes(mask, 0, 1), -1)
    state, outputs = scan(step, state, steps, reverse=reverse)
    return [swapaxes(outputs, 0, 1) if sequences else state[0], *state]


# ------------------------------------------------------------------ images as blocks


def _check_block(owner, block_size):
    if not isinstance(block_size, int) or block_size < 2:
        raise ValueError(f"{owner}: `block_size` must be at least 2, but is {block_size!r}.")


@composite(native="")
def space_to_depth(x: Tensor, block_size, data_format="channels_last"):
    """Blocks of `block_size x block_size` pixels become channels.

    >>> from kerata import ops
    >>> tuple(ops.space_to_depth(ops.ones((1, 4, 4, 3)), 2).shape)
    (1, 2, 2, 12)
    """
    _check_block("space_to_depth", block_size)
    _known("space_to_depth", "x", x.shape[1:])
    data_format = config.standardize_data_format(data_format)
    if data_format == "channels_first":
        x = transpose(x, (0, 2, 3, 1))
    _, height, width, channels = x.shape
    if any(s is not None and s % block_size for s in (height, width)):
        raise ValueError(f"space_to_depth: height and width {height, width} must be multiples of {block_size}.")
    x = blocks_to_channels(x, block_size)
    return transpose(x, (0, 3, 1, 2)) if data_format == "channels_first" else x


@composite
def blocks_to_channels(x: Tensor, size):
    """`space_to_depth` of checked images, channels last (not public: one kernel where the framework has it)."""
    _, height, width, channels = x.shape
    x = reshape(x, (-1, height // size, size, width // size, size, channels))
    return reshape(transpose(x, (0, 1, 3, 2, 4, 5)), (-1, height // size, width // size, size**2 * channels))


@composite(native="")
def depth_to_space(x: Tensor, block_size, data_format="channels_last"):
    """Channels become blocks of `block_size x block_size` pixels.

    >>> from kerata import ops
    >>> tuple(ops.depth_to_space(ops.ones((1, 2, 2, 12)), 2).shape)
    (1, 4, 4, 3)
    """
    _check_block("depth_to_space", block_size)
    _known("depth_to_space", "x", x.shape[1:])
    data_format = config.standardize_data_format(data_format)
    if data_format == "channels_first":
        x = transpose(x, (0, 2, 3, 1))
    _, height, width, channels = x.shape
    if channels % block_size**2:
        raise ValueError(f"depth_to_space: the {channels} channels must be a multiple of {block_size**2}.")
    x = channels_to_blocks(x, block_size)
    return transpose(x, (0, 3, 1, 2)) if data_format == "channels_first" else x


@composite
def channels_to_blocks(x: Tensor, size):
    """`depth_to_space` of checked images, channels last (not public: one kernel where the framework has it)."""
    _, height, width, channels = x.shape
    x = reshape(x, (-1, height, width, size, size, channels // size**2))
    return reshape(transpose(x, (0, 1, 3, 2, 4, 5)), (-1, height * size, width * size, channels // size**2))


@composite
def psnr(x1: Float, x2: Float, max_val):
    """Peak signal-to-noise ratio in decibels.

    >>> from kerata import ops
    >>> round(float(ops.psnr([0.0, 1.0], [0.0, 0.0], 1.0)), 2)
    3.01
    """
    from kerata.ops.elementwise import log10

    return 20 * log10(cast(max_val, x1.dtype)) - 10 * log10(mean(square(x1 - x2)))


@composite
def polar(abs_: Float, angle: Float):
    """`abs_ * exp(i * angle)` as a complex tensor.

    >>> from kerata import ops
    >>> ops.dtype(ops.polar([1.0], [0.0]))
    'complex64'
    """
    from kerata.ops.elementwise import cos, sin
    from kerata.ops.fourier import complex_of

    return complex_of(abs_ * cos(angle), abs_ * sin(angle))
