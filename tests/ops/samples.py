# ruff: noqa: E501, B008
"""The table of op samples: one line, one case. `test_samples.py` says what is done with it.

`sample(op, tensors…, static arguments…, oracle=…)`: arrays and lists of arrays are the tensors, in float64 (tests
use float32); everything else is passed through. The oracle gets the tensors by position and the rest by name.
"""

import colorsys
import dataclasses
import itertools
import math

import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.signal
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
    call: object = None  # how to call the function, where keyword arguments don't do

    def __str__(self):
        return self.label


def sample(op, *, oracle=None, grad=True, compiled=True, tol=2e-5, gives=None, call=None, **arguments):
    n = sum(s.op == op for s in SAMPLES)
    SAMPLES.append(Sample(op, arguments, oracle, grad, compiled, tol, gives, f"{op}-{n}" if n else op, call))


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
    sample(name, x1=np.array(7.5), x2=np.array(2.5), oracle=getattr(np, name), grad=False)
sample("power", x1=pos(3, 4), x2=f(4), oracle=np.power)
sample("power", x1=f(3, 4), x2=3, oracle=np.power, grad=False)
sample("power", x1=i(3, 4), x2=2, oracle=np.power)
sample("power", x1=2.0, x2=f(4), oracle=np.power, grad=False)
sample("power", x1=np.array([0.0, 1.0, np.inf, np.nan]), x2=np.zeros(4), oracle=np.power, grad=False)
for name in ("arctan2", "nextafter"):
    sample(
        name,
        x1=apart(3, 4),
        x2=f(4) + 0.01,
        oracle=getattr(np, name) if name == "arctan2" else None,
        grad=name == "arctan2",
    )
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
sample(
    "where",
    condition=np.array([1.0, 0.0, 2.0]),
    x1=f(3),
    x2=f(3),
    oracle=lambda c, x, y: np.where(c != 0, x, y),
    grad=False,
)
sample("where", condition=b(3, 4), oracle=np.where, compiled=False)
sample("clip", x=apart(3, 4), x_min=-1.0, x_max=1.0, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max))
sample("clip", x=apart(3, 4), x_min=f(4, high=-0.5), x_max=pos(4), oracle=np.clip)
sample("clip", x=i(3, 4), x_min=-1, x_max=2, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max))
sample("clip", x=i(3, 4), x_min=-1.5, x_max=2, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max))
sample("clip", x=special(), x_min=-1, x_max=1, oracle=lambda x, x_min, x_max: np.clip(x, x_min, x_max), grad=False)
for dtype in ("int32", "uint8", "bool", "float16", "bfloat16", "complex64"):
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
    sample(
        name,
        x=f(2, 0),
        axis=1,
        oracle={"logsumexp": lambda x, axis: np.full(2, -np.inf)}.get(name) or getattr(np, name),
        grad=False,
    )
for dtype, wide in [("bool", "int32"), ("int8", "int32"), ("uint8", "uint32"), ("int16", "int32"), ("int32", "int32")]:
    sample("sum", x=np.array([[1, 0], [1, 1]], dtype), axis=0, gives=wide, oracle=np.sum)
    sample("prod", x=np.array([[1, 0], [1, 1]], dtype), axis=0, gives=wide, oracle=np.prod)
    sample("mean", x=np.array([[1, 0], [1, 1]], dtype), axis=0, gives="float32", oracle=np.mean)
sample(
    "logsumexp", x=np.array([[-np.inf, -np.inf], [1000.0, 1000.0]]), axis=1, oracle=scipy.special.logsumexp, grad=False
)
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
    sample(
        name, x=i(2, 3), axis=1, dtype="float32", oracle=lambda x, axis, dtype, o=getattr(np, name): o(x, axis, dtype)
    )

# ------------------------------------------------------------------ shape

x234 = f(2, 3, 4)
for shape in [(6, 4), (-1,), (2, -1, 2), (3, 1, 8), 24, [4, 6]]:
    sample("reshape", x=x234, newshape=shape, oracle=lambda x, newshape: x.reshape(newshape))
sample("reshape", x=f(2, 0), newshape=(-1, 3), oracle=lambda x, newshape: x.reshape(newshape))
sample("reshape", x=np.asarray(f(1)[0]), newshape=(1, 1), oracle=lambda x, newshape: x.reshape(1, 1))
sample("ravel", x=x234, oracle=np.ravel)
sample("transpose", x=x234, oracle=np.transpose)
sample("transpose", x=x234, axes=(1, -1, 0), oracle=np.transpose)
sample("swapaxes", x=x234, axis1=0, axis2=-1, oracle=np.swapaxes)
sample("moveaxis", x=x234, source=0, destination=-1, oracle=np.moveaxis)
sample("moveaxis", x=x234, source=(0, 1), destination=[-1, 0], oracle=np.moveaxis)
for axis in (0, -1, (0, 2), [1, -1]):
    sample("expand_dims", x=f(2, 3), axis=axis, oracle=lambda x, axis: np.expand_dims(x, axes(axis)))
sample("squeeze", x=f(1, 3, 1).repeat(2, 0), oracle=np.squeeze)  # an unknown dimension stays
sample("squeeze", x=f(1, 3, 1), axis=-1, oracle=np.squeeze)
sample("squeeze", x=f(1, 3, 1), axis=(0, 2), oracle=np.squeeze)
sample("broadcast_to", x=f(3, 1), shape=(2, 3, 4), oracle=np.broadcast_to)
sample("broadcast_to", x=f(3), shape=[2, 3], oracle=np.broadcast_to)
sample("concatenate", xs=[f(2, 3), f(4, 3)], oracle=np.concatenate)
sample("concatenate", xs=[f(2, 3), i(2, 1)], axis=-1, oracle=np.concatenate)
sample("concatenate", xs=[f(2, 3), f(2, 0)], axis=1, oracle=np.concatenate)
sample("stack", x=[f(2, 3), f(2, 3)], oracle=np.stack)
sample("stack", x=[f(2, 3), f(2, 3)], axis=-1, oracle=np.stack)
sample("unstack", x=x234, oracle=lambda x: list(x))
sample("unstack", x=x234, axis=-2, num=3, oracle=lambda x, axis, num: list(np.moveaxis(x, axis, 0)))
sample("split", x=f(4, 6), indices_or_sections=3, axis=1, oracle=np.split)
sample("split", x=f(4, 6), indices_or_sections=2, oracle=np.split)
sample("split", x=f(4, 6), indices_or_sections=[1, 4], axis=-1, oracle=np.split)
sample("split", x=f(4, 6), indices_or_sections=(2, 2, 5), oracle=np.split)
sample("flip", x=x234, oracle=np.flip)
sample("flip", x=x234, axis=-1, oracle=np.flip)
sample("flip", x=x234, axis=(0, 1), oracle=np.flip)
sample("roll", x=x234, shift=2, oracle=np.roll)
sample("roll", x=x234, shift=-1, axis=1, oracle=np.roll)
sample("roll", x=x234, shift=(1, 5), axis=(0, -1), oracle=np.roll)
for mode in ("constant", "reflect", "symmetric", "edge"):
    sample("pad", x=f(3, 4), pad_width=((1, 2), (0, 1)), mode=mode, oracle=np.pad)
    sample("pad", x=f(2, 3, 2, 1, 2), pad_width=((0, 0), (1, 0), (0, 1), (1, 1), (0, 0)), mode=mode, oracle=np.pad)
sample("pad", x=f(3), pad_width=((5, 7),), mode="symmetric", oracle=np.pad)
sample("pad", x=f(3), pad_width=((5, 7),), mode="reflect", oracle=np.pad)
sample("pad", x=f(2, 3), pad_width=1, constant_values=2.0, oracle=np.pad)
sample("pad", x=i(2, 3), pad_width=(1, 2), mode="constant", oracle=np.pad)
sample("tile", x=f(2, 3), repeats=2, oracle=lambda x, repeats: np.tile(x, repeats))
sample("tile", x=f(2, 3), repeats=(2, 1, 2), oracle=lambda x, repeats: np.tile(x, repeats))
sample("tile", x=x234, repeats=[2, 1], oracle=lambda x, repeats: np.tile(x, repeats))
sample("repeat", x=f(2, 3), repeats=2, oracle=np.repeat)
sample("repeat", x=f(2, 3), repeats=2, axis=-1, oracle=np.repeat)
sample("repeat", x=f(2, 3), repeats=(1, 0, 2), axis=1, oracle=lambda x, repeats, axis: np.repeat(x, repeats, axis))
for name in ("tril", "triu"):
    for k in (0, -1, 2, 9, -9):
        sample(name, x=f(2, 3, 4), k=k, oracle=getattr(np, name))
    sample(name, x=i(3, 3), oracle=getattr(np, name))
for k in (0, 1, -2):
    sample("diag", x=f(3), k=k, oracle=np.diag)
    sample("diag", x=f(3, 4), k=k, oracle=np.diag)
    sample("diagonal", x=x234, offset=k, axis1=2, axis2=-2, oracle=np.diagonal)

# ------------------------------------------------------------------ indexing

