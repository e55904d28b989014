"""Linear algebra: products, decompositions, solving. Also the public face `kerata.ops.linalg`."""

import builtins

from kerata.core.errors import one_of
from kerata.ops import rules
from kerata.ops.core import dtype as dtype_of
from kerata.ops.declare import Axis, Float, Tensor, Tensors, composite, primitive
from kerata.ops.elementwise import abs, cast, equal, maximum, multiply, not_equal, power, sqrt, square, where
from kerata.ops.reduction import max, min, sum
from kerata.ops.movement import expand_dims, moveaxis, reshape

# ------------------------------------------------------------------ products


@primitive(rule=rules.matmul)
def matmul(x1: Tensor, x2: Tensor):
    """Matrix product, broadcasting over leading dimensions (`numpy.matmul`).

    Args:
        x1: tensor of shape `(..., m, k)`, or a vector of length k.
        x2: tensor of shape `(..., k, n)`, or a vector of length k.

    Returns:
        Tensor of shape `(..., m, n)`, without the dimensions that a vector lacks. int8 with int8
        gives int32.
    """
    return _int8_as_int32(x1, x2)


def _int8_as_int32(x1, x2):
    # Sums of int8 products don't fit into 8 bits.
    if str(x1.dtype).endswith("int8") and dtype_of(x1) == "int8":
        return cast(x1, "int32"), cast(x2, "int32")
    return x1, x2


@primitive(rule=rules.einsum)
def einsum(subscripts, operands: Tensors):
    """Einstein's sum convention: the primitive, with the operands in a list."""


_einsum = einsum


def einsum(subscripts, *operands, **kwargs):  # noqa: F811
    """Product of tensors summed over indices, in Einstein's notation (`numpy.einsum`).

    Args:
        subscripts: equation such as `"bij,bjk->bik"`; `...` stands for any leading dimensions.
        *operands: tensors, one for each term.
        **kwargs: `optimize` is accepted; the order of contraction is chosen by the backend.

    Returns:
        Tensor of the dtype that they have together.
    """
    unknown = set(kwargs) - {"optimize"}
    if unknown:
        raise TypeError(f"einsum: unknown argument {sorted(unknown)[0]!r}.")
    return _einsum(subscripts, operands)


einsum.op = _einsum.op


@primitive(rule=rules.tensordot)
def tensordot(x1: Tensor, x2: Tensor, axes=2):
    """Product summed over given axes (`numpy.tensordot`).

    Args:
        x1, x2: tensors.
        axes: an int n: the last n axes of `x1` with the first n of `x2`; or two axes or lists of axes.

    Returns:
        Tensor with the axes that remain, first `x1`'s.
    """
    if not isinstance(axes, int):
        axes = tuple(tuple(a) if isinstance(a, (tuple, list)) else (a,) for a in axes)
    return x1, x2, axes


@composite
def dot(x1: Tensor, x2: Tensor):
    """Sum of products over the last axis of `x1` and the last but one of `x2` (`numpy.dot`).

    Args:
        x1, x2: tensors; a scalar multiplies.

    Returns:
        Tensor with the axes that remain, first `x1`'s.
    """
    if not len(x1.shape) or not len(x2.shape):
        return multiply(x1, x2)
    if len(x2.shape) <= 2 and dtype_of(x1) != "int8":
        return matmul(x1, x2)
    return tensordot(x1, x2, ((-1,), (-1,) if len(x2.shape) == 1 else (-2,)))


@composite
def outer(x1: Tensor, x2: Tensor):
    """Product of each element of one with each of the other (`numpy.outer`).

    Args:
        x1, x2: tensors, flattened first.

    Returns:
        Tensor of shape `(size of x1, size of x2)`.
    """
    return multiply(reshape(x1, (-1, 1)), reshape(x2, (1, -1)))


# ------------------------------------------------------------------ norms


@composite
def norm(x: Float, ord=None, axis: Axis = None, keepdims=False):
    """Norm of vectors or matrices (`numpy.linalg.norm`).

    Args:
        x: tensor.
        ord: order: for vectors a number, inf or -inf; for matrices `"fro"`, `"nuc"`, 1, -1, 2, -2,
            inf or -inf. By default the 2-norm (of a matrix: Frobenius).
        axis: int: norms of vectors; two ints: of matrices; by default of the flattened tensor, or,
            with `ord`, of `x` as a vector or matrix.
        keepdims: whether the axes stay as dimensions of 1.

    Returns:
        Floating tensor.
    """
    rank = len(x.shape)
    if axis is None and ord is None:
        return _root_of_squares(x, None, keepdims)
    axes = rules.axes_in(axis, rank, "norm")
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"norm: with `ord`, one axis (vectors) or two (matrices) are needed, but {len(axes)} are given.")


def _root_of_squares(x, axes, keepdims):
    # The gradient of the root at 0 is infinite; where the sum is 0 it is kept out of it.
    total = sum(square(abs(x)), axis=axes, keepdims=keepdims)
    positive = total > 0
    return where(positive, sqrt(where(positive, total, 1.0)), total)


