"""Elementwise ops: arithmetic, comparison and logic, functions of one variable, choice, dtype conversion."""

import builtins
import functools
import math

import numpy as np

from kerata.core import dtypes
from kerata.ops import rules
from kerata.ops.core import dtype
from kerata.ops.declare import Bool, Cast, Float, Index, Number, Tensor, composite, primitive

# ------------------------------------------------------------------ dtype


@primitive(rule=rules.cast)
def cast(x: Cast, dtype):
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

    >>> ops.add([1.0, 2.0], 3.0)
    [4., 5.]
    """


@primitive(rule=rules.broadcast, scalars=True)
def subtract(x1: Tensor, x2: Tensor):
    """Difference `x1 - x2`, element by element (`numpy.subtract`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.subtract([5, 3], 2)
    [3, 1]
    """


@primitive(rule=rules.broadcast, scalars=True)
def multiply(x1: Tensor, x2: Tensor):
    """Product, element by element (`numpy.multiply`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.multiply([1.0, 2.0], 3.0)
    [3., 6.]
    """


@primitive(rule=rules.broadcast, scalars=True)
def divide(x1: Float, x2: Float):
    """Quotient `x1 / x2`, element by element (`numpy.true_divide`); division by zero gives inf or NaN.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.divide([1, 3], 2)
    [0.5, 1.5]
    """


@primitive(rule=rules.broadcast, scalars=True)
def floor_divide(x1: Number, x2: Number):
    """Quotient rounded down, `floor(x1 / x2)` (`numpy.floor_divide`); integers stay integers.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.floor_divide([7, -7], 2)
    [ 3, -4]
    """


@primitive(rule=rules.broadcast, scalars=True)
def mod(x1: Number, x2: Number):
    """Remainder with the sign of the divisor (`numpy.mod`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.mod([7, -7], 3)
    [1, 2]
    """


@primitive(rule=rules.broadcast, scalars=True)
def power(x1: Number, x2: Number):
    """`x1` to the power `x2` (`numpy.power`); integers stay integers.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.power([2, 3], 2)
    [4, 9]
    """


@primitive(rule=rules.broadcast)
def maximum(x1: Tensor, x2: Tensor):
    """Larger of two tensors, element by element; NaN wins (`numpy.maximum`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.maximum([1.0, 5.0], 3.0)
    [3., 5.]
    """


@primitive(rule=rules.broadcast)
def minimum(x1: Tensor, x2: Tensor):
    """Smaller of two tensors, element by element; NaN wins (`numpy.minimum`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.minimum([1.0, 5.0], 3.0)
    [1., 3.]
    """


@primitive(rule=rules.broadcast)
def arctan2(x1: Float, x2: Float):
    """Angle of the point `(x2, x1)`, in radians within (-pi, pi] (`numpy.arctan2`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.arctan2([0.0], [1.0])
    [0.]
    """


@primitive(rule=rules.broadcast)
def nextafter(x1: Float, x2: Float):
    """Next floating number from `x1` towards `x2` (`numpy.nextafter`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.nextafter([1.0], [2.0]) > 1
    [ True]
    """


# ------------------------------------------------------------------ comparison and logic


@primitive(rule=rules.compare, scalars=True)
def equal(x1: Tensor, x2: Tensor):
    """`x1 == x2`, element by element (`numpy.equal`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.equal([1, 2], 2)
    [False, True]
    """


@primitive(rule=rules.compare, scalars=True)
def not_equal(x1: Tensor, x2: Tensor):
    """`x1 != x2`, element by element (`numpy.not_equal`); comparisons with NaN are True.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.not_equal([1, 2], 2)
    [ True, False]
    """


@primitive(rule=rules.compare, scalars=True)
def less(x1: Tensor, x2: Tensor):
    """`x1 < x2`, element by element (`numpy.less`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.less([1, 2, 3], 2)
    [ True, False, False]
    """


@primitive(rule=rules.compare, scalars=True)
def less_equal(x1: Tensor, x2: Tensor):
    """`x1 <= x2`, element by element (`numpy.less_equal`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.less_equal([1, 2, 3], 2)
    [ True, True, False]
    """


@primitive(rule=rules.compare, scalars=True)
def greater(x1: Tensor, x2: Tensor):
    """`x1 > x2`, element by element (`numpy.greater`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.greater([1, 2, 3], 2)
    [False, False, True]
    """


@primitive(rule=rules.compare, scalars=True)
def greater_equal(x1: Tensor, x2: Tensor):
    """`x1 >= x2`, element by element (`numpy.greater_equal`); comparisons with NaN are False.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.greater_equal([1, 2, 3], 2)
    [False, True, True]
    """


@primitive(rule=rules.compare)
def logical_and(x1: Bool, x2: Bool):
    """Whether both are true, element by element (`numpy.logical_and`); numbers other than 0 are true.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.logical_and([True, True], [True, False])
    [ True, False]
    """


@primitive(rule=rules.compare)
def logical_or(x1: Bool, x2: Bool):
    """Whether at least one is true, element by element (`numpy.logical_or`); numbers other than 0 are true.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.logical_or([True, False], [False, False])
    [ True, False]
    """


@primitive(rule=rules.compare)
def logical_xor(x1: Bool, x2: Bool):
    """Whether exactly one is true, element by element (`numpy.logical_xor`); numbers other than 0 are true.

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.logical_xor([True, True], [True, False])
    [False, True]
    """


@primitive(rule=rules.as_bool)
def logical_not(x: Bool):
    """Whether each element is false or 0 (`numpy.logical_not`).

    Args:
        x: tensor of any shape; numbers other than 0 are true.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.logical_not([True, False])
    [False, True]
    """


# ------------------------------------------------------------------ bits


@primitive(rule=rules.bits)
def bitwise_and(x: Tensor, y: Tensor):
    """Bits set in both (`numpy.bitwise_and`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.

    >>> ops.bitwise_and([5, 6], 3)
    [1, 2]
    """


@primitive(rule=rules.bits)
def bitwise_or(x: Tensor, y: Tensor):
    """Bits set in one or both (`numpy.bitwise_or`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.

    >>> ops.bitwise_or([5, 6], 3)
    [7, 7]
    """


@primitive(rule=rules.bits)
def bitwise_xor(x: Tensor, y: Tensor):
    """Bits set in exactly one (`numpy.bitwise_xor`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.

    >>> ops.bitwise_xor([5, 6], 3)
    [6, 5]
    """


@primitive(rule=rules.bits)
def left_shift(x: Tensor, y: Tensor):
    """`x` with its bits moved up by `y` places (`numpy.left_shift`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.

    >>> ops.left_shift([1, 3], 2)
    [ 4, 12]
    """


@primitive(rule=rules.bits)
def right_shift(x: Tensor, y: Tensor):
    """`x` with its bits moved down by `y` places, the sign kept (`numpy.right_shift`).

    Args:
        x, y: integer or boolean tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x, y)`.

    >>> ops.right_shift([8, -8], 1)
    [ 4, -4]
    """


@primitive(rule=rules.bits)
def bitwise_not(x: Tensor):
    """Each bit inverted (`numpy.invert`).

    Args:
        x: integer or boolean tensor.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.bitwise_not([0, 1])
    [-1, -2]
    """


# ------------------------------------------------------------------ functions of one variable


@primitive(rule=rules.same)
def negative(x: Number):
    """`-x` (`numpy.negative`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.negative([1, -2])
    [-1, 2]
    """


@primitive(rule=rules.real_part)
def abs(x: Tensor):
    """Absolute value (`numpy.abs`); of a complex number its modulus.

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.abs([-1.5, 2.0])
    [1.5, 2.]
    """


@primitive(rule=rules.same)
def sign(x: Number):
    """-1, 0 or 1 by the sign; NaN stays NaN (`numpy.sign`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.sign([-3.0, 0.0, 2.0])
    [-1., 0., 1.]
    """


@primitive(rule=rules.same)
def square(x: Number):
    """`x * x` (`numpy.square`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.square([2, -3])
    [4, 9]
    """


@primitive(rule=rules.same)
def floor(x: Float):
    """Largest integer not above `x` (`numpy.floor`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.floor([1.7, -1.2])
    [ 1., -2.]
    """


@primitive(rule=rules.same)
def ceil(x: Float):
    """Smallest integer not below `x` (`numpy.ceil`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.ceil([1.2, -1.2])
    [ 2., -1.]
    """


@primitive(rule=rules.same)
def trunc(x: Tensor):
    """`x` with its fraction cut off, towards zero (`numpy.trunc`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.trunc([1.7, -1.7])
    [ 1., -1.]
    """


@primitive(rule=rules.same)
def round(x: Number, decimals=0):
    """Nearest number of that many decimals, halves to the even one (`numpy.round`).

    Args:
        x: tensor of any shape.
        decimals: places after the point; negative ones are before it.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.round([0.5, 1.5, 2.67])
    [0., 2., 3.]
    """


@primitive(rule=rules.same)
def exp(x: Float):
    """Exponential, `e ** x` (`numpy.exp`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.exp([0.0])
    [1.]
    """


@primitive(rule=rules.same)
def expm1(x: Float):
    """`exp(x) - 1`, exact for small `x` (`numpy.expm1`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.expm1([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def exp2(x: Float):
    """`2 ** x` (`numpy.exp2`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.exp2([0.0, 3.0])
    [1., 8.]
    """


@primitive(rule=rules.same)
def log(x: Float):
    """Natural logarithm; NaN below zero, -inf at zero (`numpy.log`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.log([1.0])
    [0.]
    """


@primitive(rule=rules.same)
def log1p(x: Float):
    """`log(1 + x)`, exact for small `x` (`numpy.log1p`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.log1p([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def log2(x: Float):
    """Logarithm to base 2 (`numpy.log2`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.log2([1.0, 8.0])
    [0., 3.]
    """


@primitive(rule=rules.same)
def log10(x: Float):
    """Logarithm to base 10 (`numpy.log10`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.log10([1.0, 100.0])
    [0., 2.]
    """


@primitive(rule=rules.same)
def sqrt(x: Float):
    """Square root; NaN below zero (`numpy.sqrt`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.sqrt([4.0, 9.0])
    [2., 3.]
    """


@primitive(rule=rules.same)
def rsqrt(x: Float):
    """Reciprocal of the square root, `1 / sqrt(x)`.

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.rsqrt([4.0, 16.0])
    [0.5, 0.25]
    """


@primitive(rule=rules.same)
def sin(x: Float):
    """Sine of an angle in radians (`numpy.sin`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.sin([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def cos(x: Float):
    """Cosine of an angle in radians (`numpy.cos`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.cos([0.0])
    [1.]
    """


@primitive(rule=rules.same)
def tan(x: Float):
    """Tangent of an angle in radians (`numpy.tan`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.tan([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def sinh(x: Float):
    """Hyperbolic sine (`numpy.sinh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.sinh([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def cosh(x: Float):
    """Hyperbolic cosine (`numpy.cosh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.cosh([0.0])
    [1.]
    """


@primitive(rule=rules.same)
def tanh(x: Float):
    """Hyperbolic tangent (`numpy.tanh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.tanh([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def arcsin(x: Float):
    """Inverse sine, in radians; NaN outside [-1, 1] (`numpy.arcsin`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.arcsin([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def arccos(x: Float):
    """Inverse cosine, in radians; NaN outside [-1, 1] (`numpy.arccos`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.arccos([1.0])
    [0.]
    """


@primitive(rule=rules.same)
def arctan(x: Float):
    """Inverse tangent, in radians (`numpy.arctan`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.arctan([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def arcsinh(x: Float):
    """Inverse hyperbolic sine (`numpy.arcsinh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.arcsinh([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def arccosh(x: Float):
    """Inverse hyperbolic cosine; NaN below 1 (`numpy.arccosh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.arccosh([1.0])
    [0.]
    """


@primitive(rule=rules.same)
def arctanh(x: Float):
    """Inverse hyperbolic tangent; infinite at -1 and 1 (`numpy.arctanh`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.arctanh([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def erf(x: Float):
    """Error function, `2 / sqrt(pi)` times the integral of `exp(-t²)` from 0 to `x` (`scipy.special.erf`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.erf([0.0])
    [0.]
    """


@primitive(rule=rules.same)
def erfc(x: Float):
    """Complement of the error function, `1 - erf(x)`, exact for large `x` (`scipy.special.erfc`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.erfc([0.0])
    [1.]
    """


@primitive(rule=rules.same)
def erfinv(x: Float):
    """Inverse of the error function, for `x` in (-1, 1) (`scipy.special.erfinv`).

    Args:
        x: tensor of any shape; integers become floating.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.erfinv([0.0])
    [0.]
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

    >>> ops.isnan([1.0, float("nan")])
    [False, True]
    """


@primitive(rule=rules.as_bool)
def isinf(x: Tensor):
    """Which elements are infinite (`numpy.isinf`).

    Args:
        x: tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.isinf([1.0, float("inf")])
    [False, True]
    """


@primitive(rule=rules.as_bool)
def isfinite(x: Tensor):
    """Which elements are neither infinite nor NaN (`numpy.isfinite`).

    Args:
        x: tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.isfinite([1.0, float("inf")])
    [ True, False]
    """


@primitive(rule=rules.real_part)
def real(x: Tensor):
    """Real part (`numpy.real`).

    Args:
        x: tensor of any shape.

    Returns:
        Real tensor of `x`'s shape.

    >>> ops.real(np.array([1 + 2j], "complex64"))
    [1.]
    """


@primitive(rule=rules.real_part)
def imag(x: Tensor):
    """Imaginary part, zero for real tensors (`numpy.imag`).

    Args:
        x: tensor of any shape.

    Returns:
        Real tensor of `x`'s shape.

    >>> ops.imag(np.array([1 + 2j], "complex64"))
    [2.]
    """


@primitive(rule=rules.same)
def conj(x: Tensor):
    """Complex conjugate (`numpy.conj`).

    Args:
        x: tensor of any shape.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.conj(np.array([1 + 2j], "complex64"))
    [1.-2.j]
    """


@primitive(rule=rules.real_part)
def angle(x: Float):
    """Angle of a complex number, in radians; of a real one 0 or pi (`numpy.angle`).

    Args:
        x: tensor of any shape.

    Returns:
        Real floating tensor of `x`'s shape.

    >>> ops.angle(np.array([1j, -1.0], "complex64"))
    [1.5707964, 3.1415927]
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

    >>> ops.clip([-2.0, 0.5, 3.0], 0.0, 1.0)
    [0., 0.5, 1.]
    """


@primitive(rule=rules.where, scalars=True)
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

    >>> ops.where([True, False], 1.0, 0.0)
    [1., 0.]
    """
    if x1 is None and x2 is None:
        from kerata.ops.indexing import nonzero

        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("where: `x1` and `x2` either both should be `None`, or neither.")
    return _where(condition, x1, x2)


where.op = _where.op

absolute = abs
true_divide = divide
conjugate = conj
bitwise_invert = bitwise_not
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift

# ------------------------------------------------------------------ made of these


@composite
def reciprocal(x: Float):
    """`1 / x` (`numpy.reciprocal`, but integers become floating).

    Args:
        x: tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.reciprocal([2.0, 4.0])
    [0.5, 0.25]
    """
    return 1.0 / x


@composite
def fabs(x: Float):
    """Absolute value as a floating number (`numpy.fabs`).

    Args:
        x: real tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.fabs([-1, 2])
    [1., 2.]
    """
    return abs(x)


@composite
def cbrt(x: Float):
    """Cube root, also of negative numbers (`numpy.cbrt`).

    Args:
        x: real tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.round(ops.cbrt([8.0, -27.0]), 4)
    [ 2., -3.]
    """
    return sign(x) * power(abs(x), 1.0 / 3.0)


@composite
def deg2rad(x: Float):
    """Degrees as radians (`numpy.deg2rad`).

    Args:
        x: tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.round(ops.deg2rad(180.0), 4)
    3.1416
    """
    return x * (math.pi / 180.0)


@composite
def rad2deg(x: Float):
    """Radians as degrees (`numpy.rad2deg`).

    Args:
        x: tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.rad2deg(0.0)
    0.
    """
    return x * (180.0 / math.pi)


@composite
def sinc(x: Float):
    """`sin(pi x) / (pi x)`, 1 at zero (`numpy.sinc`).

    Args:
        x: tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.sinc(0.0)
    1.
    """
    zero = equal(x, 0.0)
    # Away from 0 by a trillionth the quotient is 1 in every dtype, and its gradient finite.
    angle_ = math.pi * where(zero, 1.0, x)
    return where(zero, 1.0, sin(angle_) / angle_)


@composite
def i0(x: Float):
    """Modified Bessel function of the first kind, order 0 (`numpy.i0`).

    Args:
        x: real tensor of any shape.

    Returns:
        Floating tensor of `x`'s shape.

    >>> ops.round(ops.i0([0.0, 1.0]), 3)
    [1., 1.266]
    """
    size = abs(x)
    near, far = _i0_coefficients()
    low = clip(size, 0.0, 8.0)
    high = maximum(size, 8.0)
    return exp(size) * where(
        size <= 8.0, _chebyshev(low / 4.0 - 1.0, near), _chebyshev(16.0 / high - 1.0, far) / sqrt(high)
    )


@functools.cache
def _i0_coefficients():
    """Chebyshev series of `exp(-x) i0(x)` on [0, 8], and of that times `sqrt(x)` beyond, in 16 / x - 1."""
    from numpy.polynomial import chebyshev

    def tail(y):
        far = (y + 1.0) / 16.0
        x = 1.0 / np.maximum(far, 1 / 32)
        return np.where(far > 1 / 32, np.exp(-x) * np.sqrt(x) * np.i0(x), _i0_from_infinity(far))

    def head(y):
        x = 4.0 * (y + 1.0)
        return np.exp(-x) * np.i0(x)

    return tuple(chebyshev.chebinterpolate(head, 28)), tuple(chebyshev.chebinterpolate(tail, 24))


def _i0_from_infinity(far):
    """Asymptotic series of `exp(-x) sqrt(x) i0(x)` in `1 / x`, for `x` from 32 on."""
    term, total = 1.0, 1.0
    for k in range(1, 20):
        term = term * far * (2 * k - 1) ** 2 / (8 * k)
        total = total + term
    return total / math.sqrt(2.0 * math.pi)


def _chebyshev(y, coefficients):
    """Clenshaw's recurrence."""
    last = before = 0.0
    for c in reversed(coefficients[1:]):
        last, before = 2.0 * y * last - before + float(c), last
    return y * last - before + float(coefficients[0])


@composite
def isposinf(x: Tensor):
    """Which elements are positive infinity (`numpy.isposinf`).

    Args:
        x: real tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.isposinf([1.0, float("inf")])
    [False, True]
    """
    return logical_and(isinf(x), greater(x, 0))


@composite
def isneginf(x: Tensor):
    """Which elements are negative infinity (`numpy.isneginf`).

    Args:
        x: real tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.isneginf([1.0, float("-inf")])
    [False, True]
    """
    return logical_and(isinf(x), less(x, 0))


@composite
def isreal(x: Tensor):
    """Which elements have no imaginary part (`numpy.isreal`).

    Args:
        x: tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.isreal([1.0, 2.0])
    [ True,  True]
    """
    if dtypes.is_complex(dtype(x)):
        return equal(imag(x), 0)
    from kerata.ops.creation import ones_like

    return ones_like(x, "bool")


@composite
def signbit(x: Tensor):
    """Which elements carry a minus sign; -0.0 does (`numpy.signbit`).

    Args:
        x: real tensor of any shape.

    Returns:
        Boolean tensor of `x`'s shape.

    >>> ops.signbit([-0.0, 1.0, -2])
    [ True, False,  True]
    """
    kind = dtype(x)
    if kind == "bool" or kind.startswith("uint"):
        return less(cast(x, "int32"), 0) if kind == "bool" else not_equal(x, x)
    if dtypes.is_float(kind):
        bits = {2: "int16", 4: "int32", 8: "int64"}[dtypes.to_numpy_dtype(kind).itemsize]
        x = bitcast(x, bits)
    return less(x, 0)


@primitive(rule=rules.bitcast)
def bitcast(x: Index, dtype):
    """The same bits read as another dtype; a dtype of another size adds or removes a last dimension.

    Args:
        x: tensor of any shape.
        dtype: name of the dtype.

    Returns:
        Tensor of that dtype.
    """
    return x, dtypes.standardize_dtype(dtype)


@composite
def saturate_cast(x: Tensor, dtype):
    """Convert to another dtype; what it can't hold becomes its largest or smallest number.

    Args:
        x: tensor of any shape.
        dtype: name of the new dtype.

    Returns:
        Tensor of `x`'s shape and the new dtype.

    >>> ops.saturate_cast([300.0, -5.0], "uint8")
    [255, 0]
    """
    target = dtypes.standardize_dtype(dtype)
    source = globals()["dtype"](x)
    low, high = _limits(source)
    to_low, to_high = _limits(target)
    if to_low > low or to_high < high:
        x = clip(x, _inside(builtins.max(low, to_low), source), _inside(builtins.min(high, to_high), source))
    return cast(x, target)


def _limits(name):
    if name == "bool":
        return 0, 1
    if dtypes.is_int(name):
        info = np.iinfo(name)
        return int(info.min), int(info.max)
    import ml_dtypes

    info = ml_dtypes.finfo(name)
    return float(info.min), float(info.max)


def _inside(bound, name):
    """The number of dtype `name` next to `bound` towards 0: rounding up would leave the target's range."""
    if not dtypes.is_float(name) or name == "float64":
        return bound
    kind = dtypes.to_numpy_dtype(name)
    near = kind.type(bound)
    if builtins.abs(float(near)) > builtins.abs(bound):
        near = (
            np.nextafter(near.astype("float32"), np.float32(0))
            if name == "float32"
            else (np.array(near).view(f"u{kind.itemsize}") - 1).view(kind)
        )
    return float(near)


@composite
def nan_to_num(x: Tensor, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers (`numpy.nan_to_num`).

    Args:
        x: tensor of any shape.
        nan: number for NaN.
        posinf, neginf: numbers for the infinities, by default the largest and smallest of the dtype.

    Returns:
        Tensor of `x`'s shape and dtype.

    >>> ops.nan_to_num([1.0, float("nan")])
    [1., 0.]
    """
    kind = dtype(x)
    if not dtypes.is_float(kind):
        return x
    low, high = _limits(kind)
    x = where(isnan(x), cast(nan, kind), x)
    x = where(isposinf(x), cast(high if posinf is None else posinf, kind), x)
    return where(isneginf(x), cast(low if neginf is None else neginf, kind), x)


@composite
def fmax(x1: Tensor, x2: Tensor):
    """Larger of two tensors, element by element; a number wins over NaN (`numpy.fmax`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.fmax([1.0, float("nan")], 0.0)
    [1., 0.]
    """
    return where(isnan(x1), x2, where(isnan(x2), x1, maximum(x1, x2)))


@composite
def fmin(x1: Tensor, x2: Tensor):
    """Smaller of two tensors, element by element; a number wins over NaN (`numpy.fmin`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.fmin([1.0, float("nan")], 2.0)
    [1., 2.]
    """
    return where(isnan(x1), x2, where(isnan(x2), x1, minimum(x1, x2)))


@composite
def fmod(x1: Number, x2: Number):
    """Remainder with the sign of the dividend (`numpy.fmod`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.fmod([-7, 7], 3)
    [-1, 1]
    """
    kind = dtype(x1)
    if kind.startswith("uint"):
        return mod(x1, x2)
    rest = mod(abs(x1), abs(x2))
    return where(less(x1, 0), negative(rest), rest)


@composite
def gcd(x1: Tensor, x2: Tensor):
    """Greatest common divisor (`numpy.gcd`), by Euclid's algorithm.

    Args:
        x1, x2: integer tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.gcd([12, 7], 18)
    [6, 1]
    """
    from kerata.ops.control import while_loop
    from kerata.ops.reduction import any

    if not dtypes.is_int(dtype(x1)):
        raise ValueError(f"gcd: integers have a common divisor, but the dtype is {dtype(x1)}.")
    a, b = add(abs(x1), multiply(x2, 0)), add(abs(x2), multiply(x1, 0))

    def step(a, b):
        done = equal(b, 0)
        return where(done, a, b), where(done, 0, mod(a, where(done, 1, b)))

    return while_loop(lambda a, b: any(not_equal(b, 0)), step, (a, b))[0]


@composite
def lcm(x1: Tensor, x2: Tensor):
    """Least common multiple (`numpy.lcm`).

    Args:
        x1, x2: integer tensors whose shapes broadcast.

    Returns:
        Tensor of the broadcast shape, dtype `result_type(x1, x2)`.

    >>> ops.lcm([4, 6], 10)
    [20, 30]
    """
    common = gcd(x1, x2)
    return multiply(floor_divide(abs(x1), where(equal(common, 0), 1, common)), abs(x2))


@composite
def heaviside(x1: Float, x2: Float):
    """Step function: 0 below zero, `x2` at zero, 1 above (`numpy.heaviside`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.heaviside([-1.0, 0.0, 2.0], 0.5)
    [0. , 0.5, 1. ]
    """
    # Of NaN the sign is NaN.
    return where(equal(x1, 0), x2, sign(maximum(x1, 0.0)))


@composite
def hypot(x1: Float, x2: Float):
    """`sqrt(x1² + x2²)`, without overflow on the way (`numpy.hypot`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.hypot(3.0, 4.0)
    5.
    """
    a, b = abs(x1), abs(x2)
    big, small = maximum(a, b), minimum(a, b)
    safe = where(equal(big, 0), 1.0, big)
    ratio = where(isinf(safe), 0.0, small / safe)
    # Infinite if a side is, be the other no number at all.
    root = where(logical_or(isinf(a), isinf(b)), float("inf"), safe * sqrt(1.0 + ratio * ratio))
    return where(equal(big, 0), big, root)


@composite
def ldexp(x1: Float, x2: Index):
    """`x1 * 2 ** x2` (`numpy.ldexp`).

    Args:
        x1: floating tensor.
        x2: integer tensor; shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.ldexp([1.5], [2])
    [6.]
    """
    if not dtypes.is_int(dtype(x2)) and dtype(x2) != "bool":
        raise ValueError(f"ldexp: the exponents must be integers, but their dtype is {dtype(x2)}.")
    return multiply(x1, exp2(cast(x2, dtype(x1))))


@composite
def logaddexp(x1: Float, x2: Float):
    """`log(exp(x1) + exp(x2))`, without overflow (`numpy.logaddexp`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.round(ops.logaddexp(0.0, 0.0), 4)
    0.6931
    """
    return _log_sum(x1, x2, lambda d: log1p(exp(d)), math.log(2.0))


@composite
def logaddexp2(x1: Float, x2: Float):
    """`log2(2 ** x1 + 2 ** x2)`, without overflow (`numpy.logaddexp2`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.logaddexp2(3.0, 3.0)
    4.
    """
    return _log_sum(x1, x2, lambda d: log1p(exp2(d)) * (1.0 / math.log(2.0)), 1.0)


def _log_sum(x1, x2, of_difference, of_equals):
    # Equal numbers stand apart: infinities have no difference, and the gradient is half of each one's.
    same = equal(x1, x2)
    difference = where(same, 0.0, x1 - x2)
    larger = where(difference >= 0, x1, x2) + of_difference(negative(abs(difference)))
    return where(same, x1 * 0.5 + x2 * 0.5 + of_equals, larger)


@composite
def divide_no_nan(x1: Float, x2: Float):
    """Quotient, with 0 where the divisor is 0 (`tf.math.divide_no_nan`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.

    Returns:
        Floating tensor of the broadcast shape.

    >>> ops.divide_no_nan([1.0, 2.0], [0.0, 4.0])
    [0. , 0.5]
    """
    zero = equal(x2, 0)
    return where(zero, 0.0, x1 / where(zero, 1.0, x2))


@composite
def isclose(x1: Tensor, x2: Tensor, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether `|x1 - x2| <= atol + rtol * |x2|`, element by element (`numpy.isclose`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.
        rtol, atol: relative and absolute tolerance.
        equal_nan: whether NaN is close to NaN.

    Returns:
        Boolean tensor of the broadcast shape.

    >>> ops.isclose([1.0, 2.0], [1.0, 2.1])
    [ True, False]
    """
    if not (dtypes.is_float(dtype(x1)) or dtypes.is_complex(dtype(x1))):
        x1, x2 = cast(x1, "float32"), cast(x2, "float32")
    # An infinite tolerance isn't one; no other lets an infinite or missing difference pass.
    near = logical_and(isfinite(x2), less_equal(abs(x1 - x2), atol + rtol * abs(x2)))
    result = logical_or(near, equal(x1, x2))
    return logical_or(result, logical_and(isnan(x1), isnan(x2))) if equal_nan else result


@composite
def allclose(x1: Tensor, x2: Tensor, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close (`numpy.allclose`).

    Args:
        x1, x2: tensors or numbers whose shapes broadcast.
        rtol, atol: relative and absolute tolerance.
        equal_nan: whether NaN is close to NaN.

    Returns:
        Boolean scalar.

    >>> ops.allclose([1.0, 2.0], [1.0, 2.1])
    False
    """
    from kerata.ops.reduction import all

    return all(isclose(x1, x2, rtol, atol, equal_nan))


def select(condlist, choicelist, default=0):
    """The first choice whose condition holds, element by element (`numpy.select`).

    Args:
        condlist: list of boolean tensors.
        choicelist: as many tensors; shapes broadcast.
        default: value where no condition holds.

    Returns:
        Tensor of the broadcast shape and common dtype.

    >>> ops.select([[True, False]], [[1, 2]], 9)
    [1, 9]
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: {len(condlist)} conditions and {len(choicelist)} choices are given; as many are needed."
        )
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        result = where(condition, choice, result)
    return result


def copy(x):
    """A copy of a tensor (`numpy.copy`).

    Args:
        x: tensor, or anything that can be made one.

    Returns:
        Tensor of the same shape and dtype.

    >>> ops.copy([1, 2])
    [1, 2]
    """
    return copied(x)


@composite
def copied(x: Index):
    """The same values in a tensor of their own."""
    kind = dtype(x)
    if kind == "bool":
        return logical_or(x, False)
    return multiply(x, cast(1, kind))


def array(x, dtype=None):
    """A tensor with the given values (`numpy.array`).

    Args:
        x: nested list of numbers, array or tensor.
        dtype: by default that of `x`.

    Returns:
        Tensor.

    >>> ops.array([1, 2])
    [1, 2]
    """
    from kerata.ops.core import convert_to_tensor

    return convert_to_tensor(x, dtype)


def view(x, dtype=None):
    """The same bits read as another dtype (`numpy.ndarray.view`).

    Args:
        x: tensor of any shape.
        dtype: name of the dtype; one of another size lengthens or shortens the last dimension.

    Returns:
        Tensor of that dtype.

    >>> ops.view(np.float32([1.0]), "int32")
    [1065353216]
    """
    from kerata.ops.core import convert_to_tensor

    return convert_to_tensor(x) if dtype is None else viewed(x, dtypes.standardize_dtype(dtype))


@composite
def viewed(x: Index, dtype):
    """`bitcast`, with what it adds to or takes from the shape in the last dimension."""
    from kerata.ops.core import shape as shape_of
    from kerata.ops.movement import reshape

    old = dtypes.to_numpy_dtype(globals()["dtype"](x)).itemsize
    new = dtypes.to_numpy_dtype(dtype).itemsize
    if old == new:
        return bitcast(x, dtype)
    shape = shape_of(x)
    if not shape:
        raise ValueError(f"view: a scalar of {old} bytes can't be read as {dtype}, which has {new}.")
    if new < old:
        return reshape(bitcast(x, dtype), (*shape[:-1], shape[-1] * (old // new)))
    if isinstance(x.shape[-1], int) and x.shape[-1] % (new // old):
        raise ValueError(
            f"view: the last dimension of {tuple(x.shape)} must be divisible by {new // old} to be read as {dtype}."
        )
    return bitcast(reshape(x, (*shape[:-1], shape[-1] // (new // old), new // old)), dtype)
