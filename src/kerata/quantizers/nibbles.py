"""Two four-bit integers in a byte."""

import numpy as np

from kerata import ops
from kerata.core import dtypes
from kerata.ops.core import convert_to_tensor


def pack_int4(arr, axis=0, dtype="int8"):
    """Neighbours along an axis into one byte: the first in the lower half, the second in the upper.

    Args:
        arr: tensor of `dtype` with values from -8 to 7 (or 0 to 15).
        axis: the dimension that gets half as long; an odd one is filled up with a zero.
        dtype: `"int8"` or `"uint8"`.

    Returns:
        `(packed, its shape, length of the axis before)`.

    Raises:
        TypeError: `arr` has another dtype.
        ValueError: another `dtype`, or no such axis.

    >>> from kerata import ops, quantizers
    >>> packed, shape, length = quantizers.pack_int4(ops.convert_to_tensor([1, -8, 7], "int8"))
    >>> ops.convert_to_numpy(packed).tolist(), shape, length
    ([-127, 7], (2,), 3)
    """
    _check(dtype)
    found = dtypes.standardize_dtype(arr.dtype)
    if found != dtype:
        raise TypeError(f"Expected {dtype} tensor for packing, got {found}: cast it first.")
    arr = convert_to_tensor(arr)
    axis = _axis_in(axis, len(arr.shape))
    length = arr.shape[axis]
    if length % 2:
        arr = ops.pad(arr, [(0, int(i == axis)) for i in range(len(arr.shape))])
    # Shifting signed bytes left may overflow in one framework and wrap in another; wider integers do neither.
    wide = ops.cast(arr, "int32")
    first, second = (_every_second(wide, axis, start) for start in (0, 1))
    packed = ops.bitwise_or(ops.bitwise_and(first, 15), ops.left_shift(ops.bitwise_and(second, 15), 4))
    if dtype == "int8":
        packed = ops.where(packed > 127, packed - 256, packed)
    packed = ops.cast(packed, dtype)
    return packed, tuple(packed.shape), length


def unpack_int4(packed, orig_len, axis=0, dtype="int8"):
    """The four-bit integers that `pack_int4` put into bytes.

    Args:
        packed: int8 or uint8 tensor.
        orig_len: length of the axis before packing.
        axis: the axis that was packed.
        dtype: `"int8"`: values from -8 to 7; `"uint8"`: from 0 to 15.

    Returns:
        Tensor of `dtype`, `orig_len` long along the axis.

    Raises:
        ValueError: another `dtype`, or no such axis.

    >>> from kerata import ops, quantizers
    >>> ops.convert_to_numpy(quantizers.unpack_int4(ops.convert_to_tensor([-127, 7], "int8"), 3)).tolist()
    [1, -8, 7]
    """
    _check(dtype)
    packed = convert_to_tensor(packed)
    axis = _axis_in(axis, len(packed.shape))
    if dtype == "int8":
        # Shifts of signed integers keep the sign: up to the top and down again.
        signed = ops.cast(packed, "int8") if dtypes.standardize_dtype(packed.dtype) != "int8" else packed
        low, high = ops.right_shift(ops.left_shift(signed, 4), 4), ops.right_shift(signed, 4)
    else:
        unsigned = ops.cast(packed, "uint8") if dtypes.standardize_dtype(packed.dtype) != "uint8" else packed
        low, high = ops.bitwise_and(unsigned, 15), ops.right_shift(unsigned, 4)
    shape = list(packed.shape)
    shape[axis] = 2 * shape[axis] if shape[axis] is not None else -1
    both = ops.reshape(ops.stack([low, high], axis=axis + 1), shape)
    both = both if orig_len % 2 == 0 else both[(slice(None),) * axis + (slice(0, orig_len),)]
    return both if dtypes.standardize_dtype(both.dtype) == dtype else ops.cast(both, dtype)


def host_pack(array, axis):
    """`pack_int4` of an array, in NumPy."""
    axis = axis % array.ndim
    if array.shape[axis] % 2:
        array = np.pad(array, [(0, int(i == axis)) for i in range(array.ndim)])
    bits = array.view(np.uint8)
    at = (slice(None),) * axis
    return ((bits[(*at, slice(0, None, 2))] & 15) | (bits[(*at, slice(1, None, 2))] << 4)).view(array.dtype)


def host_unpack(packed, length, axis, signed=True):
    """`unpack_int4` of an array, in NumPy."""
    axis = axis % packed.ndim
    if signed:
        packed = packed.view(np.int8)
        halves = (packed << 4).view(np.int8) >> 4, packed >> 4
    else:
        packed = packed.view(np.uint8)
        halves = packed & 15, packed >> 4
    both = np.stack(halves, axis=axis + 1)
    shape = list(packed.shape)
    shape[axis] *= 2
    return both.reshape(shape)[(slice(None),) * axis + (slice(0, length),)]


def _check(dtype):
    if dtype not in ("int8", "uint8"):
        raise ValueError(f"Expected dtype to be 'int8' or 'uint8', but got {dtype!r}.")


def _axis_in(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for a tensor with {rank} dimensions.")
    return axis % rank


def _every_second(x, axis, start):
    return x[(slice(None),) * axis + (slice(start, None, 2),)]