sample("take", x=f(4, 3), indices=i(2, 2, low=0, high=4), axis=0, oracle=np.take)
sample("take", x=f(4, 3), indices=i(5, low=-3, high=3), axis=-1, oracle=np.take)
sample("take", x=f(4, 3), indices=i(2, low=0, high=12), oracle=np.take)
sample("take", x=f(4, 3), indices=np.array([0, 0, 9, -9], "int32"), axis=0, oracle=lambda x, j, axis: x[[0, 0, 3, 0]])
sample("take", x=f(4, 3), indices=np.array(2, "int64"), axis=1, oracle=np.take)
sample("take_along_axis", x=f(4, 3), indices=i(4, 2, low=0, high=3), axis=1, oracle=np.take_along_axis)
sample("take_along_axis", x=f(4, 3), indices=i(1, 3, low=-4, high=4), axis=0, oracle=np.take_along_axis)
sample("take_along_axis", x=f(4, 3), indices=i(5, low=0, high=12), oracle=lambda x, j: x.ravel()[j])
for key in [
    0, -1, slice(1, None), (slice(None), 1), (Ellipsis, None), (None, 0, Ellipsis, slice(None, None, -1)),
    (slice(None, None, 2), slice(-1, 0, -1)), ([0, 1, 1],), (slice(None), [0, 2], [1, 3]), ([0, 1], slice(None), [1, 2]),
    (0, slice(None), [1, 1]), (Ellipsis, slice(3, 1, -1)), slice(5, 9), (np.array([[0, 1], [1, 0]]), 1),
    (slice(None), np.array([True, False, True])), np.int64(1), (1, Ellipsis, 2), (-1, -1, -1),
]:  # fmt: skip
    # Through a list, so that arrays inside the key aren't taken for tensors of the sample.
    sample("get_item", x=x234, key=key if not isinstance(key, np.ndarray) else [key], oracle=lambda x, key: x[key])
sample(
    "scatter",
    indices=np.array([[1], [0], [1]], "int32"),
    values=f(3, 2),
    shape=(3, 2),
    oracle=lambda j, v, shape: _scattered(j, v, shape),
)
sample(
    "scatter",
    indices=np.array([[1, 1], [0, 2], [1, 1]], "int32"),
    values=f(3),
    shape=(2, 3),
    oracle=lambda j, v, shape: _scattered(j, v, shape),
)


def _scattered(indices, values, shape):
    out = np.zeros(shape)
    np.add.at(out, tuple(indices.T), values)
    return out


def _updated(inputs, indices, updates, reduction=None):
    out, at = inputs.copy(), tuple(indices.T)
    if reduction is None:
        out[at] = updates
    else:
        {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}[reduction].at(out, at, updates)
    return out


sample("scatter_update", inputs=f(4, 3), indices=np.array([[1], [3]], "int32"), updates=f(2, 3), oracle=_updated)
for reduction in (None, "add", "max", "min", "mul"):
    sample(
        "scatter_update", inputs=apart(3, 4), indices=np.array([[1, 1], [0, 2]], "int32"), updates=f(2) * 0.01,
        reduction=reduction, oracle=_updated, grad=reduction != "mul",
    )  # fmt: skip
sample(
    "scatter_update",
    inputs=i(4, 3),
    indices=np.array([[1], [1]], "int32"),
    updates=i(2, 3),
    reduction="add",
    oracle=_updated,
)
sample("slice", inputs=f(4, 5), start_indices=(1, 2), shape=(2, 3), oracle=lambda x, start_indices, shape: x[1:3, 2:5])
sample(
    "slice",
    inputs=f(4, 5),
    start_indices=np.array([3, 0], "int32"),
    shape=(2, 3),
    oracle=lambda x, s, shape: x[2:4, :3],
)
sample(
    "slice_update",
    inputs=f(4, 5),
    start_indices=[1, 2],
    updates=f(2, 3),
    oracle=lambda x, start_indices, updates: _window(x, updates),
)


def _window(x, updates):
    x = x.copy()
    x[1:3, 2:5] = updates
    return x


def _hot(x, num_classes, axis=-1, dtype="float32"):
    return np.moveaxis(x[..., None] == np.arange(num_classes), -1, axis).astype(dtype)


sample("one_hot", x=i(2, 3, low=-2, high=6), num_classes=4, oracle=_hot)
sample("one_hot", x=i(2, 3, low=-2, high=6), num_classes=4, axis=0, dtype="int32", oracle=_hot)
sample("one_hot", x=i(4, low=0, high=3, dtype="uint8"), num_classes=3, axis=1, dtype="bool", oracle=_hot)
sample("multi_hot", inputs=i(2, 3, low=-2, high=6), num_classes=4, oracle=lambda x, num_classes: _hot(x, 4).max(1))
sample(
    "multi_hot",
    inputs=i(2, 3, low=0, high=4),
    num_classes=4,
    axis=1,
    oracle=lambda x, num_classes, axis: _hot(x, 4).max(1),
)
sample("multi_hot", inputs=i(3, low=0, high=4), num_classes=4, oracle=lambda x, num_classes: _hot(x, 4).max(0))
sample("nonzero", x=i(3, 4, low=0, high=2), oracle=lambda x: list(np.nonzero(x)), compiled=False)
sample("nonzero", x=f(5), oracle=lambda x: list(np.nonzero(x)), compiled=False)

# ------------------------------------------------------------------ order

sample("argsort", x=np.array(1.0), oracle=lambda x: np.array([0]))
for name in ("sort", "argsort"):
    for axis in (-1, 0, None):
        sample(name, x=apart(3, 4), axis=axis, oracle=getattr(np, name))
    sample(name, x=i(3, 7, low=0, high=3), oracle=lambda x, name=name: getattr(np, name)(x, kind="stable"))
    sample(name, x=np.array([2.0, np.nan, -1.0, np.inf]), oracle=getattr(np, name), grad=False)
sample("top_k", x=apart(3, 7), k=3, oracle=lambda x, k: [-np.sort(-x)[:, :k], np.argsort(-x)[:, :k]])
sample(
    "top_k",
    x=i(2, 9, low=0, high=3),
    k=4,
    oracle=lambda x, k: [-np.sort(-x)[:, :k], np.argsort(-x, kind="stable")[:, :k]],
)
for side in ("left", "right"):
    sample("searchsorted", sorted_sequence=np.sort(i(9)), values=i(2, 3), side=side, oracle=np.searchsorted)
    sample("searchsorted", sorted_sequence=np.sort(f(9)), values=f(4), side=side, oracle=np.searchsorted)

# ------------------------------------------------------------------ creation

for name in ("zeros", "ones"):
    sample(name, shape=(2, 3), oracle=getattr(np, name))
    sample(name, shape=4, dtype="int8", oracle=getattr(np, name))
    sample(name + "_like", x=f(2, 3), oracle=getattr(np, name + "_like"))
    sample(name + "_like", x=i(2, 0), dtype="float32", oracle=getattr(np, name + "_like"))
sample("empty", shape=(2, 3))
sample("empty_like", x=i(2, 3), oracle=np.zeros_like)
sample("full", shape=(2, 3), fill_value=2, oracle=lambda shape, fill_value: np.full(shape, 2.0))
sample("full", shape=(2, 3), fill_value=f(3), dtype="float32", oracle=np.full)
sample("full_like", x=i(2, 3), fill_value=1.5, oracle=np.full_like)
sample("full_like", x=f(2, 3), fill_value=f(3), oracle=np.full_like, grad=False)
sample("arange", start=3, oracle=lambda start, dtype="int32": np.arange(start, dtype=dtype))
sample("arange", start=1, stop=9, step=3, oracle=np.arange)
sample("arange", start=2.5, stop=-1, step=-0.5, oracle=np.arange)
sample("arange", start=3, dtype="float32", oracle=lambda start, dtype="int32": np.arange(start, dtype=dtype))
sample("arange", start=5, stop=2, oracle=np.arange)
sample("eye", N=3, oracle=np.eye)
sample("eye", N=2, M=4, k=1, dtype="int32", oracle=np.eye)
sample("identity", n=3, oracle=np.identity)
sample("linspace", start=0, stop=1, num=5, oracle=np.linspace)
sample("linspace", start=f(2), stop=f(2), num=4, axis=-1, oracle=np.linspace)
sample("linspace", start=0, stop=10, num=4, endpoint=False, dtype="int32", oracle=np.linspace)
sample(
    "linspace",
    start=0.0,
    stop=1.0,
    num=3,
    retstep=True,
    oracle=lambda start, stop, num, retstep: np.linspace(start, stop, num, retstep=retstep),
)

# ------------------------------------------------------------------ linear algebra

for a, c in [
    ((2, 3), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (3,)),
    ((5, 2, 3), (3, 4)),
    ((5, 1, 2, 3), (2, 3, 1)),
    ((2, 0), (0, 3)),
]:
    sample("matmul", x1=f(*a), x2=f(*c), oracle=np.matmul)
sample("matmul", x1=i(2, 3), x2=i(3, 2), oracle=np.matmul)
sample("matmul", x1=i(2, 3, low=100, high=127, dtype="int8"), x2=i(3, 2, low=100, high=127, dtype="int8"), gives="int32",
       oracle=lambda x, y: x.astype("int32") @ y.astype("int32"))  # fmt: skip
for a, c in [((2, 3), (3, 4)), ((), (3, 4)), ((2, 3), (3,)), ((2, 3), (5, 3, 4)), ((3,), (3,))]:
    sample("dot", x1=f(*a), x2=f(*c), oracle=np.dot)
for equation, *shapes in [
    ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)), ("ii->i", (3, 3)), ("ij->", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("ij,kj", (2, 3), (4, 3)), ("i,j,k->kij", (2,), (3,), (4,)),
    ("...->...", (2, 3)), ("abc->ca", (2, 3, 4)),
]:  # fmt: skip
    operands = [f(*s) for s in shapes]
    sample(
        "einsum",
        subscripts=equation,
        operands=operands,
        oracle=lambda subscripts, operands: np.einsum(subscripts, *operands),
        call=lambda einsum, subscripts, operands: einsum(subscripts, *operands),
    )
sample("tensordot", x1=f(2, 3, 4), x2=f(3, 4, 5), oracle=np.tensordot)
sample("tensordot", x1=f(2, 3), x2=f(3, 2), axes=1, oracle=np.tensordot)
sample("tensordot", x1=f(2, 3), x2=f(4, 5), axes=0, oracle=np.tensordot)
sample("tensordot", x1=f(2, 3, 4), x2=f(4, 2), axes=([0, -1], [1, 0]), oracle=np.tensordot)
sample("tensordot", x1=f(2, 3), x2=f(3, 4), axes=(1, 0), oracle=np.tensordot)
sample("outer", x1=f(3), x2=f(2, 2), oracle=np.outer)
for order in (None, 1, 2, 3, 0, np.inf, -np.inf):
    sample(
        "norm",
        x=apart(3, 4),
        ord=order,
        axis=-1,
        oracle=lambda x, ord, axis: np.linalg.norm(x, ord, axis),
        grad=order != 0,
    )
