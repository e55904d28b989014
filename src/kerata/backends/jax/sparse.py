"""Sparse tensors of JAX: `BCOO`, also with batch dimensions and with dense ones.

The number of stored elements is part of the type, so inside compiled functions results keep room for all that there may be;
places that are left over lie outside of the shape, as in JAX's own functions. Outside they are as few as can be.
"""

import jax
import jax.numpy as jnp
import numpy as np


class _Late:
    """`jax.experimental.sparse`, imported on first use: it brings SciPy along."""

    def __getattr__(self, name):
        from jax.experimental import sparse

        globals()["lib"] = sparse
        return getattr(sparse, name)


lib = _Late()


def is_composite(x):
    """Whether it is a sparse tensor."""
    # Without importing `jax.experimental.sparse` for the question.
    return type(x).__module__.startswith("jax.experimental.sparse")


is_sparse = is_composite


def densify(x, fill=None):
    """A dense tensor."""
    return x.todense() if is_composite(x) else x


def to_sparse(dense):
    """A sparse tensor of what isn't 0."""
    known = not isinstance(dense, jax.core.Tracer)
    return lib.BCOO.fromdense(dense, nse=int(np.count_nonzero(dense)) if known else dense.size)


def sparse_one_hot(x, num_classes, axis, dtype):
    """One 1 a number, as a sparse tensor."""
    inside = (x >= 0) & (x < num_classes)
    places = [*(i.ravel() for i in np.indices(x.shape, np.int32)), jnp.clip(x, 0, num_classes - 1).ravel()]
    hot = lib.BCOO(
        (inside.ravel().astype(dtype), jnp.stack(places, -1)),
        shape=(*x.shape, num_classes),
        indices_sorted=True,
        unique_indices=True,
    )
    order = list(range(x.ndim))
    order.insert(axis % (x.ndim + 1), x.ndim)
    return hot if order[-1] == x.ndim else transpose(hot, tuple(order))


def shape_of(x):
    return x.shape


def entries(x):
    """Places `(n, rank)` and values `(n,)`."""
    x = _plain(x)
    return x.indices, x.data


def taken(x, dense):
    """What a dense tensor has at the places of `x`."""
    return lib.bcoo_extract(x, jnp.broadcast_to(dense, x.shape), assume_unique=True).data


# ------------------------------------------------------------------ layouts


def _coo(x):
    """A `BCOO`, whose batch dimensions may be kept once for all: here each has its own."""
    if not isinstance(x, lib.BCOO):
        return lib.BCOO.fromdense(x.todense())
    batch = x.shape[: x.n_batch]
    if x.data.shape[: x.n_batch] == batch == x.indices.shape[: x.n_batch]:
        return x
    data = jnp.broadcast_to(x.data, (*batch, *x.data.shape[x.n_batch :]))
    return _at(data, jnp.broadcast_to(x.indices, (*batch, *x.indices.shape[x.n_batch :])), x)


def _plain(x):
    """Without batch and dense dimensions."""
    x = _coo(x)
    return x if not x.n_batch and not x.n_dense else _laid_out(x, 0)


def _laid_out(x, n_batch):
    return lib.bcoo_update_layout(x, n_batch=n_batch, n_dense=0, on_inefficient=None)


def _distinct(x):
    """Each place once; the sum of what was there."""
    if x.unique_indices:
        return x
    if not isinstance(x.indices, jax.core.Tracer):
        try:
            return x.sum_duplicates(remove_zeros=False)
        except jax.errors.ConcretizationTypeError:
            # A constant in a compiled function.
            pass
    return x.sum_duplicates(nse=x.nse, remove_zeros=False)


def _at(data, indices, x):
    """Values at places that are in the order of those of `x`."""
    return lib.BCOO((data, indices), shape=x.shape, indices_sorted=x.indices_sorted, unique_indices=x.unique_indices)


def _like(data, x):
    """Other values at the places of `x`."""
    return _at(data, x.indices, x)


def _broadcast(x, shape):
    if x.shape == tuple(shape):
        return x
    x = _plain(x)
    x = reshape(x, (*(1,) * (len(shape) - x.ndim), *x.shape))
    wider = [n if old == 1 else 1 for n, old in zip(shape, x.shape, strict=True)]
    offsets = jnp.asarray(np.indices(wider, np.int32).reshape(len(shape), -1).T)
    indices = (x.indices[:, None] + offsets).reshape(-1, len(shape))
    data = jnp.repeat(x.data, len(offsets))
    return lib.BCOO((data, indices), shape=tuple(shape), unique_indices=x.unique_indices)


def _together(x, y):
    """Two sparse tensors of one shape and layout."""
    x, y = _coo(x), _coo(y)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if (x.n_batch, x.n_dense, x.shape) != (y.n_batch, y.n_dense, y.shape):
        x, y = _plain(x), _plain(y)
    return _broadcast(x, shape), _broadcast(y, shape)


def _wherever_either(x, y):
    """Values of both at the places of both, as one tensor with a last dimension of 2."""
    x, y = _together(x, y)
    data = jnp.concatenate(
        [jnp.stack([x.data, jnp.zeros_like(x.data)], -1), jnp.stack([jnp.zeros_like(y.data), y.data], -1)], x.n_batch
    )
    indices = jnp.concatenate([x.indices, y.indices], x.n_batch)
    return _distinct(lib.BCOO((data, indices), shape=(*x.shape, 2)))


# ------------------------------------------------------------------ values


def mapped(function, x):
    """A function with f(0) = 0 of each element."""
    x = _distinct(_coo(x))
    return _like(function(x.data), x)


