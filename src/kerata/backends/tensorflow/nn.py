"""Convolution, pooling, attention, recurrence and fused activations on TensorFlow.

On the CPU TensorFlow's kernels take channels_last only (some builds more): channels_first is transposed there.
"""

import functools
import math

from kerata.backends import windows
from kerata.backends.tensorflow.core import dynamic_shape, tf
from kerata.backends.tensorflow.eager_calls import in_one
from kerata.backends.tensorflow.elementwise import log10
from kerata.backends.tensorflow.linalg import matmul
from kerata.backends.tensorflow.reduction import logsumexp

_raw = tf.raw_ops


@functools.cache
def _has_gpu():
    return bool(tf.config.list_logical_devices("GPU"))


def _channels_last(native):
    """Hand `native` channels_last inputs, and its result back in the caller's layout, which the last argument names."""

    @functools.wraps(native)
    def wrapped(inputs, *args):
        *args, data_format = args
        if data_format == "channels_last":
            return native(inputs, *args)
        to, back = windows.spatial_last(data_format, inputs.shape.rank)
        return tf.transpose(native(tf.transpose(inputs, to), *args), back)

    return wrapped


def conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups):
    if data_format == "channels_first" and len(strides) == 2 and isinstance(padding, str) and _has_gpu():
        return tf.nn.conv2d(inputs, kernel, strides, padding.upper(), "NCHW", dilation_rate)
    return _conv(inputs, kernel, strides, padding, dilation_rate, groups, data_format)


@_channels_last
def _conv(x, kernel, strides, padding, dilations, groups):
    if not isinstance(padding, str):
        # The kernels' own explicit padding has no gradient with groups or dilation on CPUs.
        x, padding = tf.pad(x, [(0, 0), *padding, (0, 0)]), "valid"
    if groups > 1 and (len(strides) == 3 or not _has_every_gradient()):
        parts = zip(tf.split(x, groups, -1), tf.split(kernel, groups, -1), strict=True)
        return tf.concat([_conv(*part, strides, padding, dilations, 1, "channels_last") for part in parts], -1)
    if len(strides) == 1:
        # One row of a picture.
        return tf.squeeze(_conv2d(x[:, None], kernel[None], (1, *strides), padding, (1, *dilations)), 1)
    if len(strides) == 2:
        return _conv2d(x, kernel, strides, padding, dilations)
    return _conv3d(x, kernel, strides, padding, dilations)


@functools.cache
def _has_every_gradient():
    """Whether this machine's kernels have gradients of dilated and grouped convolutions: GPUs, and CPUs for which
    TensorFlow has switched oneDNN on.
    """
    with tf.init_scope():
        try:
            tf.raw_ops.Conv2DBackpropInput(
                input_sizes=(1, 3, 3, 1),
                filter=tf.ones((2, 2, 1, 1)),
                out_backprop=tf.ones((1, 1, 1, 1)),
                strides=[1, 1, 1, 1],
                padding="VALID",
                dilations=[1, 2, 2, 1],
            )
        except tf.errors.InvalidArgumentError:
            return False
    return True


def _conv2d(x, kernel, strides, padding, dilations):
    if max(dilations) > 1 and not _has_every_gradient():
        kernel, dilations = _spread(kernel, dilations), (1, 1)
    return tf.nn.conv2d(x, kernel, strides, padding.upper(), "NHWC", dilations)


def _conv3d(x, kernel, strides, padding, dilations):
    if max(dilations) > 1 and not _has_gpu():
        # CPUs have no such kernel.
        kernel, dilations = _spread(kernel, dilations), (1, 1, 1)
    return tf.nn.conv3d(x, kernel, (1, *strides, 1), padding.upper(), "NDHWC", (1, *dilations, 1))


def conv_bias(inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups):
    return bias_add(conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups), bias, data_format)


def depthwise_conv(inputs, kernel, strides, padding, data_format, dilation_rate):
    return _depthwise(inputs, kernel, strides, padding, dilation_rate, data_format)


@_channels_last
def _depthwise(x, kernel, strides, padding, dilations):
    *sizes, channels, multiplier = kernel.shape
    if len(strides) == 3:
        kernel = tf.reshape(kernel, (*sizes, 1, channels * multiplier))
        return _conv(x, kernel, strides, padding, dilations, channels, "channels_last")
    if not isinstance(padding, str):
        x, padding = tf.pad(x, [(0, 0), *padding, (0, 0)]), "valid"
    if len(strides) == 1:
        # The kernel has one stride for both axes; a single row doesn't mind.
        return tf.squeeze(_depthwise2d(x[:, None], kernel[None], strides * 2, padding, (1, *dilations)), 1)
    return _depthwise2d(x, kernel, strides, padding, dilations)


