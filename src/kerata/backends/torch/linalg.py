"""Linear algebra on PyTorch."""

import torch

matmul = torch.matmul
einsum = torch.einsum
inv = torch.linalg.inv
det = torch.linalg.det


def tensordot(x1, x2, axes):
    if not isinstance(axes, int):
        axes = [[a] if isinstance(a, int) else list(a) for a in axes]
    return torch.tensordot(x1, x2, axes)


def dense(x, kernel, bias):
    if bias is None:
        return torch.matmul(x, kernel)
    if x.ndim == 2:
        return torch.addmm(bias, x, kernel)
    return torch._C._nn.linear(x, kernel.t(), bias)


def cholesky(x, upper):
    return torch.linalg.cholesky(x, upper=upper)


def slogdet(x):
    return tuple(torch.linalg.slogdet(x))


def solve(a, b):
    if b.ndim == a.ndim - 1:
        return torch.linalg.solve(a, b.unsqueeze(-1)).squeeze(-1)
    return torch.linalg.solve(a, b)


def solve_triangular(a, b, lower):
    vector = b.ndim == a.ndim - 1
    x = torch.linalg.solve_triangular(a, b.unsqueeze(-1) if vector else b, upper=not lower)
    return x.squeeze(-1) if vector else x


def qr(x, mode):
    return tuple(torch.linalg.qr(x, mode))


def svd(x, full_matrices, compute_uv):
    return tuple(torch.linalg.svd(x, full_matrices)) if compute_uv else torch.linalg.svdvals(x)


def eigh(x):
    return tuple(torch.linalg.eigh(x))


def lu_factor(x):
    lu, pivots = torch.linalg.lu_factor(x)
    # LAPACK counts rows from 1.
    return lu, pivots - 1


def eig(x):
    return tuple(torch.linalg.eig(x))
