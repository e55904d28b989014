"""The table of op samples: one line, one case. `test_samples.py` says what is done with it.

`sample(op, tensors…, static arguments…, oracle=…)`: arrays and lists of arrays are the tensors, in float64 (tests
use float32); everything else is passed through. The oracle gets the tensors by position and the rest by name.
"""

import dataclasses
import math

import numpy as np
import scipy.linalg
import scipy.special

SAMPLES = []


@dataclasses.dataclass
class Sample:
    op: str
    arguments: dict
    oracle: object = None
    grad: bool = True  # checked by finite differences, where input and output are floating
    compiled: bool = True  # runs under jax.jit and tf.function
    tol: float = 2e-5
    gives: str | None = None  # dtype of the result; by default read off the oracle's kind
    label: str = ""

    def __str__(self):
        return self.label


def sample(op, *, oracle=None, grad=True, compiled=True, tol=2e-5, gives=None, **arguments):
    n = sum(s.op == op for s in SAMPLES)
    SAMPLES.append(Sample(op, arguments, oracle, grad, compiled, tol, gives, f"{op}-{n}" if n else op))


_random = np.random.default_rng(1729)


def f(*shape, low=-2.0, high=2.0):
    """Uniform floats."""
    return _random.uniform(low, high, shape)


def pos(*shape):
    """Floats well above 0."""
    return _random.uniform(0.5, 3.0, shape)


def apart(*shape):
    """Floats of both signs that differ pairwise and from 0 by more than a finite difference."""
    n = math.prod(shape)
    return (_random.permutation(n).reshape(shape) - n / 2 + 0.3) * 0.37


def i(*shape, low=-5, high=6, dtype="int32"):
    """Uniform integers."""
    return _random.integers(low, high, shape).astype(dtype)


def b(*shape):
    """Booleans."""
    return _random.integers(0, 2, shape).astype(bool)


def special(dtype="float64"):
    """Zeros, infinities, NaN."""
    return np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], dtype)


def spd(*shape):
    """Symmetric positive definite matrices."""
    a = _random.uniform(-1, 1, shape)
    return a @ np.swapaxes(a, -1, -2) + 2.0 * np.eye(shape[-1])


def rows(*shape):
    """Well conditioned square matrices."""
    return _random.uniform(-1, 1, shape) + 3.0 * np.eye(shape[-1])


# ------------------------------------------------------------------ elementwise

for name, values, oracle in [
    ("negative", f(3, 4), np.negative),
    ("abs", apart(3, 4), np.abs),
    ("absolute", apart(3, 4), np.abs),
    ("sign", apart(3, 4), np.sign),
    ("square", f(3, 4), np.square),
    ("exp", f(3, 4), np.exp),
    ("expm1", f(3, 4), np.expm1),
    ("exp2", f(3, 4), np.exp2),
    ("log", pos(3, 4), np.log),
    ("log1p", pos(3, 4), np.log1p),
    ("log2", pos(3, 4), np.log2),
    ("log10", pos(3, 4), np.log10),
    ("sqrt", pos(3, 4), np.sqrt),
    ("rsqrt", pos(3, 4), lambda x: 1 / np.sqrt(x)),
    ("sin", f(3, 4), np.sin),
    ("cos", f(3, 4), np.cos),
    ("tan", f(3, 4, low=-1, high=1), np.tan),
    ("sinh", f(3, 4), np.sinh),
    ("cosh", f(3, 4), np.cosh),
    ("tanh", f(3, 4), np.tanh),
    ("arcsin", f(3, 4, low=-0.9, high=0.9), np.arcsin),
    ("arccos", f(3, 4, low=-0.9, high=0.9), np.arccos),
    ("arctan", f(3, 4), np.arctan),
    ("arcsinh", f(3, 4), np.arcsinh),
    ("arccosh", pos(3, 4) + 1, np.arccosh),
    ("arctanh", f(3, 4, low=-0.9, high=0.9), np.arctanh),
    ("erf", f(3, 4), scipy.special.erf),
    ("erfc", f(3, 4), scipy.special.erfc),
    ("erfinv", f(3, 4, low=-0.9, high=0.9), scipy.special.erfinv),
    ("floor", apart(3, 4), np.floor),
    ("ceil", apart(3, 4), np.ceil),
    ("trunc", apart(3, 4), np.trunc),
    ("round", apart(3, 4), np.round),
    ("real", f(3, 4), np.real),
    ("imag", f(3, 4), np.imag),
    ("conj", f(3, 4), np.conj),
    ("conjugate", f(3, 4), np.conj),
    ("angle", apart(3, 4), np.angle),
]:
    sample(name, x=values, oracle=oracle)
    sample(name, x=np.zeros((2, 0)), oracle=oracle)
    if name not in ("rsqrt", "log", "log2", "log10", "arccosh", "arctanh", "erfinv", "negative", "conj", "conjugate"):
        sample(name, x=np.array(True), grad=False)
        sample(name, x=i(3, low=0, high=2), oracle=oracle, gives="float32" if name in ("floor", "ceil") else None)