def _depthwise2d(x, kernel, strides, padding, dilations):
    if max(dilations) == 1 and strides[0] == strides[1]:
        return tf.nn.depthwise_conv2d(x, kernel, (1, *strides, 1), padding.upper(), "NHWC")
    if max(strides) == 1:
        return tf.nn.depthwise_conv2d(x, kernel, (1, 1, 1, 1), padding.upper(), "NHWC", dilations)
    # The kernel has dilations or one stride: what the strides leave out is computed and dropped.
    pads = windows.pads(padding, x.shape[1:-1], kernel.shape[:-2], strides, dilations)
    y = tf.nn.depthwise_conv2d(tf.pad(x, [(0, 0), *pads, (0, 0)]), kernel, (1, 1, 1, 1), "VALID", "NHWC", dilations)
    return y[:, :: strides[0], :: strides[1]]


def conv_transpose(inputs, kernel, strides, padding, output_padding, data_format, dilation_rate):
    return _conv_transpose(inputs, kernel, strides, padding, output_padding, dilation_rate, data_format)


@_channels_last
def _conv_transpose(x, kernel, strides, padding, output_padding, dilations):
    rank = len(strides)
    extra = output_padding or (None,) * rank
    if rank == 1:
        args = ((1, *strides), padding, (0 if output_padding else None, *extra), (1, *dilations))
        return tf.squeeze(_transposed(x[:, None], kernel[None], *args), 1)
    return _transposed(x, kernel, strides, padding, extra, dilations)


def _transposed(x, kernel, strides, padding, extra, dilations):
    """Gradient of a convolution whose padding is what is cut off; the end that it does not reach stays zero."""
    sizes = kernel.shape[:-2]
    unit = [
        windows.transposed(1, k, s, d, padding, p) for k, s, d, p in zip(sizes, strides, dilations, extra, strict=True)
    ]
    batch, *lengths, _ = dynamic_shape(x)
    lengths = [length + (n - 1) * s for (length, _), n, s in zip(unit, lengths, strides, strict=True)]
    pads = [
        (cut, max(windows.span(k, d) - length - cut, 0))
        for (length, cut), k, d in zip(unit, sizes, dilations, strict=True)
    ]
    channels, kernel = kernel.shape[-2], _spread(kernel, dilations)
    if len(sizes) == 2:
        pads = [[0, 0], *map(list, pads), [0, 0]]
        return tf.nn.conv2d_transpose(x, kernel, tf.stack([batch, *lengths, channels]), strides, pads)
    full = [n + before + after for n, (before, after) in zip(lengths, pads, strict=True)]
    y = tf.nn.conv3d_transpose(x, kernel, tf.stack([batch, *full, channels]), (1, *strides, 1), "VALID")
    return tf.slice(y, [0, *(before for before, _ in pads), 0], tf.stack([batch, *lengths, channels]))


def _spread(kernel, dilations):
    """The kernel with zeros between its places: CPUs have no gradient of dilated convolutions."""
    for axis, dilation in enumerate(dilations):
        if dilation > 1:
            sizes = kernel.shape.as_list()
            zeros = [(0, 0)] * (len(sizes) + 1)
            zeros[axis + 1] = (0, dilation - 1)
            kernel = tf.pad(tf.expand_dims(kernel, axis + 1), zeros)
            kernel = tf.reshape(kernel, (*sizes[:axis], -1, *sizes[axis + 1 :]))
            kernel = tf.gather(kernel, tf.range(windows.span(sizes[axis], dilation)), axis=axis)
    return kernel


def max_pool(inputs, pool_size, strides, padding, data_format):
    return _pool((tf.nn.max_pool2d, tf.nn.max_pool3d), inputs, pool_size, strides, padding, data_format)


def average_pool(inputs, pool_size, strides, padding, data_format):
    return _pool((tf.nn.avg_pool2d, tf.nn.avg_pool3d), inputs, pool_size, strides, padding, data_format)


def _pool(natives, inputs, pool_size, strides, padding, data_format):
    return _pooled(inputs, natives, pool_size, strides, padding.upper(), data_format)


@_channels_last
def _pooled(x, natives, pool_size, strides, padding):
    if len(pool_size) == 1:
        return tf.squeeze(natives[0](x[:, None], (1, *pool_size), (1, *strides), padding), 1)
    return natives[len(pool_size) - 2](x, pool_size, strides, padding)


