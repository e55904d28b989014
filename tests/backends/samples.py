"""One line, one case: a native's arguments and what NumPy or SciPy make of them in float64.

Floating arrays are the case's tensors, given in each of its dtypes; `ints` and `bools` keep their own.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.special

FLOATS = ("float32", "bfloat16", "float64")
WIDE = ("float32", "float64")
INTS = ("int32", "int64", "int8", "uint8")
NUMBERS = (*FLOATS, "int32", "int8")
_rng = np.random.default_rng(7)


@dataclass(frozen=True)
class Typed:
    """An array whose dtype is part of the case."""

    array: np.ndarray


@dataclass(frozen=True)
class Sample:
    name: str
    args: tuple
    oracle: object
    dtypes: tuple
    out: str | None
    tolerance: float

    def __repr__(self):
        return self.name


def f(*shape, low=-2.0, high=2.0):
    """Random numbers that bfloat16 and the small integers hold exactly enough: quarters."""
    return np.round(_rng.uniform(low, high, shape) * 4) / 4


def ints(values, dtype="int32"):
    return Typed(np.asarray(values, dtype))


def bools(*shape):
    return Typed(_rng.random(shape) < 0.5)


SAMPLES = []


def sample(name, *args, oracle, dtypes=FLOATS, out=None, tolerance=1.0):
    SAMPLES.append(Sample(name, args, oracle, dtypes, out, tolerance))


NAN, INF = np.nan, np.inf
SPECIAL = np.array([NAN, INF, -INF, 0.0, -0.0, 1.5, -2.5])

# ------------------------------------------------------------------ elementwise

for name, oracle in {"negative": np.negative, "abs": np.abs, "square": np.square}.items():
    sample(name, f(3, 4), oracle=oracle, dtypes=NUMBERS)
sample("sign", SPECIAL, oracle=np.sign)
sample("sign", f(3, 4), oracle=np.sign, dtypes=("int32", "int8"))
for name in ["exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh", "exp2"]:
    sample(name, f(3, 4), oracle=getattr(np, name))
for name in ["log", "log2", "log10", "sqrt"]:
    sample(name, f(3, 4, low=0.25, high=9), oracle=getattr(np, name))
sample("log2", 2.0 ** np.arange(-9, 20), oracle=np.log2)
sample("log10", 10.0 ** np.arange(0, 9), oracle=np.log10, dtypes=WIDE)
for name in ["arcsin", "arccos", "arctanh"]:
    sample(name, f(3, 4, low=-0.75, high=0.75), oracle=getattr(np, name))
sample("log1p", f(3, 4, low=-0.5), oracle=np.log1p)
sample("arccosh", f(3, 4, low=1, high=5), oracle=np.arccosh)
sample("rsqrt", f(3, 4, low=0.25, high=9), oracle=lambda x: 1 / np.sqrt(x))
sample("erf", f(3, 4), oracle=scipy.special.erf)
sample("erfc", f(3, 4), oracle=scipy.special.erfc)
sample("erfinv", f(3, 4, low=-0.75, high=0.75), oracle=scipy.special.erfinv)
sample("sigmoid", np.array([-90.0, -20, -1, 0, 1, 20, 90]), oracle=scipy.special.expit)
sample("lgamma", f(3, 4, low=0.25, high=9), oracle=scipy.special.gammaln)
sample("digamma", f(3, 4, low=0.25, high=9), oracle=scipy.special.psi)
for name in ("floor", "ceil", "trunc"):
    sample(name, np.array([-2.5, -1.0, -0.25, 0.0, 0.75, 2.5]), oracle=getattr(np, name))
    sample(name, f(3, 4), oracle=lambda x: x, dtypes=("int32",))
sample("round", np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.25]), 0, oracle=np.round)
sample("round", np.array([-2.375, 0.125, 1.625]), 2, oracle=lambda x, d: np.round(x, d), dtypes=WIDE)
sample("round", np.array([-25.0, -15, 5, 15, 26, 35]), -1, oracle=lambda x, d: np.round(x, d), dtypes=(*WIDE, "int32"))
for name in ("isnan", "isinf", "isfinite"):
    sample(name, SPECIAL, oracle=getattr(np, name), out="bool")
    sample(name, f(3), oracle=getattr(np, name), dtypes=("int32",), out="bool")
sample("relu", SPECIAL, oracle=lambda x: np.maximum(x, 0))
sample("relu", f(3, 4), oracle=lambda x: np.maximum(x, 0), dtypes=INTS)
sample("real", f(3), oracle=np.real)
sample("imag", f(3), oracle=np.imag)
sample("angle", f(3, 4), oracle=np.angle)
for name in ("real", "imag"):
    sample(name, f(3) + 1j * f(3), oracle=getattr(np, name), dtypes=("complex64",), out="float32")
sample("angle", f(3) + 1j * f(3), oracle=np.angle, dtypes=("complex64",), out="float32")
sample("conj", f(3) + 1j * f(3), oracle=np.conj, dtypes=("complex64",))
for name in ("add", "subtract", "multiply"):
    sample(name, f(3, 4), f(4), oracle=getattr(np, name), dtypes=(*NUMBERS, "int64", "float16"))
    sample(name, f(0, 4), f(4), oracle=getattr(np, name))
    sample(name, f(3), 2, oracle=getattr(np, name), dtypes=("float32", "float64", "int32"))
    sample(name, 3, f(3), oracle=getattr(np, name), dtypes=("float32", "float64", "int32"))
sample("add", bools(5), bools(5), oracle=np.add, dtypes=("bool",))
sample("multiply", bools(5), bools(5), oracle=np.multiply, dtypes=("bool",))
sample("divide", f(3, 4), f(4, low=0.5), oracle=np.true_divide)
sample("divide", 2.0, f(4, low=0.5), oracle=np.true_divide, dtypes=WIDE)
_pairs = np.array([7.0, -7, 7, -7, 6, -6]), np.array([3.0, 3, -3, -3, 3, -3])
for name in ("floor_divide", "mod"):
    sample(name, *_pairs, oracle=getattr(np, name), dtypes=NUMBERS)
    sample(name, 7, _pairs[1], oracle=getattr(np, name), dtypes=("float32", "float64", "int32"))
sample("floor_divide", np.array([1.0, 1, 2.5, 0.75]), np.array([0.125, 0.25, 0.5, -0.5]), oracle=np.floor_divide)
sample("floor_divide", np.array([1.0, 3.0]), np.array([0.1, 0.3]), oracle=np.floor_divide, dtypes=("float64",))
sample("power", f(3, 4, low=0.5), f(4), oracle=np.power)
sample("power", np.array([2.0, -3, 0, 1]), np.array([3.0, 3, 0, 5]), oracle=np.power, dtypes=("int32", "int64"))
sample("power", 2, f(4), oracle=np.power, dtypes=WIDE)
for name in ("maximum", "minimum"):
    sample(name, f(3, 4), f(4), oracle=getattr(np, name), dtypes=NUMBERS)
    sample(name, SPECIAL, SPECIAL[::-1].copy(), oracle=getattr(np, name))
    sample(name, bools(5), bools(5), oracle=getattr(np, name), dtypes=("bool",))
for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    sample(name, f(6), f(6), oracle=getattr(np, name), dtypes=(*NUMBERS, "uint8"), out="bool")
    sample(name, SPECIAL, SPECIAL[::-1].copy(), oracle=getattr(np, name), out="bool")
    sample(name, bools(9), bools(9), oracle=getattr(np, name), dtypes=("bool",))
    sample(name, f(6), 1, oracle=getattr(np, name), dtypes=("float32", "float64", "int32"), out="bool")
    sample(name, 1, f(6), oracle=getattr(np, name), dtypes=("float32", "float64", "int32"), out="bool")
for name in ("logical_and", "logical_or", "logical_xor"):
    sample(name, bools(9), bools(9), oracle=getattr(np, name), dtypes=("bool",))
sample("logical_not", bools(9), oracle=np.logical_not, dtypes=("bool",))
sample("arctan2", f(3, 4), f(3, 4), oracle=np.arctan2)
sample(
    "nextafter", ints([1.0, 0, -1], "float32"), ints([2.0, 1, -2], "float32"), oracle=np.nextafter, dtypes=("float32",)
)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    sample(name, ints([5, -3, 7]), ints([3, 6, -1]), oracle=getattr(np, name), dtypes=("int32",))
    sample(name, bools(5), bools(5), oracle=getattr(np, name), dtypes=("bool",))
sample("bitwise_not", ints([5, -3, 7]), oracle=np.invert, dtypes=("int32",))
sample("bitwise_not", bools(4), oracle=np.invert, dtypes=("bool",))
sample("left_shift", ints([5, -3, 7]), ints([3, 1, 2]), oracle=np.left_shift, dtypes=("int32",))
sample("right_shift", ints([5, -3, 70]), ints([3, 1, 2]), oracle=np.right_shift, dtypes=("int32",))
sample("where", bools(3, 1), f(3, 4), f(4), oracle=np.where, dtypes=NUMBERS)
sample("clip", f(3, 4), -1, 1, oracle=np.clip, dtypes=("float32", "float64", "int32"))
sample("clip", SPECIAL, -1.0, 1.0, oracle=np.clip, dtypes=WIDE)
sample("clip", f(3, 4), f(4), f(4) + 1, oracle=lambda x, a, b: np.minimum(np.maximum(x, a), b), dtypes=NUMBERS)
sample("cast", f(3, 4), "int32", oracle=lambda x, d: np.trunc(x), out="int32")
sample("cast", f(3, 4), "bool", oracle=lambda x, d: x != 0, out="bool")
sample("cast", f(3, 4), "bfloat16", oracle=lambda x, d: x, dtypes=NUMBERS, out="bfloat16")

# ------------------------------------------------------------------ reductions

for name in ("sum", "mean", "max", "min", "prod", "var", "std"):
    kinds = NUMBERS if name in ("sum", "prod", "max", "min") else FLOATS
    for axis, keepdims in ((None, False), (None, True), (1, False), (-1, True), ((0, 2), False)):
        oracle = getattr(np, name)
        sample(
            name,
            f(2, 3, 4, low=-1, high=1.25),
            axis,
            keepdims,
            oracle=lambda x, a, k, o=oracle: o(x, axis=a, keepdims=k),
            dtypes=kinds,
        )
for name in ("max", "min"):
    oracle = getattr(np, name)
    sample(
        name, np.array([[1.0, NAN, 3], [4, 5, 6]]), 1, False, oracle=lambda x, a, k, o=oracle: o(x, axis=a, keepdims=k)
    )
    sample(name, bools(3, 4), 1, True, oracle=lambda x, a, k, o=oracle: o(x, axis=a, keepdims=k), dtypes=("bool",))
sample("sum", f(3, 0), 1, False, oracle=lambda x, a, k: x.sum(a))
sample("prod", f(3, 0), 1, False, oracle=lambda x, a, k: x.prod(a))
for name in ("any", "all"):
    for axis in (None, 1, (0, 1)):
        oracle = getattr(np, name)
        sample(
            name, bools(3, 4), axis, True, oracle=lambda x, a, k, o=oracle: o(x, axis=a, keepdims=k), dtypes=("bool",)
        )
for name in ("argmax", "argmin"):
    oracle = getattr(np, name)
    for x in (np.array([[1.0, 3, 3, 0], [2, 2, 0, 0]]), np.array([[INF, NAN, 3, NAN], [1, 2, 2, 0]])):
        for axis, keepdims in ((None, False), (None, True), (1, False), (0, True)):
            kinds = (*FLOATS, "int32") if np.isfinite(x).all() else FLOATS
            sample(
                name,
                x,
                axis,
                keepdims,
                oracle=lambda x, a, k, o=oracle: o(x, axis=a, keepdims=k),
                dtypes=kinds,
                out="int32",
            )
    sample(name, bools(5), 0, False, oracle=lambda x, a, k, o=oracle: o(x, axis=a), dtypes=("bool",), out="int32")
for name in ("cumsum", "cumprod"):
    for axis in (None, 0, -1):
        sample(name, f(3, 4, low=-1, high=1), axis, oracle=getattr(np, name), dtypes=(*FLOATS, "int32"))
for axis, keepdims in ((None, False), (1, True), ((0, 1), False)):
    sample("logsumexp", f(3, 4), axis, keepdims, oracle=lambda x, a, k: scipy.special.logsumexp(x, axis=a, keepdims=k))
_empty_row = np.array([[-INF, -INF], [1e3, 1e3], [-INF, 0]])
sample("logsumexp", _empty_row, 1, False, oracle=lambda x, a, k: scipy.special.logsumexp(x, axis=a), dtypes=WIDE)
sample(
    "moments", f(2, 3, 4), (0, 1), True, False, oracle=lambda x, a, k, s: (x.mean(a, keepdims=k), x.var(a, keepdims=k))
)
sample("moments", f(2, 3, 4), (0, 1), False, False, oracle=lambda x, a, k, s: (x.mean(a), x.var(a)))

# ------------------------------------------------------------------ shape

_all = (*FLOATS, "int32", "uint8", "bool")
sample("reshape", f(3, 4), (2, -1), oracle=np.reshape, dtypes=_all)
sample("reshape", f(1), (), oracle=np.reshape)
sample("transpose", f(2, 3, 4), (2, 0, 1), oracle=np.transpose, dtypes=_all)
sample("expand_dims", f(3, 4), 1, oracle=np.expand_dims, dtypes=_all)
sample("expand_dims", f(3, 4), (0, -1), oracle=np.expand_dims)
sample("squeeze", f(3, 1, 4, 1), None, oracle=np.squeeze)
sample("squeeze", f(3, 1, 4, 1), 1, oracle=np.squeeze)
sample("squeeze", f(3, 1, 4, 1), (1, -1), oracle=np.squeeze)
sample("broadcast_to", f(3, 1), (2, 3, 4), oracle=np.broadcast_to, dtypes=_all)
sample("concatenate", [f(3, 4), f(3, 2)], -1, oracle=np.concatenate, dtypes=_all)
sample("stack", [f(3, 4), f(3, 4)], -2, oracle=np.stack, dtypes=_all)
sample("unstack", f(3, 4), 1, oracle=lambda x, a: list(np.moveaxis(x, a, 0)))
sample("split", f(6, 4), 3, 0, oracle=np.split)
sample("split", f(6, 4), (1, 2, 5), 0, oracle=np.split)
sample("split", f(3, 6), (2, -1, 9), -1, oracle=np.split)
sample("flip", f(3, 4), (0, 1), oracle=np.flip, dtypes=_all)
sample("roll", f(3, 4), (1, -2), (0, 1), oracle=np.roll, dtypes=_all)
sample("pad", f(3, 4), ((1, 2), (0, 3)), "constant", 1.5, oracle=lambda x, w, m, c: np.pad(x, w, m, constant_values=c))
sample("pad", f(3, 4), ((1, 2), (0, 3)), "constant", 0, oracle=lambda x, w, m, c: np.pad(x, w, m), dtypes=_all)
for mode in ("reflect", "symmetric", "edge"):
    sample(
        "pad", f(3, 4, 2), ((1, 2), (7, 9), (0, 0)), mode, None, oracle=lambda x, w, m, c: np.pad(x, w, m), dtypes=_all
    )
    sample("pad", f(1, 4), ((2, 3), (0, 1)), mode, None, oracle=lambda x, w, m, c: np.pad(x, w, m))
sample("tile", f(3, 4), (2, 1), oracle=np.tile, dtypes=_all)
sample("repeat", f(3, 4), 2, 1, oracle=np.repeat, dtypes=_all)
sample("repeat", f(3, 4), (1, 0, 3), 0, oracle=np.repeat)
for k in (-1, 0, 2):
    sample("tril", f(2, 3, 4), k, oracle=np.tril, dtypes=_all)
    sample("triu", f(2, 3, 4), k, oracle=np.triu, dtypes=_all)
    sample("diag", f(4), k, oracle=np.diag)
    sample("diag", f(3, 5), k, oracle=np.diag)
    sample("diagonal", f(3, 4, 5), k, 0, 2, oracle=np.diagonal)

# ------------------------------------------------------------------ indexing

sample("take", f(5, 3), ints([[0, -1], [4, 2]]), 0, oracle=lambda x, i, a: np.take(x, i, a), dtypes=_all)
sample("take", f(5, 3), ints([0, 9, -9, -1]), 0, oracle=lambda x, i, a: np.take(x, [0, 4, 0, 4], a))
sample("take", f(2, 5, 3), ints([[0, 4], [4, 2]], "uint8"), -2, oracle=lambda x, i, a: np.take(x, [[0, 4], [4, 2]], a))
sample("take", f(2, 5, 3), ints(1), 1, oracle=lambda x, i, a: np.take(x, i, a))
sample("take_along_axis", f(3, 4), ints([[0, -1], [1, 1], [3, 2]]), 1, oracle=np.take_along_axis, dtypes=_all)
sample("take_along_axis", f(3, 4), ints([[2, 1, 0, -1]]), 0, oracle=np.take_along_axis)
_keys = (
    1,
    -1,
    slice(None, None, -1),
    slice(3, None, -2),
    slice(1, -1, 2),
    Ellipsis,
    None,
    (slice(None), 1),
    (Ellipsis, slice(3, 0, -1)),
    (0, slice(None), None, slice(1, 3)),
    (slice(None), None, -1, Ellipsis),
    slice(5, 1),
    slice(2, 9),
    slice(1, 5, -1),
)
for key in _keys:
    sample("get_item", f(4, 5, 6), key, oracle=lambda x, k: x[k], dtypes=("float32", "int32"))
_advanced = (
    (ints([0, -1, 2]),),
    (slice(None), ints([[0, 4], [-1, 1]])),
    (ints([0, 1]), ints([2, -3])),
    (ints([0, 1]), slice(None), ints([2, 3])),
    (slice(1, 3), ints([0, 1]), 2),
    (1, slice(None), ints([1, 0])),
    (Ellipsis, ints([1, 0])),
    (ints([[0], [1]]), ints([1, 2])),
    (None, ints([0, 1]), ints(3)),
    (slice(None, None, -1), ints([0, 1], "int64")),
    (bools(4),),
    (slice(None), bools(5)),
    (bools(4, 5),),
    (ints([1, 0], "uint8"),),
    ([0, 2],),
    (slice(None), ints([1, 0]), None, slice(4, 1, -2)),
    (ints(np.zeros((0,))),),
)
for key in _advanced:
    sample("get_item", f(4, 5, 6), key, oracle=lambda x, k: x[k], dtypes=("float32", "int32"))


def _add_at(indices, values, shape):
    out = np.zeros(shape)
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), values)
    return out


sample("scatter", ints([[0], [2], [0]]), f(3, 2), (4, 2), oracle=_add_at, dtypes=(*WIDE, "int32"))
sample("scatter", ints([[0, 1], [2, -1], [0, 1]]), f(3), (4, 2), oracle=_add_at, dtypes=(*WIDE, "int32"))


def _updated(x, indices, updates, reduction):
    x, at = x.copy(), tuple(np.moveaxis(indices, -1, 0))
    if reduction is None:
        x[at] = updates
    else:
        {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}[reduction].at(x, at, updates)
    return x


for reduction in (None, "add", "max", "min", "mul"):
    places = ints([[0, 1], [2, -1], [3, 1]]) if reduction is None else ints([[0, 1], [2, -1], [0, 1]])
    sample("scatter_update", f(4, 3), places, f(3), reduction, oracle=_updated, dtypes=(*WIDE, "int32"))
    sample("scatter_update", f(4, 3), ints([[1], [3]]), f(2, 3), reduction, oracle=_updated, dtypes=WIDE)


def _window(x, starts, shape):
    at = [min(max(int(s) + n if s < 0 else int(s), 0), n - k) for s, n, k in zip(starts, x.shape, shape, strict=True)]
    return tuple(slice(s, s + k) for s, k in zip(at, shape, strict=True))


def _put(x, starts, updates):
    x = x.copy()
    x[_window(x, starts, updates.shape)] = updates
    return x


for starts in ((1, 2), (9, -1), (ints(1), ints(9)), (ints(-2), 0)):
    sample("slice", f(4, 5), starts, (2, 3), oracle=lambda x, s, k: x[_window(x, s, k)], dtypes=("float32", "int32"))
    sample("slice_update", f(4, 5), starts, f(2, 3), oracle=_put, dtypes=("float32", "int32"))


def _hot(x, n, axis, dtype):
    return np.moveaxis(x[..., None] == np.arange(n), -1, axis)


for axis in (-1, 0, 1):
    for dtype in ("float32", "bool", "int32"):
        sample("one_hot", ints([[0, 2], [-1, 7]]), 3, axis, dtype, oracle=_hot, dtypes=("int32",), out=dtype)
sample("one_hot", ints([0, 2], "uint8"), 3, -1, "float32", oracle=_hot, dtypes=("int32",), out="float32")
_unsorted = np.array([[3.0, NAN, -INF, 2, 2, INF, -0.0, 0.0], [1, 1, 1, 0, 0, 5, -7, 2]])
for axis in (-1, 0):
    sample("sort", _unsorted, axis, oracle=np.sort)
    sample("sort", f(5, 3), axis, oracle=np.sort, dtypes=(*INTS, "bool"))
    sample("argsort", _unsorted, axis, oracle=lambda x, a: np.argsort(x, a, kind="stable"), out="int32")
    sample(
        "argsort",
        f(9, 3),
        axis,
        oracle=lambda x, a: np.argsort(x, a, kind="stable"),
        dtypes=("int32", "uint8"),
        out="int32",
    )


def _top(x, k, _):
    n = x.shape[-1]
    i = n - 1 - np.argsort(x[..., ::-1], -1, kind="stable")[..., ::-1][..., :k]
    return np.take_along_axis(x, i, -1), i


sample("top_k", _unsorted, 4, True, oracle=_top, out=("same", "int32"))
sample("top_k", np.ones((2, 40)), 3, True, oracle=_top, dtypes=(*FLOATS, "int32"), out=("same", "int32"))
for side in ("left", "right"):
    sample(
        "searchsorted",
        np.array([1.0, 2, 2, 3]),
        f(2, 3, low=0, high=4),
        side,
        oracle=np.searchsorted,
        dtypes=(*WIDE, "int32"),
        out="int32",
    )
sample("nonzero", f(3, 4, low=-0.5, high=0.5), oracle=np.nonzero, out=("int32", "int32"))
sample("nonzero", bools(3, 4), oracle=np.nonzero, dtypes=("bool",), out=("int32", "int32"))


def _segments(data, ids, n):
    return np.stack([data[ids == i].sum(0) for i in range(n)])


sample("segment_sum", f(5, 2), ints([0, 2, 0, 7, -1]), 3, oracle=_segments, dtypes=(*WIDE, "int32"))
sample("bincount", ints([0, 2, 2, 5]), None, 3, oracle=np.bincount, dtypes=("int32",))
sample("bincount", ints([0, 2, 2, 5]), f(4), 8, oracle=np.bincount, dtypes=WIDE)

# ------------------------------------------------------------------ linear algebra

for a, b in (
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 1, 3, 4), (5, 4, 6)),
    ((3, 4), (2, 4, 5)),
    ((4,), (2, 4, 5)),
    ((2, 3, 4), (4,)),
):
    sample("matmul", f(*a), f(*b), oracle=np.matmul, dtypes=(*FLOATS, "int32", "int8"))
for spec, shapes in {
    "ij,jk->ik": ((3, 4), (4, 2)),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 2)),
    "...i,i->...": ((2, 3, 4), (4,)),
    "ii->i": ((3, 3),),
    "ij->ji": ((3, 4),),
    "ij,jk,kl->il": ((2, 3), (3, 4), (4, 2)),
    "btnh,bsnh->bnts": ((2, 3, 2, 4), (2, 5, 2, 4)),
}.items():
    sample("einsum", spec, [f(*s) for s in shapes], oracle=lambda s, xs: np.einsum(s, *xs), dtypes=(*FLOATS, "int32"))
sample("tensordot", f(3, 4, 5), f(4, 5, 2), 2, oracle=np.tensordot)
sample("tensordot", f(3, 4, 5), f(4, 3, 2), ((0, 1), (1, 0)), oracle=np.tensordot, dtypes=(*FLOATS, "int32"))
for rank in (2, 3):
    sample("dense", f(*(2, 3, 4)[-rank:]), f(4, 5), f(5), oracle=lambda x, k, b: x @ k + b)
    sample("dense", f(*(2, 3, 4)[-rank:]), f(4, 5), None, oracle=lambda x, k, b: x @ k)
_square = f(2, 4, 4) + 4 * np.eye(4)
_positive = _square @ np.swapaxes(_square, -1, -2)
_lower = np.linalg.cholesky(_positive)
sample("cholesky", _positive, False, oracle=lambda x, u: np.linalg.cholesky(x), dtypes=WIDE)
sample("cholesky", _positive, True, oracle=lambda x, u: np.swapaxes(np.linalg.cholesky(x), -1, -2), dtypes=WIDE)
sample("inv", _square, oracle=np.linalg.inv, dtypes=WIDE)
sample("det", _square, oracle=np.linalg.det, dtypes=WIDE)
sample("slogdet", _square, oracle=lambda x: tuple(np.linalg.slogdet(x)), dtypes=WIDE)
sample("solve", _square, f(2, 4, 3), oracle=np.linalg.solve, dtypes=WIDE)
sample("solve", _square, f(2, 4), oracle=lambda a, b: np.linalg.solve(a, b[..., None])[..., 0], dtypes=WIDE)
sample("solve_triangular", _lower, f(2, 4, 3), True, oracle=lambda a, b, low: np.linalg.solve(a, b), dtypes=WIDE)
sample(
    "solve_triangular",
    np.swapaxes(_lower, -1, -2).copy(),
    f(2, 4, 3),
    False,
    oracle=lambda a, b, low: np.linalg.solve(a, b),
    dtypes=WIDE,
)
sample("lu_factor", f(4, 4), oracle=lambda x: scipy.linalg.lu_factor(x), dtypes=WIDE, out=("same", "int32"))
sample(
    "lu_factor",
    f(2, 5, 5),
    oracle=lambda x: tuple(map(np.stack, zip(*map(scipy.linalg.lu_factor, x), strict=True))),
    dtypes=WIDE,
    out=("same", "int32"),
)
sample("svd", f(3, 4), True, False, oracle=lambda x, f, u: np.linalg.svd(x, compute_uv=False), dtypes=WIDE)

# ------------------------------------------------------------------ creation, Fourier

_kinds = ("float32", "bfloat16", "int32", "int8", "uint8", "bool", "float64")
for dtype in _kinds:
    sample("zeros", (2, 3), dtype, oracle=lambda s, d: np.zeros(s), dtypes=("float32",), out=dtype)
    sample("ones", (2, 3), dtype, oracle=lambda s, d: np.ones(s), dtypes=("float32",), out=dtype)
    sample("full", (2, 3), 1, dtype, oracle=lambda s, v, d: np.full(s, v), dtypes=("float32",), out=dtype)
    sample("eye", 3, 4, 1, dtype, oracle=lambda n, m, k, d: np.eye(n, m, k), dtypes=("float32",), out=dtype)
    if dtype != "bool":
        sample("arange", 1, 9, 2, dtype, oracle=lambda a, b, s, d: np.arange(a, b, s), dtypes=("float32",), out=dtype)
sample("full", (2, 3), f(3), "float32", oracle=lambda s, v, d: np.full(s, v), dtypes=("float32",))
sample("arange", 0.5, 3.0, 0.25, "float32", oracle=lambda a, b, s, d: np.arange(a, b, s), dtypes=("float32",))
sample("arange", 5, 0, -2, "int32", oracle=lambda a, b, s, d: np.arange(a, b, s), dtypes=("float32",), out="int32")
for n, endpoint, axis in ((5, True, 0), (5, False, 0), (1, True, 0), (4, True, -1)):
    sample(
        "linspace",
        f(3),
        f(3) + 5,
        n,
        endpoint,
        "float32",
        axis,
        dtypes=("float32",),
        oracle=lambda a, b, n, e, d, x: np.linspace(a, b, n, e, axis=x),
    )
_complex = f(2, 6) + 1j * f(2, 6)
sample("fft", _complex, oracle=np.fft.fft, dtypes=("complex64",))
sample("ifft", _complex, oracle=np.fft.ifft, dtypes=("complex64",))
for n in (None, 8, 5):
    sample("rfft", f(2, 6), n, oracle=np.fft.rfft, dtypes=("float32",), out="complex64")
    sample("irfft", _complex, n, oracle=np.fft.irfft, dtypes=("complex64",), out="float32")

# ------------------------------------------------------------------ activations, losses, normalization


def _softmax(x, axis):
    return scipy.special.softmax(x, axis=axis)


def _log_softmax(x, axis):
    return scipy.special.log_softmax(x, axis=axis)


for axis in (-1, 0, (0, 1)):
    sample("softmax", f(3, 4), axis, oracle=_softmax)
    sample("log_softmax", f(3, 4), axis, oracle=_log_softmax)
_sigmoid = scipy.special.expit
sample("gelu", f(3, 4), False, oracle=lambda x, a: x * scipy.special.ndtr(x))
sample("gelu", f(3, 4), True, oracle=lambda x, a: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
sample("silu", f(3, 4), oracle=lambda x: x * _sigmoid(x))
sample("softplus", np.array([-90.0, -3, 0, 3, 90]), oracle=lambda x: np.logaddexp(x, 0))
sample("softsign", f(3, 4), oracle=lambda x: x / (1 + np.abs(x)))
sample("elu", f(3, 4), 1.5, oracle=lambda x, a: np.where(x > 0, x, a * np.expm1(x)))
sample("selu", f(3, 4), oracle=lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)))
sample("leaky_relu", f(3, 4), 0.2, oracle=lambda x, s: np.where(x > 0, x, s * x))
sample("relu6", f(3, 4, low=-4, high=9), oracle=lambda x: np.clip(x, 0, 6))
sample("hard_sigmoid", f(3, 4, low=-4, high=4), oracle=lambda x: np.clip(x / 6 + 0.5, 0, 1))
sample("hard_silu", f(3, 4, low=-4, high=4), oracle=lambda x: x * np.clip(x / 6 + 0.5, 0, 1))
sample("log_sigmoid", np.array([-90.0, -3, 0, 3, 90]), oracle=lambda x: -np.logaddexp(-x, 0))


def _layer_norm(x, gamma, beta, axis, epsilon):
    y = (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)
    return y * (1 if gamma is None else gamma) + (0 if beta is None else beta)


def _rms_norm(x, scale, axis, epsilon):
    return x / np.sqrt((x**2).mean(axis, keepdims=True) + epsilon) * (1 if scale is None else scale)


def _batch_norm(x, mean, variance, axis, offset, scale, epsilon):
    shape = [1] * x.ndim
    shape[axis] = -1
    mean, variance = mean.reshape(shape), variance.reshape(shape)
    y = (x - mean) / np.sqrt(variance + epsilon) * (1 if scale is None else scale.reshape(shape))
    return y + (0 if offset is None else offset.reshape(shape))


sample("layer_normalization", f(2, 3, 4), f(4), f(4), (-1,), 1e-3, oracle=_layer_norm)
sample("layer_normalization", f(2, 3, 4), None, None, (1, 2), 1e-3, oracle=_layer_norm)
sample("layer_normalization", f(2, 3, 4), f(3, 4), None, (-2, -1), 1e-3, oracle=_layer_norm)
sample("rms_normalization", f(2, 3, 4), f(4), (-1,), 1e-3, oracle=_rms_norm)
sample("rms_normalization", f(2, 3, 4), None, (-1,), 1e-3, oracle=_rms_norm)
for axis, n in ((-1, 4), (1, 3)):
    sample("batch_normalization", f(2, 3, 4), f(n), f(n, low=0.5), axis, f(n), f(n), 1e-3, oracle=_batch_norm)
    sample("batch_normalization", f(2, 3, 4), f(n), f(n, low=0.5), axis, None, None, 1e-3, oracle=_batch_norm)
_odds = np.array([-90.0, -2, 0, 3, 90])
sample(
    "binary_crossentropy_with_logits",
    np.array([0.0, 1, 0.5, 1, 1]),
    _odds,
    oracle=lambda t, x: np.logaddexp(x, 0) - x * t,
)
sample(
    "categorical_crossentropy_with_logits",
    _softmax(f(3, 4), -1),
    f(3, 4),
    -1,
    oracle=lambda t, x, a: -(t * _log_softmax(x, a)).sum(a),
    dtypes=WIDE,
)
for axis, shape, target in (
    (-1, (3, 4), [0, 3, 1]),
    (1, (2, 4, 2), [[0, 3], [1, 2]]),
    (-1, (2, 2, 4), [[0, 3], [1, 2]]),
):
    sample(
        "sparse_categorical_crossentropy_with_logits",
        ints(target),
        f(*shape),
        axis,
        oracle=lambda t, x, a: -np.squeeze(np.take_along_axis(_log_softmax(x, a), np.expand_dims(t, a), a), a),
    )
sample("bias_add", f(2, 3, 4), f(4), "channels_last", oracle=lambda x, b, d: x + b)
sample("bias_add", f(2, 3, 4), f(3), "channels_first", oracle=lambda x, b, d: x + b[:, None])


def _attention(q, k, v, bias, mask, scale, causal):
    logits = np.einsum("btnh,bsnh->bnts", q, k) * scale + (0 if bias is None else bias)
    if causal:
        mask = np.tri(*logits.shape[-2:], dtype=bool) & (True if mask is None else mask)
    if mask is not None:
        logits = np.where(mask, logits, -1e9)
    return np.einsum("bnts,bsnh->btnh", _softmax(logits, -1), v)


_mask = ints(_rng.random((2, 1, 3, 5)) < 0.6, "bool")
_mask.array[0, 0, 1] = False
for bias in (None, f(2, 2, 3, 5)):
    for mask in (None, _mask):
        for causal in (False, True):
            if causal and mask is not None:
                continue
            sample(
                "dot_product_attention",
                f(2, 3, 2, 4),
                f(2, 5, 2, 4),
                f(2, 5, 2, 4),
                bias,
                mask,
                0.5,
                causal,
                oracle=_attention,
            )