for name in ("exp", "log", "sqrt", "tanh", "abs", "sign", "floor", "round"):
    sample(name, x=special(), oracle=getattr(np, name), grad=False)
for name in ("isnan", "isinf", "isfinite"):
    sample(name, x=special(), oracle=getattr(np, name))
    sample(name, x=i(3), oracle=getattr(np, name))
sample("logical_not", x=b(3, 4), oracle=np.logical_not)
sample("logical_not", x=np.array([0.0, 0.5, -1.0]), oracle=np.logical_not)
for name in ("bitwise_not", "bitwise_invert"):
    sample(name, x=i(3, 4), oracle=np.bitwise_not)
sample("round", x=np.array([0.5, 1.5, 2.5, -0.5, 2.675]), oracle=np.round, grad=False)
sample("round", x=f(3, 4), decimals=1, oracle=np.round, grad=False)
sample("round", x=np.array([123.4, 155.0, -17.0]), decimals=-1, oracle=np.round, grad=False)
sample("angle", x=f(3) + 1j * f(3), oracle=np.angle)
sample("real", x=f(3) + 1j * f(3), oracle=np.real, grad=False)
sample("imag", x=f(3) + 1j * f(3), oracle=np.imag, grad=False)
sample("abs", x=f(3) + 1j * f(3), oracle=np.abs, grad=False)

