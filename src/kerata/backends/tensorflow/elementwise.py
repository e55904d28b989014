"""Elementwise natives on TensorFlow.

Raw operations take tensors straight to the kernel; `tf.add` and its like look for ragged and sparse tensors first,
which costs as much again. Dtypes without a kernel go through one that has.
"""

import math

from kerata.backends.tensorflow.core import VALUES_ALONE, tf
from kerata.backends.tensorflow.eager_calls import in_one, is_few

_raw = tf.raw_ops
# In a graph a number in front gets a dtype of its own, not that of the tensor.
_NUMBERS = (int, float)
_NARROW = (tf.bfloat16, tf.float16)


def _unary(operation, in_float32=False):
    """A one-argument kernel; `in_float32` where it lacks the half precisions."""
    if not in_float32:

        def native(x):
            return operation(x=x)
    else:

        def native(x):
            if x.dtype in _NARROW:
                return tf.cast(operation(x=tf.cast(x, tf.float32)), x.dtype)
            return operation(x=x)

    return native


def _binary(operation):
    def native(x1, x2):
        try:
            return operation(x=x1, y=x2)
        except (TypeError, ValueError):
            if type(x1) not in _NUMBERS:
                raise
        return operation(x=tf.constant(x1, x2.dtype), y=x2)

    return native


def _or_for_bool(operation, on_bool):
    """A two-argument kernel, another for booleans. Asking only after it fails costs the others nothing."""

    def native(x1, x2):
        try:
            return operation(x=x1, y=x2)
        except (TypeError, ValueError, tf.errors.InvalidArgumentError):
            if type(x1) in _NUMBERS:
                return operation(x=tf.constant(x1, x2.dtype), y=x2)
            if x1.dtype != tf.bool:
                raise
        return on_bool(x1, x2)

    return native


def logical_not(x):
    return _raw.LogicalNot(x=x)


exp = _unary(_raw.Exp)
expm1 = _unary(_raw.Expm1)
log = _unary(_raw.Log)
log1p = _unary(_raw.Log1p)
sqrt = _unary(_raw.Sqrt)
rsqrt = _unary(_raw.Rsqrt)
sin = _unary(_raw.Sin)
cos = _unary(_raw.Cos)
tan = _unary(_raw.Tan)
sinh = _unary(_raw.Sinh)
cosh = _unary(_raw.Cosh)
tanh = _unary(_raw.Tanh)
arcsin = _unary(_raw.Asin)
arccos = _unary(_raw.Acos)
arctan = _unary(_raw.Atan)
arcsinh = _unary(_raw.Asinh)
arccosh = _unary(_raw.Acosh)
arctanh = _unary(_raw.Atanh)
erf = _unary(_raw.Erf)
erfc = _unary(_raw.Erfc)
erfinv = _unary(_raw.Erfinv, in_float32=True)
sigmoid = _unary(_raw.Sigmoid)
lgamma = _unary(_raw.Lgamma, in_float32=True)
digamma = _unary(_raw.Digamma, in_float32=True)
square = _unary(_raw.Square)
subtract = _binary(_raw.Sub)
divide = _binary(_raw.RealDiv)
true_divide = divide
mod = _binary(_raw.FloorMod)
logical_and = _binary(_raw.LogicalAnd)
logical_or = _binary(_raw.LogicalOr)
arctan2 = _binary(lambda x, y: _raw.Atan2(y=x, x=y))
left_shift = _binary(_raw.LeftShift)
right_shift = _binary(_raw.RightShift)
add = _or_for_bool(_raw.AddV2, tf.logical_or)
multiply = _or_for_bool(_raw.Mul, tf.logical_and)
maximum = _or_for_bool(_raw.Maximum, tf.logical_or)
minimum = _or_for_bool(_raw.Minimum, tf.logical_and)
less = _or_for_bool(_raw.Less, lambda a, b: tf.logical_and(~a, b))
less_equal = _or_for_bool(_raw.LessEqual, lambda a, b: tf.logical_or(~a, b))
greater = _or_for_bool(_raw.Greater, lambda a, b: tf.logical_and(a, ~b))
greater_equal = _or_for_bool(_raw.GreaterEqual, lambda a, b: tf.logical_or(a, ~b))
bitwise_and = _or_for_bool(_raw.BitwiseAnd, tf.logical_and)
bitwise_or = _or_for_bool(_raw.BitwiseOr, tf.logical_or)
bitwise_xor = _or_for_bool(_raw.BitwiseXor, tf.math.logical_xor)


equal = _binary(_raw.Equal)
not_equal = _binary(_raw.NotEqual)


def logical_xor(x1, x2):
    return tf.math.logical_xor(x1, x2)


def negative(x):
    return tf.zeros((), x.dtype) - x if x.dtype.is_unsigned else _raw.Neg(x=x)


def abs(x):
    return x if x.dtype.is_bool or x.dtype.is_unsigned else tf.abs(x)