for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    sample(
        "norm",
        x=apart(3, 4),
        ord=order,
        axis=(0, 1),
        oracle=lambda x, ord, axis: np.linalg.norm(x, ord, axis),
        tol=1e-4,
        grad=order not in (-2, "nuc"),
    )
sample("norm", x=f(2, 3, 4), oracle=np.linalg.norm)
sample(
    "norm",
    x=f(2, 3),
    ord="fro",
    axis=(0, 1),
    keepdims=True,
    oracle=lambda x, ord, axis, keepdims: np.linalg.norm(x, ord, axis, keepdims),
)
sample("norm", x=np.zeros((2, 3)), axis=-1, oracle=lambda x, axis: np.linalg.norm(x, axis=axis), grad=False)
sample("cholesky", x=spd(2, 3, 3), oracle=np.linalg.cholesky, grad=False)
sample("cholesky", x=spd(3, 3), upper=True, oracle=lambda x, upper: scipy.linalg.cholesky(x), grad=False)
sample("inv", x=rows(2, 3, 3), oracle=np.linalg.inv)
sample("det", x=rows(2, 3, 3), oracle=np.linalg.det, tol=1e-4)
sample("slogdet", x=rows(2, 3, 3), oracle=lambda x: list(np.linalg.slogdet(x)))
sample("solve", a=rows(2, 3, 3), b=f(2, 3, 2), oracle=np.linalg.solve)
sample("solve", a=rows(3, 3), b=f(3), oracle=np.linalg.solve)
sample("solve_triangular", a=rows(3, 3), b=f(3, 2), oracle=lambda a, b: scipy.linalg.solve_triangular(a, b))
sample(
    "solve_triangular",
    a=rows(3, 3),
    b=f(3, 2),
    lower=True,
    oracle=lambda a, b, lower: scipy.linalg.solve_triangular(a, b, lower=True),
)
sample("svd", x=f(4, 3), compute_uv=False, oracle=lambda x, compute_uv: np.linalg.svd(x, compute_uv=False), tol=1e-4)
sample("svd", x=f(2, 3, 4), full_matrices=False, grad=False)
sample("qr", x=f(4, 3), grad=False)
sample("qr", x=f(4, 3), mode="complete", grad=False)
sample("eigh", x=spd(3, 3), grad=False)
sample("lu_factor", x=rows(3, 3), oracle=lambda x: list(scipy.linalg.lu_factor(x)))

# ------------------------------------------------------------------ elementwise composites

for name, values, oracle in [
    ("reciprocal", pos(3, 4), np.reciprocal), ("fabs", apart(3, 4), np.fabs), ("cbrt", apart(3, 4), np.cbrt),
    ("deg2rad", f(3, 4), np.deg2rad), ("rad2deg", f(3, 4), np.rad2deg), ("sinc", apart(3, 4), np.sinc),
    ("i0", f(3, 4, low=-20, high=20), np.i0),
]:  # fmt: skip
    sample(name, x=values, oracle=oracle, grad=name != "i0")
    if name != "reciprocal":
        sample(name, x=i(3), oracle=lambda x, oracle=oracle: oracle(x.astype("float64")))
sample("i0", x=f(5), oracle=np.i0)
sample("sinc", x=np.zeros(2), oracle=np.sinc, grad=False)
for name in ("isposinf", "isneginf", "isreal", "signbit"):
    sample(name, x=special(), oracle=getattr(np, name))
    sample(name, x=i(3), oracle=getattr(np, name))
sample("signbit", x=np.float16([-0.0, 1.0, -1.0]), oracle=np.signbit)
sample("nan_to_num", x=special(), nan=7.0, posinf=2.0, neginf=-3.0, oracle=np.nan_to_num, grad=False)
sample("nan_to_num", x=np.float32([1, np.nan, np.inf]), oracle=np.nan_to_num, grad=False)
sample("nan_to_num", x=i(3), oracle=np.nan_to_num)
for name in ("fmax", "fmin"):
    sample(name, x1=apart(3, 4), x2=f(4) * 0.01, oracle=getattr(np, name))
    sample(name, x1=special(), x2=special()[::-1].copy(), oracle=getattr(np, name), grad=False)
sample("fmod", x1=apart(3, 4), x2=pos(4), oracle=np.fmod, grad=False)
sample("fmod", x1=i(3, 4), x2=np.array([1, -2, 3, -3], "int32"), oracle=np.fmod)
for name in ("gcd", "lcm"):
    sample(name, x1=i(3, 4, low=-30, high=30), x2=i(4, low=-30, high=30), oracle=getattr(np, name))
    sample(name, x1=i(3, low=0, high=30), x2=6, oracle=getattr(np, name))
sample("heaviside", x1=np.array([-1.0, 0.0, 2.0, np.nan]), x2=f(4), oracle=np.heaviside, grad=False)
sample("hypot", x1=f(3, 4), x2=f(4), oracle=np.hypot)
sample(
    "hypot",
    x1=np.array([0.0, 1e30, np.inf, np.inf]),
    x2=np.array([0.0, 1e30, 1.0, np.inf]),
    oracle=np.hypot,
    grad=False,
)
sample("ldexp", x1=f(3), x2=i(3), oracle=np.ldexp)
for name in ("logaddexp", "logaddexp2"):
    sample(name, x1=f(3, 4), x2=f(4), oracle=getattr(np, name))
    sample(
        name,
        x1=np.array([1000.0, -np.inf, np.inf, np.nan]),
        x2=np.array([1000.0, -np.inf, 1.0, 1.0]),
        oracle=getattr(np, name),
        grad=False,
    )
sample(
    "divide_no_nan",
    x1=f(4),
    x2=np.array([0.0, 1.0, -2.0, 0.0]),
    oracle=lambda x, y: np.divide(x, y, out=np.zeros(4), where=y != 0),
    grad=False,
)
sample("isclose", x1=special(), x2=special() + 1e-9, oracle=np.isclose)
sample("isclose", x1=special(), x2=special(), equal_nan=True, rtol=1e-3, oracle=np.isclose)
sample("isclose", x1=i(4), x2=i(4), oracle=np.isclose)
sample("allclose", x1=f(4), x2=f(4), oracle=np.allclose)
sample(
    "select",
    condlist=[b(4), b(4)],
    choicelist=[f(4), f(4)],
    default=2.0,
    oracle=lambda c, x, default: np.select(c, x, default),
)
sample(
    "saturate_cast",
    x=np.array([300.0, -5.0, 7.5]),
    dtype="uint8",
    oracle=lambda x, dtype: np.array([255, 0, 7], "uint8"),
)
sample("saturate_cast", x=np.array([3e10, -3e10, 7.0]), dtype="int32", gives="int32")
sample(
    "saturate_cast",
    x=i(4, low=-300, high=300),
    dtype="int8",
    oracle=lambda x, dtype: np.clip(x, -128, 127).astype("int8"),
)
sample("copy", x=f(3), oracle=np.copy)
sample("copy", x=b(3), oracle=np.copy)
sample("array", x=f(3), oracle=np.array)
sample("array", x=f(3), dtype="int32", oracle=np.array)
sample("view", x=np.float32([1.0, -2.0]), dtype="int32", oracle=lambda x, dtype: x.view(dtype))
sample("view", x=np.int32([[1, -2]]), dtype="uint8", oracle=lambda x, dtype: x.view(dtype))
sample("view", x=np.uint8([[1, 2, 3, 4, 5, 6, 7, 8]]), dtype="int32", oracle=lambda x, dtype: x.view(dtype))

# ------------------------------------------------------------------ without NaN

holes = f(2, 3, 4)
holes[0, 1, 2] = holes[1, 0] = np.nan
for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian"):
    for axis in (None, -1, (0, 2)):
        sample(name, x=holes, axis=axis, oracle=getattr(np, name), grad=False)
    sample(name, x=holes, axis=1, keepdims=True, oracle=getattr(np, name), grad=False)
    sample(name, x=i(2, 3), axis=0, oracle=getattr(np, name))
sample("nanmean", x=apart(3, 4), axis=0, oracle=np.nanmean)
sample("nansum", x=np.array([[1, 0]], "uint8"), axis=0, oracle=np.nansum, gives="uint32")
for name in ("nanargmax", "nanargmin"):
    sample(name, x=holes[0], axis=0, oracle=getattr(np, name))
    sample(name, x=holes, oracle=getattr(np, name))
    sample(name, x=np.array([[np.nan, np.nan], [1, np.nan]]), axis=1, oracle=lambda x, axis: np.array([-1, 0]))
for name in ("nancumsum", "nancumprod"):
    sample(name, x=holes, axis=1, oracle=getattr(np, name), grad=False)
    sample(name, x=holes, oracle=getattr(np, name), grad=False)
    sample(name, x=i(3), axis=0, oracle=getattr(np, name), gives="int32")

# ------------------------------------------------------------------ statistics

for name in ("std", "ptp", "median"):
    for axis in (None, -1, (0, 2)):
        sample(name, x=apart(2, 3, 4), axis=axis, oracle=getattr(np, name))
    sample(name, x=i(2, 5), axis=1, keepdims=True, oracle=getattr(np, name))
