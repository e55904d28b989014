"""Linear algebra: products, decompositions, solving. Also the public face `kerata.ops.linalg`."""

import builtins

import ml_dtypes

from kerata.core import dtypes
from kerata.ops import rules
from kerata.ops.calculus import jvp
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import eye, zeros_like
from kerata.ops.declare import Axis, Float, Product, Sum, Tensor, Tensors, composite, primitive
from kerata.ops.elementwise import abs, cast, conj, multiply, not_equal, power, sqrt, square, where
from kerata.ops.movement import diagonal, expand_dims, moveaxis, reshape, squeeze, stack, swapaxes
from kerata.ops.reduction import max, min, sum

# The face of `keras.ops.linalg`; `jvp` is there too.
__all__ = [
    "cholesky", "cholesky_inverse", "det", "eig", "eigh", "inv", "jvp", "lstsq", "lu_factor", "matrix_rank", "norm",
    "pinv", "qr", "solve", "solve_triangular", "svd",
]  # fmt: skip

# ------------------------------------------------------------------ products


@primitive(rule=rules.matmul)
def matmul(x1: Product, x2: Product):
    """Matrix product, broadcasting over leading dimensions (`numpy.matmul`).

    Args:
        x1: tensor of shape `(..., m, k)`, or a vector of length k.
        x2: tensor of shape `(..., k, n)`, or a vector of length k.

    Returns:
        Tensor of shape `(..., m, n)`, without the dimensions that a vector lacks. int8 with int8
        gives int32.

    >>> ops.matmul([[1, 2], [3, 4]], [1, 1])
    [3, 7]
    """


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

    >>> ops.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1])
    [3, 7]
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

    >>> ops.tensordot([[1, 2], [3, 4]], [1, 1], 1)
    [3, 7]
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

    >>> ops.dot([1, 2], [3, 4])
    11
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

    >>> ops.outer([1, 2], [3, 4])
    [[3, 4], [6, 8]]
    """
    return multiply(reshape(x1, (-1, 1)), reshape(x2, (1, -1)))


# ------------------------------------------------------------------ norms


class NormError(rules.AxisError, RuntimeError):
    """No such norm: a `ValueError`; for those who come from PyTorch, a `RuntimeError` or `IndexError` too."""


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

    >>> ops.norm([3.0, 4.0])
    5.
    """
    rank = len(x.shape)
    if axis is None and ord is None:
        return root_of_squares(x, None, keepdims)
    try:
        axes = rules.axes_in(axis, rank, "norm")
    except ValueError as error:
        raise NormError(str(error)) from None
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise NormError(f"norm: with `ord`, one axis (vectors) or two (matrices) are needed, but {len(axes)} are given.")


@composite
def root_of_squares(x: Float, axis: Axis, keepdims):
    """2-norm over axes, real for complex numbers, with gradient 0 at 0 (not public)."""
    # The gradient of the root at 0 is infinite; where the sum is 0 it is kept out of it.
    total = sum(square(abs(x) if dtypes.is_complex(dtype_of(x)) else x), axis=axis, keepdims=keepdims)
    positive = total > 0
    return where(positive, sqrt(where(positive, total, 1.0)), total)


