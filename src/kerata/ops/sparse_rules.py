"""Sparse and ragged tensors given to ops: one rule an op, by which it runs and by which its symbol is marked.

Dispatch comes here only when it meets a tensor that is neither dense nor a number. An op without a rule gets a sparse tensor
made dense, and refuses a ragged one. What the rules are made of is in each backend's `sparse.py` and `ragged.py`.
"""

import math
import re
from functools import partial

import numpy as np

from kerata.core import tree
from kerata.graph.tensor import KerasTensor

# Types of sparse and ragged tensors that were met, and which of the two they are.
KINDS = {}


def met(b, x):
    """Whether `x` is a sparse or ragged tensor of the backend, which is remembered of its type."""
    if not (hasattr(b, "is_composite") and b.is_composite(x)):
        return False
    KINDS[type(x)] = "sparse" if b.sparse.is_sparse(x) else "ragged"
    return True


def kind_of(x):
    """`"sparse"`, `"ragged"` or `None`."""
    if type(x) is KerasTensor:
        return "sparse" if x.sparse else "ragged" if x.ragged else None
    return KINDS.get(type(x))


class Rule:
    """What an op does with sparse tensors.

    Attributes:
        stays: `stays(flags, args)`: whether the result is sparse; `flags` says of each tensor whether it is.
        run: `run(s, op, args)`: the call, with the backend's sparse functions.
        takes: `takes(flags, args)`: whether `run` can do it; by default if the result is sparse.
    """

    def __init__(self, stays, run, takes=None):
        self.stays, self.run, self.takes = stays, run, takes or stays


# ------------------------------------------------------------------ when a result is sparse


def _first(flags, args):
    return flags[0]


def _every(flags, args):
    return all(flags)


def _some(flags, args):
    return any(flags)


def _first_alone(flags, args):
    return flags[0] and not any(flags[1:])


def _first_bin_positive(flags, args):
    """Of `digitize`: 0 is in bin 0, if that's known."""
    try:
        bins = np.asarray(args[1])
    except (TypeError, ValueError, NotImplementedError):
        return False
    return flags[0] and bins.size > 0 and bins.ravel()[0] > 0


def _product_of_two(flags, args):
    return any(flags) and _letters(args[0]) is not None


def _every_in_product(flags, args):
    return all(flags) and _letters(args[0]) is not None


# ------------------------------------------------------------------ how it is computed


def _values(s, op, args):
    return s.mapped(lambda values: op.function(values, *args[1:]), args[0])


def _union(s, op, args):
    return s.united(op.function, *args)


def _intersection(s, op, args):
    return s.intersected(op.function, *args)


def _quotient(s, op, args):
    return s.divided(op.function, *args)


def _moved(s, op, args):
    return getattr(s, op.name)(*args)


def _mean(s, op, args):
    from kerata import ops

    x, axis, keepdims = args
    shape = ops.shape(x)
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return ops.divide(ops.sum(x, axis, keepdims), math.prod(shape[a] for a in axes))


def _body(s, op, args):
    return op.body(*args)


def _counted(s, op, args):
    """`bincount` of what the tensor holds: places without a value count nowhere."""
    from kerata import ops

    x, weights, minlength = args
    places, values = s.entries(x)
    if weights is not None:
        weights = s.entries(weights)[1] if s.is_sparse(weights) else ops.reshape(s.taken(x, weights), (-1,))
    if len(x.shape) == 1:
        return s.to_sparse(ops.bincount(values, weights, minlength))
    rows = ops.shape(x)[0]
    values = ops.cast(values, "int32")
    length = ops.maximum(ops.max(values) + 1, minlength)
    place = ops.cast(places[:, 0], "int32") * length + values
    return s.to_sparse(ops.reshape(ops.bincount(place, weights, rows * length), (rows, length)))


