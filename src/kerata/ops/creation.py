"""Ops that make tensors from nothing."""

import builtins

import numpy as np

from kerata.core import config, dtypes
from kerata.ops import rules
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Dims, Float, Index, composite, primitive
from kerata.ops.elementwise import cast
from kerata.ops.movement import canonical_dims


@primitive(rule=rules.created)
def zeros(shape: Dims, dtype=None):
    """Tensor of zeros (`numpy.zeros`).

    Args:
        shape: int or sequence of ints.
        dtype: by default `floatx()`.

    Returns:
        Tensor of that shape and dtype.
    """
    return canonical_dims(shape, "zeros"), dtypes.standardize_dtype(dtype)


@primitive(rule=rules.created)
def ones(shape: Dims, dtype=None):
    """Tensor of ones (`numpy.ones`).

    Args:
        shape: int or sequence of ints.
        dtype: by default `floatx()`.

    Returns:
        Tensor of that shape and dtype.
    """
    return canonical_dims(shape, "ones"), dtypes.standardize_dtype(dtype)


@primitive(rule=rules.full)
def full(shape: Dims, fill_value: Index, dtype=None):
    """Tensor filled with a value (`numpy.full`).

    Args:
        shape: int or sequence of ints.
        fill_value: number, or a tensor that broadcasts to `shape`.
        dtype: by default `floatx()`.

    Returns:
        Tensor of that shape and dtype.
    """
    dtype = dtypes.standardize_dtype(dtype)
    return canonical_dims(shape, "full"), cast(fill_value, dtype), dtype


def empty(shape, dtype=None):
    """Tensor whose values don't matter; they are zeros, so that results can be repeated (`numpy.empty`).

    Args:
        shape: int or sequence of ints.
        dtype: by default `floatx()`.
    """
    return zeros(shape, dtype)


@primitive(rule=rules.arange)
def arange(start: Dims, stop: Dims, step: Dims, dtype):
    """Evenly spaced numbers: the primitive, with all four arguments."""


_arange = arange


def arange(start, stop=None, step=None, dtype=None):  # noqa: F811
    """Numbers from `start` up to, but without, `stop` (`numpy.arange`).

    Args:
        start: first number, or, given alone, where to stop when counting from 0.
        stop: where to stop.
        step: distance of neighbours, by default 1; may be negative.
        dtype: by default int32 if all arguments are integers, else `floatx()`.

    Returns:
        One-dimensional tensor.
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        dtype = dtypes.result_type(*(getattr(v, "dtype", type(v)) for v in (start, stop, step)))
        dtype = config.floatx() if dtype == "float64" else "int32" if dtype == "int64" else dtype
    if step == 0 if isinstance(step, (int, float)) else False:
        raise ValueError("arange: `step` can't be 0.")
    return _arange(start, stop, step, dtypes.standardize_dtype(dtype))


arange.op = _arange.op


@primitive(rule=rules.eye)
def eye(N: Dims, M: Dims = None, k=0, dtype=None):
    """Matrix with ones on one diagonal and zeros elsewhere (`numpy.eye`).

    Args:
        N: rows.
        M: columns, by default `N`.
        k: which diagonal: 0 the main one, above it positive.
        dtype: by default `floatx()`.

    Returns:
        Tensor of shape `(N, M)`.
    """
    return *canonical_dims((N, N if M is None else M), "eye"), k, dtypes.standardize_dtype(dtype)


def identity(n, dtype=None):
    """Identity matrix (`numpy.identity`).

    Args:
        n: rows and columns.
        dtype: by default `floatx()`.

    Returns:
        Tensor of shape `(n, n)`.
    """
    return eye(n, dtype=dtype)


@primitive(rule=rules.linspace)
def linspace(start: Float, stop: Float, num, endpoint, dtype, axis):
    """Evenly spaced numbers: the primitive."""


_linspace = linspace


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):  # noqa: F811
    """`num` evenly spaced numbers from `start` to `stop` (`numpy.linspace`).

    Args:
        start, stop: numbers, or tensors whose shapes broadcast.
        num: how many.
        endpoint: whether `stop` is the last one.
        retstep: whether to return their distance too.
        dtype: by default the floating dtype of `start` and `stop`.
        axis: where the new dimension is in the result.

    Returns:
        Tensor, or `(tensor, step)`.
    """
    start, stop = (v if isinstance(v, (int, float)) else convert_to_tensor(v) for v in (start, stop))
    if dtype is None:
        dtype = dtypes.result_type(*(getattr(v, "dtype", type(v)) for v in (start, stop)), float)
    dtype = dtypes.standardize_dtype(dtype)
    result = _linspace(start, stop, num, endpoint, dtype, axis)
    if not retstep:
        return result
    gaps = num - 1 if endpoint else num
    if gaps < 1:
        return result, convert_to_tensor(float("nan"), dtype)
    return result, cast((cast(stop, dtype) - cast(start, dtype)) / gaps, dtype)


linspace.op = _linspace.op


@composite
def zeros_like(x: Index, dtype=None):
    """Zeros of the shape and dtype of another tensor (`numpy.zeros_like`).

    Args:
        x: tensor.
        dtype: by default `x`'s.

    Returns:
        Tensor of `x`'s shape.
    """
    return zeros(shape_of(x), dtype or dtype_of(x))


@composite
def ones_like(x: Index, dtype=None):
    """Ones of the shape and dtype of another tensor (`numpy.ones_like`).

    Args:
        x: tensor.
        dtype: by default `x`'s.

    Returns:
        Tensor of `x`'s shape.
    """
    return ones(shape_of(x), dtype or dtype_of(x))


@composite
def full_like(x: Index, fill_value: Index, dtype=None):
    """A value in the shape and dtype of another tensor (`numpy.full_like`).

    Args:
        x: tensor.
        fill_value: number, or a tensor that broadcasts to `x`'s shape.
        dtype: by default `x`'s.

    Returns:
        Tensor of `x`'s shape.
    """
    return full(shape_of(x), fill_value, dtype or dtype_of(x))


def empty_like(x, dtype=None):
    """Tensor of the shape and dtype of another whose values don't matter; they are zeros (`numpy.empty_like`).

    Args:
        x: tensor.
        dtype: by default `x`'s.

    Returns:
        Tensor of `x`'s shape.
    """
    return zeros_like(x, dtype)
