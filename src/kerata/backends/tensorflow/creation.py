"""Creation natives on TensorFlow."""

import numpy as np

from kerata.backends.tensorflow.core import DTYPES, tf


def zeros(shape, dtype):
    return tf.zeros(shape, dtype)


def ones(shape, dtype):
    return tf.ones(shape, dtype)


def zeros_like(x, dtype):
    return tf.zeros_like(x, dtype)


def ones_like(x, dtype):
    return tf.ones_like(x, dtype)


def full(shape, fill_value, dtype):
    return tf.broadcast_to(tf.cast(fill_value, dtype), shape)


# What the kernel of tf.range lacks goes through these.
_RANGE = {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}


def arange(start, stop, step, dtype):
    if dtype in ("int32", "int64") and all(type(v) is int for v in (start, stop, step)) and (stop - start) * step > 0:
        return tf.range(start, stop, step, dtype)
    if not any(isinstance(v, (tf.Tensor, tf.Variable)) for v in (start, stop, step)):
        # NumPy counts the steps in double precision.
        return tf.constant(np.arange(start, stop, step).astype(DTYPES[dtype].as_numpy_dtype))
    work = _RANGE.get(dtype, dtype)
    return tf.cast(tf.range(*(tf.cast(v, work) for v in (start, stop, step))), dtype)


def eye(N, M, k, dtype):
    return tf.constant(np.eye(N, M, k, DTYPES[dtype].as_numpy_dtype))


def linspace(start, stop, num, endpoint, dtype, axis):
    start, stop = tf.convert_to_tensor(start), tf.convert_to_tensor(stop)
    work = tf.float64 if tf.float64 in (start.dtype, stop.dtype) or DTYPES[dtype].is_integer else tf.float32
    start, stop = tf.cast(start, work), tf.cast(stop, work)
    start, stop = start + tf.zeros_like(stop), stop + tf.zeros_like(start)
    places = np.arange(num) / max(num - 1 if endpoint else num, 1)
    places = tf.reshape(tf.constant(places, work), (-1, *(1,) * start.shape.rank))
    values = start + (stop - start) * places
    if endpoint and num > 1:
        values = tf.concat([values[:-1], stop[None]], 0)
    if DTYPES[dtype].is_integer:
        values = tf.floor(values)
    rank = values.shape.rank
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return tf.cast(tf.transpose(values, order), dtype)
