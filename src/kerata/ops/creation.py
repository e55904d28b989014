"""Ops that make tensors from nothing."""

import numpy as np

from kerata.core import config, dtypes
from kerata.core.errors import integer
from kerata.ops import rules
from kerata.ops.core import convert_to_numpy, convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.declare import Cast, Dims, Float, Index, Like, composite, primitive
from kerata.ops.elementwise import abs, cast, exp2, log2, multiply, power, round, sign
from kerata.ops.movement import canonical_dims, expand_dims, tril


@primitive(rule=rules.created)
def zeros(shape: Dims, dtype=None):
    """Tensor of zeros (`numpy.zeros`).

    Args:
        shape: int or sequence of ints.
        dtype: by default `floatx()`.

    Returns:
        Tensor of that shape and dtype.

    >>> ops.zeros((2,))
    [0., 0.]
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

    >>> ops.ones((2,))
    [1., 1.]
    """
    return canonical_dims(shape, "ones"), dtypes.standardize_dtype(dtype)


@primitive(rule=rules.full)
def full(shape: Dims, fill_value: Cast, dtype=None):
    """Tensor filled with a value (`numpy.full`).

    Args:
        shape: int or sequence of ints.
        fill_value: number, or a tensor that broadcasts to `shape`.
        dtype: by default `floatx()`.

    Returns:
        Tensor of that shape and dtype.

    >>> ops.full((2,), 7.0)
    [7., 7.]
    """
    dtype = dtypes.standardize_dtype(dtype)
    return canonical_dims(shape, "full"), cast(fill_value, dtype), dtype


def empty(shape, dtype=None):
    """Tensor whose values don't matter; they are zeros, so that results can be repeated (`numpy.empty`).

    Args:
        shape: int or sequence of ints.
        dtype: by default `floatx()`.

    >>> ops.empty((2,))
    [0., 0.]
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

    >>> ops.arange(1, 7, 2)
    [1, 3, 5]
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

    >>> ops.eye(2)
    [[1., 0.], [0., 1.]]
    """
    return *canonical_dims((N, N if M is None else M), "eye"), k, dtypes.standardize_dtype(dtype)