for name, oracle in [
    ("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("maximum", np.maximum),
    ("minimum", np.minimum),
]:  # fmt: skip
    sample(name, x1=apart(3, 4), x2=f(4) * 0.001, oracle=oracle)
    sample(name, x1=f(3, 1), x2=f(2, 1, 4), oracle=oracle)
    sample(name, x1=f(3, 4), x2=2, oracle=oracle, grad=False)
    sample(name, x1=i(3, 4), x2=i(4), oracle=oracle)
    sample(name, x1=i(3, 4), x2=2.5, oracle=oracle, grad=False)
    sample(name, x1=special(), x2=special()[::-1].copy(), oracle=oracle, grad=False)
    sample(name, x1=f(0, 4), x2=f(1, 4), oracle=oracle)
    sample(name, x1=2.5, x2=f(3), oracle=oracle, grad=False)
sample("add", x1=i(3, dtype="int8") + np.int8(120), x2=i(3, dtype="int8"), oracle=np.add, gives="int8")
sample("add", x1=b(4), x2=b(4), oracle=np.add)
sample("multiply", x1=b(4), x2=b(4), oracle=np.multiply)
for name in ("divide", "true_divide"):
    sample(name, x1=f(3, 4), x2=pos(4), oracle=np.true_divide)
    sample(name, x1=i(3, 4), x2=i(4, low=1), oracle=np.true_divide)
    sample(name, x1=special(), x2=np.zeros(7), oracle=np.true_divide, grad=False)
    sample(name, x1=f(3, 4), x2=2, oracle=np.true_divide, grad=False)
    sample(name, x1=1, x2=pos(4), oracle=np.true_divide, grad=False)
for name in ("floor_divide", "mod"):
    sample(name, x1=f(3, 4), x2=pos(4), oracle=getattr(np, name), grad=name == "mod")
    sample(name, x1=i(3, 4), x2=np.array([1, -2, 3, -3], "int32"), oracle=getattr(np, name))
    sample(name, x1=i(3, 4), x2=2, oracle=getattr(np, name))
    sample(name, x1=-7, x2=i(3, low=1), oracle=getattr(np, name))
    sample(name, x1=f(3), x2=-1.5, oracle=getattr(np, name), grad=False)
sample("power", x1=pos(3, 4), x2=f(4), oracle=np.power)
sample("power", x1=f(3, 4), x2=3, oracle=np.power, grad=False)
sample("power", x1=i(3, 4), x2=2, oracle=np.power)
sample("power", x1=2.0, x2=f(4), oracle=np.power, grad=False)
sample("power", x1=np.array([0.0, 1.0, np.inf, np.nan]), x2=np.zeros(4), oracle=np.power, grad=False)
for name in ("arctan2", "nextafter"):
    sample(name, x1=apart(3, 4), x2=f(4) + 0.01, oracle=getattr(np, name) if name == "arctan2" else None, grad=name == "arctan2")
sample("arctan2", x1=np.array([0.0, 1.0, -1.0, 0.0]), x2=np.array([1.0, 0.0, 0.0, -1.0]), oracle=np.arctan2, grad=False)
sample("nextafter", x1=np.float32([1, 0]), x2=np.float32([2, -1]), oracle=np.nextafter, grad=False, tol=0)
for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    sample(name, x1=i(3, 4), x2=i(4), oracle=getattr(np, name))
    sample(name, x1=special(), x2=np.nan, oracle=getattr(np, name))
    sample(name, x1=i(3, 4), x2=0.5, oracle=getattr(np, name))
    sample(name, x1=1, x2=i(4), oracle=getattr(np, name))
    sample(name, x1=f(3, 1), x2=f(1, 4), oracle=getattr(np, name))
for name in ("logical_and", "logical_or", "logical_xor"):
    sample(name, x1=b(3, 4), x2=b(4), oracle=getattr(np, name))
    sample(name, x1=f(3, 4), x2=np.array([0.0, 1.0, 2.0, 0.0]), oracle=getattr(np, name))
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    sample(name, x=i(3, 4), y=i(4), oracle=getattr(np, name))
    sample(name, x=b(3, 4), y=b(4), oracle=getattr(np, name))
for name, base in [("left_shift", "left_shift"), ("right_shift", "right_shift"), ("bitwise_left_shift", "left_shift"),
                   ("bitwise_right_shift", "right_shift")]:  # fmt: skip
    sample(name, x=i(3, 4, low=-40, high=40), y=i(4, low=0, high=5), oracle=getattr(np, base))
sample("where", condition=b(3, 4), x1=f(3, 4), x2=f(4), oracle=np.where)
sample("where", condition=b(3, 1), x1=i(1, 4), x2=0.5, oracle=np.where, grad=False)
sample("where", condition=b(3), x1=1, x2=2, oracle=np.where)
sample("where", condition=np.array([1.0, 0.0, 2.0]), x1=f(3), x2=f(3), oracle=lambda c, x, y: np.where(c != 0, x, y))
sample("where", condition=b(3, 4), oracle=np.where, compiled=False)
sample("clip", x=apart(3, 4), x_min=-1.0, x_max=1.0, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max))
sample("clip", x=apart(3, 4), x_min=f(4, high=-0.5), x_max=pos(4), oracle=np.clip)
sample("clip", x=i(3, 4), x_min=-1, x_max=2, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max))
sample("clip", x=i(3, 4), x_min=-1.5, x_max=2, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max))
sample("clip", x=special(), x_min=-1, x_max=1, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max), grad=False)
for dtype in ("int32", "uint8", "bool", "float16", "bfloat16", "int64", "complex64"):
    sample("cast", x=pos(3, 4) * 3, dtype=dtype, oracle=None, grad=False)
