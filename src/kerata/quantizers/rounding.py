"""Floats to small integers: `round(x * scale)`, with a scale an axis or a group.

Weights are quantized on the host, where no copy of them lies on the device; the functions for users can do either.
"""

import functools

import numpy as np

from kerata import ops
from kerata.core import dtypes
from kerata.ops.core import convert_to_numpy, convert_to_tensor


def abs_max_quantize(inputs, axis, value_range=(-127, 127), dtype="int8", epsilon=1e-07, to_numpy=False):
    """Integers `round(x * scale)` with `scale = value_range[1] / max|x|`.

    Args:
        inputs: floating tensor.
        axis: int or tuple: the dimensions that share a scale.
        value_range: smallest and largest integer.
        dtype: dtype of the integers.
        epsilon: added to the largest value, so that zeros can be divided by.
        to_numpy: compute on the host.

    Returns:
        `(integers, scale)`, tensors; the scale keeps `axis` with size 1. `integers / scale` is about `inputs`.

    >>> from kerata import ops, quantizers
    >>> q, scale = quantizers.abs_max_quantize(ops.convert_to_tensor([[1.0, -2.0], [0.5, 0.25]]), axis=-1)
    >>> ops.convert_to_numpy(q).tolist()
    [[64, -127], [127, 63]]
    """
    if to_numpy:
        q, scale = host_abs_max(convert_to_numpy(inputs), axis, value_range, dtype, epsilon)
        return convert_to_tensor(q), convert_to_tensor(scale)
    x = convert_to_tensor(inputs)
    kept = ops.dtype(x)
    wide = x if kept in ("float32", "float64") else ops.cast(x, "float32")
    scale = value_range[1] / (ops.max(ops.abs(wide), axis=axis, keepdims=True) + epsilon)
    if wide is not x:
        # In half precision the scale of zeros would be infinite.
        scale = ops.cast(ops.minimum(scale, largest(kept)), kept)
        wide_scale = ops.cast(scale, "float32")
    else:
        wide_scale = scale
    return ops.cast(ops.clip(ops.round(wide * wide_scale), *value_range), dtype), scale


def host_abs_max(x, axis, value_range=(-127, 127), dtype="int8", epsilon=1e-07):
    """`abs_max_quantize` of an array, in NumPy."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    kept, x = x.dtype, _wide(x)
    scale = value_range[1] / (np.max(np.abs(x), axis=axis, keepdims=True) + x.dtype.type(epsilon))
    scale = np.minimum(scale, largest(kept.name)).astype(kept)
    q = np.clip(np.round(x * scale.astype(x.dtype)), *value_range).astype(dtypes.to_numpy_dtype(dtype))
    return q, scale


def abs_max_quantize_grouped_with_zero_point(
    inputs, block_size, value_range=(-8, 7), dtype="int8", epsilon=1e-07, to_numpy=False
):
    """Integers with a scale and a zero for each group of rows, so that values needn't lie around 0.

    Args:
        inputs: floating matrix `(rows, columns)`.
        block_size: rows of a group; the last one may have fewer.
        value_range: smallest and largest integer.
        dtype: dtype of the integers.
        epsilon: added to a group's range, so that it can be divided by.
        to_numpy: compute on the host.

    Returns:
        `(integers, scale, zero)`: `(rows, columns)` and twice `(groups, columns)`; zeros are int8.
        `(integers - zero) * scale` is about `inputs`.

    Raises:
        ValueError: `inputs` is no matrix.

    >>> from kerata import ops, quantizers
    >>> q, scale, zero = quantizers.abs_max_quantize_grouped_with_zero_point(ops.convert_to_tensor([[0.0], [15.0]]), 2)
    >>> ops.convert_to_numpy(q).tolist(), ops.convert_to_numpy(zero).tolist()
    ([[-8], [7]], [[-8]])
    """
    if len(inputs.shape) != 2:
        raise ValueError(
            f"abs_max_quantize_grouped_with_zero_point: a matrix is needed, not the shape {tuple(inputs.shape)}."
        )
    if to_numpy:
        found = host_grouped(convert_to_numpy(inputs), block_size, value_range, dtype, epsilon)
        return tuple(convert_to_tensor(v) for v in found)
    x = ops.cast(inputs, "float32") if ops.dtype(inputs) in ("float16", "bfloat16") else convert_to_tensor(inputs)
    low, high = value_range
    rows, columns = x.shape
    block_size = min(block_size, rows)
    groups = -(-rows // block_size)
    padded = ops.pad(x, ((0, groups * block_size - rows), (0, 0)))
    blocks = ops.reshape(padded, (groups, block_size, columns))
    least, most = ops.min(blocks, axis=1), ops.max(blocks, axis=1)
    flat = ops.equal(least, most)
    # One value has no range: it's taken to lie in the middle of one.
    least, most = ops.where(flat, least - 1, least), ops.where(flat, most + 1, most)
    scale = (most - least + epsilon) / (high - low)
    zero = ops.clip(ops.round(-least / scale) + low, low, high)
    q = ops.round(blocks / ops.expand_dims(scale, 1)) + ops.expand_dims(zero, 1)
    q = ops.reshape(ops.clip(q, low, high), (groups * block_size, columns))[:rows]
    return ops.cast(q, dtype), ops.cast(scale, ops.dtype(inputs)), ops.cast(zero, "int8")


def host_grouped(x, block_size, value_range=(-8, 7), dtype="int8", epsilon=1e-07):
    """`abs_max_quantize_grouped_with_zero_point` of an array, in NumPy."""
    kept, x = x.dtype, _wide(x)
    low, high = value_range
    rows, columns = x.shape
    # As in Keras's files, zeros count in a block that isn't full.
    groups = -(-rows // block_size)
    padded = np.zeros((groups * block_size, columns), x.dtype)
    padded[:rows] = x
    blocks = padded.reshape(groups, block_size, columns)
    least, most = blocks.min(axis=1), blocks.max(axis=1)
    flat = least == most
    least, most = np.where(flat, least - 1, least), np.where(flat, most + 1, most)
    scale = (most - least + x.dtype.type(epsilon)) / x.dtype.type(high - low)
    zero = np.clip(np.round(-least / scale) + low, low, high)
    q = np.clip(np.round(blocks / scale[:, None]) + zero[:, None], low, high)
    q = q.reshape(-1, columns)[:rows].astype(dtypes.to_numpy_dtype(dtype))
    return q, scale.astype(kept), zero.astype("int8")


def _wide(x):
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)


@functools.cache
def largest(dtype):
    """The largest finite number of a floating dtype."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtypes.to_numpy_dtype(dtype)).max)
