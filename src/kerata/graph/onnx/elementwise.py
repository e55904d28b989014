"""Elementwise ops."""

import math

import numpy as np

from kerata import ops
from kerata.core import dtypes
from kerata.graph.onnx.table import emits, emits_each, lowers
from kerata.graph.tensor import KerasTensor


def _operands_dtype(*tensors):
    """The dtype that an op's operands have together; Python numbers take it on."""
    return next(dtypes.standardize_dtype(t.dtype) for t in tensors if hasattr(t, "dtype"))


# ------------------------------------------------------------------ one operand


@emits_each(
    {
        "negative": "Neg", "abs": "Abs", "sign": "Sign", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
        "sin": "Sin", "cos": "Cos", "tan": "Tan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
        "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "arcsinh": "Asinh", "arccosh": "Acosh",
        "arctanh": "Atanh", "erf": "Erf", "floor": "Floor", "ceil": "Ceil", "sigmoid": "Sigmoid",
        "relu": "Relu",
    }
)  # fmt: skip
def _unary(kind, w, out, x):
    if out.dtype == "bool":
        return w.name(x)
    return w.arithmetic(kind, out.dtype, x)


@emits("stop_gradient", "real", "conj")
def _same(w, out, x):
    return w.name(x)


@lowers("imag")
def _imag(x):
    return ops.zeros_like(x)


@emits("cast")
def _cast(w, out, x, dtype):
    return w.cast(w.name(x), w.dtype(x), w.dtype(out))


@emits("square")
def _square(w, out, x):
    return w.arithmetic("Mul", out.dtype, x, x)


@emits("rsqrt")
def _rsqrt(w, out, x):
    return w.op("Reciprocal", w.op("Sqrt", x))


@emits("round")
def _round(w, out, x, decimals):
    if not dtypes.is_float(out.dtype):
        if decimals >= 0:
            return w.name(x)
        return w.inline(lambda x: ops.cast(ops.round(ops.cast(x, "float32"), decimals), out.dtype), [x])
    if decimals == 0:
        return w.op("Round", x)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return w.inline(lambda x: ops.round(x * scale) / scale, [x])
    return w.inline(lambda x: ops.round(x / scale) * scale, [x])


@lowers("trunc")
def _trunc(x):
    return ops.where(x < 0, ops.ceil(x), ops.floor(x)) if dtypes.is_float(x.dtype) else x


@lowers("exp2")
def _exp2(x):
    return ops.power(2.0, x)


@lowers("log2")
def _log2(x):
    return ops.log(x) * (1 / math.log(2))


@lowers("log10")
def _log10(x):
    return ops.log(x) * (1 / math.log(10))


@lowers("log1p")
def _log1p(x):
    # Kahan's: the rounding of 1 + x is made good by the factor x / ((1 + x) - 1).
    u = 1 + x
    d = u - 1
    usual = ops.log(u) * (x / ops.where(ops.equal(d, 0), 1.0, d))
    return ops.where(ops.equal(d, 0), x, ops.where(ops.isinf(u), u, usual))


@lowers("expm1")
def _expm1(x):
    # Kahan's, likewise: exp(x) - 1 by way of the rounded exp(x) and its exact logarithm.
    u = ops.exp(x)
    near = (u > 0.3) & (u < 3.0) & (u != 1)
    usual = (u - 1) * (x / ops.log(ops.where(near, u, 2.0)))
    return ops.where(ops.equal(u, 1), x, ops.where(near, usual, u - 1))


@lowers("erfc")
def _erfc(x):
    # Close to 0 the complement; away from it a continued fraction, since the complement would cancel.
    far = ops.abs(x) > 2
    a = ops.where(far, ops.abs(x), 2.0)
    fraction = a
    for k in range(24, 0, -1):
        fraction = a + (k / 2) / fraction
    tail = ops.exp(-a * a) / (fraction * math.sqrt(math.pi))
    return ops.where(far, ops.where(x > 0, tail, 2 - tail), 1 - ops.erf(x))


# Giles, "Approximating the erfinv function" (2010), single precision: near 0 and in the tails.
_ERFINV_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
    -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
    0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def _polynomial(x, coefficients):
    result = coefficients[0]
    for c in coefficients[1:]:
        result = result * x + c
    return result


@lowers("erfinv")
def _erfinv(x):
    w = -ops.log((1 - x) * (1 + x))
    tail = w >= 5
    centre = _polynomial(ops.where(tail, 0.0, w) - 2.5, _ERFINV_CENTRE)
    outer = _polynomial(ops.sqrt(ops.where(tail & ops.isfinite(w), w, 5.0)) - 3, _ERFINV_TAIL)
    return ops.where(ops.isinf(w), x * math.inf, ops.where(tail, outer, centre) * x)