def identity(n, dtype=None):
    """Identity matrix (`numpy.identity`).

    Args:
        n: rows and columns.
        dtype: by default `floatx()`.

    Returns:
        Tensor of shape `(n, n)`.

    >>> ops.identity(2)
    [[1., 0.], [0., 1.]]
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

    >>> ops.linspace(0, 1, 3)
    [0., 0.5, 1.]
    """
    start, stop = (v if isinstance(v, (int, float)) else convert_to_tensor(v) for v in (start, stop))
    num = integer(num, "num", "linspace", minimum=0)
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

    >>> ops.zeros_like([5, 6])
    [0, 0]
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

    >>> ops.ones_like([5, 6])
    [1, 1]
    """
    return ones(shape_of(x), dtype or dtype_of(x))


@composite
def full_like(x: Index, fill_value: Like, dtype=None):
    """A value in the shape and dtype of another tensor (`numpy.full_like`).

    Args:
        x: tensor.
        fill_value: number, or a tensor that broadcasts to `x`'s shape.
        dtype: by default `x`'s.

    Returns:
        Tensor of `x`'s shape.

    >>> ops.full_like([1, 2], 7)
    [7, 7]
    """
    return full(shape_of(x), fill_value, dtype or dtype_of(x))


def empty_like(x, dtype=None):
    """Tensor of the shape and dtype of another whose values don't matter; they are zeros (`numpy.empty_like`).

    Args:
        x: tensor.
        dtype: by default `x`'s.

    Returns:
        Tensor of `x`'s shape.

    >>> ops.empty_like([5, 6])
    [0, 0]
    """
    return zeros_like(x, dtype)


def tri(N, M=None, k=0, dtype=None):
    """Matrix with ones on and below a diagonal and zeros above it (`numpy.tri`).

    Args:
        N: rows.
        M: columns, by default `N`.
        k: which diagonal: 0 the main one, above it positive.
        dtype: by default `floatx()`.

    Returns:
        Tensor of shape `(N, M)`.

    >>> ops.tri(2)
    [[1., 0.], [1., 1.]]
    """
    return tril(ones((N, N if M is None else M), dtype), k)


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    """`num` numbers from `base ** start` to `base ** stop`, evenly spaced in the exponent (`numpy.logspace`).

    Args:
        start, stop: exponents: numbers, or tensors whose shapes broadcast.
        num: how many.
        endpoint: whether `base ** stop` is the last one.
        base: base of the powers.
        dtype: by default the floating dtype of `start` and `stop`.
        axis: where the new dimension is in the result.

    Returns:
        Tensor.

    >>> ops.logspace(0, 2, 3)
    [  1.,  10., 100.]
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    result = power(cast(base, dtype_of(exponents)), exponents)
    return result if dtype is None else cast(_settled(result, dtype), dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from `start` to `stop` with a constant ratio of neighbours (`numpy.geomspace`).

    Args:
        start, stop: numbers other than 0 of one sign, or tensors whose shapes broadcast.
        num: how many.
        endpoint: whether `stop` is the last one.
        dtype: by default the floating dtype of `start` and `stop`.
        axis: where the new dimension is in the result.

    Returns:
        Tensor.

    >>> ops.round(ops.geomspace(1.0, 8.0, 4), 4)
    [1., 2., 4., 8.]
    """
    start, stop = convert_to_tensor(start), convert_to_tensor(stop)
    kind = dtypes.result_type(start.dtype, stop.dtype, float)
    start, stop = cast(start, kind), cast(stop, kind)
    exponents = linspace(log2(abs(start)), log2(abs(stop)), num, endpoint, axis=axis)
    result = multiply(exp2(exponents), expand_dims(sign(start), axis) if len(start.shape) else sign(start))
    return result if dtype is None else cast(_settled(result, dtype), dtype)


def _settled(x, dtype):
    # What rounding left just below an integer would be cut to the one before.
    return x if dtypes.is_float(dtypes.standardize_dtype(dtype)) else round(x, 3)


@composite
def vander(x: Index, N=None, increasing=False):
    """Matrix of the powers of a vector's elements, one element a row (`numpy.vander`).

    Args:
        x: vector.
        N: number of powers, by default the length of `x`.
        increasing: whether the powers go up from 0 rather than down to it.

    Returns:
        Tensor of shape `(len(x), N)`.

    >>> ops.vander([1, 2, 3], N=2)
    [[1, 1], [2, 1], [3, 1]]
    """
    if len(x.shape) != 1:
        raise ValueError(f"vander: a vector is needed, but the shape is {tuple(x.shape)}.")
    return powers(x, shape_of(x)[0] if N is None else N, bool(increasing))


@composite
def powers(x: Index, count: Dims, increasing):
    """A row of `count` powers for each element of a vector."""
    exponents = np.arange(count, dtype="int32") if isinstance(count, int) else arange(count, dtype="int32")
    return power(expand_dims(x, -1), cast(exponents if increasing else count - 1 - exponents, dtype_of(x)))


# ------------------------------------------------------------------ windows


def _window_of(owner, x, of_count):
    """Window of `x` points, computed on the host in float64."""
    count = int(np.asarray(convert_to_numpy(x)))
    if count < 1:
        return zeros((0,))
    values = np.ones(1) if count == 1 else of_count(count)
    return convert_to_tensor(values.astype("float32"), config.floatx())


def bartlett(x):
    """Triangular window (`numpy.bartlett`).

    Args:
        x: number of points.

    Returns:
        Vector of that length.

    >>> ops.bartlett(3)
    [0., 1., 0.]
    """
    return _window_of("bartlett", x, np.bartlett)


def blackman(x):
    """Blackman's window (`numpy.blackman`).

    Args:
        x: number of points.

    Returns:
        Vector of that length.

    >>> ops.round(ops.abs(ops.blackman(3)), 4)
    [0., 1., 0.]
    """
    return _window_of("blackman", x, np.blackman)


def hamming(x):
    """Hamming's window (`numpy.hamming`).

    Args:
        x: number of points.

    Returns:
        Vector of that length.

    >>> ops.round(ops.hamming(3), 2)
    [0.08, 1.  , 0.08]
    """
    return _window_of("hamming", x, np.hamming)


def hanning(x):
    """Hann's window (`numpy.hanning`).

    Args:
        x: number of points.

    Returns:
        Vector of that length.

    >>> ops.hanning(3)
    [0., 1., 0.]
    """
    return _window_of("hanning", x, np.hanning)


def kaiser(x, beta):
    """Kaiser's window (`numpy.kaiser`).

    Args:
        x: number of points.
        beta: shape: 0 is a rectangle, larger ones are narrower.

    Returns:
        Vector of that length.

    >>> ops.kaiser(3, 0.0)
    [1., 1., 1.]
    """
    beta = float(np.asarray(convert_to_numpy(beta)))
    return _window_of("kaiser", x, lambda n: np.kaiser(n, beta))