def _vector_norm(x, ord, axes, keepdims):
    if ord in (None, 2):
        return _root_of_squares(x, axes, keepdims)
    if ord == float("inf"):
        return max(abs(x), axis=axes, keepdims=keepdims)
    if ord == float("-inf"):
        return min(abs(x), axis=axes, keepdims=keepdims)
    if ord == 0:
        return sum(cast(not_equal(x, 0.0), dtype_of(x)), axis=axes, keepdims=keepdims)
    if ord == 1:
        return sum(abs(x), axis=axes, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"norm: {ord!r} is an order for matrices; give two axes.")
    return power(sum(power(abs(x), ord), axis=axes, keepdims=keepdims), 1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    rows, columns = axes
    if ord in (None, "fro"):
        return _root_of_squares(x, axes, keepdims)
    if ord in (1, -1, float("inf"), float("-inf")):
        summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
        totals = sum(abs(x), axis=summed, keepdims=True)
        result = (max if ord > 0 else min)(totals, axis=other, keepdims=True)
        return result if keepdims else reshape_without(result, axes)
    if ord in (2, -2, "nuc"):
        values = svd(moveaxis(x, axes, (-2, -1)), full_matrices=False, compute_uv=False)
        result = {2: max, -2: min, "nuc": sum}[ord](values, axis=-1)
        return expand_dims(result, tuple(sorted(axes))) if keepdims else result
    raise ValueError(f"norm: {ord!r} is no order of a matrix norm: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf are.")


def reshape_without(x, axes):
    from kerata.ops.movement import squeeze

    return squeeze(x, axes)


# ------------------------------------------------------------------ decompositions and solving


@primitive(rule=rules.square)
def cholesky(x: Float, upper=False):
    """Triangular root of positive definite matrices, `L @ L.T == x` (`numpy.linalg.cholesky`).

    Args:
        x: tensor of shape `(..., n, n)`, symmetric and positive definite.
        upper: whether to return `L.T`.

    Returns:
        Tensor of `x`'s shape.
    """


@primitive(rule=rules.square)
def inv(x: Float):
    """Inverse matrices (`numpy.linalg.inv`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        Tensor of `x`'s shape.
    """


@primitive(rule=rules.determinant)
def det(x: Float):
    """Determinants (`numpy.linalg.det`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        Tensor of shape `(...)`.
    """


@primitive(rule=rules.sign_and_log)
def slogdet(x: Float):
    """Sign of the determinant and logarithm of its size (`numpy.linalg.slogdet`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        `(sign, logdet)`, both of shape `(...)`.
    """


@primitive(rule=rules.solve)
def solve(a: Float, b: Float):
    """The `x` for which `a @ x == b` (`numpy.linalg.solve`).

    Args:
        a: tensor of shape `(..., n, n)`.
        b: tensor of shape `(..., n)` or `(..., n, m)`.

    Returns:
        Tensor of `b`'s shape.
    """


@primitive(rule=rules.solve)
def solve_triangular(a: Float, b: Float, lower=False):
    """The `x` for which `a @ x == b`, `a` being triangular (`scipy.linalg.solve_triangular`).

    Args:
        a: tensor of shape `(..., n, n)`; the other triangle isn't looked at.
        b: tensor of shape `(..., n)` or `(..., n, m)`.
        lower: whether `a` is a lower triangle.

    Returns:
        Tensor of `b`'s shape.
    """


@primitive(rule=rules.qr)
def qr(x: Float, mode="reduced"):
    """Orthogonal and upper triangular factor, `q @ r == x` (`numpy.linalg.qr`).

    Args:
        x: tensor of shape `(..., m, n)`.
        mode: `"reduced"` for `q` of shape `(..., m, min(m, n))`, `"complete"` for `(..., m, m)`.

    Returns:
        `(q, r)`.
    """
    return x, one_of(mode, ("reduced", "complete"), "mode", "qr")


@primitive(rule=rules.svd)
def svd(x: Float, full_matrices=True, compute_uv=True):
    """Singular value decomposition, `u * s @ v == x` (`numpy.linalg.svd`).

    Args:
        x: tensor of shape `(..., m, n)`.
        full_matrices: whether `u` and `v` are square.
        compute_uv: whether to compute `u` and `v`.

    Returns:
        `(u, s, v)`, or `s` alone; `s` is in descending order.
    """


@primitive(rule=rules.eigh)
def eigh(x: Float):
    """Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices (`numpy.linalg.eigh`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        `(w, v)`: shapes `(..., n)` and `(..., n, n)`.
    """


@primitive(rule=rules.lu_factor)
def lu_factor(x: Float):
    """LU decomposition with pivoting (`scipy.linalg.lu_factor`).

    Args:
        x: tensor of shape `(..., m, n)`.

    Returns:
        `(lu, pivots)`: both factors in one matrix, and int32 row exchanges.
    """