# Lanczos's approximation with g = 7 and 9 terms.
_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


@lowers("lgamma")
def _lgamma(x):
    # Below 1/2 by reflection; computed in float64, since the terms of the sum cancel.
    y = ops.cast(x, "float64")
    low = y < 0.5
    z = ops.where(low, 1 - y, y) - 1
    series = _LANCZOS[0]
    for i, c in enumerate(_LANCZOS[1:], 1):
        series = series + c / (z + i)
    t = z + 7.5
    result = 0.5 * math.log(2 * math.pi) + (z + 0.5) * ops.log(t) - t + ops.log(series)
    fraction = y - ops.floor(y)
    # sin(pi y) of the fraction alone keeps its digits for large |y|; runtimes know it in float32 only.
    sine = ops.cast(ops.sin(ops.cast(fraction * math.pi, "float32")), "float64")
    reflected = math.log(math.pi) - ops.log(ops.abs(ops.where(ops.equal(fraction, 0), 0.0, sine))) - result
    return ops.cast(ops.where(ops.isinf(y), math.inf, ops.where(low, reflected, result)), x.dtype)


@lowers("digamma")
def _digamma(x):
    # The recurrence up to 6, then the asymptotic series; below 1/2 by reflection.
    y = ops.cast(x, "float64")
    low = y < 0.5
    z = ops.where(low, 1 - y, y)
    result = 0.0
    for _ in range(6):
        small = z < 6
        result = result - ops.where(small, 1 / ops.where(small, z, 1.0), 0.0)
        z = ops.where(small, z + 1, z)
    r = 1 / (z * z)
    series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132)))))
    result = result + ops.log(z) - 0.5 / z - series
    turn = ops.cast((y - ops.floor(y)) * math.pi, "float32")
    cotangent = ops.cast(ops.cos(turn) / ops.sin(turn), "float64")
    return ops.cast(ops.where(low, result - math.pi * cotangent, result), x.dtype)


@emits("isnan")
def _isnan(w, out, x):
    if not dtypes.is_float(w.dtype(x)):
        return w.inline(lambda x: ops.zeros_like(x, dtype="bool"), [x])
    return w.op("IsNaN", x)


@emits("isinf")
def _isinf(w, out, x):
    dtype = w.dtype(x)
    if not dtypes.is_float(dtype):
        return w.inline(lambda x: ops.zeros_like(x, dtype="bool"), [x])
    return w.op("IsInf", w.cast(w.name(x), dtype, "float32") if dtype == "float16" else x)


@lowers("isfinite")
def _isfinite(x):
    return ~(ops.isnan(x) | ops.isinf(x))


@lowers("angle")
def _angle(x):
    return ops.where(ops.isnan(x), x, ops.where(x < 0, math.pi, 0.0))


@emits("signbit")
def _signbit(w, out, x):
    if not dtypes.is_float(w.dtype(x)):
        return NotImplemented
    # A zero's sign shows in its inverse.
    return w.inline(lambda x: ops.where(ops.equal(x, 0), 1 / x, x) < 0, [x])


# ------------------------------------------------------------------ two operands


