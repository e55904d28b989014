"""Elementwise ops: arithmetic, comparison and logic, functions of one variable, choice, dtype conversion."""

import builtins
import math

from kerata import backends
from kerata.core import dtypes
from kerata.ops import rules
from kerata.ops.core import dtype
from kerata.ops.declare import Bool, Float, Index, Number, Tensor, composite, primitive

# ------------------------------------------------------------------ dtype


@primitive(rule=rules.cast)
def cast(x: Index, dtype):
    """Convert to another dtype, as `numpy.ndarray.astype` does: floats are cut towards zero.

    Args:
        x: tensor of any shape.
        dtype: name of the new dtype.

    Returns:
        Tensor of `x`'s shape and the new dtype.

    >>> from kerata import ops
    >>> ops.cast([1.7, -1.7], "int32").tolist()
    [1, -1]
    """
    return x, dtypes.standardize_dtype(dtype)


# ------------------------------------------------------------------ arithmetic


@primitive(rule=rules.broadcast, scalars=True)
def add(x1: Tensor, x2: Tensor):
    """Sum of two tensors, element by element (`numpy.add`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast, scalars=True)
def subtract(x1: Tensor, x2: Tensor):
    """Difference `x1 - x2`, element by element (`numpy.subtract`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast, scalars=True)
def multiply(x1: Tensor, x2: Tensor):
    """Product, element by element (`numpy.multiply`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast, scalars=True)
def divide(x1: Float, x2: Float):
    """Quotient `x1 / x2`, element by element (`numpy.true_divide`); division by zero gives inf or NaN.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.
    """


@primitive(rule=rules.broadcast, scalars=True)
def floor_divide(x1: Number, x2: Number):
    """Quotient rounded down, `floor(x1 / x2)` (`numpy.floor_divide`); integers stay integers.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast, scalars=True)
def mod(x1: Number, x2: Number):
    """Remainder with the sign of the divisor (`numpy.mod`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast, scalars=True)
def power(x1: Number, x2: Number):
    """`x1` to the power `x2` (`numpy.power`); integers stay integers.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast)