def _contracted(s, op, args):
    """An einsum of two operands as a product of matrices."""
    from kerata import ops

    subscripts, (x, y) = args
    names_x, names_y, names_out = _letters(subscripts)
    sizes = dict(zip(names_x + names_y, (*ops.shape(x), *ops.shape(y)), strict=True))
    batch = "".join(c for c in names_x if c in names_y and c in names_out)
    summed = "".join(c for c in names_x if c in names_y and c not in names_out)
    left, right = (
        "".join(c for c in names if c not in other) for names, other in ((names_x, names_y), (names_y, names_x))
    )

    def matrix(x, names, rows, columns):
        x = ops.transpose(x, tuple(names.index(c) for c in batch + rows + columns))
        return ops.reshape(
            x, (*(sizes[c] for c in batch), *(math.prod(sizes[c] for c in part) for part in (rows, columns)))
        )

    out = ops.matmul(matrix(x, names_x, left, summed), matrix(y, names_y, summed, right))
    made = batch + left + right
    out = ops.reshape(out, tuple(sizes[c] for c in made))
    return out if made == names_out else ops.transpose(out, tuple(made.index(c) for c in names_out))


def _letters(subscripts):
    """The three terms of an equation that is a product of two matrices, perhaps of several; `None` of any other."""
    match = re.fullmatch(r"([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]*)", subscripts.replace(" ", ""))
    if match is None:
        return None
    x, y, out = match.groups()
    once = all(len(set(term)) == len(term) for term in (x, y, out))
    kept = set(x) ^ set(y) <= set(out) <= set(x) | set(y)
    return (x, y, out) if once and kept else None


# ------------------------------------------------------------------ the table of sparse tensors

# Functions of one tensor with f(0) = 0: of a sparse one they change the values.
KEEP_ZEROS = (
    "abs", "angle", "arcsin", "arcsinh", "arctan", "arctanh", "cast", "cbrt", "ceil", "celu", "conj", "copied", "deg2rad",
    "elu", "erf", "erfinv", "expm1", "fabs", "floor", "gelu", "hard_shrink", "hard_silu", "hard_tanh", "imag", "leaky_relu",
    "log1p", "nan_to_num", "negative", "rad2deg", "real", "relu", "relu6", "round", "saturate_cast", "selu", "sign", "silu",
    "sin", "sinh", "soft_shrink", "softsign", "sqrt", "square", "stop_gradient", "tan", "tanh", "tanh_shrink", "trunc",
)  # fmt: skip
RULES = {
    **dict.fromkeys(KEEP_ZEROS, Rule(_first, _values)),
    **dict.fromkeys(("add", "subtract", "maximum", "minimum"), Rule(_every, _union)),
    "multiply": Rule(_some, _intersection),
    "divide": Rule(_first_alone, _quotient),
    "digitize": Rule(_first_bin_positive, _values),
    **dict.fromkeys(("transpose", "reshape", "squeeze", "expand_dims", "sum"), Rule(_first, _moved)),
    "mean": Rule(_first, _mean),
    "concatenate": Rule(_every, _moved),
    "matmul": Rule(_every, _moved, takes=_some),
    "einsum": Rule(_every_in_product, _contracted, takes=_product_of_two),
    "counted": Rule(_first, _counted),
    # Written in ops that have rules: what their bodies give.
    **dict.fromkeys(("dense", "einsum_dense"), Rule(None, _body, takes=_first_alone)),
}

# Ops that give sparse tensors whatever they are given.
MADE = {"sparse_one_hot", "to_sparse"}


# ------------------------------------------------------------------ the table of ragged tensors


def _flat(r, op, args):
    return r.mapped(lambda values: op.function(values, *args[1:]), args[0])


def _broadcast(r, op, args):
    return r.broadcast(op.function, *args)


def _inner(r, op, args):
    return r.mapped(lambda values: op.function(values, *args[1:]), args[0], inner=1)


def _reduced(r, op, args):
    return r.reduced(op.name, *args)


def _taken(r, op, args):
    return r.take(op.function, *args)


