"""Reductions over axes, and running sums."""

from kerata.ops import rules
from kerata.ops.core import dtype as dtype_of
from kerata.ops.declare import Axis, Bool, Float, Number, Sum, Tensor, composite, primitive
from kerata.ops.elementwise import add, cast, maximum, minimum


@primitive(rule=rules.reduce)
def sum(x: Sum, axis: Axis = None, keepdims=False):
    """Sum over axes (`numpy.sum`); the sum of nothing is 0.

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Tensor of `x`'s dtype; booleans and integers below 32 bits become int32 (unsigned: uint32).

    >>> ops.sum([[1, 2], [3, 4]], axis=0)
    [4, 6]
    """


@primitive(rule=rules.reduce)
def prod(x: Sum, axis: Axis = None, keepdims=False):
    """Product over axes: the primitive, without `dtype`."""


_prod = prod


def prod(x, axis=None, keepdims=False, dtype=None):  # noqa: F811
    """Product over axes (`numpy.prod`); the product of nothing is 1.

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.
        dtype: dtype in which to multiply and return.

    Returns:
        Tensor of `dtype`, or of `x`'s; booleans and integers below 32 bits become int32 (unsigned: uint32).

    >>> ops.prod([[1, 2], [3, 4]], axis=1)
    [ 2, 12]
    """
    if dtype is None:
        return _prod(x, axis, keepdims)
    return cast(_prod(cast(x, dtype), axis, keepdims), dtype)


prod.op = _prod.op


@primitive(rule=rules.reduce)
def mean(x: Float, axis: Axis = None, keepdims=False):
    """Arithmetic mean over axes (`numpy.mean`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor.

    >>> ops.mean([[1.0, 3.0], [5.0, 7.0]], axis=1)
    [2., 6.]
    """


@primitive(rule=rules.reduce_real)
def var(x: Float, axis: Axis = None, keepdims=False):
    """Variance over axes, the mean squared distance from the mean (`numpy.var`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Real floating tensor.

    >>> ops.var([1.0, 3.0])
    1.
    """


@primitive(rule=rules.reduce)
def max(x: Tensor, axis: Axis = None, keepdims=False):
    """Largest element over axes: the primitive, without `initial`."""


@primitive(rule=rules.reduce)
def min(x: Tensor, axis: Axis = None, keepdims=False):
    """Smallest element over axes: the primitive, without `initial`."""


_max, _min = max, min


def max(x, axis=None, keepdims=False, initial=None):  # noqa: F811
    """Largest element over axes; NaN wins (`numpy.max`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.
        initial: value that takes part too, and the result where there is nothing else.

    Returns:
        Tensor of `x`'s dtype. The gradient is shared among equal largest elements.

    >>> ops.max([[1, 5], [7, 0]], axis=0)
    [7, 5]
    """
    if initial is None:
        return _max(x, axis, keepdims)
    return max_or_initial(x, axis, keepdims, initial)


def min(x, axis=None, keepdims=False, initial=None):  # noqa: F811
    """Smallest element over axes; NaN wins (`numpy.min`).

    Args:
        x: tensor of any shape.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.
        initial: value that takes part too, and the result where there is nothing else.

    Returns:
        Tensor of `x`'s dtype.

    >>> ops.min([[1, 5], [7, 0]], axis=0)
    [1, 0]
    """
    if initial is None:
        return _min(x, axis, keepdims)
    return min_or_initial(x, axis, keepdims, initial)


max.op, min.op = _max.op, _min.op


@composite
def max_or_initial(x: Tensor, axis: Axis, keepdims, initial):
    """`max` with the value `initial` taking part."""
    return _or_initial(_max, maximum, x, axis, keepdims, initial)


@composite
def min_or_initial(x: Tensor, axis: Axis, keepdims, initial):
    """`min` with the value `initial` taking part."""
    return _or_initial(_min, minimum, x, axis, keepdims, initial)


def _or_initial(reduce, combine, x, axis, keepdims, initial):
    shape = tuple(x.shape)
    if 0 in [shape[a] for a in rules.axes_in(axis, len(shape))]:
        # Natives can't reduce over nothing: sums of nothing are zeros of the right shape.
        return add(cast(sum(x, axis, keepdims), dtype_of(x)), cast(initial, dtype_of(x)))
    return combine(reduce(x, axis, keepdims), cast(initial, dtype_of(x)))