def maximum(x1: Tensor, x2: Tensor):
    """Larger of two tensors, element by element; NaN wins (`numpy.maximum`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast)
def minimum(x1: Tensor, x2: Tensor):
    """Smaller of two tensors, element by element; NaN wins (`numpy.minimum`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """


@primitive(rule=rules.broadcast)
def arctan2(x1: Float, x2: Float):
    """Angle of the point `(x2, x1)`, in radians within (-pi, pi] (`numpy.arctan2`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.
    """


@primitive(rule=rules.broadcast)
def nextafter(x1: Float, x2: Float):
    """Next floating number from `x1` towards `x2` (`numpy.nextafter`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.
    """


# ------------------------------------------------------------------ comparison and logic


@primitive(rule=rules.compare, scalars=True)
def equal(x1: Tensor, x2: Tensor):
    """`x1 == x2`, element by element (`numpy.equal`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare, scalars=True)
def not_equal(x1: Tensor, x2: Tensor):
    """`x1 != x2`, element by element (`numpy.not_equal`); comparisons with NaN are True.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare, scalars=True)
def less(x1: Tensor, x2: Tensor):
    """`x1 < x2`, element by element (`numpy.less`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare, scalars=True)
def less_equal(x1: Tensor, x2: Tensor):
    """`x1 <= x2`, element by element (`numpy.less_equal`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare, scalars=True)
def greater(x1: Tensor, x2: Tensor):
    """`x1 > x2`, element by element (`numpy.greater`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare, scalars=True)
def greater_equal(x1: Tensor, x2: Tensor):
    """`x1 >= x2`, element by element (`numpy.greater_equal`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare)
def logical_and(x1: Bool, x2: Bool):
    """Whether both are true, element by element (`numpy.logical_and`); numbers other than 0 are true.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare)
def logical_or(x1: Bool, x2: Bool):
    """Whether at least one is true, element by element (`numpy.logical_or`); numbers other than 0 are true.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.compare)
def logical_xor(x1: Bool, x2: Bool):
    """Whether exactly one is true, element by element (`numpy.logical_xor`); numbers other than 0 are true.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.
    """


@primitive(rule=rules.as_bool)
def logical_not(x: Bool):
    """Whether each element is false or 0 (`numpy.logical_not`).

    Args:
        x: tensor of any shape; numbers other than 0 are true.

    Returns:
        Boolean tensor of `x`'s shape.
    """


# ------------------------------------------------------------------ bits


@primitive(rule=rules.bits)
def bitwise_and(x: Tensor, y: Tensor):
    """Bits set in both (`numpy.bitwise_and`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.
    """


@primitive(rule=rules.bits)
def bitwise_or(x: Tensor, y: Tensor):
    """Bits set in one or both (`numpy.bitwise_or`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.
    """


@primitive(rule=rules.bits)
def bitwise_xor(x: Tensor, y: Tensor):
    """Bits set in exactly one (`numpy.bitwise_xor`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.
    """


@primitive(rule=rules.bits)
def left_shift(x: Tensor, y: Tensor):
    """`x` with its bits moved up by `y` places (`numpy.left_shift`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.
    """


@primitive(rule=rules.bits)
def right_shift(x: Tensor, y: Tensor):
    """`x` with its bits moved down by `y` places, the sign kept (`numpy.right_shift`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.
    """


@primitive(rule=rules.bits)
def bitwise_not(x: Tensor):
    """Each bit inverted (`numpy.invert`).

    Args:
        x: integer or boolean tensor.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


# ------------------------------------------------------------------ functions of one variable


@primitive(rule=rules.same)
def negative(x: Number):
    """`-x` (`numpy.negative`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.real_part)
def abs(x: Tensor):
    """Absolute value (`numpy.abs`); of a complex number its modulus.

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def sign(x: Number):
    """-1, 0 or 1 by the sign; NaN stays NaN (`numpy.sign`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def square(x: Number):
    """`x * x` (`numpy.square`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def floor(x: Float):
    """Largest integer not above `x` (`numpy.floor`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def ceil(x: Float):
    """Smallest integer not below `x` (`numpy.ceil`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def trunc(x: Tensor):
    """`x` with its fraction cut off, towards zero (`numpy.trunc`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def round(x: Number, decimals=0):
    """Nearest number of that many decimals, halves to the even one (`numpy.round`).

    Args:
        x: tensor of any shape.
        decimals: places after the point; negative ones are before it.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.same)
def exp(x: Float):
    """Exponential, `e ** x` (`numpy.exp`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def expm1(x: Float):
    """`exp(x) - 1`, exact for small `x` (`numpy.expm1`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def exp2(x: Float):
    """`2 ** x` (`numpy.exp2`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def log(x: Float):
    """Natural logarithm; NaN below zero, -inf at zero (`numpy.log`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def log1p(x: Float):
    """`log(1 + x)`, exact for small `x` (`numpy.log1p`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def log2(x: Float):
    """Logarithm to base 2 (`numpy.log2`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def log10(x: Float):
    """Logarithm to base 10 (`numpy.log10`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def sqrt(x: Float):
    """Square root; NaN below zero (`numpy.sqrt`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def rsqrt(x: Float):
    """Reciprocal of the square root, `1 / sqrt(x)`.

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def sin(x: Float):
    """Sine of an angle in radians (`numpy.sin`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def cos(x: Float):
    """Cosine of an angle in radians (`numpy.cos`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def tan(x: Float):
    """Tangent of an angle in radians (`numpy.tan`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def sinh(x: Float):
    """Hyperbolic sine (`numpy.sinh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def cosh(x: Float):
    """Hyperbolic cosine (`numpy.cosh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def tanh(x: Float):
    """Hyperbolic tangent (`numpy.tanh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def arcsin(x: Float):
    """Inverse sine, in radians; NaN outside [-1, 1] (`numpy.arcsin`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def arccos(x: Float):
    """Inverse cosine, in radians; NaN outside [-1, 1] (`numpy.arccos`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def arctan(x: Float):
    """Inverse tangent, in radians (`numpy.arctan`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def arcsinh(x: Float):
    """Inverse hyperbolic sine (`numpy.arcsinh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def arccosh(x: Float):
    """Inverse hyperbolic cosine; NaN below 1 (`numpy.arccosh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def arctanh(x: Float):
    """Inverse hyperbolic tangent; infinite at -1 and 1 (`numpy.arctanh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def erf(x: Float):
    """Error function, `2 / sqrt(pi)` times the integral of `exp(-t²)` from 0 to `x` (`scipy.special.erf`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def erfc(x: Float):
    """Complement of the error function, `1 - erf(x)`, exact for large `x` (`scipy.special.erfc`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def erfinv(x: Float):
    """Inverse of the error function, for `x` in (-1, 1) (`scipy.special.erfinv`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def lgamma(x: Float):
    """Logarithm of the absolute value of the gamma function (`scipy.special.gammaln`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def digamma(x: Float):
    """Derivative of `lgamma` (`scipy.special.digamma`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.
    """


@primitive(rule=rules.as_bool)
def isnan(x: Tensor):
    """Which elements are NaN (`numpy.isnan`).

    Args:
        x: tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.
    """


@primitive(rule=rules.as_bool)
def isinf(x: Tensor):
    """Which elements are infinite (`numpy.isinf`).

    Args:
        x: tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.
    """


@primitive(rule=rules.as_bool)
def isfinite(x: Tensor):
    """Which elements are neither infinite nor NaN (`numpy.isfinite`).

    Args:
        x: tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.
    """


@primitive(rule=rules.real_part)
def real(x: Tensor):
    """Real part (`numpy.real`).

    Args:
        x: tensor of any shape.

    Returns:
        Real tensor of `x`'s shape.
    """


@primitive(rule=rules.real_part)
def imag(x: Tensor):
    """Imaginary part, zero for real tensors (`numpy.imag`).

    Args:
        x: tensor of any shape.

    Returns:
        Real tensor of `x`'s shape.
    """


@primitive(rule=rules.same)
def conj(x: Tensor):
    """Complex conjugate (`numpy.conj`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.
    """


@primitive(rule=rules.real_part)
def angle(x: Float):
    """Angle of a complex number, in radians; of a real one 0 or pi (`numpy.angle`).

    Args:
        x: tensor of any shape.

    Returns:
        Real floating tensor of `x`'s shape.
    """


# ------------------------------------------------------------------ choice


@primitive(rule=rules.clip, scalars=True)
def clip(x: Number, x_min: Number, x_max: Number):
    """`x` kept within `[x_min, x_max]` (`numpy.clip`).

    Args:
        x: tensor of any shape.
        x_min, x_max: bounds: numbers, or tensors whose shapes broadcast with `x`'s.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, x_min, x_max)`.
    """


@primitive(rule=rules.where)
def where(condition: Bool, x1: Tensor, x2: Tensor):
    """`x1` where the condition holds, else `x2`: the primitive of three arguments."""


_where = where


def where(condition, x1=None, x2=None):  # noqa: F811
    """Choose between two tensors, element by element (`numpy.where`).

    No gradient flows into the branch that isn't chosen; a NaN *inside* its computation still spoils the gradient, so
    make the argument of a risky function harmless with a `where` of its own.

    Args:
        condition: boolean tensor; numbers other than 0 are true.
        x1, x2: tensors or numbers whose shapes broadcast with `condition`'s. Without them the
            positions where the condition holds are returned, as by `nonzero`.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.
    """
    if x1 is None and x2 is None:
        from kerata.ops.indexing import nonzero

        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("where: give both `x1` and `x2`, or neither.")
    return _where(condition, x1, x2)


where.op = _where.op

absolute = abs
true_divide = divide
conjugate = conj
bitwise_invert = bitwise_not
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