ELEMENTWISE = (
    *KEEP_ZEROS, "arccos", "arccosh", "bitwise_not", "cos", "cosh", "digamma", "erfc", "exp", "exp2", "hard_sigmoid", "isfinite",
    "isinf", "isnan", "isneginf", "isposinf", "lgamma", "log", "log10", "log2", "log_sigmoid", "logical_not", "reciprocal",
    "rsqrt", "sigmoid", "signbit", "softplus", "squareplus", "threshold",
)  # fmt: skip
BROADCAST = (
    "add", "arctan2", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "divide_no_nan", "equal", "floor_divide", "greater",
    "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "not_equal", "power", "subtract",
)  # fmt: skip
RAGGED = {
    **dict.fromkeys(ELEMENTWISE, _flat),
    **dict.fromkeys(BROADCAST, _broadcast),
    **dict.fromkeys(("sum", "mean", "max", "min", "prod", "any", "all"), _reduced),
    **dict.fromkeys(("matmul", "dense"), _inner),
    "take": _taken,
}


# ------------------------------------------------------------------ what dispatch calls


def need(b, owner):
    """Raise unless the backend has sparse tensors."""
    if not hasattr(b, "sparse"):
        raise ValueError(f"{owner}: the {b.NAME} backend has no sparse tensors; use `sparse=False`.")


def taken(b, op, args):
    """How an op is called on these arguments: `run(args)`, or `None` after sparse tensors among them were made dense."""
    flags = flags_of(op, args)
    if "ragged" in flags:
        return partial(_ragged_run(op, flags), b.ragged, op)
    rule = RULES.get(op.name)
    if rule is not None and rule.takes([f is not None for f in flags], args):
        return partial(_checked_run, rule, b.sparse, op)
    densify(b, op, args)
    return None


def _checked_run(rule, s, op, args):
    """The call, after the op's rule for dense tensors: what the sparse functions do with shapes that don't fit is anything."""
    from kerata.ops.declare import infer

    if not op.is_composite and all(isinstance(d, int) for i in op.dims_at for d in args[i]):
        infer(op, args, canonical=True)
    return rule.run(s, op, args)


def densify(b, op, args):
    """Make the sparse tensors among an op's arguments dense, in place."""
    for i in op.tensor_at:
        value = args[i]
        if op.roles[i].many:
            args[i] = [b.densify(v) if type(v) in KINDS else v for v in value]
        elif type(value) in KINDS:
            args[i] = b.densify(value)


def mark(op, args, flags, result):
    """Mark the symbolic result of an op as sparse or ragged, given arguments of which some are."""
    ragged = "ragged" in flags and _ragged_run(op, flags) is not _reduced
    rule = RULES.get(op.name)
    if rule is not None and rule.stays is None:
        return
    sparse = op.name in MADE or (
        rule is not None and "ragged" not in flags and rule.stays([f is not None for f in flags], args)
    )
    given = {id(a) for a in tree.flatten([args[i] for i in op.tensor_at])}
    for t in tree.flatten(result):
        if type(t) is KerasTensor and id(t) not in given:
            t.sparse, t.ragged = bool(sparse), ragged or ("ragged" in flags and _ragged_rest(args))


def flags_of(op, args):
    """The kind of each tensor among an op's arguments, flat."""
    found = []
    for i in op.tensor_at:
        if op.roles[i].many:
            found.extend(map(kind_of, args[i]))
        elif args[i] is not None:
            found.append(kind_of(args[i]))
    return found


def _ragged_run(op, flags):
    run = RAGGED.get(op.name)
    if run is _inner and flags.index("ragged") != 0:
        run = None
    if run is None or "sparse" in flags:
        raise ValueError(
            f"{op.name}: ragged tensors aren't taken here{' together with sparse ones' if 'sparse' in flags else ''}. "
            "Make it dense first: `ops.convert_to_tensor(x, ragged=False)` fills the rows up with zeros."
        )
    return run


def _ragged_rest(args):
    """Whether rows of different lengths are left after a reduction over `args[1]`."""
    x, axis = args[:2]
    rank = len(x.shape)
    axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    return not {a % rank for a in axes} & set(range(1, (x.ragged_rank or 1) + 1))