@in_one
def dot_product_attention(query, key, value, bias, mask, scale, is_causal):
    q, k, v = (tf.transpose(x, (0, 2, 1, 3)) for x in (query, key, value))
    logits = _raw.BatchMatMulV2(x=q * tf.cast(scale, q.dtype), y=k, adj_y=True)
    if bias is not None:
        logits = logits + bias
    if is_causal:
        rows, columns = tf.range(tf.shape(logits)[-2]), tf.range(tf.shape(logits)[-1])
        causal = rows[:, None] >= columns
        mask = causal if mask is None else mask & causal
    if mask is not None:
        # Finite, so that a row with nothing to attend to is a plain average and not NaN.
        logits = tf.where(mask, logits, tf.constant(0.7 * float(logits.dtype.min), logits.dtype))
    return tf.transpose(_raw.BatchMatMulV2(x=_raw.Softmax(logits=logits), y=v), (0, 2, 1, 3))


@in_one
def lstm(x, h, c, kernel, recurrent_kernel, bias, reverse, sequences):
    return masked_lstm(x, h, c, kernel, recurrent_kernel, bias, None, reverse, sequences)


@in_one
def masked_lstm(x, h, c, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    def step(row, state):
        h, c = state
        i, f, g, o = tf.split(row + matmul(h, recurrent_kernel), 4, -1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h, (h, c)

    outputs, (h, c) = _recurrence(*_counting(step, matmul(x, kernel) + bias, mask), (h, c), reverse, sequences)
    return outputs, h, c


@in_one
def gru(x, h, kernel, recurrent_kernel, bias, reverse, sequences):
    return masked_gru(x, h, kernel, recurrent_kernel, bias, None, reverse, sequences)


@in_one
def masked_gru(x, h, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    def step(row, state):
        (h,) = state
        xz, xr, xh = tf.split(row, 3, -1)
        hz, hr, hh = tf.split(matmul(h, recurrent_kernel) + bias[1], 3, -1)
        z = tf.sigmoid(xz + hz)
        h = z * h + (1 - z) * tf.tanh(xh + tf.sigmoid(xr + hr) * hh)
        return h, (h,)

    outputs, (h,) = _recurrence(*_counting(step, matmul(x, kernel) + bias[0], mask), (h,), reverse, sequences)
    return outputs, h


def _counting(step, rows, mask):
    """A step that leaves the state as it is where the mask is false, and rows that tell it in their last place."""
    if mask is None:
        return step, rows

    def counting(row, state):
        _, new = step(row[:, :-1], state)
        state = tuple(tf.where(row[:, -1:] > 0, n, old) for n, old in zip(new, state, strict=True))
        return state[0], state

    return counting, tf.concat([rows, tf.cast(mask, rows.dtype)[..., None]], -1)


def _recurrence(step, projected, state, reverse, sequences):
    """Outputs (or the last alone) and the last state of a cell run over rows [batch, time, features]."""
    rows = tf.transpose(projected, (1, 0, 2))
    length = rows.shape[0]
    if tf.executing_eagerly():
        outputs = [None] * length
        for t in range(length - 1, -1, -1) if reverse else range(length):
            outputs[t], state = step(rows[t], state)
        return tf.stack(outputs, 1) if sequences else state[0], state
    bound = tf.shape(rows)[0] if length is None else length
    inputs = tf.TensorArray(rows.dtype, bound, element_shape=rows.shape[1:]).unstack(rows)
    # Writing what nobody reads takes an eighth of a training step.
    outputs = [tf.TensorArray(rows.dtype, bound, element_shape=state[0].shape)] if sequences else []

    def body(t, state, outputs):
        at = bound - 1 - t if reverse else t
        output, state = step(inputs.read(at), state)
        return t + 1, state, [array.write(at, output) for array in outputs]

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < bound, body, (tf.constant(0), tuple(state), outputs), maximum_iterations=bound
    )
    if not sequences:
        return state[0], state
    outputs = tf.transpose(outputs[0].stack(), (1, 0, 2))
    return tf.ensure_shape(outputs, (None, length, None)), state


def bias_add(x, bias, data_format):
    if data_format == "channels_last":
        # Faster backwards than a broadcast sum, and what the graph optimizer fuses.
        return _raw.BiasAdd(value=x, bias=bias)
    return _raw.AddV2(x=x, y=tf.reshape(bias, (-1, *(1,) * (x.shape.rank - 2))))


def softmax(x, axis):
    if axis == -1 or axis == x.shape.rank - 1:
        return _raw.Softmax(logits=x)
    if isinstance(axis, int):
        return tf.nn.softmax(x, axis)
    e = tf.exp(x - tf.stop_gradient(tf.reduce_max(x, axis, True)))
    return e / tf.reduce_sum(e, axis, True)


@in_one
def log_softmax(x, axis):
    return tf.nn.log_softmax(x, axis) if isinstance(axis, int) else x - logsumexp(x, axis, True)


@in_one
def softplus(x):
    return _raw.Softplus(features=x)


def softsign(x):
    return _raw.Softsign(features=x)


def selu(x):
    return _raw.Selu(features=x)


def relu6(x):
    return _raw.Relu6(features=x)


def silu(x):
    return tf.nn.silu(x)


def elu(x, alpha):
    y = _raw.Elu(features=x)
    return y if alpha == 1 else tf.where(x > 0, y, y * tf.cast(alpha, x.dtype))


def leaky_relu(x, negative_slope):
    if x.dtype == tf.float64:
        # The kernel holds the slope in single precision.
        return tf.where(x > 0, x, x * tf.constant(negative_slope, x.dtype))
    return _raw.LeakyRelu(features=x, alpha=negative_slope)


@in_one
def gelu(x, approximate):
    # tf.nn.gelu rounds its constants to single precision.
    half, one = tf.constant(0.5, x.dtype), tf.constant(1, x.dtype)
    if approximate:
        inner = tf.constant(math.sqrt(2 / math.pi), x.dtype) * (x + tf.constant(0.044715, x.dtype) * x * x * x)
        return half * x * (one + tf.tanh(inner))
    return half * x * (one + tf.math.erf(x * tf.constant(math.sqrt(0.5), x.dtype)))


@in_one
def batch_normalization_training(x, axis, offset, scale, epsilon):
    """Normalize by the batch's own statistics: (result, mean, variance), the latter two without gradient."""
    rank = x.shape.rank
    last = axis % rank == rank - 1
    if x.dtype == tf.float64:  # which the kernel doesn't know
        others = [a for a in range(rank) if a != axis % rank]
        side = [-1 if a == axis % rank else 1 for a in range(rank)]
        offset, scale = (None if w is None else tf.reshape(w, side) for w in (offset, scale))
        mean, variance = tf.nn.moments(x, others, keepdims=True)
        y = tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)
        return y, *(tf.stop_gradient(tf.squeeze(s, others)) for s in (mean, variance))
    order = [a for a in range(rank) if a != axis % rank] + [axis % rank]
    back = [order.index(a) for a in range(rank)]
    moved = x if last else tf.transpose(x, order)
    shape = dynamic_shape(moved)
    channels = moved.shape[-1]
    # The kernel wants pictures, and its scales in single precision.
    scale = tf.ones((channels,)) if scale is None else tf.cast(scale, tf.float32)
    offset = tf.zeros((channels,)) if offset is None else tf.cast(offset, tf.float32)
    picture = moved if rank == 4 else tf.reshape(moved, (shape[0], 1, -1, channels))
    y, mean, variance, *_ = _raw.FusedBatchNormV3(
        x=picture, scale=scale, offset=offset, mean=[], variance=[], epsilon=epsilon, is_training=True
    )
    # The kernel's variance is the sample's (over n - 1).
    n = tf.cast(tf.size(picture) // channels, tf.float32)
    variance = tf.stop_gradient(variance) * ((n - 1) / n)
    y = y if rank == 4 else tf.reshape(y, shape)
    return y if last else tf.transpose(y, back), tf.stop_gradient(mean), variance


def blocks_to_channels(x, size):
    return x if size == 1 else _raw.SpaceToDepth(input=x, block_size=size)


def channels_to_blocks(x, size):
    return x if size == 1 else _raw.DepthToSpace(input=x, block_size=size)


@in_one
def psnr(x1, x2, max_val):
    error = tf.reduce_mean(tf.math.squared_difference(x1, x2))
    return 20 * log10(tf.cast(max_val, x1.dtype)) - 10 * log10(error)


def binary_crossentropy_with_logits(target, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(target, logits)


@in_one
def categorical_crossentropy_with_logits(target, logits, axis):
    return -tf.reduce_sum(target * log_softmax(logits, axis), axis)


@in_one
def sparse_categorical_crossentropy_with_logits(target, logits, axis):
    rank = logits.shape.rank
    if axis not in (-1, rank - 1):
        axis %= rank
        logits = tf.transpose(logits, [a for a in range(rank) if a != axis] + [axis])
    inside = (target >= 0) & (target < tf.cast(tf.shape(logits)[-1], target.dtype))
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.where(inside, target, 0), logits)
    return tf.where(inside, loss, tf.zeros_like(loss))
