"""Reductions on TensorFlow."""

from kerata.backends.tensorflow.core import tf
from kerata.backends.tensorflow.eager_calls import in_one

_raw = tf.raw_ops


def _axes(x, axis):
    return list(range(x.shape.rank)) if axis is None else axis


def sum(x, axis, keepdims):
    return tf.reduce_sum(x, axis, keepdims)


def prod(x, axis, keepdims):
    return tf.reduce_prod(x, axis, keepdims)


def max(x, axis, keepdims):
    if x.dtype.is_bool:
        return tf.reduce_any(x, axis, keepdims)
    return tf.reduce_max(x, axis, keepdims)


def min(x, axis, keepdims):
    if x.dtype.is_bool:
        return tf.reduce_all(x, axis, keepdims)
    return tf.reduce_min(x, axis, keepdims)


def any(x, axis, keepdims):
    return tf.reduce_any(x, axis, keepdims)


def all(x, axis, keepdims):
    return tf.reduce_all(x, axis, keepdims)


def _wide(x):
    return tf.cast(x, tf.float32) if x.dtype in (tf.float16, tf.bfloat16) else x


def mean(x, axis, keepdims):
    return tf.cast(tf.reduce_mean(_wide(x), axis, keepdims), x.dtype)


@in_one
def var(x, axis, keepdims):
    return moments(x, axis, keepdims, False)[1]


@in_one
def std(x, axis, keepdims):
    return tf.sqrt(var(x, axis, keepdims))


@in_one
def moments(x, axes, keepdims, synchronized):
    wide = _wide(x)
    mean_ = tf.reduce_mean(wide, axes, True)
    squares = tf.square(tf.abs(wide - mean_)) if x.dtype.is_complex else tf.math.squared_difference(wide, mean_)
    var_ = tf.reduce_mean(squares, axes, keepdims)
    if not keepdims:
        mean_ = tf.squeeze(mean_, _axes(x, axes))
    return tf.cast(mean_, x.dtype), var_ if x.dtype.is_complex else tf.saturate_cast(var_, x.dtype)


@in_one
def argmax(x, axis, keepdims):
    return _arg(tf.argmax, tf.reduce_max, x, axis, keepdims)


@in_one
def argmin(x, axis, keepdims):
    return _arg(tf.argmin, tf.reduce_min, x, axis, keepdims)


def _arg(arg, extreme, x, axis, keepdims):
    rank = x.shape.rank
    if axis is None:
        result = _arg(arg, extreme, tf.reshape(x, (-1,)), 0, False)
        return tf.reshape(result, (1,) * rank) if keepdims else result
    if x.dtype.is_bool:
        x = tf.cast(x, tf.uint8)
    if x.dtype.is_floating and not (tf.executing_eagerly() and _is_whole(extreme(x, axis))):
        # The kernels step over NaN: the place is that of the extreme, which is NaN if there is one.
        hit = (x == extreme(x, axis, True)) | tf.math.is_nan(x)
        result = tf.argmax(tf.cast(hit, tf.uint8), axis, tf.int32)
    else:
        result = arg(x, axis, tf.int32)
    return tf.expand_dims(result, axis) if keepdims else result


def _is_whole(extremes):
    """Whether none of the extremes, and so nothing, is NaN."""
    return not tf.reduce_any(tf.math.is_nan(extremes))


def cumsum(x, axis):
    return tf.cumsum(tf.reshape(x, (-1,)), 0) if axis is None else tf.cumsum(x, axis)


def cumprod(x, axis):
    return tf.math.cumprod(tf.reshape(x, (-1,)), 0) if axis is None else tf.math.cumprod(x, axis)


@in_one
def logsumexp(x, axis, keepdims):
    top = tf.stop_gradient(tf.reduce_max(x, axis, True))
    # A row of -inf alone is shifted by 0, and its logarithm's gradient (0 / 0) kept out of the backward pass.
    top = tf.where(tf.math.is_finite(top), top, tf.zeros_like(top))
    total = tf.reduce_sum(tf.exp(x - top), axis, True)
    empty = total == 0
    logarithm = tf.math.log(tf.where(empty, tf.ones_like(total), total))
    result = tf.where(empty, tf.constant(float("-inf"), x.dtype), logarithm) + top
    return result if keepdims else tf.squeeze(result, _axes(x, axis))
