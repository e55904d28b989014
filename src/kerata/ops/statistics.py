"""Spread, quantiles, counting, correlation."""

import numpy as np

from kerata import backends
from kerata.core.errors import one_of
from kerata.graph.tensor import KerasTensor
from kerata.ops import rules, sparse_rules
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import linspace
from kerata.ops.declare import Axis, Bool, Dims, Float, Index, Key, Tensor, composite
from kerata.ops.elementwise import (
    add,
    cast,
    ceil,
    clip,
    copied,
    equal,
    floor,
    isnan,
    logical_and,
    logical_not,
    maximum,
    minimum,
    multiply,
    round,
    sqrt,
    subtract,
    where,
)
from kerata.ops.indexing import _segment_sum, segment_sum, take, take_along_axis
from kerata.ops.linalg import matmul
from kerata.ops.movement import broadcast_to, diagonal, expand_dims, flip, moveaxis, reshape, transpose
from kerata.ops.reduction import any, max, mean, min, sum, var
from kerata.ops.sorting import searchsorted, sort


@composite
def std(x: Float, axis: Axis = None, keepdims=False):
    """Standard deviation over axes, the root of the variance (`numpy.std`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Real floating tensor.

    >>> ops.std([1.0, 3.0])
    1.
    """
    return sqrt(var(x, axis, keepdims))


@composite
def ptp(x: Tensor, axis: Axis = None, keepdims=False):
    """Peak to peak: the largest element less the smallest (`numpy.ptp`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.ptp([1.0, 5.0, 2.0])
    4.
    """
    return subtract(max(x, axis, keepdims), min(x, axis, keepdims))


@composite
def average(x: Float, axis: Axis = None, weights: Float = None):
    """Weighted mean over axes (`numpy.average`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        weights: tensor of `x`'s shape, or a vector along the one axis; by default all are 1.

    Returns:
        Floating tensor.

    >>> ops.average([1.0, 3.0], weights=[3.0, 1.0])
    1.5
    """
    if weights is None:
        return mean(x, axis)
    rank = len(x.shape)
    if len(weights.shape) == 1 and rank > 1:
        if axis is None or isinstance(axis, tuple):
            raise ValueError(f"average: a vector of weights is for one axis, but `axis` is {axis}.")
        place = rules.axis_in(axis, rank, "average")
        weights = reshape(weights, tuple(-1 if i == place else 1 for i in range(rank)))
    if tuple(weights.shape) != tuple(x.shape) or None in x.shape:
        # The denominator has the numerator's shape.
        weights = broadcast_to(weights, shape_of(x))
    return sum(x * weights, axis) / sum(weights, axis)


@composite
def count_nonzero(x: Bool, axis: Axis = None):
    """How many elements over axes aren't 0 (`numpy.count_nonzero`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.

    Returns:
        int32 tensor.

    >>> ops.count_nonzero([1, 0, 2])
    2
    """
    return sum(cast(x, "int32"), axis)


# ------------------------------------------------------------------ quantiles

METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@composite
def quantile(x: Float, q: Key, axis: Axis = None, method="linear", keepdims=False):
    """Value below which a share `q` of the elements lies (`numpy.quantile`); NaN if there is any.

    Args:
        x: tensor of any shape; integers become floating.
        q: share or shares between 0 and 1.
        axis: int, tuple of ints, or `None` for all.
        method: what is between two elements: `"linear"`, `"lower"`, `"higher"`, `"midpoint"`, `"nearest"`.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor; several shares make a first dimension.

    >>> ops.quantile([1.0, 2.0, 3.0], 0.5)
    2.
    """
    one_of(method, METHODS, "method", "quantile")
    rows, result_shape = _rows(x, axis, keepdims, "quantile")
    ordered = sort(rows, axis=-1)
    low, high, weight = _positions(q, shape_of(rows)[-1], method, dtype_of(x))
    result = take(ordered, low, axis=-1)
    if high is not None:
        result = _between(result, take(ordered, high, axis=-1), weight)
    has_nan = any(isnan(rows), axis=-1)
    for _ in range(len(result.shape) - len(has_nan.shape)):
        has_nan = expand_dims(has_nan, -1)
    return _arranged(where(has_nan, float("nan"), result), len(rows.shape) - 1, result_shape)