@emits_each(
    {"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "maximum": "Max", "minimum": "Min"}
)
def _binary(kind, w, out, x1, x2):
    if out.dtype == "bool":
        return w.op(
            {"Add": "Or", "Mul": "And", "Max": "Or", "Min": "And"}[kind],
            w.name(x1, "bool"),
            w.name(x2, "bool"),
        )
    return w.arithmetic(kind, out.dtype, x1, x2)


@emits("power")
def _power(w, out, x1, x2):
    return w.arithmetic("Pow", out.dtype, x1, x2)


def _integer_division(w, out, x1, x2, divide):
    """An integer division with 0 as the result where the divisor is 0, which would end the process in the
    runtimes.
    """
    x1, x2 = _tensors(out.dtype, x1, x2)
    array = w.known(x2)
    if array is not None and np.all(array != 0):
        return divide(x1, x2)
    safe = bound(w, x2, w.inline(lambda b: ops.where(ops.equal(b, 0), 1, b), [x2]))
    quotient = bound(w, out, divide(x1, safe))
    return w.inline(lambda q, b: ops.where(ops.equal(b, 0), 0, q), [quotient, x2])


def bound(w, like, name):
    """A tensor of the shape and dtype of `like` under this name."""
    tensor = KerasTensor(like.shape, like.dtype)
    w.bind(tensor, name)
    return tensor


@emits("mod")
def _mod(w, out, x1, x2):
    dtype = out.dtype
    if not dtypes.is_float(dtype):
        return _integer_division(w, out, x1, x2, lambda a, b: w.arithmetic("Mod", dtype, a, b))
    # fmod has the sign of the dividend.
    rest = bound(w, out, w.arithmetic("Mod", dtype, x1, x2, fmod=1))

    def with_sign_of_divisor(rest, x2):
        return ops.where((rest != 0) & ((rest < 0) != (x2 < 0)), rest + x2, rest)

    return w.inline(with_sign_of_divisor, [rest, *_tensors(dtype, x2)])


def _tensors(dtype, *values):
    """Numbers among them as arrays, so that conditions on them are tensors too."""
    return [np.asarray(v, dtypes.to_numpy_dtype(dtype)) if isinstance(v, (int, float)) else v for v in values]


@emits("floor_divide")
def _floor_divide(w, out, x1, x2):
    dtype = out.dtype
    x1, x2 = _tensors(dtype, x1, x2)
    if dtypes.is_float(dtype):
        # By way of the remainder, as Python does it: the quotient may round up across an integer.
        return w.inline(
            lambda a, b: ops.where(ops.equal(b, 0), a / b, ops.round((a - ops.mod(a, b)) / b)), [x1, x2]
        )

    def divide(a, b):
        quotient = bound(w, out, w.arithmetic("Div", dtype, a, b))
        return w.inline(
            lambda q, a, b: q - ops.cast((q * b != a) & ((a < 0) != (b < 0)), dtype), [quotient, a, b]
        )

    return _integer_division(w, out, x1, x2, divide)


@lowers("arctan2")
def _arctan2(y, x):
    half = math.pi / 2
    upright = ops.where(y > 0, half, ops.where(y < 0, -half, y))
    turned = ops.where(x < 0, ops.where(y < 0, -math.pi, math.pi), 0.0)
    slanted = ops.arctan(y / ops.where(ops.equal(x, 0), 1.0, x)) + turned
    return ops.where(ops.equal(x, 0), upright, slanted)


@emits_each(
    {
        "equal": "Equal",
        "less": "Less",
        "less_equal": "LessOrEqual",
        "greater": "Greater",
        "greater_equal": "GreaterOrEqual",
    }
)
def _compare(kind, w, out, x1, x2):
    dtype = _operands_dtype(x1, x2)
    if kind == "Equal" and dtype == "bool":
        return w.op("Equal", x1, x2)
    return w.arithmetic(kind, dtype, x1, x2, gives="bool")


@emits("not_equal")
def _not_equal(w, out, x1, x2):
    return w.op("Not", _compare("Equal", w, out, x1, x2))


@emits_each({"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not"})
def _logical(kind, w, out, *operands):
    return w.op(kind, *operands)


@emits_each(
    {
        "bitwise_and": ("BitwiseAnd", "And"),
        "bitwise_or": ("BitwiseOr", "Or"),
        "bitwise_xor": ("BitwiseXor", "Xor"),
        "bitwise_not": ("BitwiseNot", "Not"),
    }
)
def _bits(kinds, w, out, *operands):
    return w.op(kinds[out.dtype == "bool"], *operands)


@lowers("left_shift")
def _left_shift(x, y):
    return ops.cast(ops.cast(x, "int64") * ops.power(2, ops.cast(y, "int64")), x.dtype)


@lowers("right_shift")
def _right_shift(x, y):
    return ops.cast(ops.floor_divide(ops.cast(x, "int64"), ops.power(2, ops.cast(y, "int64"))), x.dtype)


# ------------------------------------------------------------------ choice


@emits("where")
def _where(w, out, condition, x1, x2):
    return _chosen(w, condition, w.name(x1, out.dtype), w.name(x2, out.dtype), w.dtype(out))


def _chosen(w, condition, x1, x2, dtype):
    wide = (
        "int32"
        if dtype in ("bool", "int8", "int16", "uint16")
        else "int64"
        if dtype in ("uint32", "uint64")
        else dtype
    )
    return w.cast(w.op("Where", condition, w.cast(x1, dtype, wide), w.cast(x2, dtype, wide)), wide, dtype)


@emits("clip")
def _clip(w, out, x, x_min, x_max):
    bounds = [w.known(b) for b in (x_min, x_max)]
    if all(b is not None and b.size == 1 for b in bounds) and out.shape == tuple(x.shape):
        dtype = dtypes.to_numpy_dtype(w.dtype(out))
        low, high = (b.reshape(()).astype(dtype) for b in bounds)
        if low <= high:
            return w.op("Clip", x, w.constant(low), w.constant(high))
    return w.arithmetic("Min", out.dtype, w.arithmetic("Max", out.dtype, x, x_min), x_max)