sample("median", x=np.array([1.0, np.nan, 2.0]), oracle=np.median, grad=False)
for method in ("linear", "lower", "higher", "midpoint", "nearest"):
    sample("quantile", x=apart(3, 6), q=0.4, axis=1, method=method, oracle=np.quantile)
    sample(
        "nanquantile",
        x=np.where(apart(3, 6) > 1.5, np.nan, apart(3, 6)),
        q=0.4,
        axis=1,
        method=method,
        oracle=np.nanquantile,
        grad=False,
    )
sample("quantile", x=apart(3, 4, 5), q=[0.0, 0.25, 1.0], axis=(0, -1), keepdims=True, oracle=np.quantile)
sample("quantile", x=apart(3, 5), q=np.array([[0.1, 0.5], [0.6, 1.0]]), axis=0, oracle=np.quantile, grad=False)
sample("nanquantile", x=holes, q=[0.2, 0.9], axis=(0, 2), oracle=np.nanquantile, grad=False)
sample("percentile", x=apart(3, 5), q=30, axis=0, oracle=np.percentile)
sample("nanpercentile", x=holes, q=30, axis=-1, oracle=np.nanpercentile, grad=False)
sample("average", x=f(2, 3), oracle=np.average)
sample("average", x=f(2, 3), axis=1, weights=pos(2, 3), oracle=lambda x, axis, weights: np.average(x, axis, weights))
sample("average", x=f(2, 3), axis=1, weights=pos(3), oracle=lambda x, axis, weights: np.average(x, axis, weights))
sample("count_nonzero", x=i(3, 4, low=0, high=2), axis=1, oracle=np.count_nonzero)
sample("count_nonzero", x=f(3, 4), oracle=np.count_nonzero)
sample("digitize", x=f(3, 4), bins=np.array([-1.0, 0.0, 1.0]), oracle=np.digitize)
sample("digitize", x=i(4), bins=np.array([-1, 0, 1], "int32"), oracle=np.digitize)
sample("bincount", x=i(9, low=0, high=5), oracle=np.bincount, compiled=False)
sample(
    "bincount",
    x=i(9, low=0, high=5),
    weights=f(9),
    minlength=8,
    oracle=lambda x, weights, minlength: np.bincount(x, weights, minlength),
    compiled=False,
    grad=False,
)
sample(
    "bincount",
    x=np.array([[0, 2, 2], [1, 1, 1]], "int32"),
    oracle=lambda x: np.array([[1, 0, 2], [0, 3, 0]]),
    compiled=False,
)
sample(
    "histogram", x=f(20), bins=5, oracle=lambda x, bins: [v.astype(float) for v in np.histogram(x, bins)], grad=False
)
sample(
    "histogram",
    x=f(20),
    bins=4,
    range=(-1.0, 1.5),
    oracle=lambda x, bins, range: [v.astype(float) for v in np.histogram(x, bins, range)],
    grad=False,
)
sample(
    "in_top_k",
    targets=np.array([0, 2, 5, 1], "int32"),
    predictions=np.array([[3.0, 2, 1], [1, 2, 3], [1, 2, 3], [2, 2, 2]]),
    k=1,
    oracle=lambda t, p, k: np.array([True, True, False, True]),
)
sample("corrcoef", x=f(3, 6), oracle=np.corrcoef, tol=1e-4, grad=False)
sample("corrcoef", x=f(6), oracle=np.corrcoef, grad=False)
for mode in ("valid", "same", "full"):
    sample("correlate", x1=f(7), x2=f(3), mode=mode, oracle=lambda x, y, mode: np.correlate(x, y, mode))
    sample("correlate", x1=f(2), x2=f(5), mode=mode, oracle=lambda x, y, mode: np.correlate(x, y, mode))

# ------------------------------------------------------------------ more movement

sample("append", x1=f(2, 3), x2=f(3), oracle=np.append)
sample("append", x1=f(2, 3), x2=f(1, 3), axis=0, oracle=np.append)
for name, shapes in [
    ("hstack", [(3,), (2,)]),
    ("hstack", [(2, 3), (2, 1)]),
    ("vstack", [(3,), (3,)]),
    ("vstack", [(2, 3), (1, 3)]),
    ("dstack", [(3,), (3,)]),
    ("dstack", [(2, 3), (2, 3)]),
    ("dstack", [(2, 3, 1), (2, 3, 2)]),
]:
    sample(name, xs=[f(*s) for s in shapes], oracle=getattr(np, name))
sample("array_split", x=f(7, 2), indices_or_sections=3, oracle=np.array_split)
sample("array_split", x=f(2, 7), indices_or_sections=[2, 3], axis=1, oracle=np.array_split)
sample("hsplit", x=f(4), indices_or_sections=2, oracle=np.hsplit)
sample("hsplit", x=f(2, 4), indices_or_sections=[1], oracle=np.hsplit)
sample("vsplit", x=f(4, 3), indices_or_sections=2, oracle=np.vsplit)
sample("dsplit", x=f(2, 3, 4), indices_or_sections=2, oracle=np.dsplit)
sample("fliplr", x=f(2, 3), oracle=np.fliplr)
sample("flipud", x=f(2, 3), oracle=np.flipud)
for k in (0, 1, 2, 3, -1, 6):
    sample(
        "rot90",
        array=f(2, 3, 2),
        k=k,
        axes=(0, -1) if k == 3 else (0, 1),
        oracle=lambda x, k, axes: np.rot90(x, k, axes),
    )
sample("rot90", array=f(2, 3), axes=(1, 0), oracle=lambda x, axes: np.rot90(x, 1, axes))
sample("diagflat", x=f(2, 2), k=1, oracle=np.diagflat)
for indexing in ("xy", "ij"):
    sample("meshgrid", x=[f(2), f(3), f(4)], indexing=indexing, oracle=lambda x, indexing: list(np.meshgrid(*x, indexing=indexing)),
           call=lambda meshgrid, x, indexing: meshgrid(*x, indexing=indexing))  # fmt: skip
sample("meshgrid", x=[f(3)], oracle=lambda x: list(np.meshgrid(*x)), call=lambda meshgrid, x: meshgrid(*x))
sample("meshgrid", x=[f(2, 2), f(3)], oracle=lambda x: list(np.meshgrid(*x)), call=lambda meshgrid, x: meshgrid(*x))
sample(
    "rearrange",
    tensor=f(2, 6, 3),
    pattern="b (h w) c -> b w (c h)",
    h=2,
    oracle=lambda x, pattern, h: x.reshape(2, 2, 3, 3).transpose(0, 2, 3, 1).reshape(2, 3, 6),
)
sample("rearrange", tensor=f(2, 3, 4), pattern="... c -> c ...", oracle=lambda x, pattern: np.moveaxis(x, -1, 0))
sample("rearrange", tensor=f(2, 3), pattern="a b -> a 1 b", oracle=lambda x, pattern: x[:, None])
sample("rearrange", tensor=f(2, 3, 4), pattern="a b c -> (a b c)", oracle=lambda x, pattern: x.ravel())

# ------------------------------------------------------------------ more indexing and order

ids = np.array([0, 2, -1, 2, 5], "int32")
for name, reduce, empty in [
    ("sum", np.sum, 0.0),
    ("max", np.max, -np.inf),
    ("min", np.min, np.inf),
    ("prod", np.prod, 1.0),
]:
    sample("segment_" + name, data=apart(5, 2), segment_ids=ids, num_segments=4, grad=name == "sum",
           oracle=lambda d, j, num_segments, o=reduce, e=empty: np.stack([o(d[j == k], axis=0) if (j == k).any() else np.full(2, e) for k in range(4)]))  # fmt: skip
    sample(
        "segment_" + name,
        data=i(4, 2),
        segment_ids=np.array([0, 1, 1, 2], "int32"),
        compiled=False,
        oracle=lambda d, j, o=reduce: np.array([o(d[j == k], axis=0) for k in range(3)]),
    )
sample(
    "unravel_index",
    indices=np.array([[5, 0], [-1, 3]], "int32"),
    shape=(2, 3),
    oracle=lambda j, shape: list(np.unravel_index(j % 6, shape)),
)
sample("argpartition", x=apart(3, 4), kth=2, axis=0, oracle=lambda x, kth, axis: np.argsort(x, axis))
sample("isin", x1=i(3, 4), x2=i(5), oracle=np.isin)
sample("isin", x1=f(3), x2=np.zeros(0), invert=True, oracle=np.isin)
repeats = np.array([3, 1, 1, 2, 3, 3], "int32")
sample("unique", x=repeats, oracle=np.unique, compiled=False)
sample(
    "unique",
    x=repeats.reshape(2, 3),
    return_index=True,
    return_inverse=True,
    return_counts=True,
    oracle=lambda x, **kw: list(np.unique(x, **kw)),
    compiled=False,
)
sample(
    "unique",
    x=np.array([[1, 2], [0, 5], [1, 2]], "int32"),
    axis=0,
    return_inverse=True,
    oracle=lambda x, **kw: [v.reshape(-1) if n else v for n, v in enumerate(np.unique(x, **kw))],
    compiled=False,
)
sample(
    "unique",
    x=np.array([np.nan, 1.0, np.nan]),
    oracle=lambda x: np.unique(x, equal_nan=False),
    compiled=False,
    grad=False,
)
sample(
    "unique",
    x=repeats,
    size=5,
    fill_value=9,
    return_counts=True,
    oracle=lambda x, **kw: [np.array([1, 2, 3, 9, 9]), np.array([2, 1, 3, 0, 0])],
)
sample("unique", x=repeats, size=2, return_index=True, oracle=lambda x, **kw: [np.array([1, 2]), np.array([1, 3])])

# ------------------------------------------------------------------ more creation