def _vector_norm(x, ord, axes, keepdims):
    if ord in (None, 2):
        return root_of_squares(x, axes, keepdims)
    if ord == float("inf"):
        return max(abs(x), axis=axes, keepdims=keepdims)
    if ord == float("-inf"):
        return min(abs(x), axis=axes, keepdims=keepdims)
    if ord == 0:
        return sum(cast(not_equal(x, 0.0), dtype_of(x)), axis=axes, keepdims=keepdims)
    if ord == 1:
        return sum(abs(x), axis=axes, keepdims=keepdims)
    if isinstance(ord, str):
        raise NormError(f"norm: {ord!r} is an order for matrices; give two axes.")
    return power(sum(power(abs(x), ord), axis=axes, keepdims=keepdims), 1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    rows, columns = axes
    if ord in (None, "fro"):
        return root_of_squares(x, axes, keepdims)
    if ord in (1, -1, float("inf"), float("-inf")):
        summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
        totals = sum(abs(x), axis=summed, keepdims=True)
        result = (max if ord > 0 else min)(totals, axis=other, keepdims=True)
        return result if keepdims else squeeze(result, axes)
    if ord in (2, -2, "nuc"):
        values = svd(moveaxis(x, axes, (-2, -1)), full_matrices=False, compute_uv=False)
        result = {2: max, -2: min, "nuc": sum}[ord](values, axis=-1)
        return expand_dims(result, tuple(sorted(axes))) if keepdims else result
    raise NormError(f"norm: {ord!r} is no order of a matrix norm: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf are.")


# ------------------------------------------------------------------ decompositions and solving


@primitive(rule=rules.square)
def cholesky(x: Float, upper=False):
    """Triangular root of positive definite matrices, `L @ L.T == x` (`numpy.linalg.cholesky`).

    Args:
        x: tensor of shape `(..., n, n)`, symmetric and positive definite.
        upper: whether to return `L.T`.

    Returns:
        Tensor of `x`'s shape.

    >>> ops.cholesky([[4.0, 0.0], [0.0, 9.0]])
    [[2., 0.], [0., 3.]]
    """


@primitive(rule=rules.square)
def inv(x: Float):
    """Inverse matrices (`numpy.linalg.inv`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        Tensor of `x`'s shape.

    >>> ops.inv([[2.0, 0.0], [0.0, 4.0]])
    [[0.5, 0.], [0., 0.25]]
    """


@primitive(rule=rules.determinant)
def det(x: Float):
    """Determinants (`numpy.linalg.det`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        Tensor of shape `(...)`.

    >>> ops.det([[2.0, 0.0], [0.0, 3.0]])
    6.
    """


@primitive(rule=rules.sign_and_log)
def slogdet(x: Float):
    """Sign of the determinant and logarithm of its size (`numpy.linalg.slogdet`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        `(sign, logdet)`, both of shape `(...)`.

    >>> ops.slogdet([[2.0, 0.0], [0.0, 0.5]])
    (1., 0.)
    """


@primitive(rule=rules.solve)
def solve(a: Float, b: Float):
    """The `x` for which `a @ x == b` (`numpy.linalg.solve`).

    Args:
        a: tensor of shape `(..., n, n)`.
        b: tensor of shape `(..., n)` or `(..., n, m)`.

    Returns:
        Tensor of `b`'s shape.

    >>> ops.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])
    [1., 0.5]
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

    >>> ops.solve_triangular([[2.0, 1.0], [0.0, 4.0]], [4.0, 4.0])
    [1.5, 1.]
    """


@primitive(rule=rules.qr)
def qr(x: Float, mode="reduced"):
    """Orthogonal and upper triangular factor, `q @ r == x` (`numpy.linalg.qr`).

    Args:
        x: tensor of shape `(..., m, n)`.
        mode: `"reduced"` for `q` of shape `(..., m, min(m, n))`, `"complete"` for `(..., m, m)`.

    Returns:
        `(q, r)`.

    >>> [tuple(t.shape) for t in ops.qr([[2.0, 1.0], [0.0, 3.0]])]
    [(2, 2), (2, 2)]
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: no `mode` {mode!r}. Expected one of {{'reduced', 'complete'}}.")
    return x, mode


@primitive(rule=rules.svd)
def svd(x: Float, full_matrices=True, compute_uv=True):
    """Singular value decomposition, `u * s @ v == x` (`numpy.linalg.svd`).

    Args:
        x: tensor of shape `(..., m, n)`.
        full_matrices: whether `u` and `v` are square.
        compute_uv: whether to compute `u` and `v`.

    Returns:
        `(u, s, v)`, or `s` alone; `s` is in descending order.

    >>> ops.svd([[3.0, 0.0], [0.0, 2.0]], compute_uv=False)
    [3., 2.]
    """


@primitive(rule=rules.eigh)
def eigh(x: Float):
    """Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices (`numpy.linalg.eigh`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        `(w, v)`: shapes `(..., n)` and `(..., n, n)`.

    >>> ops.eigh([[2.0, 0.0], [0.0, 3.0]])[0]
    [2., 3.]
    """


@primitive(rule=rules.lu_factor)
def lu_factor(x: Float):
    """LU decomposition with pivoting (`scipy.linalg.lu_factor`).

    Args:
        x: tensor of shape `(..., m, n)`.

    Returns:
        `(lu, pivots)`: both factors in one matrix, and int32 row exchanges.

    >>> ops.lu_factor([[2.0, 0.0], [0.0, 4.0]])
    ([[2., 0.], [0., 4.]], [0, 1])
    """


@primitive(rule=rules.eig)
def eig(x: Float):
    """Eigenvalues and eigenvectors of square matrices (`numpy.linalg.eig`).

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        `(w, v)`: complex tensors of shapes `(..., n)` and `(..., n, n)`.

    >>> sorted(ops.real(ops.eig([[2.0, 0.0], [0.0, 3.0]])[0]).tolist())
    [2.0, 3.0]
    """


@composite
def logdet(x: Float):
    """Logarithm of the determinant, NaN where that is negative.

    Args:
        x: tensor of shape `(..., n, n)`.

    Returns:
        Tensor of shape `(...)`.

    >>> ops.logdet([[1.0, 0.0], [0.0, 1.0]])
    0.
    """
    sign, size = slogdet(x)
    return where(sign < 0, float("nan"), size)


@composite
def cholesky_inverse(x: Float, upper=False):
    """Inverse of the matrices that have these triangular roots (`torch.cholesky_inverse`).

    Args:
        x: tensor of shape `(..., n, n)`: roots as `cholesky` gives them.
        upper: whether they are upper triangles.

    Returns:
        Tensor of `x`'s shape.

    >>> ops.cholesky_inverse([[2.0, 0.0], [0.0, 1.0]])
    [[0.25, 0.  ], [0.  , 1.  ]]
    """
    rules.square_matrices(x)
    root = solve_triangular(x, eye(shape_of(x)[-1], dtype=dtype_of(x)) + zeros_like(x), not upper)
    # upper: x.T @ x was taken apart, and (x.T x)^-1 = x^-1 x^-T.
    return matmul(root, swapaxes(root, -1, -2)) if upper else matmul(swapaxes(root, -1, -2), root)


def _small(x, rcond):
    """Singular values up to which a matrix counts as singular, relative to the largest."""
    if rcond is not None:
        return rcond
    sizes = tuple(x.shape[-2:])
    if None in sizes:
        raise ValueError("the sizes of the matrices must be known, or a tolerance be given.")
    return builtins.max(sizes) * float(ml_dtypes.finfo(dtypes.to_numpy_dtype(dtype_of(x))).eps)


@composite
def pinv(x: Float, rcond=None):
    """Moore-Penrose inverse (`numpy.linalg.pinv`).

    Args:
        x: tensor of shape `(..., m, n)`.
        rcond: singular values up to this share of the largest count as 0; by default the dtype's
            epsilon times the larger of m and n.

    Returns:
        Tensor of shape `(..., n, m)`.

    >>> ops.round(ops.pinv([[2.0, 0.0]]), 4)
    [[0.5], [0. ]]
    """
    u, inverse, v = _inverted(x, rcond)
    return matmul(v * expand_dims(inverse, -2), u)


def _inverted(x, rcond):
    """The singular value decomposition of the inverse: its factors, and the values between them."""
    u, s, v = svd(x, full_matrices=False)
    large = s > max(s, axis=-1, keepdims=True) * _small(x, rcond)
    return swapaxes(u, -1, -2), where(large, 1.0 / where(large, s, 1.0), 0.0), swapaxes(v, -1, -2)


@composite
def matrix_rank(x: Float, tol=None):
    """Number of independent rows (`numpy.linalg.matrix_rank`).

    Args:
        x: tensor of shape `(..., m, n)`.
        tol: singular values up to this count as 0; by default the dtype's epsilon times the larger of
            m and n times the largest of them.

    Returns:
        int32 tensor of shape `(...)`.

    >>> ops.matrix_rank([[1.0, 1.0], [1.0, 1.0]])
    1
    """
    s = svd(x, full_matrices=False, compute_uv=False)
    bound = max(s, axis=-1, keepdims=True) * _small(x, None) if tol is None else tol
    return sum(cast(s > bound, "int32"), axis=-1)


@composite
def lstsq(a: Float, b: Float, rcond=None):
    """The `x` that makes `a @ x - b` smallest, and of several the shortest (`numpy.linalg.lstsq`).

    Args:
        a: tensor of shape `(m, n)`.
        b: tensor of shape `(m,)` or `(m, k)`.
        rcond: as in `pinv`.

    Returns:
        Tensor of shape `(n,)` or `(n, k)`.

    >>> ops.round(ops.lstsq([[1.0], [1.0]], [1.0, 3.0]), 4)
    [2.]
    """
    if len(a.shape) != 2 or len(b.shape) not in (1, 2):
        raise ValueError(f"lstsq: shapes (m, n) and (m,) or (m, k) are needed, not {tuple(a.shape)}, {tuple(b.shape)}.")
    return least_squares(a, b, rcond)


@composite
def least_squares(a: Float, b: Float, rcond):
    """`lstsq`, its arguments checked."""
    u, inverse, v = _inverted(a, rcond)
    return matmul(v, multiply(inverse if len(b.shape) == 1 else expand_dims(inverse, -1), matmul(u, b)))


# ------------------------------------------------------------------ more products


@composite
def inner(x1: Tensor, x2: Tensor):
    """Sum of products over the last axes (`numpy.inner`).

    Args:
        x1, x2: tensors whose last dimensions are equal; a scalar multiplies.

    Returns:
        Tensor with the axes that remain, first `x1`'s.

    >>> ops.inner([1, 2], [3, 4])
    11
    """
    if not len(x1.shape) or not len(x2.shape):
        return multiply(x1, x2)
    return tensordot(x1, x2, ((-1,), (-1,)))


@composite
def vdot(x1: Tensor, x2: Tensor):
    """Sum of products of all elements, the first ones conjugated (`numpy.vdot`).

    Args:
        x1, x2: tensors of as many elements, flattened first.

    Returns:
        Scalar.

    >>> ops.vdot([1, 2], [3, 4])
    11
    """
    if dtypes.is_complex(dtype_of(x1)):
        x1 = conj(x1)
    return tensordot(reshape(x1, (-1,)), reshape(x2, (-1,)), 1)


@composite
def kron(x1: Tensor, x2: Tensor):
    """Kronecker's product: a copy of the second tensor times each element of the first (`numpy.kron`).

    Args:
        x1, x2: tensors; the one with fewer dimensions gets ones in front.

    Returns:
        Tensor with the dimensions multiplied.

    >>> ops.kron([1, 2], [1, 1])
    [1, 1, 2, 2]
    """
    rank = builtins.max(len(x1.shape), len(x2.shape))
    one, two = ((1,) * (rank - len(x.shape)) + tuple(shape_of(x)) for x in (x1, x2))
    left = reshape(x1, tuple(d for n in one for d in (n, 1)))
    right = reshape(x2, tuple(d for n in two for d in (1, n)))
    return reshape(multiply(left, right), tuple(a * b for a, b in zip(one, two)))


@composite
def cross(x1: Tensor, x2: Tensor, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross product of vectors of length 2 or 3 (`numpy.cross`).

    Args:
        x1, x2: tensors of vectors.
        axisa, axisb: where the vectors' elements are in them.
        axisc: where they are in the result; two plane vectors give a scalar.
        axis: all three at once.

    Returns:
        Tensor of the broadcast shape.

    >>> ops.cross([1, 0, 0], [0, 1, 0])
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(x1, axisa, -1), moveaxis(x2, axisb, -1)
    if None in (a.shape[-1], b.shape[-1]):
        raise ValueError("cross: the length of the vectors must be known.")
    if not {a.shape[-1], b.shape[-1]} <= {2, 3}:
        raise ValueError(
            f"cross: vectors must have length 2 or 3, but shapes are {tuple(x1.shape)}, {tuple(x2.shape)}."
        )
    if dtype_of(a) == "bool":
        raise TypeError("cross: booleans have no cross product.")
    if a.shape[-1] == b.shape[-1] == 3:
        return moveaxis(cross_of_three(a, b), -1, axisc)
    a0, a1, b0, b1 = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    third = a0 * b1 - a1 * b0
    if a.shape[-1] == b.shape[-1] == 2:
        return third
    if a.shape[-1] == 3:
        first, second = 0 - a[..., 2] * b1, a[..., 2] * b0
    else:
        first, second = a1 * b[..., 2], 0 - a0 * b[..., 2]
    return moveaxis(stack([first, second, third], axis=-1), -1, axisc)


@composite
def cross_of_three(a: Tensor, b: Tensor):
    """Cross products of the vectors of three in the last dimension."""
    a0, a1, a2 = (a[..., i] for i in range(3))
    b0, b1, b2 = (b[..., i] for i in range(3))
    return stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


@composite
def trace(x: Sum, offset=0, axis1=0, axis2=1):
    """Sum along diagonals (`numpy.trace`).

    Args:
        x: tensor of at least two dimensions.
        offset: which diagonal: 0 the main one, above it positive.
        axis1, axis2: rows and columns.

    Returns:
        Tensor with the two axes removed.

    >>> ops.trace([[1, 2], [3, 4]])
    5
    """
    return sum(diagonal(x, offset, axis1, axis2), axis=-1)


@composite(native="")
def cdist(x: Float, y: Float):
    """Euclidean distance of each vector of one set to each of the other (`torch.cdist`).

    Args:
        x: tensor of shape `(..., m, d)`.
        y: tensor of shape `(..., n, d)`.

    Returns:
        Tensor of shape `(..., m, n)`.

    >>> ops.cdist([[0.0, 0.0]], [[3.0, 4.0]])
    [[5.]]
    """
    a, b = x.shape[-1], y.shape[-1]
    if a is not None and b is not None and a != b:
        raise ValueError(
            f"cdist: vectors of lengths {a} and {b} (shapes {tuple(x.shape)}, {tuple(y.shape)}) have no distance."
        )
    return distances(x, y)


@composite
def distances(x: Float, y: Float):
    """`cdist` of vectors of one length (not public)."""
    return root_of_squares(expand_dims(x, -2) - expand_dims(y, -3), -1, False)