def united(function, x, y):
    """A function of two sparse tensors with f(0, 0) = 0."""
    pairs = _wherever_either(x, y)
    data = function(pairs.data[..., 0], pairs.data[..., 1])
    return lib.BCOO((data, pairs.indices), shape=pairs.shape[:-1], indices_sorted=True, unique_indices=True)


def intersected(function, x, y):
    """A product: 0 where either is 0."""
    if not is_sparse(x):
        return intersected(lambda a, b: function(b, a), y, x)
    if is_sparse(y):
        return united(function, x, y)
    x = _coo(x)
    if not np.ndim(y):
        return _like(function(x.data, y), x)
    x = _broadcast(x, np.broadcast_shapes(x.shape, y.shape))
    return _like(function(x.data, taken(x, y)), x)


def divided(function, x, y):
    """A quotient by a dense tensor. Where that is 0 or nan so is 0 divided by it, which has to be stored."""
    x = _coo(x)
    known = None if isinstance(y, jax.core.Tracer) else np.asarray(y)
    if known is None or not ((known == known) & (known != 0)).all():
        y = jnp.asarray(y, x.dtype)
        shape = np.broadcast_shapes(x.shape, y.shape)
        wrong = jnp.broadcast_to((y != y) | (y == 0), shape)
        # Where it can't be looked at there is room for all.
        traced = isinstance(wrong, jax.core.Tracer)
        n = int(np.prod(shape[x.n_batch : len(shape) - x.n_dense])) if traced else None
        marks = jnp.ones(shape, x.dtype) if traced else wrong.astype(x.dtype)
        places = lib.BCOO.fromdense(marks, nse=n, n_batch=x.n_batch, n_dense=x.n_dense)
        x = united(jnp.add, x, _like(jnp.zeros_like(places.data), places))
    if not np.ndim(y):
        return _like(function(x.data, y), x)
    x = _broadcast(x, np.broadcast_shapes(x.shape, y.shape))
    # Places outside of the shape hold 0, and have to go on doing so.
    inside = taken(x, jnp.ones_like(y, bool))
    return _like(function(x.data, jnp.where(inside, taken(x, y), 1)), x)


# ------------------------------------------------------------------ places


def transpose(x, axes):
    return lib.bcoo_transpose(_plain(x), permutation=axes)


def reshape(x, newshape):
    newshape = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    if -1 in newshape:
        rest = int(np.prod([n for n in newshape if n != -1]))
        newshape = tuple(x.size // max(rest, 1) if n == -1 else n for n in newshape)
    # JAX makes leading dimensions of 1 batch dimensions.
    return _plain(lib.bcoo_reshape(_plain(x), new_sizes=newshape))


def expand_dims(x, axis):
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = x.ndim + len(axes)
    new = {a % rank for a in axes}
    kept = tuple(i for i in range(rank) if i not in new)
    sizes = dict(zip(kept, x.shape, strict=True))
    shape = tuple(sizes.get(i, 1) for i in range(rank))
    return _plain(lib.bcoo_broadcast_in_dim(_plain(x), shape=shape, broadcast_dimensions=kept))


def squeeze(x, axis=None):
    if axis is None:
        axes = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        axes = tuple(a % x.ndim for a in ((axis,) if isinstance(axis, int) else axis))
    return lib.bcoo_squeeze(_plain(x), dimensions=axes)


def concatenate(xs, axis):
    return lib.bcoo_concatenate([_plain(x) for x in xs], dimension=axis % xs[0].ndim)


def sum(x, axis=None, keepdims=False):
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(sorted(a % x.ndim for a in axes))
    result = lib.bcoo_reduce_sum(_plain(x), axes=axes)
    return expand_dims(result, axes) if keepdims and axes else result


# ------------------------------------------------------------------ products


def matmul(x, y):
    """Matrix product of which one or both are sparse; sparse if both are."""
    if len(x.shape) == 1:
        return _squeezed(matmul(_expanded(x, 0), y), -2)
    if len(y.shape) == 1:
        return _squeezed(matmul(x, _expanded(y, 1)), -1)
    n = max(len(x.shape), len(y.shape)) - 2
    if len(x.shape) == 2 or len(y.shape) == 2:
        product = _dot(x, y, ((len(x.shape) - 1,), (len(y.shape) - 2,)), ((), ()), 0)
        # The rows of `x` stand in front of what `y` has more of.
        order = (*range(1, n + 1), 0, n + 1) if len(y.shape) > 2 else None
        return product if order is None else _transposed(product, order)
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = _broadcast_any(x, (*lead, *x.shape[-2:])), _broadcast_any(y, (*lead, *y.shape[-2:]))
    return _dot(x, y, ((n + 1,), (n,)), (tuple(range(n)),) * 2, n)


def _dot(x, y, contracted, batch, n):
    x, y = (_laid_out(_coo(v), n) if is_sparse(v) else v for v in (x, y))
    product = lib.bcoo_dot_general(x, y, dimension_numbers=(contracted, batch))
    return _distinct(product) if is_sparse(product) and not isinstance(product.data, jax.core.Tracer) else product


def _broadcast_any(x, shape):
    return _broadcast(x, shape) if is_sparse(x) else jnp.broadcast_to(x, shape)


def _transposed(x, order):
    return transpose(x, order) if is_sparse(x) else jnp.transpose(x, order)


def _expanded(x, axis):
    return expand_dims(x, axis) if is_sparse(x) else jnp.expand_dims(x, axis)


def _squeezed(x, axis):
    return squeeze(x, axis) if is_sparse(x) else jnp.squeeze(x, axis)
