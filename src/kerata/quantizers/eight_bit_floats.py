"""Float8: scales that follow the largest values of the last steps (Micikevicius et al., 2022)."""

from kerata import ops
from kerata.ops.core import convert_to_tensor
from kerata.quantizers.rounding import largest


def compute_float8_scale(amax, scale, dtype_max, margin=0):
    """What to divide by, so that the largest value becomes the dtype's largest.

    Args:
        amax: largest absolute value.
        scale: the scale until now, which stays where `amax` is 0 or not finite.
        dtype_max: largest number of the float8 dtype.
        margin: powers of 2 to leave free.

    >>> from kerata import quantizers
    >>> float(quantizers.compute_float8_scale(448.0, 2.0, 448.0)), float(quantizers.compute_float8_scale(0.0, 2.0, 448.0))
    (1.0, 2.0)
    """
    amax, scale = convert_to_tensor(amax), convert_to_tensor(scale)
    usable = ops.logical_and(amax > 0, ops.isfinite(amax))
    factor = dtype_max / ops.where(usable, amax, ops.ones_like(amax)) / 2.0**margin
    return ops.where(usable, 1.0 / factor, scale)


def compute_float8_amax_history(x, amax_history):
    """The history with its oldest entry replaced by the largest of `|x|`, and turned by one.

    Args:
        x: tensor of this step.
        amax_history: vector of the last steps' largest values, newest first.

    >>> from kerata import ops, quantizers
    >>> history = quantizers.compute_float8_amax_history(ops.convert_to_tensor([-3.0]), ops.convert_to_tensor([1.0, 2.0]))
    >>> ops.convert_to_numpy(history).tolist()
    [3.0, 1.0]
    """
    amax_history = convert_to_tensor(amax_history)
    newest = ops.cast(ops.max(ops.abs(convert_to_tensor(x))), ops.dtype(amax_history))
    return ops.concatenate([ops.reshape(newest, (1,)), ops.roll(amax_history, -1)[1:]])


def quantize_and_dequantize(inputs, scale, quantized_dtype, compute_dtype):
    """`inputs` as float8 would keep them.

    Args:
        inputs: floating tensor.
        scale: what to divide by before rounding.
        quantized_dtype: `"float8_e4m3fn"` or `"float8_e5m2"`.
        compute_dtype: dtype of the result.

    >>> from kerata import ops, quantizers
    >>> float(quantizers.quantize_and_dequantize(ops.convert_to_tensor(1.03), 1.0, "float8_e4m3fn", "float32"))
    1.0
    """
    most = largest(quantized_dtype)
    scaled = ops.clip(ops.cast(inputs, compute_dtype) / ops.cast(scale, compute_dtype), -most, most)
    return ops.cast(ops.cast(scaled, quantized_dtype), compute_dtype) * ops.cast(scale, compute_dtype)
