"""Linear algebra on TensorFlow."""

import numpy as np

from kerata.backends.contraction import MOST_IN_FLOAT32, summands
from kerata.backends.halves import in_float32
from kerata.backends.tensorflow.core import dynamic_shape, tf
from kerata.backends.tensorflow.eager_calls import eager_alone
from kerata.core.errors import wrong_value

_raw = tf.raw_ops
_wide = in_float32({tf.bfloat16, tf.float16}, tf.float32, tf.cast)
_wrong = wrong_value(tf.errors.InvalidArgumentError)
# Integers that the matrix product has no kernel for.
_SMALL = (tf.int8, tf.uint8, tf.int16, tf.uint16)


def _checked(native):
    return _wide(_wrong(native))


def matmul(x1, x2):
    if x1.dtype in _SMALL:
        return tf.cast(matmul(tf.cast(x1, tf.int32), tf.cast(x2, tf.int32)), x1.dtype)
    r1, r2 = x1.shape.rank, x2.shape.rank
    if r1 == 2 == r2:
        return _raw.MatMul(a=x1, b=x2)
    if r1 == 1 or r2 == 1:
        return _matmul_vectors(x1, x2, r1, r2)
    if r2 == 2:
        return _stacked(x1, lambda rows: _raw.MatMul(a=rows, b=x2), x2.shape[-1])
    return _raw.BatchMatMulV2(x=x1, y=x2)


def _matmul_vectors(x1, x2, r1, r2):
    if r1 == 1:
        return tf.squeeze(matmul(x1[None], x2 if r2 > 1 else x2[:, None]), [-2] if r2 > 1 else [0, 1])
    return tf.squeeze(matmul(x1, x2[:, None]), [-1])


def _stacked(x, product, width):
    """A stack of matrices times one is one matrix product of all their rows; a broadcast one would be many."""
    shape = dynamic_shape(x)
    y = product(tf.reshape(x, (-1, shape[-1])))
    return tf.reshape(y, (*shape[:-1], tf.shape(y)[-1] if width is None else width))


def dense(x, kernel, bias):
    y = matmul(x, kernel)
    return y if bias is None else _raw.BiasAdd(value=y, bias=bias) if y.shape.rank > 1 else y + bias


def einsum(subscripts, operands):
    dtype = operands[0].dtype
    if dtype in _SMALL:
        return tf.cast(tf.einsum(subscripts, *(tf.cast(x, tf.int32) for x in operands)), dtype)
    return tf.einsum(subscripts, *operands)


def integer_einsum(subscripts, x, kernel):
    # Floats have fast products, and these hold the sums exactly; lengths not known may be anything.
    sizes = x.shape.as_list(), kernel.shape.as_list()
    known = [[2**20 if d is None else d for d in shape] for shape in sizes]
    dtype = tf.float32 if summands(subscripts, *known) <= MOST_IN_FLOAT32 else tf.float64
    return tf.cast(tf.einsum(subscripts, tf.cast(x, dtype), tf.cast(kernel, dtype)), tf.int32)


def cross_of_three(a, b):
    if a.shape != b.shape or None in a.shape.as_list():
        shape = tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))
        a, b = tf.broadcast_to(a, shape), tf.broadcast_to(b, shape)
    return tf.linalg.cross(a, b)


def tensordot(x1, x2, axes):
    if x1.dtype in _SMALL:
        return tf.cast(tf.tensordot(tf.cast(x1, tf.int32), tf.cast(x2, tf.int32), axes), x1.dtype)
    return tf.tensordot(x1, x2, axes)


@_checked
def cholesky(x, upper):
    eager_alone()
    low = tf.linalg.cholesky(x)
    if tf.executing_eagerly() and tf.reduce_any(low != low) and not tf.reduce_any(x != x):
        raise ValueError("cholesky: a matrix isn't positive definite.")
    return tf.linalg.adjoint(low) if upper else low


@_checked
def inv(x):
    return tf.linalg.inv(x)


@_checked
def det(x):
    return tf.linalg.det(x)


@_checked
def slogdet(x):
    return tuple(tf.linalg.slogdet(x))


@_checked
def solve(a, b):
    if b.shape.rank == a.shape.rank - 1:
        return tf.squeeze(tf.linalg.solve(a, b[..., None]), -1)
    return tf.linalg.solve(a, b)


@_checked
def solve_triangular(a, b, lower):
    if b.shape.rank == a.shape.rank - 1:
        return tf.squeeze(tf.linalg.triangular_solve(a, b[..., None], lower), -1)
    return tf.linalg.triangular_solve(a, b, lower)


@_wide
def qr(x, mode):
    return tuple(tf.linalg.qr(x, full_matrices=mode == "complete"))


@_wide
def svd(x, full_matrices, compute_uv):
    if not compute_uv:
        return tf.linalg.svd(x, compute_uv=False)
    s, u, v = tf.linalg.svd(x, full_matrices)
    return u, s, tf.linalg.adjoint(v)


@_checked
def eigh(x):
    return tuple(tf.linalg.eigh(x))


@_checked
def lu_factor(x):
    if None in x.shape[-2:]:
        raise ValueError(
            f"lu_factor: the matrices' size must be known on the tensorflow backend; the shape is {x.shape}."
        )
    lu, order = _factored(x)
    return lu, _pivots(order, min(x.shape[-2:]))


