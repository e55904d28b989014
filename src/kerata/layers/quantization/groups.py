"""A matrix of small integers in which groups of rows share a scale and a zero."""

import numpy as np

from kerata import ops
from kerata.quantizers.nibbles import unpack_int4


def group_count(rows, size):
    """How many groups of `size` there are; -1 or `None`: one."""
    return 1 if size in (None, -1) else -(-rows // size)


def group_numbers(rows, size):
    """The number of each row's group, as float32: the dtype in files."""
    return (np.arange(rows) // (rows if size in (None, -1) else size)).astype(np.float32)


def for_each(values, numbers, axis):
    """The value of each row's group; of a single group, as it is, to be broadcast."""
    return values if values.shape[axis] == 1 else ops.take(values, ops.cast(numbers, "int32"), axis=axis)


def unpacked(packed, length, axis, dtype="int8"):
    """The integers of a packed matrix."""
    return unpack_int4(packed, length, axis=axis, dtype=dtype)


def dequantized(integers, scale, zero, numbers, axis, dtype):
    """`(integers - zero) * scale`, with the scale and zero of each one's group along `axis`."""
    shifted = ops.cast(integers, dtype) - for_each(ops.cast(zero, dtype), numbers, axis)
    return shifted * for_each(ops.cast(scale, dtype), numbers, axis)