def sign(x):
    if x.dtype.is_bool:
        return x
    return tf.cast(x != 0, x.dtype) if x.dtype.is_unsigned else tf.sign(x)


def bitwise_not(x):
    return tf.logical_not(x) if x.dtype.is_bool else _raw.Invert(x=x)


def log2(x):
    return tf.math.log(x) * tf.constant(1.4426950408889634, x.dtype)


def log10(x):
    return tf.math.log(x) * tf.constant(0.4342944819032518, x.dtype)


def exp2(x):
    return tf.pow(tf.constant(2, x.dtype), x)


def floor(x):
    return _raw.Floor(x=x) if x.dtype.is_floating else x


def ceil(x):
    return _raw.Ceil(x=x) if x.dtype.is_floating else x


@in_one
def trunc(x):
    # There is no kernel that cuts: towards zero is floor of the absolute value, with the sign.
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x)) if x.dtype.is_floating else x


@in_one
def round(x, decimals):
    if x.dtype.is_complex:
        return tf.complex(round(tf.math.real(x), decimals), round(tf.math.imag(x), decimals))
    if not x.dtype.is_floating:
        return x if decimals >= 0 else _round_integers(x, 10**-decimals)
    if decimals == 0:
        return tf.round(x)
    scale = tf.constant(10.0 ** (decimals if decimals > 0 else -decimals), x.dtype)
    return tf.round(x * scale) / scale if decimals > 0 else tf.round(x / scale) * scale


def _round_integers(x, unit):
    quotient = x // unit
    twice = 2 * (x - quotient * unit)
    up = (twice > unit) | ((twice == unit) & (quotient % 2 == 1))
    return (quotient + tf.cast(up, x.dtype)) * unit


@in_one
def floor_divide(x1, x2):
    """Floor of the exact quotient: the floor of the rounded one is wrong for 1 / 0.1."""
    dtype = x2.dtype if type(x1) in _NUMBERS else x1.dtype
    x1, x2 = tf.cast(x1, dtype), tf.cast(x2, dtype)
    if not dtype.is_floating:
        return _raw.FloorDiv(x=x1, y=x2)
    return _floor_eagerly(x1, x2) if tf.executing_eagerly() else _exact_floor(x1, x2)


def _floor_eagerly(x1, x2):
    """Only where rounding led to an integer may the exact quotient be just below it."""
    quotient = x1 / x2
    if not quotient.shape.rank:
        return _exact_floor(x1, x2)
    below = tf.floor(quotient)
    doubtful = quotient == below
    if not tf.reduce_any(doubtful):
        return below
    at = tf.where(doubtful)
    if 8 * len(at) > tf.size(below):
        return _exact_floor(x1, x2)
    x1, x2 = (tf.gather_nd(tf.broadcast_to(x, below.shape), at) for x in (x1, x2))
    return tf.tensor_scatter_nd_update(below, at, _exact_floor(x1, x2))


def _exact_floor(x1, x2):
    rest = tf.math.floormod(x1, x2)
    quotient = tf.round((x1 - rest) / x2)
    # Where the divisor is 0 or infinite, IEEE's quotient stands, which is just below 0 where it's -0; infinity has none.
    ratio = x1 / x2
    below = tf.where(tf.math.is_inf(x2) & (x1 * tf.sign(x2) < 0), -tf.ones((), x1.dtype), tf.floor(ratio))
    below = tf.where(tf.math.is_inf(x1) & (x2 != 0), tf.constant(math.nan, x1.dtype), below)
    return tf.where(tf.math.is_finite(quotient) & tf.math.is_finite(x2), quotient, below)


def isnan(x):
    return _raw.IsNan(x=x) if x.dtype.is_floating else _test(tf.math.is_nan, x, False)


def isinf(x):
    return _raw.IsInf(x=x) if x.dtype.is_floating else _test(tf.math.is_inf, x, False)


def isfinite(x):
    return _raw.IsFinite(x=x) if x.dtype.is_floating else _test(tf.math.is_finite, x, True)


def _test(test, x, integer):
    if x.dtype.is_complex:
        parts = test(tf.math.real(x)), test(tf.math.imag(x))
        return tf.logical_and(*parts) if integer else tf.logical_or(*parts)
    return tf.fill(tf.shape(x), integer)


def isposinf(x):
    return x == float("inf") if x.dtype.is_floating else tf.fill(tf.shape(x), False)


def isneginf(x):
    return x == float("-inf") if x.dtype.is_floating else tf.fill(tf.shape(x), False)


def relu(x):
    return _raw.Relu(features=x)


def real(x):
    return tf.math.real(x) if x.dtype.is_complex else x


def imag(x):
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


def conj(x):
    return tf.math.conj(x) if x.dtype.is_complex else x


