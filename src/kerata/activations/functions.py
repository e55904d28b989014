"""Activations that are not ops of the same name and signature."""

from kerata import ops


def linear(x):
    """`x` itself.

    >>> from kerata import activations
    >>> activations.linear(3)
    3
    """
    return x


def exponential(x):
    """`exp(x)`, element by element.

    >>> from kerata import activations
    >>> activations.exponential([0.0])
    Array([1.], dtype=float32)
    """
    return ops.exp(x)


def gelu(x, approximate=False):
    """`x * P(X <= x)` for a standard normal X. Source: Hendrycks & Gimpel, 2016.

    Args:
        x: tensor.
        approximate: use the `tanh` formula in place of the error function.

    >>> from kerata import activations
    >>> activations.gelu([0.0])
    Array([0.], dtype=float32)
    """
    return ops.gelu(x, approximate)


def mish(x):
    """`x * tanh(softplus(x))`. Source: Misra, 2019.

    >>> from kerata import activations
    >>> activations.mish([0.0])
    Array([0.], dtype=float32)
    """
    return ops.multiply(x, ops.tanh(ops.softplus(x)))


def relu(x, negative_slope=0.0, max_value=None, threshold=0.0):
    """`max(x, 0)`, or a variant of it.

    Args:
        x: tensor.
        negative_slope: slope below the threshold.
        max_value: upper bound, or `None`.
        threshold: at it and below an element counts as negative: `negative_slope * (x - threshold)`.

    >>> from kerata import activations
    >>> activations.relu([-2.0, 1.0, 9.0], negative_slope=0.5, max_value=6.0)
    Array([-1.,  1.,  6.], dtype=float32)
    """
    if threshold == 0:
        if max_value is None:
            return ops.leaky_relu(x, negative_slope) if negative_slope else ops.relu(x)
        if max_value == 6 and not negative_slope:
            return ops.relu6(x)
    x = ops.convert_to_tensor(x)
    above = ops.where(x > threshold, x, ops.zeros_like(x))
    if max_value is not None:
        above = ops.minimum(above, max_value)
    if negative_slope:
        return ops.where(x > threshold, above, negative_slope * (x - threshold))
    return above
