"""Quantization-aware training: rounded values, gradients as if there were no rounding."""

from kerata import ops
from kerata.core.errors import integer
from kerata.ops.core import convert_to_tensor


def fake_quant_with_min_max_vars(inputs, min_vals, max_vals, num_bits=8, narrow_range=False, axis=None):
    """`inputs` as integers of few bits between a least and a largest value would keep them, as floats.

    The range is moved a little so that 0 is one of the integers' values. Gradients flow to `inputs` within the range,
    and to the range's ends from what lies beyond them. Source: `tf.quantization.fake_quant_with_min_max_vars`.

    Args:
        inputs: floating tensor.
        min_vals, max_vals: ends of the range: scalars, or vectors with `axis`.
        num_bits: bits of an integer.
        narrow_range: leave out the lowest integer.
        axis: dimension with a range for each entry; `None`: one range.

    Returns:
        Tensor like `inputs`.

    Raises:
        ValueError: `num_bits` is no positive integer.

    >>> from kerata import ops, quantizers
    >>> y = quantizers.fake_quant_with_min_max_vars(ops.convert_to_tensor([-3.0, 0.1, 5.0]), -1.0, 1.0, num_bits=2)
    >>> ops.convert_to_numpy(ops.round(y * 3)).tolist()
    [-4.0, 0.0, 2.0]
    """
    num_bits = integer(num_bits, "num_bits", "fake_quant_with_min_max_vars", minimum=1)
    inputs = convert_to_tensor(inputs)
    dtype = ops.dtype(inputs)
    low, high = ops.cast(min_vals, dtype), ops.cast(max_vals, dtype)
    rank = len(inputs.shape)
    shape = [1] * rank
    if axis is not None:
        shape[axis] = -1
    most = 2**num_bits - 1
    least = int(narrow_range)
    return _fake_quantized(inputs, low, high, tuple(shape), least, most)


def _fake_quantized(inputs, low, high, shape, least, most):
    rank = len(inputs.shape)
    others = [i for i in range(rank) if shape[i] == 1]

    @ops.custom_gradient
    def rounded(x, low, high):
        lowest, highest, scale = _nudged(low, high, least, most)
        lowest, highest, scale = (_along(v, shape) for v in (lowest, highest, scale))
        clipped = ops.clip(x, lowest, highest)
        y = ops.floor((clipped - lowest) / scale + 0.5) * scale + lowest

        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            below, above = x < lowest, x > highest
            inside = ops.where(ops.logical_or(below, above), ops.zeros_like(upstream), upstream)
            ends = []
            for beyond, end in ((below, low), (above, high)):
                part = ops.where(beyond, upstream, ops.zeros_like(upstream))
                part = ops.sum(part, axis=others) if others else part
                ends.append(ops.reshape(part, tuple(end.shape)))
            return inside, *ends

        return y, grad

    return rounded(inputs, low, high)


def _nudged(low, high, least, most):
    """The range moved so that 0 falls on an integer: `(its ends, the step)`."""
    scale = (high - low) / (most - least)
    zero = ops.clip(ops.round(least - low / scale), least, most)
    return (least - zero) * scale, (most - zero) * scale, scale


def _along(x, shape):
    return ops.reshape(x, shape) if len(x.shape) else x