sample("tri", N=3, oracle=np.tri)
sample("tri", N=3, k=-5, oracle=np.tri)
sample("tri", N=3, k=4, oracle=np.tri)
sample("tri", N=2, M=4, k=1, dtype="int32", oracle=np.tri)
sample("logspace", start=0, stop=3, num=4, oracle=np.logspace, tol=1e-4)
sample("logspace", start=0, stop=3, num=4, base=2, endpoint=False, oracle=np.logspace)
sample("geomspace", start=1.0, stop=1000.0, num=4, oracle=np.geomspace, tol=1e-4)
sample("geomspace", start=np.array([1.0, -2.0]), stop=np.array([8.0, -32.0]), num=3, axis=-1, oracle=np.geomspace)
sample("vander", x=f(3), oracle=np.vander)
sample("vander", x=i(3), N=4, increasing=True, oracle=np.vander)
for name in ("bartlett", "blackman", "hamming", "hanning"):
    sample(name, x=7, oracle=lambda x, name=name: getattr(np, name)(x))
    sample(name, x=1, oracle=lambda x, name=name: getattr(np, name)(x))
sample("kaiser", x=7, beta=14.0, oracle=lambda x, beta: np.kaiser(x, beta))

# ------------------------------------------------------------------ more linear algebra

sample("eig", x=np.array([[2.0, 1.0], [0.0, 3.0]]), gives="complex64", grad=False)
sample("logdet", x=spd(2, 3, 3), oracle=lambda x: np.linalg.slogdet(x)[1])
for upper in (False, True):
    sample("cholesky_inverse", x=np.triu(rows(3, 3)) if upper else np.tril(rows(3, 3)), upper=upper,
           oracle=lambda x, upper: np.linalg.inv(x.T @ x if upper else x @ x.T), tol=1e-4)  # fmt: skip
sample("pinv", x=f(2, 4, 3), oracle=np.linalg.pinv, tol=1e-4)
sample("matrix_rank", x=np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 2]]), oracle=np.linalg.matrix_rank)
sample("lstsq", a=f(5, 3), b=f(5), oracle=lambda a, b: np.linalg.lstsq(a, b)[0], tol=1e-4)
sample("lstsq", a=f(2, 3), b=f(2, 2), oracle=lambda a, b: np.linalg.lstsq(a, b)[0], tol=1e-4)
sample("inner", x1=f(2, 3), x2=f(4, 3), oracle=np.inner)
sample("inner", x1=np.asarray(2.0), x2=f(4, 3), oracle=np.inner)
sample("vdot", x1=f(2, 3), x2=f(3, 2), oracle=np.vdot)
sample("vdot", x1=f(3) + 1j * f(3), x2=f(3) + 1j * f(3), oracle=np.vdot, grad=False)
sample("kron", x1=f(2, 3), x2=f(3), oracle=np.kron)
sample("cross", x1=f(2, 3), x2=f(2, 3), oracle=np.cross)
sample("cross", x1=f(3, 2), x2=f(3, 2), axis=0, oracle=lambda x, y, axis: np.cross(x, y, axis=axis))
sample("cross", x1=f(2), x2=f(3), oracle=lambda x, y: np.cross(np.append(x, 0), y))
sample("cross", x1=f(4, 2), x2=f(4, 2), oracle=lambda x, y: x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0])
sample("trace", x=f(3, 4), offset=1, oracle=np.trace)
sample("trace", x=np.ones((2, 2), "int8"), oracle=np.trace, gives="int32")
sample("cdist", x=f(3, 2), y=f(2, 4, 2), oracle=lambda x, y: np.linalg.norm(x[:, None] - y[:, None], axis=-1))

# ------------------------------------------------------------------ calculus and Fourier

for n in (0, 1, 2):
    sample("diff", a=f(3, 5), n=n, axis=-1 if n else 0, oracle=np.diff)
sample("diff", a=b(5), oracle=np.diff)
sample("trapezoid", y=f(3, 5), oracle=np.trapezoid)
sample("trapezoid", y=f(3, 5), axis=0, x=np.sort(f(3)), oracle=lambda y, axis, x: np.trapezoid(y, x, axis=axis))
sample("trapezoid", y=f(3, 5), dx=0.5, oracle=lambda y, dx: np.trapezoid(y, dx=dx))


def _pair(z):
    return [z.real, z.imag]


sample("fft", x=[f(2, 5), f(2, 5)], oracle=lambda x: _pair(np.fft.fft(x[0] + 1j * x[1])), tol=1e-4)
sample("fft2", x=[f(2, 3, 4), f(2, 3, 4)], oracle=lambda x: _pair(np.fft.fft2(x[0] + 1j * x[1])), tol=1e-4)
sample("ifft2", x=[f(2, 3, 4), f(2, 3, 4)], oracle=lambda x: _pair(np.fft.ifft2(x[0] + 1j * x[1])), tol=1e-4)
for length in (None, 4, 9):
    sample(
        "rfft", x=f(2, 6), fft_length=length, oracle=lambda x, fft_length: _pair(np.fft.rfft(x, fft_length)), tol=1e-4
    )
    sample(
        "irfft",
        x=[f(2, 4), f(2, 4)],
        fft_length=length,
        oracle=lambda x, fft_length: np.fft.irfft(x[0] + 1j * x[1], fft_length),
        tol=1e-4,
    )
sample("view_as_complex", x=f(3, 2), oracle=lambda x: x[:, 0] + 1j * x[:, 1], grad=False)
sample("view_as_real", x=f(3) + 1j * f(3), oracle=lambda x: np.stack([x.real, x.imag], -1), grad=False)
sample(
    "extract_sequences",
    x=f(2, 10),
    sequence_length=4,
    sequence_stride=3,
    oracle=lambda x, sequence_length, sequence_stride: np.stack([x[:, k : k + 4] for k in (0, 3, 6)], 1),
)