@in_one
def angle(x):
    if x.dtype.is_complex:
        return tf.math.angle(x)
    angles = where(x < 0, tf.constant(math.pi, x.dtype), tf.zeros((), x.dtype))
    if tf.executing_eagerly() and not tf.math.is_nan(tf.reduce_sum(x)):
        return angles
    # NaN stays NaN.
    return tf.maximum(angles, tf.minimum(tf.stop_gradient(x), 0))


def where(condition, x1, x2):
    if type(x1) in _NUMBERS:
        x1 = tf.constant(x1, x2.dtype)
    elif type(x2) in _NUMBERS:
        x2 = tf.constant(x2, x1.dtype)
    shape = x1._shape_tuple()
    # The older kernel doesn't broadcast, but takes a third of the time, and of a condition for whole rows a tenth.
    if shape and shape == x2._shape_tuple() and None not in shape:
        chosen = condition._shape_tuple()
        if chosen == shape:
            return _raw.Select(condition=condition, x=x1, y=x2)
        if chosen == (shape[0],) + (1,) * (len(shape) - 1):
            return _raw.Select(condition=tf.reshape(condition, (-1,)), x=x1, y=x2)
    return _raw.SelectV2(condition=condition, t=x1, e=x2)


def clip(x, x_min, x_max):
    if type(x) in _NUMBERS:
        x = tf.constant(x, (x_max if type(x_min) in _NUMBERS else x_min).dtype)
    return _raw.Minimum(x=_raw.Maximum(x=x, y=x_min), y=x_max)


complex_of = tf.complex


_power = _binary(_raw.Pow)
_nextafter = _binary(lambda x, y: _raw.NextAfter(x1=x, x2=y))
_SMALL_UNSIGNED = frozenset({tf.uint8, tf.uint16})


def power(x1, x2):
    kind = next(x.dtype for x in (x1, x2) if hasattr(x, "dtype"))
    if kind in _SMALL_UNSIGNED:  # which the kernel doesn't know
        return tf.cast(_power(tf.cast(x1, tf.int32), tf.cast(x2, tf.int32)), kind)
    return _power(x1, x2)


def nextafter(x1, x2):
    kind = x1.dtype
    if kind not in (tf.float16, tf.bfloat16):
        return _nextafter(x1, x2)
    # The bits, as an integer, count the numbers on from zero; the sign is one of them.
    bits = tf.cast(tf.bitcast(x1, tf.int16), tf.int32)
    away = (x1 < x2) == (x1 > 0)
    stepped = tf.bitcast(tf.cast(tf.where(away, bits + 1, bits - 1), tf.int16), kind)
    smallest = tf.bitcast(tf.where(x2 > 0, tf.constant(1, tf.int16), tf.constant(-0x7FFF, tf.int16)), kind)
    stepped = tf.where(x1 == 0, smallest, stepped)
    return tf.where(x1 == x2, x2, tf.where(tf.math.is_nan(x1) | tf.math.is_nan(x2), x1 + x2, stepped))


reciprocal = _unary(_raw.Reciprocal)
i0 = _unary(_raw.BesselI0, in_float32=True)


def divide_no_nan(x1, x2):
    return tf.math.divide_no_nan(x1, x2)


def celu(x, alpha):
    if alpha == 1:
        return _raw.Elu(features=x)
    scale = tf.constant(alpha, x.dtype)
    return tf.where(x > 0, x, scale * _raw.Elu(features=x / scale))


@in_one
def nan_to_num(x, nan, posinf, neginf):
    if not x.dtype.is_floating:
        return x
    x = where(tf.math.is_nan(x), nan, x)
    if posinf is None and neginf is None:
        return tf.clip_by_value(x, x.dtype.min, x.dtype.max)
    x = where(isposinf(x), float(x.dtype.max) if posinf is None else posinf, x)
    return where(isneginf(x), float(x.dtype.min) if neginf is None else neginf, x)


_KERNELS = frozenset({tf.float32, tf.float64})


def _hypot(x1, x2):
    return _raw.ComplexAbs(x=tf.complex(x1, x2), Tout=x1.dtype) if x1.dtype in _KERNELS else NotImplemented


def _logaddexp(x1, x2, base):
    if x1.dtype not in _KERNELS or is_few(x1):
        return NotImplemented
    smaller = tf.math.log1p(tf.exp(tf.abs(x1 - x2) * -math.log(base)))
    result = tf.maximum(x1, x2) + (smaller if base == math.e else smaller * (1 / math.log(base)))
    # Equal infinities have no difference. The sum tells whether there's any.
    return NotImplemented if tf.math.is_nan(tf.reduce_sum(result)) else result


def _fmod(x1, x2):
    return _raw.TruncateMod(x=x1, y=x2) if x1.dtype in _KERNELS else NotImplemented


VALUES_ALONE |= {
    "hypot": _hypot,
    "logaddexp": lambda x1, x2: _logaddexp(x1, x2, math.e),
    "logaddexp2": lambda x1, x2: _logaddexp(x1, x2, 2),
    "fmod": _fmod,
    "copied": lambda x: _raw.DeepCopy(x=x),
}