def amax(x, axis=None, keepdims=False):
    """Largest element over axes: `max` by NumPy's other name (`numpy.amax`).

    >>> ops.amax([1, 5, 2])
    5
    """
    return _max(x, axis, keepdims)


def amin(x, axis=None, keepdims=False):
    """Smallest element over axes: `min` by NumPy's other name (`numpy.amin`).

    >>> ops.amin([1, 5, 2])
    1
    """
    return _min(x, axis, keepdims)


@primitive(rule=rules.reduce_bool)
def any(x: Bool, axis: Axis = None, keepdims=False):
    """Whether any element over axes is true (`numpy.any`).

    Args:
        x: tensor of any shape; numbers other than 0 are true.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Boolean tensor.

    >>> ops.any([[True, False], [False, False]], axis=1)
    [ True, False]
    """


@primitive(rule=rules.reduce_bool)
def all(x: Bool, axis: Axis = None, keepdims=False):
    """Whether all elements over axes are true (`numpy.all`).

    Args:
        x: tensor of any shape; numbers other than 0 are true.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Boolean tensor.

    >>> ops.all([[True, False], [True, True]], axis=1)
    [False, True]
    """


@primitive(rule=rules.reduce_index)
def argmax(x: Tensor, axis=None, keepdims=False):
    """Position of the largest element along an axis, the first one if there are several (`numpy.argmax`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to count through the flattened tensor.
        keepdims: whether the axis stays as a dimension of 1.

    Returns:
        int32 tensor.

    >>> ops.argmax([[1, 5, 2], [7, 0, 7]], axis=1)
    [1, 0]
    """


@primitive(rule=rules.reduce_index)
def argmin(x: Tensor, axis=None, keepdims=False):
    """Position of the smallest element along an axis, the first one if there are several (`numpy.argmin`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to count through the flattened tensor.
        keepdims: whether the axis stays as a dimension of 1.

    Returns:
        int32 tensor.

    >>> ops.argmin([[1, 5, 2], [7, 0, 7]], axis=1)
    [0, 1]
    """


@primitive(rule=rules.reduce)
def logsumexp(x: Float, axis: Axis = None, keepdims=False):
    """`log(sum(exp(x)))` over axes, without overflow (`scipy.special.logsumexp`).

    Args:
        x: tensor of any shape; integers become floating.
        axis: int, tuple of ints, or `None` for all.
        keepdims: whether reduced axes stay as dimensions of 1.

    Returns:
        Floating tensor; -inf where all elements are.

    >>> ops.logsumexp([float("-inf"), 0.0])
    0.
    """


@primitive(rule=rules.accumulate)
def cumsum(x: Number, axis=None):
    """Running sum: the primitive, without `dtype`."""


@primitive(rule=rules.accumulate)
def cumprod(x: Number, axis=None):
    """Running product: the primitive, without `dtype`."""


_cumsum, _cumprod = cumsum, cumprod


def cumsum(x, axis=None, dtype=None):  # noqa: F811
    """Running sum along an axis (`numpy.cumsum`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to run through the flattened tensor.
        dtype: dtype in which to add and return; by default `x`'s, and int32 for booleans.

    Returns:
        Tensor of `x`'s shape, or one-dimensional for `axis=None`.

    >>> ops.cumsum([1, 2, 3])
    [1, 3, 6]
    """
    return _cumsum(_to_accumulate(x, dtype), axis)


def cumprod(x, axis=None, dtype=None):  # noqa: F811
    """Running product along an axis (`numpy.cumprod`).

    Args:
        x: tensor of any shape.
        axis: int, or `None` to run through the flattened tensor.
        dtype: dtype in which to multiply and return; by default `x`'s, and int32 for booleans.

    Returns:
        Tensor of `x`'s shape, or one-dimensional for `axis=None`.

    >>> ops.cumprod([1, 2, 3])
    [1, 2, 6]
    """
    return _cumprod(_to_accumulate(x, dtype), axis)


cumsum.op, cumprod.op = _cumsum.op, _cumprod.op


def _to_accumulate(x, dtype):
    return x if dtype is None else cast(x, dtype)
