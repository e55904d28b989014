"""Reductions over axes, and running sums."""

import numpy as np

from kerata import ops
from kerata.graph.onnx.table import emits, emits_each, lowers
from kerata.ops import rules


def reduced(w, kind, dtype, x, axis, keepdims):
    """A reduction over axes (none at all leaves `x` as it is)."""
    axes = rules.axes_in(axis, len(x.shape))
    if not axes:
        return w.name(x)
    return w.arithmetic(kind, dtype, x, then=[w.ints(axes)], keepdims=int(bool(keepdims)))


@emits_each({"sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"})
def _reduce(kind, w, out, x, axis, keepdims):
    return reduced(w, kind, out.dtype, x, axis, keepdims)


@emits("mean")
def _mean(w, out, x, axis, keepdims):
    # Half precision is summed in float32.
    dtype = w.dtype(out)
    wide = "float32" if dtype == "float16" else dtype
    axes = rules.axes_in(axis, len(x.shape))
    if not axes:
        return w.name(x)
    total = w.op("ReduceMean", w.cast(w.name(x), dtype, wide), w.ints(axes), keepdims=int(bool(keepdims)))
    return w.cast(total, wide, dtype)


@lowers("var")
def _var(x, axis, keepdims):
    wide = ops.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    return ops.cast(ops.mean(ops.square(wide - ops.mean(wide, axis, True)), axis, keepdims), x.dtype)


@lowers("any")
def _any(x, axis, keepdims):
    return ops.sum(ops.cast(x, "int32"), axis, keepdims) > 0


@lowers("all")
def _all(x, axis, keepdims):
    return ~ops.any(~x, axis, keepdims)


@emits_each({"argmax": "ArgMax", "argmin": "ArgMin"})
def _position(kind, w, out, x, axis, keepdims):
    rank = len(x.shape)
    if axis is None:
        flat = w.reshape(x, [-1])
        found = w.arithmetic(kind, w.dtype(x), flat, gives="int64", axis=0, keepdims=0)
        found = w.cast(found, "int64", "int32")
        return w.reshape(found, [1] * rank) if keepdims else found
    found = w.arithmetic(kind, w.dtype(x), x, gives="int64", axis=axis % rank, keepdims=int(bool(keepdims)))
    return w.cast(found, "int64", "int32")


@lowers("logsumexp")
def _logsumexp(x, axis, keepdims):
    if 0 in [x.shape[a] for a in rules.axes_in(axis, len(x.shape))]:
        return ops.log(ops.sum(x, axis, keepdims))
    # A row of -inf alone is shifted by 0: -inf - -inf would be NaN.
    top = ops.max(x, axis, True)
    top = ops.where(ops.isfinite(top), top, 0.0)
    result = ops.log(ops.sum(ops.exp(x - top), axis, True)) + top
    return result if keepdims else ops.squeeze(result, rules.axes_in(axis, len(x.shape)))


@emits("cumsum")
def _cumsum(w, out, x, axis):
    if axis is None:
        x, axis = w.reshape(x, [-1]), 0
    at = w.constant(np.asarray(axis % len(out.shape), np.int64))
    return w.arithmetic("CumSum", out.dtype, x, then=[at])


@lowers("cumprod")
def _cumprod(x, axis):
    if axis is None:
        return _cumprod(ops.reshape(x, (-1,)), 0)
    rows = ops.moveaxis(x, axis, 0)
    first = ops.ones(ops.shape(rows)[1:], x.dtype)
    _, products = ops.scan(lambda carry, row: (carry * row, carry * row), first, rows)
    return ops.moveaxis(products, 0, axis)
