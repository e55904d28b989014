"""Differences and integrals along an axis, and functions made to work on arrays."""

import re

import numpy as np

from kerata import backends
from kerata.ops import rules
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Float, Index, composite
from kerata.ops.elementwise import not_equal, subtract
from kerata.ops.movement import broadcast_to, reshape
from kerata.ops.reduction import sum


def _cut(x, axis, start, stop):
    return x[(slice(None),) * axis + (slice(start, stop),)]


@composite
def diff(a: Index, n=1, axis=-1):
    """Difference of neighbours along an axis (`numpy.diff`).

    Args:
        a: tensor of at least one dimension.
        n: how many times.
        axis: which dimension.

    Returns:
        Tensor that is shorter by `n` along the axis; booleans say where neighbours differ.

    >>> ops.diff([1, 4, 9])
    [3, 5]
    """
    if n < 0:
        raise ValueError(f"diff: `n` can't be negative, but is {n}.")
    axis = rules.axis_in(axis, len(a.shape), "diff")
    of = not_equal if dtype_of(a) == "bool" else subtract
    for _ in range(n):
        a = of(_cut(a, axis, 1, None), _cut(a, axis, None, -1))
    return a


@composite
def trapezoid(y: Float, x: Float = None, dx=1.0, axis=-1):
    """Integral along an axis by the trapezoidal rule (`numpy.trapezoid`).

    Args:
        y: values of the function.
        x: where they were taken: a vector, or a tensor that broadcasts with `y`.
        dx: their distance, if there is no `x`.
        axis: which dimension of `y`.

    Returns:
        Floating tensor without the axis.

    >>> ops.trapezoid([1.0, 2.0, 3.0])
    4.
    """
    rank = len(y.shape)
    axis = rules.axis_in(axis, rank, "trapezoid")
    if x is not None:
        if len(x.shape) == 1:
            dx = reshape(diff(x), (-1,) + (1,) * (rank - axis - 1))
        else:
            dx = diff(x, axis=axis - rank + len(x.shape))
    heights = _cut(y, axis, 1, None) + _cut(y, axis, None, -1)
    if isinstance(dx, (int, float)):
        return sum(heights, axis) * (0.5 * dx)
    return sum(dx * heights * 0.5, axis)


def jvp(fun, primals, tangents, has_aux=False):
    """Value of a function and its derivative along a direction, in one forward pass (`jax.jvp`).

    Args:
        fun: function of tensors.
        primals: tuple or list of tensors: where.
        tangents: tuple or list of tensors of the same shapes: the direction.
        has_aux: whether `fun` returns `(output, auxiliary data)`.

    Returns:
        `(output, tangent)`, or `(output, tangent, auxiliary data)`.

    >>> [float(v) for v in ops.jvp(lambda x: x * x, (3.0,), (1.0,))]
    [9.0, 6.0]
    """
    b = backends.current()
    if not hasattr(b, "jvp"):
        raise NotImplementedError(
            f"jvp: the {b.NAME} backend computes no derivatives; use {', '.join(backends.TRAINING)} "
            "(`keras.config.set_backend`)."
        )
    if not all(isinstance(v, (tuple, list)) for v in (primals, tangents)) or len(primals) != len(tangents):
        raise ValueError("jvp: `primals` and `tangents` must be tuples or lists of equal length.")
    primals = tuple(convert_to_tensor(p) for p in primals)
    tangents = tuple(convert_to_tensor(t, dtype_of(p)) for p, t in zip(primals, tangents))
    return b.jvp(fun, primals, tangents, has_aux)


# ------------------------------------------------------------------ vectorize


def vectorize(pyfunc, *, excluded=None, signature=None):
    """Make a function of small tensors work on tensors with any leading dimensions (`numpy.vectorize`).

    Args:
        pyfunc: function of scalars, or of tensors as the signature says.
        excluded: set of positions of arguments that are passed as they are.
        signature: dimensions that one call takes and gives, such as `"(n),(n)->()"`.

    Returns:
        The function whose leading dimensions broadcast.

    >>> ops.vectorize(lambda a, b: a + b)([1, 2], 3)
    [4, 5]
    """
    if not callable(pyfunc):
        raise ValueError(f"vectorize: a function is needed, not {pyfunc!r}.")
    excluded = frozenset(excluded or ())
    cores = None if signature is None else _core_ranks(signature)

    def vectorized(*args, **kwargs):
        places = [i for i in range(len(args)) if i not in excluded]
        tensors = [convert_to_tensor(args[i]) for i in places]
        ranks = [0] * len(tensors) if cores is None else cores
        if len(ranks) != len(tensors):
            raise ValueError(
                f"vectorize: the signature {signature!r} has {len(ranks)} inputs, but {len(tensors)} were given."
            )

        def one(*values):
            merged = list(args)
            for i, v in zip(places, values):
                merged[i] = v
            return pyfunc(*merged, **kwargs)

        return _over_leading(one, tensors, ranks)

    return vectorized


def _core_ranks(signature):
    if not re.fullmatch(r"\s*\([^()]*\)(\s*,\s*\([^()]*\))*\s*->\s*\([^()]*\)(\s*,\s*\([^()]*\))*\s*", signature):
        raise ValueError(f"vectorize: {signature!r} is no signature such as '(n),(n)->()'.")
    inputs = re.findall(r"\(([^()]*)\)", signature.split("->")[0])
    return [len([n for n in group.split(",") if n.strip()]) for group in inputs]


def _over_leading(function, tensors, ranks):
    """`function` mapped over the broadcast leading dimensions, all of them in one."""
    from kerata.core import tree
    from kerata.ops.control import vectorized_map

    leads = [tuple(t.shape)[: len(t.shape) - r] for t, r in zip(tensors, ranks)]
    lead = rules.broadcast_shapes(*leads, owner="vectorize") if leads else ()
    if not lead:
        return function(*tensors)
    if None in lead:
        raise ValueError(f"vectorize: the leading dimensions must be known, but are {lead}.")
    count = int(np.prod(lead))
    rows = []
    for t, own in zip(tensors, leads):
        core = tuple(shape_of(t))[len(own) :]
        rows.append(reshape(broadcast_to(t, (*lead, *core)), (count, *core)))
    result = vectorized_map(lambda row: function(*row), rows)
    return tree.map_structure(lambda t: reshape(t, (*lead, *tuple(shape_of(t))[1:])), result)