def _stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    w = scipy.signal.get_window(window, sequence_length) if isinstance(window, str) else np.ones(sequence_length)
    before = (fft_length - sequence_length) // 2
    w = np.pad(w, (before, fft_length - sequence_length - before))
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(fft_length // 2,) * 2], mode="reflect")
    frames = range(0, x.shape[-1] - fft_length + 1, sequence_stride)
    return _pair(np.fft.rfft(np.stack([x[..., k : k + fft_length] for k in frames], -2) * w))


signal = f(2, 20)
for options in ({}, {"window": "hamming"}, {"window": None, "center": False}):
    sample("stft", x=signal, sequence_length=6, sequence_stride=3, fft_length=8, **options, oracle=_stft, tol=1e-4)
for options, want in (({}, signal[:, :18]), ({"length": 20}, signal)):
    sample(
        "istft",
        x=_stft(signal, 6, 3, 8),
        sequence_length=6,
        sequence_stride=3,
        fft_length=8,
        **options,
        oracle=lambda x, want=want, **kw: want,
        tol=1e-4,
    )

# ------------------------------------------------------------------ images

picture = _random.uniform(0, 1, (2, 5, 7, 3))


def _bilinear(x, size, **kw):
    """Half-pixel centres, edges repeated."""
    for axis, n in ((-3, size[0]), (-2, size[1])):
        old = x.shape[axis]
        at = np.clip((np.arange(n) + 0.5) * old / n - 0.5, 0, old - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape((-1,) + (1,) * (-axis - 1))
        x = np.take(x, low, axis) * (1 - share) + np.take(x, np.minimum(low + 1, old - 1), axis) * share
    return x


sample("image.resize", images=picture, size=(8, 4), oracle=_bilinear)
sample(
    "image.resize",
    images=picture[0],
    size=(10, 14),
    interpolation="nearest",
    oracle=lambda x, **kw: x.repeat(2, 0).repeat(2, 1),
    grad=False,
)
for method in ("bicubic", "lanczos3", "lanczos5"):
    sample("image.resize", images=picture, size=(3, 9), interpolation=method, antialias=True)
sample(
    "image.resize",
    images=picture.transpose(0, 3, 1, 2),
    size=(8, 4),
    data_format="channels_first",
    oracle=lambda x, **kw: _bilinear(x.transpose(0, 2, 3, 1), (8, 4)).transpose(0, 3, 1, 2),
    grad=False,
)
sample("image.resize", images=(picture * 255).astype("uint8"), size=(8, 4), gives="uint8")
sample(
    "image.resize",
    images=picture,
    size=(4, 4),
    crop_to_aspect_ratio=True,
    oracle=lambda x, **kw: _bilinear(x[:, :, 1:6], (4, 4)),
    grad=False,
)
sample(
    "image.resize",
    images=picture,
    size=(6, 4),
    pad_to_aspect_ratio=True,
    fill_value=2.0,
    oracle=lambda x, **kw: _bilinear(np.pad(x, ((0, 0), (2, 2), (0, 0), (0, 0)), constant_values=2.0), (6, 4)),
    grad=False,
)
sample(
    "image.scale_and_translate",
    images=picture,
    output_shape=(2, 5, 7, 3),
    scale=(1.0, 1.0),
    translation=(1.0, -2.0),
    spatial_dims=(1, 2),
    method="linear",
    oracle=lambda x, **kw: np.pad(x, ((0, 0), (1, 0), (0, 2), (0, 0)))[:, :-1, 2:],
)
for order in (0, 1):
    for mode, scipys in [
        ("constant", "grid-constant"),
        ("nearest", "nearest"),
        ("wrap", "grid-wrap"),
        ("mirror", "mirror"),
        ("reflect", "reflect"),
    ]:
        sample("image.map_coordinates", inputs=picture[0, :, :, 0], coordinates=_random.uniform(-3, 9, (2, 3, 4)), order=order, fill_mode=mode, fill_value=0.5,
               oracle=lambda x, c, order, fill_mode, fill_value, m=scipys: scipy.ndimage.map_coordinates(x, c, order=order, mode=m, cval=fill_value), grad=order == 1)  # fmt: skip
turn = np.array(
    [[0.913, 0.207, -0.31, -0.113, 1.107, 0.41, 0.0, 0.0], [1.01, 0.03, 0.57, 0.02, 1.03, 0.21, 0.011, 0.023]]
)


def _affine(x, t, order=1, mode="grid-constant", cval=0.25):
    out = np.empty_like(x)
    v, u = np.mgrid[: x.shape[1], : x.shape[2]].astype(float)
    for n, (a0, a1, a2, b0, b1, b2, c0, c1) in enumerate(t):
        k = c0 * u + c1 * v + 1
        at = np.stack([(b0 * u + b1 * v + b2) / k, (a0 * u + a1 * v + a2) / k])
        for c in range(x.shape[-1]):
            out[n, :, :, c] = scipy.ndimage.map_coordinates(x[n, :, :, c], at, order=order, mode=mode, cval=cval)
    return out


sample(
    "image.affine_transform",
    images=picture,
    transform=turn,
    fill_value=0.25,
    oracle=lambda x, t, fill_value: _affine(x, t),
)
sample(
    "image.affine_transform",
    images=picture,
    transform=turn,
    interpolation="nearest",
    fill_mode="reflect",
    oracle=lambda x, t, **kw: _affine(x, t, 0, "reflect"),
    grad=False,
)
sample(
    "image.affine_transform",
    images=picture[0].transpose(2, 0, 1).copy(),
    transform=turn[0],
    fill_value=0.25,
    data_format="channels_first",
    oracle=lambda x, t, **kw: _affine(x.transpose(1, 2, 0)[None], t[None])[0].transpose(2, 0, 1),
    grad=False,
)
square = np.array([[0.0, 0], [0, 4], [6, 0], [6, 4]])
sample(
    "image.perspective_transform",
    images=picture[0],
    start_points=square,
    end_points=square,
    oracle=lambda x, s, e: x,
    tol=1e-4,
    grad=False,
)
sample("image.perspective_transform", images=picture, start_points=np.stack([square, square]), end_points=np.stack([square, square]) + 1.0, fill_value=0.5,
       oracle=lambda x, s, e, fill_value: np.pad(x, ((0, 0), (1, 0), (1, 0), (0, 0)), constant_values=0.5)[:, :-1, :-1], tol=1e-3, grad=False)  # fmt: skip
sample(
    "image.pad_images",
    images=picture,
    top_padding=1,
    left_padding=2,
    bottom_padding=0,
    target_width=10,
    oracle=lambda x, **kw: np.pad(x, ((0, 0), (1, 0), (2, 1), (0, 0))),
)
sample(
    "image.crop_images",
    images=picture,
    top_cropping=1,
    right_cropping=2,
    target_height=3,
    left_cropping=1,
    oracle=lambda x, **kw: x[:, 1:4, 1:5],
)
sample(
    "image.extract_patches",
    images=picture[:, :4, :6],
    size=(2, 3),
    oracle=lambda x, size: x.reshape(2, 2, 2, 2, 3, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 2, 18),
)
sample(
    "image.extract_patches", images=picture[0], size=1, strides=2, padding="same", oracle=lambda x, **kw: x[::2, ::2]
)
sample(
    "image.extract_patches_3d",
    volumes=f(1, 2, 4, 2, 1),
    size=2,
    oracle=lambda x, size: np.stack([x[0, :, :2].ravel(), x[0, :, 2:].ravel()]).reshape(1, 1, 2, 1, 8),
)
sample("image.rgb_to_grayscale", images=picture, oracle=lambda x: x @ np.array([[0.2989], [0.587], [0.114]]))
sample(
    "image.rgb_to_hsv",
    images=picture,
    oracle=lambda x: np.array([colorsys.rgb_to_hsv(*p) for p in x.reshape(-1, 3)]).reshape(x.shape),
)
sample(
    "image.hsv_to_rgb",
    images=picture,
    oracle=lambda x: np.array([colorsys.hsv_to_rgb(*p) for p in x.reshape(-1, 3)]).reshape(x.shape),
)
sample("image.hsv_to_rgb", images=picture[0].transpose(2, 0, 1).copy(), data_format="channels_first",
       oracle=lambda x, data_format: np.array([colorsys.hsv_to_rgb(*p) for p in x.reshape(3, -1).T]).T.reshape(x.shape))  # fmt: skip
sample("image.gaussian_blur", images=picture, kernel_size=(3, 5), sigma=(1.0, 2.0),
       oracle=lambda x, kernel_size, sigma: scipy.ndimage.convolve1d(scipy.ndimage.convolve1d(x, _bell(3, 1.0), 2, mode="constant"), _bell(5, 2.0), 1, mode="constant"))  # fmt: skip
sample("image.sobel_edges", images=picture, oracle=lambda x: np.stack([_sobel(x, a) for a in (1, 2)], -1))
sample(
    "image.ssim", image1=_random.uniform(0, 1, (2, 6, 6, 1)), image2=_random.uniform(0, 1, (2, 6, 6, 1)), filter_size=3
)
sample(
    "image.ssim",
    image1=picture[0],
    image2=picture[0],
    filter_size=5,
    oracle=lambda x, y, filter_size: np.asarray(1.0),
    grad=False,
)
sample("image.elastic_transform", images=picture, seed=3, compiled=False, grad=False)


def _bell(size, sigma):
    k = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / sigma) ** 2)
    return k / k.sum()


def _sobel(x, axis):
    across = 3 - axis
    smooth = scipy.ndimage.correlate1d(x, [1, 2, 1], across, mode="mirror")
    return scipy.ndimage.correlate1d(smooth, [-1, 0, 1], axis, mode="mirror")


# ------------------------------------------------------------------ activations


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