@tf.custom_gradient
def _factored(x):
    """Both factors in one matrix, and the order of rows: the kernel has no gradient, and takes square matrices alone."""
    lu, order = tf.linalg.lu(x) if x.shape[-1] == x.shape[-2] else _eliminated(x)

    def gradient(of_lu, _):
        # Factored anew, which makes the gradient one to differentiate.
        lu, order = _factored(x)
        of_rows = _lu_gradient(lu, of_lu, *x.shape[-2:])
        return tf.gather(of_rows, tf.argsort(order), axis=-2, batch_dims=x.shape.rank - 2)

    return (lu, order), gradient


def _eliminated(x):
    """Gauss's elimination with the largest pivots, column by column."""
    m, n = x.shape[-2:]
    rows, columns = tf.range(m)[:, None], tf.range(n)
    order = tf.zeros(tf.shape(x)[:-2], tf.int32)[..., None] + tf.range(m)

    def step(i, x, order):
        sizes = tf.abs(x[..., i])
        pivot = tf.argmax(tf.where(rows[:, 0] < i, -tf.ones_like(sizes), sizes), -1, tf.int32)[..., None]
        places = tf.where(rows[:, 0] == i, pivot, tf.where(rows[:, 0] == pivot, i, rows[:, 0]))
        x = tf.gather(x, places, axis=-2, batch_dims=x.shape.rank - 2)
        order = tf.gather(order, places, axis=-1, batch_dims=x.shape.rank - 2)
        row, column = x[..., i, :][..., None, :], x[..., i][..., None]
        # A column of zeros stays one.
        shares = tf.math.divide_no_nan(column, row[..., i][..., None])
        x = tf.where(rows > i, tf.where(columns > i, x - shares * row, tf.where(columns == i, shares, x)), x)
        return i + 1, x, order

    steps = min(m, n)
    _, x, order = tf.while_loop(lambda i, *_: i < steps, step, (0, x, order), maximum_iterations=steps)
    return x, order


def _lu_gradient(lu, of_lu, m, n):
    """The gradient of the matrices, rows in the order of the factors, from that of the factors."""
    k = min(m, n)
    square, of_square = lu[..., :k, :k], of_lu[..., :k, :k]
    adjoint, solve = tf.linalg.adjoint, tf.linalg.triangular_solve
    ones = tf.eye(k, dtype=lu.dtype)
    low, up = _strictly_lower(square) + ones, tf.linalg.band_part(square, 0, -1)
    over_up = lambda a: adjoint(solve(up, adjoint(a), lower=False))  # noqa: E731 - a @ inv(up)^H
    of_low, of_up, rest = _strictly_lower(of_square), tf.linalg.band_part(of_square, 0, -1), None
    if m > n:
        # Rows below: they are `below @ up`.
        below, of_below = lu[..., k:, :], of_lu[..., k:, :]
        rest = over_up(of_below)
        of_up -= tf.matmul(adjoint(below), rest)
    elif n > m:
        # Columns beside: they are `low @ beside`.
        beside, of_beside = lu[..., k:], of_lu[..., k:]
        rest = solve(low, of_beside, lower=True, adjoint=True)
        of_low -= tf.matmul(rest, adjoint(beside))
    inner = _strictly_lower(tf.matmul(adjoint(low), of_low)) + tf.linalg.band_part(tf.matmul(of_up, adjoint(up)), 0, -1)
    of_square = over_up(solve(low, inner, lower=True, adjoint=True))
    return of_square if rest is None else tf.concat([of_square, rest], -2 if m > n else -1)


def _strictly_lower(x):
    return x - tf.linalg.band_part(x, 0, -1)


def _pivots(order, steps):
    """LAPACK's row exchanges that lead to this order of rows."""
    if tf.executing_eagerly():
        pivots = _pivots_on_host(order.numpy().reshape(-1, order.shape[-1]), steps)
        return tf.constant(pivots.reshape(*order.shape[:-1], steps))
    rows = tf.zeros_like(order) + tf.range(order.shape[-1])
    pivots = []
    for i in range(steps):
        pivot = tf.argmax(tf.cast(rows == order[..., i : i + 1], tf.int32), -1, tf.int32)
        pivots.append(pivot)
        # What stood at place i goes where the pivot stood.
        moved = tf.where(tf.range(order.shape[-1]) == pivot[..., None], rows[..., i : i + 1], rows)
        rows = tf.concat([moved[..., :i], order[..., i : i + 1], moved[..., i + 1 :]], -1)
    return tf.stack(pivots, -1)


def _pivots_on_host(order, steps):
    """The same for rows of NumPy's, counted through all matrices: where each row stands is written down."""
    count, size = order.shape
    begins = np.arange(0, count * size, size)
    order = order.T + begins
    at = np.arange(count * size)
    rows, pivots = at.copy(), np.empty((steps, count), at.dtype)
    for i in range(steps):
        pivots[i] = pivot = at[order[i]]
        # What stood at place i goes where the pivot stood.
        moved = rows[begins + i]
        rows[pivot], at[moved] = moved, pivot
    return (pivots - begins).T.astype("int32")


@_checked
def eig(x):
    return tuple(tf.linalg.eig(x))
