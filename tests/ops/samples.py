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
sample("where", condition=np.array([1.0, 0.0, 2.0]), x1=f(3), x2=f(3), oracle=lambda c, x, y: np.where(c != 0, x, y), grad=False)
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
sample("squeeze", x=f(1, 3, 1), oracle=np.squeeze)
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
    for k in (0, -1, 2):
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
sample("scatter", indices=np.array([[1], [0], [1]], "int32"), values=f(3, 2), shape=(3, 2), oracle=lambda j, v, shape: _scattered(j, v, shape))
sample("scatter", indices=np.array([[1, 1], [0, 2], [1, 1]], "int32"), values=f(3), shape=(2, 3), oracle=lambda j, v, shape: _scattered(j, v, shape))


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
sample("scatter_update", inputs=i(4, 3), indices=np.array([[1], [1]], "int32"), updates=i(2, 3), reduction="add", oracle=_updated)
sample("slice", inputs=f(4, 5), start_indices=(1, 2), shape=(2, 3), oracle=lambda x, start_indices, shape: x[1:3, 2:5])
sample("slice", inputs=f(4, 5), start_indices=np.array([3, 0], "int32"), shape=(2, 3), oracle=lambda x, s, shape: x[2:4, :3])
sample("slice_update", inputs=f(4, 5), start_indices=[1, 2], updates=f(2, 3), oracle=lambda x, start_indices, updates: _window(x, updates))


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
sample("multi_hot", inputs=i(2, 3, low=0, high=4), num_classes=4, axis=1, oracle=lambda x, num_classes, axis: _hot(x, 4).max(1))
sample("multi_hot", inputs=i(3, low=0, high=4), num_classes=4, oracle=lambda x, num_classes: _hot(x, 4).max(0))
sample("nonzero", x=i(3, 4, low=0, high=2), oracle=lambda x: list(np.nonzero(x)), compiled=False)
sample("nonzero", x=f(5), oracle=lambda x: list(np.nonzero(x)), compiled=False)

# ------------------------------------------------------------------ order

for name in ("sort", "argsort"):
    for axis in (-1, 0, None):
        sample(name, x=apart(3, 4), axis=axis, oracle=getattr(np, name))
    sample(name, x=i(3, 7, low=0, high=3), oracle=lambda x, name=name: getattr(np, name)(x, kind="stable"))
    sample(name, x=np.array([2.0, np.nan, -1.0, np.inf]), oracle=getattr(np, name), grad=False)
sample("top_k", x=apart(3, 7), k=3, oracle=lambda x, k: [-np.sort(-x)[:, :k], np.argsort(-x)[:, :k]])
sample("top_k", x=i(2, 9, low=0, high=3), k=4, oracle=lambda x, k: [-np.sort(-x)[:, :k], np.argsort(-x, kind="stable")[:, :k]])
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
sample("linspace", start=0.0, stop=1.0, num=3, retstep=True, oracle=lambda start, stop, num, retstep: np.linspace(start, stop, num, retstep=retstep))

# ------------------------------------------------------------------ linear algebra

for a, c in [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (2, 3, 1)), ((2, 0), (0, 3))]:
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
    sample("einsum", subscripts=equation, operands=operands, oracle=lambda subscripts, operands: np.einsum(subscripts, *operands),
           call=lambda einsum, subscripts, operands: einsum(subscripts, *operands))
sample("tensordot", x1=f(2, 3, 4), x2=f(3, 4, 5), oracle=np.tensordot)
sample("tensordot", x1=f(2, 3), x2=f(3, 2), axes=1, oracle=np.tensordot)
sample("tensordot", x1=f(2, 3), x2=f(4, 5), axes=0, oracle=np.tensordot)
sample("tensordot", x1=f(2, 3, 4), x2=f(4, 2), axes=([0, -1], [1, 0]), oracle=np.tensordot)
sample("tensordot", x1=f(2, 3), x2=f(3, 4), axes=(1, 0), oracle=np.tensordot)
sample("outer", x1=f(3), x2=f(2, 2), oracle=np.outer)
for order in (None, 1, 2, 3, 0, np.inf, -np.inf):
    sample("norm", x=apart(3, 4), ord=order, axis=-1, oracle=lambda x, ord, axis: np.linalg.norm(x, ord, axis), grad=order != 0)
for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    sample("norm", x=apart(3, 4), ord=order, axis=(0, 1), oracle=lambda x, ord, axis: np.linalg.norm(x, ord, axis), tol=1e-4, grad=order not in (-2, "nuc"))
sample("norm", x=f(2, 3, 4), oracle=np.linalg.norm)
sample("norm", x=f(2, 3), ord="fro", axis=(0, 1), keepdims=True, oracle=lambda x, ord, axis, keepdims: np.linalg.norm(x, ord, axis, keepdims))
sample("norm", x=np.zeros((2, 3)), axis=-1, oracle=lambda x, axis: np.linalg.norm(x, axis=axis), grad=False)
sample("cholesky", x=spd(2, 3, 3), oracle=np.linalg.cholesky, grad=False)
sample("cholesky", x=spd(3, 3), upper=True, oracle=lambda x, upper: scipy.linalg.cholesky(x), grad=False)
sample("inv", x=rows(2, 3, 3), oracle=np.linalg.inv)
sample("det", x=rows(2, 3, 3), oracle=np.linalg.det, tol=1e-4)
sample("slogdet", x=rows(2, 3, 3), oracle=lambda x: list(np.linalg.slogdet(x)))
sample("solve", a=rows(2, 3, 3), b=f(2, 3, 2), oracle=np.linalg.solve)
sample("solve", a=rows(3, 3), b=f(3), oracle=np.linalg.solve)
sample("solve_triangular", a=rows(3, 3), b=f(3, 2), oracle=lambda a, b: scipy.linalg.solve_triangular(a, b))
sample("solve_triangular", a=rows(3, 3), b=f(3, 2), lower=True, oracle=lambda a, b, lower: scipy.linalg.solve_triangular(a, b, lower=True))
sample("svd", x=f(4, 3), compute_uv=False, oracle=lambda x, compute_uv: np.linalg.svd(x, compute_uv=False), tol=1e-4)
sample("svd", x=f(2, 3, 4), full_matrices=False, grad=False)
sample("qr", x=f(4, 3), grad=False)
sample("qr", x=f(4, 3), mode="complete", grad=False)
sample("eigh", x=spd(3, 3), grad=False)
sample("lu_factor", x=rows(3, 3), oracle=lambda x: list(scipy.linalg.lu_factor(x)), grad=False)
