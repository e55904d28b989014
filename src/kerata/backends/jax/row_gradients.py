"""Gradients that have values for some rows only: matrices in `jax.experimental.sparse` with one sparse dimension."""

import sys


def gradient_rows(x):
    """`(row numbers, values, shape of the whole)` of such a gradient; `None` for anything else."""
    sparse = sys.modules.get("jax.experimental.sparse")
    if sparse is None or not isinstance(x, sparse.BCOO) or x.n_batch or x.n_sparse != 1:
        return None
    return x.indices[:, 0], x.data, x.shape


def as_row_gradient(indices, values, shape):
    from jax.experimental import sparse

    return sparse.BCOO((values, indices[:, None]), shape=shape)