@composite
def nanquantile(x: Float, q: Key, axis: Axis = None, method="linear", keepdims=False):
    """`quantile` of the elements that aren't NaN; NaN if there is none (`numpy.nanquantile`).

    Args:
        x: tensor of any shape; integers become floating.
        q: share or shares between 0 and 1.
        axis: int, tuple of ints, or `None` for all.
        method: what is between two elements: `"linear"`, `"lower"`, `"higher"`, `"midpoint"`, `"nearest"`.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor; several shares make a first dimension.

    >>> ops.nanquantile([1.0, float("nan"), 3.0], 0.5)
    2.
    """
    one_of(method, METHODS, "method", "nanquantile")
    rows, result_shape = _rows(x, axis, keepdims, "nanquantile")
    ordered = sort(rows, axis=-1)
    count = sum(cast(logical_not(isnan(rows)), dtype_of(x)), axis=-1, keepdims=True)
    shares = convert_to_tensor(q, dtype_of(x))
    several = len(shares.shape)
    place = reshape(shares, (-1,)) * maximum(count - 1.0, 0.0)
    low, high, weight = _steps(place, method)
    result = _between(take_along_axis(ordered, low, -1), take_along_axis(ordered, high, -1), weight)
    result = where(equal(count, 0), float("nan"), result)
    return _arranged(result if several else result[..., 0], len(rows.shape) - 1, result_shape)


def _rows(x, axis, keepdims, owner):
    """`x` with the reduced axes last and in one, and the shape of a result."""
    rank = len(x.shape)
    axes = rules.axes_in(axis, rank, owner)
    kept = [i for i in range(rank) if i not in axes]
    shape = shape_of(x)
    rows = reshape(transpose(x, (*kept, *axes)), (*(shape[i] for i in kept), -1))
    return rows, tuple(1 if i in axes else shape[i] for i in range(rank)) if keepdims else None


def _positions(q, n, method, dtype):
    """Positions below and above (`None`: only one) in n ordered elements, and the weight of the one above."""
    if isinstance(n, int) and not _is_tensor(q):
        # On the host in float64: float32 would miss the place among millions.
        q = np.asarray(q, "float64")
        if np.any((q < 0) | (q > 1)):
            raise ValueError(f"quantile: shares must be between 0 and 1, but q is {q.tolist()}.")
        place = q * (n - 1)
        low, high = np.floor(place), np.ceil(place)
        single = {"lower": low, "higher": high, "nearest": np.round(place)}.get(method)
        if single is not None:
            return single.astype("int32"), None, None
        weight = 0.5 * (high > low) if method == "midpoint" else place - low
        return low.astype("int32"), high.astype("int32"), weight.astype(dtype if dtype != "bfloat16" else "float32")
    place = convert_to_tensor(q, dtype) * (cast(n, dtype) - 1.0)
    return _steps(place, method)


def _is_tensor(q):
    return isinstance(q, KerasTensor) or (hasattr(q, "shape") and not isinstance(q, (np.ndarray, np.generic)))


def _steps(place, method):
    low, high = floor(place), ceil(place)
    weight = {"lower": place * 0.0, "higher": place * 0.0 + 1.0, "midpoint": low * 0.0 + 0.5}.get(method)
    if method == "nearest":
        weight = round(place) - low
    elif weight is None:
        weight = place - low
    return cast(low, "int32"), cast(high, "int32"), weight


def _between(low, high, weight):
    weight = cast(weight, dtype_of(low))
    # At a whole position both are the same element, which may be infinite.
    return where(equal(low, high), low, low + (high - low) * weight)


def _arranged(result, kept, result_shape):
    """Several shares are the first dimension; kept axes of 1 come back."""
    if len(result.shape) > kept:
        result = moveaxis(result, tuple(range(kept, len(result.shape))), tuple(range(len(result.shape) - kept)))
        return (
            result
            if result_shape is None
            else reshape(result, shape_of(result)[: len(result.shape) - kept] + result_shape)
        )
    return result if result_shape is None else reshape(result, result_shape)


def _hundredths(q):
    return multiply(q, 0.01) if _is_tensor(q) else np.asarray(q, "float64") / 100.0


def percentile(x, q, axis=None, method="linear", keepdims=False):
    """`quantile` with `q` in hundredths (`numpy.percentile`).

    Args:
        x: tensor of any shape; integers become floating.
        q: percentage or percentages between 0 and 100.
        axis: int, tuple of ints, or `None` for all.
        method: as in `quantile`.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor; several percentages make a first dimension.

    >>> ops.percentile([1.0, 2.0, 3.0], 50)
    2.
    """
    return quantile(x, _hundredths(q), axis, method, keepdims)


def nanpercentile(x, q, axis=None, method="linear", keepdims=False):
    """`nanquantile` with `q` in hundredths (`numpy.nanpercentile`).

    Args:
        x: tensor of any shape; integers become floating.
        q: percentage or percentages between 0 and 100.
        axis: int, tuple of ints, or `None` for all.
        method: as in `quantile`.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor; several percentages make a first dimension.

    >>> ops.nanpercentile([1.0, float("nan"), 3.0], 50)
    2.
    """
    return nanquantile(x, _hundredths(q), axis, method, keepdims)


