"""Ops that make tensors from nothing."""

import numpy as np

from kerata import ops
from kerata.core import dtypes
from kerata.graph.onnx.table import emits, emits_each, lowers
from kerata.graph.onnx.writer import MOST_FOLDED
from kerata.graph.tensor import KerasTensor


@emits_each({"zeros": 0, "ones": 1})
def _filled(value, w, out, shape, dtype):
    return full(w, out, shape, np.asarray(value))


@emits("full")
def _full(w, out, shape, fill_value, dtype):
    return full(w, out, shape, fill_value)


def full(w, out, shape, value):
    """A value in a shape: a constant if that is known and small."""
    dtype = dtypes.to_numpy_dtype(w.dtype(out))
    array = w.known(value)
    if array is not None:
        array = array.astype(dtype)
        if None not in out.shape and np.prod(out.shape) * dtype.itemsize <= MOST_FOLDED:
            return w.constant(np.asarray(np.broadcast_to(array, out.shape), order="C"))
        value = w.constant(array)
    return w.op("Expand", value, w.dims(shape))


@emits("arange")
def _arange(w, out, start, stop, step, dtype):
    dtype = w.dtype(out)
    if None not in out.shape:
        return w.constant(np.arange(start, stop, step, dtypes.to_numpy_dtype(dtype)))
    wide = "int64" if dtypes.is_int(dtype) else "float64" if dtype == "float64" else "float32"
    ends = [
        w.cast(w.name(e, wide), w.dtype(e) if hasattr(e, "dtype") else wide, wide)
        for e in (start, stop, step)
    ]
    return w.cast(w.op("Range", *ends), wide, dtype)


@emits("eye")
def _eye(w, out, N, M, k, dtype):
    if None not in out.shape:
        return w.constant(np.eye(N, M, k, dtypes.to_numpy_dtype(w.dtype(out))))

    def compared(*lengths):
        lengths = iter(lengths)
        rows, columns = (next(lengths) if isinstance(d, KerasTensor) else d for d in (N, M))
        at = ops.expand_dims(ops.arange(rows), 1) + k
        return ops.cast(ops.equal(at, ops.expand_dims(ops.arange(columns), 0)), dtype)

    return w.inline(compared, [d for d in (N, M) if isinstance(d, KerasTensor)])


@lowers("linspace")
def _linspace(start, stop, num, endpoint, dtype, axis):
    gaps = max(num - 1, 1) if endpoint else num
    at = ops.arange(num, dtype=start.dtype)
    start, stop = ops.expand_dims(start, -1), ops.expand_dims(stop, -1)
    result = start + at * ((stop - start) / gaps)
    if endpoint and num > 1:
        # The last one exactly.
        result = ops.where(ops.equal(at, num - 1), stop, result)
    result = ops.floor(result) if dtypes.is_int(dtype) else result
    return ops.moveaxis(ops.cast(result, dtype), -1, axis)
