"""Gradients of lookups, which have values for some rows only: sparse tensors with one sparse dimension."""

import torch


def gradient_rows(x):
    """`(row numbers, values, shape of the whole)` of such a gradient; `None` for anything else."""
    if not isinstance(x, torch.Tensor) or x.layout != torch.sparse_coo or x.sparse_dim() != 1:
        return None
    return x._indices()[0], x._values(), x.shape


def as_row_gradient(indices, values, shape):
    return torch.sparse_coo_tensor(indices[None], values, tuple(shape), check_invariants=False)


def add_rows(storage, indices, values):
    """Add to rows of a variable in place."""
    storage.detach().index_add_(0, indices, values)