sample("cast", x=np.array([1.7, -1.7, 0.0]), dtype="int32", oracle=lambda x, dtype: x.astype(dtype))

# ------------------------------------------------------------------ reductions

AXES = (None, 0, -1, (0, 2), [1, 2])


def axes(axis):
    return tuple(axis) if isinstance(axis, list) else axis


for name, oracle in [
    ("sum", np.sum), ("prod", np.prod), ("mean", np.mean), ("var", np.var), ("max", np.max), ("min", np.min),
    ("amax", np.max), ("amin", np.min), ("logsumexp", scipy.special.logsumexp),
]:  # fmt: skip
    for axis in AXES:
        sample(name, x=apart(2, 3, 4), axis=axis, oracle=lambda x, axis, o=oracle: o(x, axis=axes(axis)), tol=1e-4)
    sample(name, x=apart(2, 3), axis=1, keepdims=True, oracle=oracle)
    sample(name, x=i(2, 3), axis=1, oracle=oracle)
    sample(name, x=np.asarray(f(1)[0]), oracle=oracle)
for name in ("sum", "prod", "logsumexp"):
    sample(name, x=f(2, 0), axis=1, oracle={"logsumexp": lambda x, axis: np.full(2, -np.inf)}.get(name) or getattr(np, name), grad=False)
for dtype, wide in [("bool", "int32"), ("int8", "int32"), ("uint8", "uint32"), ("int16", "int32"), ("int32", "int32")]:
    sample("sum", x=np.array([[1, 0], [1, 1]], dtype), axis=0, gives=wide, oracle=np.sum)
    sample("prod", x=np.array([[1, 0], [1, 1]], dtype), axis=0, gives=wide, oracle=np.prod)
    sample("mean", x=np.array([[1, 0], [1, 1]], dtype), axis=0, gives="float32", oracle=np.mean)
sample("logsumexp", x=np.array([[-np.inf, -np.inf], [1000.0, 1000.0]]), axis=1, oracle=scipy.special.logsumexp, grad=False)
sample("max", x=special(), oracle=np.max, grad=False)
sample("max", x=f(2, 3), axis=1, initial=0.5, oracle=lambda x, axis, initial: np.max(x, axis=axis, initial=initial))
sample("min", x=f(2, 3), initial=0.5, oracle=lambda x, initial: np.min(x, initial=initial))
sample("max", x=f(2, 0), axis=1, initial=0.5, oracle=lambda x, axis, initial: np.max(x, axis=axis, initial=initial))
for name in ("any", "all"):
    for axis in AXES:
        sample(name, x=b(2, 3, 4), axis=axis, oracle=lambda x, axis, o=getattr(np, name): o(x, axis=axes(axis)))
    sample(name, x=f(2, 3), axis=1, keepdims=True, oracle=getattr(np, name))
    sample(name, x=f(2, 0), axis=1, oracle=getattr(np, name))
for name in ("argmax", "argmin"):
    for axis in (None, 0, -1):
        sample(name, x=f(2, 3, 4), axis=axis, oracle=getattr(np, name))
    sample(name, x=i(3, 5, low=0, high=2), axis=1, keepdims=True, oracle=getattr(np, name))
    sample(name, x=np.array([1.0, np.nan, 3.0, np.nan]), oracle=getattr(np, name))
for name in ("cumsum", "cumprod"):
    for axis in (None, 0, -2):
        sample(name, x=f(2, 3, 4), axis=axis, oracle=getattr(np, name))
    sample(name, x=f(3, 0, 2), axis=-2, oracle=getattr(np, name))
    sample(name, x=i(2, 3), axis=1, oracle=getattr(np, name), gives="int32")
    sample(name, x=i(2, 3), axis=1, dtype="float32", oracle=lambda x, axis, dtype, o=getattr(np, name): o(x, axis, dtype))
