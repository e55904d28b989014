"""Reductions that leave NaN out."""

from kerata.core import dtypes
from kerata.ops.core import dtype as dtype_of
from kerata.ops.declare import Axis, Float, Sum, Tensor, composite
from kerata.ops.elementwise import cast, isnan, logical_not, sqrt, square, where
from kerata.ops.reduction import all, argmax, argmin, cumprod, cumsum, max, min, prod, sum


def _filled(x, value):
    """`x` with another value in place of NaN."""
    return where(isnan(x), cast(value, dtype_of(x)), x) if _has_nan(x) else x


def _has_nan(x):
    return dtypes.is_float(dtype_of(x))


@composite
def nansum(x: Sum, axis: Axis = None, keepdims=False):
    """Sum over axes, NaN counted as 0 (`numpy.nansum`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Tensor of `x`'s dtype; small integers as in `sum`.

    >>> ops.nansum([1.0, float("nan")])
    1.
    """
    return sum(_filled(x, 0), axis, keepdims)


@composite
def nanprod(x: Sum, axis: Axis = None, keepdims=False):
    """Product over axes, NaN counted as 1 (`numpy.nanprod`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Tensor of `x`'s dtype; small integers as in `sum`.

    >>> ops.nanprod([2.0, float("nan")])
    2.
    """
    return prod(_filled(x, 1), axis, keepdims)


@composite
def nanmax(x: Tensor, axis: Axis = None, keepdims=False):
    """Largest element over axes that isn't NaN; NaN if there is none (`numpy.nanmax`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.nanmax([1.0, float("nan")])
    1.
    """
    return _extreme(max, float("-inf"), x, axis, keepdims)


@composite
def nanmin(x: Tensor, axis: Axis = None, keepdims=False):
    """Smallest element over axes that isn't NaN; NaN if there is none (`numpy.nanmin`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.nanmin([1.0, float("nan")])
    1.
    """
    return _extreme(min, float("inf"), x, axis, keepdims)


def _extreme(reduce, filler, x, axis, keepdims):
    if not _has_nan(x):
        return reduce(x, axis, keepdims)
    missing = isnan(x)
    rest = where(missing, cast(filler, dtype_of(x)), x)
    return where(all(missing, axis, keepdims), float("nan"), reduce(rest, axis, keepdims))


@composite
def nanargmax(x: Tensor, axis=None, keepdims=False):
    """Position of the largest element that isn't NaN; -1 if there is none (`numpy.nanargmax`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to count through the flattened tensor.
        keepdims: whether the axis stays as a dimension of 1.

    Returns:
        int32 tensor.

    >>> ops.nanargmax([float("nan"), 1.0])
    1
    """
    return _place(argmax, float("-inf"), x, axis, keepdims)


@composite
def nanargmin(x: Tensor, axis=None, keepdims=False):
    """Position of the smallest element that isn't NaN; -1 if there is none (`numpy.nanargmin`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to count through the flattened tensor.
        keepdims: whether the axis stays as a dimension of 1.

    Returns:
        int32 tensor.

    >>> ops.nanargmin([float("nan"), 1.0])
    1
    """
    return _place(argmin, float("inf"), x, axis, keepdims)


def _place(find, filler, x, axis, keepdims):
    if not _has_nan(x):
        return find(x, axis, keepdims)
    missing = isnan(x)
    rest = where(missing, cast(filler, dtype_of(x)), x)
    return where(all(missing, axis, keepdims), -1, find(rest, axis, keepdims))


@composite
def nanmean(x: Float, axis: Axis = None, keepdims=False):
    """Mean over axes of what isn't NaN; NaN if that is nothing (`numpy.nanmean`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor.

    >>> ops.nanmean([1.0, float("nan"), 3.0])
    2.
    """
    missing = isnan(x)
    return sum(where(missing, cast(0, dtype_of(x)), x), axis, keepdims) / _count(missing, x, axis, keepdims)


def _count(missing, x, axis, keepdims):
    return sum(cast(logical_not(missing), dtype_of(x)), axis, keepdims)


@composite
def nanvar(x: Float, axis: Axis = None, keepdims=False):
    """Variance over axes of what isn't NaN; NaN if that is nothing (`numpy.nanvar`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor.

    >>> ops.nanvar([1.0, float("nan"), 3.0])
    1.
    """
    missing = isnan(x)
    deviation = where(missing, cast(0, dtype_of(x)), x - nanmean(x, axis, True))
    return sum(square(deviation), axis, keepdims) / _count(missing, x, axis, keepdims)


@composite
def nanstd(x: Float, axis: Axis = None, keepdims=False):
    """Standard deviation over axes of what isn't NaN; NaN if that is nothing (`numpy.nanstd`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor.

    >>> ops.nanstd([1.0, float("nan"), 3.0])
    1.
    """
    return sqrt(nanvar(x, axis, keepdims))


def nancumsum(x, axis=None, dtype=None):
    """Running sum, NaN counted as 0 (`numpy.nancumsum`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to run through the flattened tensor.
        dtype: dtype in which to add and return.

    Returns:
        Tensor of `x`'s shape, or one-dimensional for `axis=None`.

    >>> ops.nancumsum([1.0, float("nan"), 2.0])
    [1., 1., 3.]
    """
    return cumsum(without_nan(x, 0), axis, dtype)


def nancumprod(x, axis=None, dtype=None):
    """Running product, NaN counted as 1 (`numpy.nancumprod`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to run through the flattened tensor.
        dtype: dtype in which to multiply and return.

    Returns:
        Tensor of `x`'s shape, or one-dimensional for `axis=None`.

    >>> ops.nancumprod([2.0, float("nan"), 3.0])
    [2., 2., 6.]
    """
    return cumprod(without_nan(x, 1), axis, dtype)


@composite
def without_nan(x: Tensor, value):
    """`x` with `value` in place of NaN."""
    return _filled(x, value)