def median(x, axis=None, keepdims=False):
    """Middle element in order, or the mean of the middle two (`numpy.median`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor.

    >>> ops.median([1.0, 5.0, 2.0])
    2.
    """
    return quantile(x, 0.5, axis, "midpoint", keepdims)


def nanmedian(x, axis=None, keepdims=False):
    """`median` of the elements that aren't NaN (`numpy.nanmedian`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor.

    >>> ops.nanmedian([1.0, float("nan"), 2.0])
    1.5
    """
    return nanquantile(x, 0.5, axis, "midpoint", keepdims)


# ------------------------------------------------------------------ counting


@composite
def digitize(x: Tensor, bins: Tensor):
    """Number of the bin that each element falls into: bins[i-1] <= x < bins[i] (`numpy.digitize`).

    Args:
        x: tensor of any shape.
        bins: ascending vector of bounds.

    Returns:
        int32 tensor of `x`'s shape.

    >>> ops.digitize([0.5, 3.0], [0.0, 1.0, 2.0])
    [1, 3]
    """
    return searchsorted(bins, x, side="right")


def bincount(x, weights=None, minlength=0, sparse=False):
    """How often each number occurs (`numpy.bincount`).

    How long the result is depends on the values, so it can't run inside a function compiled by JAX.

    Args:
        x: tensor of non-negative integers, of shape `(n,)` or `(batch, n)`.
        weights: what each occurrence counts, of `x`'s shape; by default 1.
        minlength: least length of the result.
        sparse: whether to return a sparse tensor, where the backend has them. That of a sparse tensor is one anyway: places
            that it has no value for aren't counted.

    Returns:
        Tensor of shape `(length,)` or `(batch, length)`: int32, or `weights`' dtype.

    >>> ops.bincount([1, 2, 2])
    [0, 1, 2]
    """
    counts = counted(x, weights, minlength)
    if not sparse:
        return counts
    b = backends.current()
    sparse_rules.need(b, "bincount")
    return counts if sparse_rules.kind_of(counts) or sparse_rules.met(b, counts) else to_sparse(counts)


@composite
def to_sparse(x: Index):
    """A tensor as a sparse one (not public)."""
    return copied(x)


@composite(by_value=True)
def counted(x: Index, weights: Index = None, minlength=0):
    """`bincount` of a vector or of each row."""
    if not dtype_of(x).removeprefix("u").startswith("int") and dtype_of(x) != "bool":
        raise TypeError(f"bincount: integers are counted, but the dtype is {dtype_of(x)}.")
    if len(x.shape) not in (1, 2):
        raise ValueError(f"bincount: one or two dimensions are needed, but the shape is {tuple(x.shape)}.")
    x = cast(x, "int32")
    if len(x.shape) == 1:
        return counted_all(x, weights, minlength)
    length = _bins(x, minlength)
    # The rows' numbers one after the other.
    batch = shape_of(x)[0]
    x = x + expand_dims(_range(batch), -1) * length
    weights = weights if weights is None else reshape(weights, (-1,))
    return reshape(counted_vector(reshape(x, (-1,)), weights, batch * length), (batch, length))


@composite(by_value=True)
def counted_all(x: Index, weights: Index, minlength):
    """How often, or with what weight, each number occurs, from 0 to the largest or up to `minlength`."""
    return counted_vector(x, weights, _bins(x, minlength))


@composite(by_value=True)
def counted_vector(x: Index, weights: Index, length: Dims):
    """How often, or with what weight, each number below `length` occurs."""
    ones = cast(equal(x, x), "int32") if weights is None else weights
    return _segment_sum(ones, x, length)


def _bins(x, minlength):
    if 0 in tuple(x.shape):
        return minlength
    return maximum(add(max(x), 1), minlength)


def _range(n):
    from kerata.ops.creation import arange

    return arange(n, dtype="int32")


@composite
def histogram(x: Float, bins=10, range=None):
    """How many elements fall into each of equally wide bins (`numpy.histogram`).

    Args:
        x: tensor of any shape.
        bins: how many bins.
        range: `(low, high)` bounds; by default the smallest and the largest element.

    Returns:
        `(counts, bounds)`: tensors of length `bins` and `bins + 1`, of `x`'s dtype.

    >>> ops.histogram([1.0, 2.0, 9.0], bins=2)[0]
    [2., 1.]
    """
    if not isinstance(bins, int) or bins < 1:
        raise ValueError(f"histogram: Argument `bins` should be a non-negative integer above 0, not {bins!r}.")
    if range is not None and len(range) != 2:
        raise ValueError(f"histogram: Argument `range` must be a tuple of two elements, not {range!r}.")
    if range is not None and not any_tensor(range) and range[0] > range[1]:
        raise ValueError(
            f"histogram: The second element of `range` must be greater than the first, but it is {tuple(range)}."
        )
    return counted_between(x, bins, range)