for name, oracle in [
    ("relu", lambda x: np.maximum(x, 0)), ("relu6", lambda x: np.clip(x, 0, 6)), ("sigmoid", scipy.special.expit),
    ("softplus", lambda x: np.logaddexp(x, 0)), ("softsign", lambda x: x / (1 + np.abs(x))),
    ("silu", lambda x: x * _sigmoid(x)), ("swish", lambda x: x * _sigmoid(x)),
    ("log_sigmoid", lambda x: -np.logaddexp(-x, 0)), ("leaky_relu", lambda x: np.where(x > 0, x, 0.2 * x)),
    ("elu", lambda x: np.where(x > 0, x, np.expm1(x))), ("celu", lambda x: np.where(x > 0, x, np.expm1(x))),
    ("selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    ("hard_sigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1)), ("hard_silu", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("hard_swish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)), ("hard_tanh", lambda x: np.clip(x, -1, 1)),
    ("tanh_shrink", lambda x: x - np.tanh(x)), ("soft_shrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    ("hard_shrink", lambda x: np.where(np.abs(x) > 0.5, x, 0)), ("squareplus", lambda x: (x + np.sqrt(x * x + 4)) / 2),
    ("sparse_plus", lambda x: np.where(x <= -1, 0, np.where(x < 1, (x + 1) ** 2 / 4, x))),
    ("sparse_sigmoid", lambda x: np.clip((x + 1) / 2, 0, 1)),
]:  # fmt: skip
    sample(name, x=apart(3, 4), oracle=oracle)
    sample(name, x=np.array([-100.0, 100.0, 0.1]), oracle=oracle, grad=False)
for approximate in (True, False):
    sample("gelu", x=apart(3, 4), approximate=approximate, oracle=lambda x, approximate: x * (
        0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) if approximate else scipy.special.ndtr(x)))  # fmt: skip
sample("elu", x=apart(3, 4), alpha=0.5, oracle=lambda x, alpha: np.where(x > 0, x, 0.5 * np.expm1(x)))
sample(
    "threshold",
    x=apart(3, 4),
    threshold=0.5,
    default_value=-1.0,
    oracle=lambda x, threshold, default_value: np.where(x > 0.5, x, -1.0),
)
sample("glu", x=f(3, 4), oracle=lambda x: x[:, :2] * _sigmoid(x[:, 2:]))
for axis in (-1, 0, (0, 2)):
    sample("softmax", x=f(2, 3, 4), axis=axis, oracle=lambda x, axis: scipy.special.softmax(x, axis))
    sample("log_softmax", x=f(2, 3, 4), axis=axis, oracle=lambda x, axis: scipy.special.log_softmax(x, axis))
sample("softmax", x=np.array([[1000.0, 1000.0], [-1000.0, 0.0]]), oracle=_softmax, grad=False)
sample(
    "sparsemax",
    x=np.array([[1.0, 2.0, 0.2], [0.1, 0.2, 0.3]]),
    oracle=lambda x: np.array([[0.0, 1.0, 0.0], [0.7 / 3, 1 / 3, 1.3 / 3]]),
    grad=False,
)

# ------------------------------------------------------------------ convolution and pooling


def _conv(x, kernel, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, groups=None):
    """Two-dimensional, by the definition."""
    if data_format == "channels_first":
        x = np.moveaxis(x, 1, -1)
    h, w, inside, outside = kernel.shape
    reach = [(n - 1) * dilation_rate + 1 for n in (h, w)]
    if padding == "same":
        total = [max((-(-n // strides) - 1) * strides + r - n, 0) for n, r in zip(x.shape[1:3], reach)]
        x = np.pad(x, ((0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)))
    rows, columns = ((n - r) // strides + 1 for n, r in zip(x.shape[1:3], reach))
    groups = x.shape[-1] // inside
    out = np.zeros((len(x), rows, columns, outside))
    for i, j in np.ndindex(rows, columns):
        patch = x[
            :,
            i * strides : i * strides + reach[0] : dilation_rate,
            j * strides : j * strides + reach[1] : dilation_rate,
        ]
        for g in range(groups):
            a, b = slice(g * inside, (g + 1) * inside), slice(g * outside // groups, (g + 1) * outside // groups)
            out[:, i, j, b] = np.einsum("bhwc,hwco->bo", patch[..., a], kernel[..., b])
    return np.moveaxis(out, -1, 1) if data_format == "channels_first" else out


for options in ({}, {"strides": 2}, {"padding": "same"}, {"strides": 2, "padding": "same"}, {"dilation_rate": 2}):
    sample(
        "conv",
        inputs=f(2, 6, 7, 4),
        kernel=f(3, 2, 4, 6),
        **options,
        data_format="channels_last",
        oracle=_conv,
        tol=1e-4,
    )
sample(
    "conv",
    inputs=f(2, 4, 6, 7),
    kernel=f(3, 2, 4, 6),
    padding="same",
    data_format="channels_first",
    oracle=_conv,
    tol=1e-4,
)
sample("conv", inputs=f(2, 6, 7, 4), kernel=f(3, 2, 2, 6), oracle=_conv, tol=1e-4)
sample(
    "conv",
    inputs=f(2, 9, 3),
    kernel=f(4, 3, 2),
    strides=2,
    oracle=lambda x, k, strides: _conv(x[:, :, None], np.stack([k], 1), 1)[:, ::2, 0],
    tol=1e-4,
)
sample("conv", inputs=f(1, 3, 3, 3, 1), kernel=f(2, 2, 2, 1, 2), tol=1e-4)
sample("depthwise_conv", inputs=f(2, 6, 7, 3), kernel=f(3, 2, 3, 2), padding="same", strides=2,
       oracle=lambda x, k, **kw: _conv(x, k.reshape(3, 2, 1, 6), **kw), tol=1e-4)  # fmt: skip
sample("separable_conv", inputs=f(2, 6, 7, 3), depthwise_kernel=f(3, 2, 3, 2), pointwise_kernel=f(1, 1, 6, 4),
       oracle=lambda x, k, p: _conv(_conv(x, k.reshape(3, 2, 1, 6)), p), tol=1e-4)  # fmt: skip


def _transposed(x, kernel, strides=1, padding="valid", **kw):
    """Scatter each input place's kernel; `same` keeps the middle."""
    h, w, outside, _ = kernel.shape
    full = np.zeros(
        (len(x), (x.shape[1] - 1) * strides + max(h, strides), (x.shape[2] - 1) * strides + max(w, strides), outside)
    )
    for i, j in np.ndindex(x.shape[1:3]):
        full[:, i * strides : i * strides + h, j * strides : j * strides + w] += np.einsum(
            "bc,hwoc->bhwo", x[:, i, j], kernel
        )
    if padding == "same":
        cut = [(n - s * strides) // 2 for n, s in zip(full.shape[1:3], x.shape[1:3])]
        full = full[:, cut[0] : cut[0] + x.shape[1] * strides, cut[1] : cut[1] + x.shape[2] * strides]
    return full


for options in ({}, {"strides": 2}, {"padding": "same"}, {"strides": 2, "padding": "same"}):
    sample("conv_transpose", inputs=f(2, 3, 4, 3), kernel=f(3, 3, 2, 3), **options, oracle=_transposed, tol=1e-4)


def _pooled(x, pool_size, reduce, strides=None, padding="valid"):
    strides = strides or pool_size
    if padding == "same":
        total = [max((-(-n // strides) - 1) * strides + pool_size - n, 0) for n in x.shape[1:3]]
        x = np.pad(x, ((0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)), constant_values=np.nan)
    rows, columns = ((n - pool_size) // strides + 1 for n in x.shape[1:3])
    out = np.empty((len(x), rows, columns, x.shape[-1]))
    for i, j in np.ndindex(rows, columns):
        out[:, i, j] = reduce(
            x[:, i * strides : i * strides + pool_size, j * strides : j * strides + pool_size], axis=(1, 2)
        )
    return out


for name, reduce in [("max_pool", np.nanmax), ("average_pool", np.nanmean)]:
    for options in ({}, {"strides": 1}, {"padding": "same"}, {"strides": 1, "padding": "same"}):
        sample(
            name,
            inputs=apart(2, 5, 7, 3),
            pool_size=2,
            **options,
            oracle=lambda x, reduce=reduce, **kw: _pooled(x, reduce=reduce, **kw),
        )
    sample(name, inputs=apart(2, 3, 4, 6), pool_size=(2, 3), data_format="channels_first",
           oracle=lambda x, pool_size, data_format, r=reduce: r(x.reshape(2, 3, 2, 2, 2, 3), axis=(3, 5)))  # fmt: skip
for name, reduce in [("adaptive_max_pool", np.max), ("adaptive_average_pool", np.mean)]:
    sample(
        name,
        inputs=apart(2, 4, 6, 3),
        output_size=(2, 3),
        oracle=lambda x, output_size, r=reduce: r(x.reshape(2, 2, 2, 3, 2, 3), axis=(2, 4)),
    )

# ------------------------------------------------------------------ normalization, attention, losses

sample("moments", x=f(3, 4), axes=[0], oracle=lambda x, axes: [x.mean(0), x.var(0)])
sample(
    "moments",
    x=f(3, 4, 2),
    axes=(0, 1),
    keepdims=True,
    oracle=lambda x, axes, keepdims: [x.mean(axes, keepdims=True), x.var(axes, keepdims=True)],
)
sample("batch_normalization", x=f(3, 4), mean=f(4), variance=pos(4), axis=-1, offset=f(4), scale=f(4),
       oracle=lambda x, m, v, axis, offset, scale: (x - m) / np.sqrt(v + 1e-3) * scale + offset)  # fmt: skip
sample("batch_normalization", x=f(3, 4, 2), mean=f(4), variance=pos(4), axis=1, epsilon=0.1,
       oracle=lambda x, m, v, axis, epsilon: (x - m[:, None]) / np.sqrt(v[:, None] + 0.1))  # fmt: skip
sample("layer_normalization", x=f(3, 4), gamma=f(4), beta=f(4), epsilon=1e-3,
       oracle=lambda x, g, b, epsilon: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3) * g + b)  # fmt: skip
sample("layer_normalization", x=f(2, 3, 4), axis=(1, 2), epsilon=0.1,
       oracle=lambda x, axis, epsilon: (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + 0.1))  # fmt: skip
sample(
    "rms_normalization",
    x=f(3, 4),
    scale=f(4),
    epsilon=1e-3,
    oracle=lambda x, s, epsilon: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * s,
)
sample("normalize", x=f(3, 4), oracle=lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True))
sample("normalize", x=f(3, 4), axis=0, order=1, oracle=lambda x, axis, order: x / np.abs(x).sum(0))


def _attention(q, k, v, bias=None, mask=None, scale=None, is_causal=False):
    logits = np.einsum("bqhd,bkhd->bhqk", q, k) * (scale or 1 / np.sqrt(q.shape[-1]))
    if bias is not None:
        logits = logits + bias
    allowed = np.ones(logits.shape, bool) if mask is None else np.broadcast_to(mask, logits.shape)
    if is_causal:
        allowed = allowed & np.tri(*logits.shape[-2:], dtype=bool)
    return np.einsum("bhqk,bkhd->bqhd", _softmax(np.where(allowed, logits, -1e30)), v)


sample("dot_product_attention", query=f(2, 3, 2, 4), key=f(2, 5, 2, 4), value=f(2, 5, 2, 4), oracle=_attention)
sample(
    "dot_product_attention",
    query=f(2, 5, 2, 4),
    key=f(2, 5, 2, 4),
    value=f(2, 5, 2, 4),
    is_causal=True,
    scale=0.3,
    oracle=_attention,
)
sample("dot_product_attention", query=f(2, 3, 2, 4), key=f(2, 5, 2, 4), value=f(2, 5, 2, 4), bias=f(2, 2, 3, 5),
       mask=np.array([True, False, True, True, True])[None, None, None], oracle=_attention)  # fmt: skip
chance = _random.uniform(0.1, 0.9, (3, 4))
chance /= chance.sum(-1, keepdims=True)
hot = np.eye(4)[[1, 0, 3]]
sample(
    "binary_crossentropy",
    target=b(3, 4).astype("float64"),
    output=chance,
    oracle=lambda t, p: -(t * np.log(p) + (1 - t) * np.log(1 - p)),
)
sample(
    "binary_crossentropy",
    target=b(3, 4).astype("float64"),
    output=f(3, 4),
    from_logits=True,
    oracle=lambda t, z, from_logits: np.logaddexp(z, 0) - t * z,
)
sample("categorical_crossentropy", target=hot, output=chance, oracle=lambda t, p: -(t * np.log(p)).sum(-1), grad=False)
sample(
    "categorical_crossentropy",
    target=hot,
    output=f(3, 4),
    from_logits=True,
    oracle=lambda t, z, from_logits: -(t * scipy.special.log_softmax(z, -1)).sum(-1),
)
sample(
    "sparse_categorical_crossentropy",
    target=np.array([1, 0, 3], "int32"),
    output=chance,
    oracle=lambda t, p: -np.log(p[np.arange(3), t]),
    grad=False,
)
sample("sparse_categorical_crossentropy", target=np.array([1, 0, 3], "int32"), output=f(3, 4), from_logits=True,
       oracle=lambda t, z, from_logits: -scipy.special.log_softmax(z, -1)[np.arange(3), t])  # fmt: skip
no_class = np.array([1, -1, 4], "int32")
sample(
    "sparse_categorical_crossentropy",
    target=no_class,
    output=chance,
    oracle=lambda t, p: np.array([-np.log(p[0, 1]), 0, 0]),
    grad=False,
)
sample("sparse_categorical_crossentropy", target=no_class, output=f(3, 4), from_logits=True,
       oracle=lambda t, z, from_logits: np.array([-scipy.special.log_softmax(z[0])[1], 0, 0]))  # fmt: skip
sample(
    "space_to_depth",
    x=f(2, 4, 6, 3),
    block_size=2,
    oracle=lambda x, block_size: x.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12),
)
sample(
    "depth_to_space",
    x=f(2, 2, 3, 12),
    block_size=2,
    oracle=lambda x, block_size: x.reshape(2, 2, 3, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 6, 3),
)
sample(
    "psnr",
    x1=f(3, 4),
    x2=f(3, 4),
    max_val=2.0,
    oracle=lambda x, y, max_val: 20 * np.log10(2.0) - 10 * np.log10(np.mean((x - y) ** 2)),
)
sample("polar", abs_=pos(3), angle=f(3), oracle=lambda r, a: r * np.exp(1j * a), grad=False)
sample("stop_gradient", variable=f(3), oracle=lambda x: x, grad=False)


# ------------------------------------------------------------------ no axes, unsigned integers

for name in ("sum", "prod", "mean", "var", "std", "max", "min", "ptp", "count_nonzero", "nansum", "nanmax"):
    # (The root of 0, which is the deviation of one number, has no slope.)
    sample(name, x=apart(2, 3), axis=(), oracle=getattr(np, name), **({"grad": False} if name == "std" else {}))
sample("logsumexp", x=f(2, 3), axis=(), oracle=lambda x, axis: x)
for name in ("any", "all"):
    sample(name, x=b(2, 3), axis=(), oracle=getattr(np, name))
for dtype in ("uint16", "uint32"):
    for name in ("max", "min", "argmax", "argmin", "cumsum", "cumprod"):
        sample(name, x=np.array([[3, 1], [2, 60000]], dtype), axis=0, oracle=getattr(np, name),
               gives="int32" if name.startswith("arg") else dtype)  # fmt: skip


def _unfolded(x, kernel_size, dilation=1, padding=0, stride=1):
    (kr, kc), (dr, dc), (pr, pc), (sr, sc) = (
        (v, v) if isinstance(v, int) else v for v in (kernel_size, dilation, padding, stride)
    )
    x = np.pad(x, [(0, 0), (0, 0), (pr, pr), (pc, pc)])
    rows, columns = x.shape[2] - dr * (kr - 1), x.shape[3] - dc * (kc - 1)
    windows = [
        x[:, :, r : r + dr * kr : dr, c : c + dc * kc : dc][:, :, :kr, :kc]
        for r in range(0, rows, sr)
        for c in range(0, columns, sc)
    ]
    return np.stack([w.reshape(len(x), -1) for w in windows], axis=-1)


def _folded(x, output_size, kernel_size, **how):
    # The adjoint of unfold, by its matrix.
    size = (output_size,) * 2 if isinstance(output_size, int) else output_size
    pixels = math.prod(size)
    matrix = _unfolded(np.eye(pixels).reshape(pixels, 1, *size), kernel_size, **how).reshape(pixels, -1)
    channels = x.shape[1] * x.shape[2] // matrix.shape[1]
    return (x.reshape(len(x), channels, -1) @ matrix.T).reshape(len(x), channels, *size)


for options in (
    {"kernel_size": 2},
    {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)},
    {"kernel_size": 2, "dilation": (2, 1), "stride": 2, "padding": 1},
):
    image = f(2, 3, 6, 7)
    sample("unfold", x=image, **options, oracle=_unfolded)
    sample("fold", x=f(*_unfolded(image, **options).shape), output_size=(6, 7), **options, oracle=_folded)
sample("unfold", x=i(2, 1, 4, 4), kernel_size=2, oracle=_unfolded)
sample("fold", x=i(2, 4, 9), output_size=4, kernel_size=2, oracle=_folded, gives="int32")


def _likelihoods(logits, blank):
    """Probability of each label sequence, over all alignments."""
    log_p = scipy.special.log_softmax(logits, -1)
    total = {}
    for path in itertools.product(range(logits.shape[1]), repeat=len(logits)):
        labels = tuple(k for k, _ in itertools.groupby(path) if k != blank)
        total[labels] = total.get(labels, 0) + np.exp(sum(log_p[t, k] for t, k in enumerate(path)))
    return total


def _ctc_losses(target, output, target_length, output_length, mask_index=0):
    return np.array([
        -np.log(_likelihoods(x[:t], mask_index).get(tuple(labels[:n]), 0))
        for labels, x, n, t in zip(target, output, target_length, output_length)
    ])  # fmt: skip


def _ctc_best(inputs, sequence_lengths, strategy, beam_width, top_paths, mask_index=0):
    sequences, scores = np.full((top_paths, *inputs.shape[:2]), -1, "int32"), np.full((len(inputs), top_paths), -np.inf)
    for n, (x, t) in enumerate(zip(inputs, sequence_lengths)):
        ranked = sorted(_likelihoods(x[:t], mask_index).items(), key=lambda item: -item[1])
        for rank, (labels, probability) in enumerate(ranked[:top_paths]):
            sequences[rank, n, : len(labels)], scores[n, rank] = labels, np.log(probability)
    return [sequences, scores]


def _ctc_greedy(inputs, sequence_lengths, merge_repeated=True, mask_index=0):
    sequences, scores = np.full((1, *inputs.shape[:2]), -1, "int32"), np.zeros((len(inputs), 1))
    for n, (x, t) in enumerate(zip(inputs, sequence_lengths)):
        path = x[:t].argmax(-1)
        labels = [k for k, _ in itertools.groupby(path)] if merge_repeated else path
        labels = [k for k in labels if k != mask_index]
        sequences[0, n, : len(labels)], scores[n] = labels, -x[:t].max(-1).sum()
    return [sequences, scores]


length = np.array([2, 1, 0, 3], "int32")
sample("ctc_loss", target=np.array([[1, 1, 2], [3, -1, 0], [0, 0, 0], [2, 2, 1]], "int32"), output=f(4, 5, 4), target_length=length,
       output_length=np.array([5, 4, 2, 3], "int32"), oracle=_ctc_losses, grad=False)  # fmt: skip
sample("ctc_loss", target=np.array([[0, 2], [1, 0]], "int32"), output=f(2, 4, 4), target_length=np.array([2, 2], "int32"),
       output_length=np.array([4, 3], "int32"), mask_index=3, oracle=_ctc_losses)  # fmt: skip
sample(
    "ctc_loss",
    target=np.array([[1]], "int32"),
    output=f(1, 1, 2),
    target_length=np.array([1], "int32"),
    output_length=np.array([1], "int32"),
    oracle=_ctc_losses,
)
length = np.array([6, 4, 1], "int32")
sample("ctc_decode", inputs=2 * f(3, 6, 3), sequence_lengths=length, oracle=_ctc_greedy, grad=False)
sample(
    "ctc_decode",
    inputs=2 * f(3, 6, 3),
    sequence_lengths=length,
    merge_repeated=False,
    mask_index=2,
    oracle=_ctc_greedy,
    grad=False,
)
# As many beams as there are sequences: the search is exact.
sample(
    "ctc_decode",
    inputs=2 * f(3, 6, 3),
    sequence_lengths=length,
    strategy="beam_search",
    beam_width=200,
    top_paths=4,
    mask_index=1,
    oracle=_ctc_best,
    grad=False,
)

# ------------------------------------------------------------------ what goes another way by its size or its values

sample("one_hot", x=i(2, 3, low=0, high=4), num_classes=4, axis=1, oracle=_hot)
sample("sign", x=np.array([np.nan, np.inf, -np.inf, 0.0, -2.0]), oracle=np.sign, grad=False)
# Near points, and the same one, far from the origin: the difference of two products has none of their digits.
crowd = np.concatenate([f(3, 20), 1e3 + f(2, 20) * 1e-2])
sample("cdist", x=f(24, 20), y=f(12, 20), oracle=lambda x, y: np.linalg.norm(x[:, None] - y, axis=-1))
sample(
    "cdist",
    x=crowd.astype("float32"),
    y=crowd.astype("float32"),
    oracle=lambda x, y: np.linalg.norm(x.astype(float)[:, None] - y, axis=-1),
    grad=False,
)
sample("cdist", x=f(3, 20), y=np.zeros((0, 20)), oracle=lambda x, y: np.zeros((3, 0)), grad=False)
sample("cross", x1=f(2, 4, 3), x2=f(3), oracle=np.cross)
sample("lstsq", a=f(4, 2), b=np.zeros((4, 0)), oracle=lambda a, b: np.zeros((2, 0)), grad=False)
bounds = np.linspace(-1.0, 1.0, 9)
sample("histogram", x=np.concatenate([bounds, [np.nan, -9.0, 9.0]]), bins=8, range=(-1.0, 1.0),
       oracle=lambda x, bins, range: [np.histogram(x[:9], bounds)[0].astype(float), bounds], grad=False)  # fmt: skip
halves = np.repeat(np.repeat(f(2, 3, 3, 1), 2, 1), 2, 2)
sample(
    "image.scale_and_translate",
    images=halves,
    output_shape=(2, 3, 3, 1),
    scale=(0.5, 0.5),
    translation=(0.0, 0.0),
    spatial_dims=(1, 2),
    method="linear",
    antialias=False,
    oracle=lambda x, **kw: x[:, ::2, ::2],
)
# One quotient of many is rounded up to an integer.
sample(
    "floor_divide",
    x1=np.append(7.3 + 0.37 * np.arange(30), 1.0),
    x2=np.append(np.full(30, 1.1), 0.1),
    oracle=np.floor_divide,
    grad=False,
)
# A NaN score is no place, an infinite one is.
sample(
    "in_top_k",
    targets=np.array([0, 1, 2], "int32"),
    predictions=np.array([[np.inf, 2, 1], [np.nan, 3, 1], [1, 2, np.nan]]),
    k=1,
    oracle=lambda t, p, k: np.array([True, True, False]),
)
# Rows that change places, matrices that aren't square.
for matrices in (rows(2, 4, 4)[:, ::-1], rows(4, 4)[[1, 3, 0, 2], :3], rows(2, 4, 4)[:, [2, 0, 1]]):
    sample(
        "lu_factor",
        x=matrices.copy(),
        oracle=lambda x: (
            [np.stack(p) for p in zip(*map(scipy.linalg.lu_factor, x))]
            if x.ndim > 2
            else list(scipy.linalg.lu_factor(x))
        ),
    )