@composite
def counted_between(x: Float, bins, range: Key):
    """`histogram`, its arguments checked."""
    x = reshape(x, (-1,))
    low, high = (min(x), max(x)) if range is None else (cast(v, dtype_of(x)) for v in range)
    flat = equal(low, high)
    low, high = where(flat, low - 0.5, low), where(flat, high + 0.5, high)
    bounds = linspace(low, high, bins + 1, dtype=dtype_of(x))
    inside = logical_and(x >= low, x <= high)
    place = _bin_of(where(inside, x, low), low, high, bounds, bins)
    return segment_sum(cast(inside, dtype_of(x)), place, bins), bounds


def _bin_of(x, low, high, bounds, bins):
    """Numbers of the bins by division, which may be wrong by one at a bound: searching takes twice as long."""
    place = cast(minimum((x - low) * (bins / (high - low)), bins - 1.0), "int32")
    place = where(x < take(bounds, place, axis=0), place - 1, place)
    return where(logical_and(x >= take(bounds, place + 1, axis=0), place < bins - 1), place + 1, place)


def any_tensor(values):
    return not all_numbers(values)


def all_numbers(values):
    return not [v for v in values if not isinstance(v, (int, float, np.number))]


@composite
def in_top_k(targets: Index, predictions: Index, k):
    """Whether the target class is among the `k` likeliest.

    Args:
        targets: integer tensor of shape `(batch,)`.
        predictions: tensor of shape `(batch, classes)`.
        k: how many. Classes tied with the last one count as among them.

    Returns:
        Boolean tensor of shape `(batch,)`.

    >>> ops.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], 1)
    [ True, False]
    """
    classes = shape_of(predictions)[-1]
    valid = logical_and(targets >= 0, targets < classes)
    safe = where(valid, targets, 0)
    score = take_along_axis(predictions, expand_dims(safe, -1), axis=-1)
    ahead = sum(cast(predictions > score, "int32"), axis=-1)
    # A NaN score is no better than any other.
    return logical_and(logical_and(valid, ahead < k), logical_not(isnan(score)[..., 0]))


# ------------------------------------------------------------------ correlation


@composite
def corrcoef(x: Float):
    """Pearson's correlation of the rows with each other (`numpy.corrcoef`).

    Args:
        x: tensor of shape `(variables, observations)`, or a vector of observations.

    Returns:
        Floating tensor of shape `(variables, variables)`; a scalar for a vector.

    >>> ops.round(ops.corrcoef([[1.0, 2.0], [2.0, 1.0]]), 4)
    [[ 1., -1.], [-1.,  1.]]
    """
    if len(x.shape) > 2:
        raise ValueError(f"corrcoef: a vector or a matrix is needed, but the shape is {tuple(x.shape)}.")
    rows = x if len(x.shape) == 2 else reshape(x, (1, -1))
    deviation = rows - mean(rows, axis=1, keepdims=True)
    covariance = matmul(deviation, transpose(deviation))
    scale = sqrt(diagonal(covariance))
    result = clip(covariance / (expand_dims(scale, 1) * expand_dims(scale, 0)), -1.0, 1.0)
    return result if len(x.shape) == 2 else reshape(result, ())


@composite
def correlate(x1: Float, x2: Float, mode="valid"):
    """Cross-correlation of two vectors (`numpy.correlate`).

    Args:
        x1, x2: vectors.
        mode: which overlaps: `"valid"` full ones, `"same"` as many as the longer vector has elements,
            `"full"` all.

    Returns:
        Floating vector.

    >>> ops.correlate([1.0, 2.0, 3.0], [0.0, 1.0], mode="valid")
    [2., 3.]
    """
    from kerata.ops.nn import conv_general

    one_of(mode, ("valid", "same", "full"), "mode", "correlate")
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError(f"correlate: two vectors are needed, but shapes are {tuple(x1.shape)}, {tuple(x2.shape)}.")
    n, m = x1.shape[0], x2.shape[0]
    if n is None or m is None:
        raise ValueError("correlate: the lengths of the vectors must be known.")
    swapped = m > n
    if swapped:
        x1, x2, n, m = x2, x1, m, n
    before = {"valid": 0, "same": m // 2, "full": m - 1}[mode]
    after = {"valid": 0, "same": m - 1 - m // 2, "full": m - 1}[mode]
    image, kernel = reshape(x1, (1, -1, 1)), reshape(x2, (-1, 1, 1))
    result = reshape(conv_general(image, kernel, (1,), ((before, after),), "channels_last", (1,), 1), (-1,))
    return flip(result) if swapped else result
