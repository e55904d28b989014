"""Linear algebra on PyTorch."""

import math

import torch

from kerata.backends.contraction import MOST_IN_FLOAT32, as_matmul, summands
from kerata.backends.torch.core import VALUES_ALONE
from kerata.core.errors import wrong_value

matmul = torch.matmul
einsum = torch.einsum


_checked = wrong_value(RuntimeError)

inv = _checked(torch.linalg.inv)
det = _checked(torch.linalg.det)


def integer_einsum(subscripts, x, kernel):
    form = as_matmul(subscripts)
    if form is None:
        # Floats have fast products, and these hold the sums exactly.
        dtype = torch.float32 if summands(subscripts, x.shape, kernel.shape) <= MOST_IN_FLOAT32 else torch.float64
        return torch.einsum(subscripts, x.to(dtype), kernel.to(dtype)).to(torch.int32)
    n, first = form
    length = math.prod(x.shape[-n:])
    matrix = kernel.reshape(length, -1) if first else kernel.reshape(-1, length).t()
    others = kernel.shape[n:] if first else kernel.shape[:-n]
    return _int8_matmul(x.reshape(-1, length), matrix).reshape(*x.shape[:-n], *others)


def _int8_matmul(x, matrix):
    # On CUDA the integer product wants more than 16 rows, and multiples of 8.
    if x.is_cpu or (x.shape[0] > 16 and x.shape[1] % 8 == 0 and matrix.shape[1] % 8 == 0):
        return torch._int_mm(x, matrix)
    dtype = torch.float32 if x.shape[1] <= MOST_IN_FLOAT32 else torch.float64
    return (x.to(dtype) @ matrix.to(dtype)).to(torch.int32)


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


@_checked
def cholesky(x, upper):
    return torch.linalg.cholesky(x, upper=upper)


@_checked
def slogdet(x):
    return tuple(torch.linalg.slogdet(x))


@_checked
def solve(a, b):
    if b.ndim == a.ndim - 1:
        return torch.linalg.solve(a, b.unsqueeze(-1)).squeeze(-1)
    return torch.linalg.solve(a, b)


@_checked
def solve_triangular(a, b, lower):
    vector = b.ndim == a.ndim - 1
    x = torch.linalg.solve_triangular(a, b.unsqueeze(-1) if vector else b, upper=not lower)
    return x.squeeze(-1) if vector else x


def qr(x, mode):
    return tuple(torch.linalg.qr(x, mode))


def svd(x, full_matrices, compute_uv):
    return tuple(torch.linalg.svd(x, full_matrices)) if compute_uv else torch.linalg.svdvals(x)


@_checked
def eigh(x):
    return tuple(torch.linalg.eigh(x))


def lu_factor(x):
    lu, pivots = torch.linalg.lu_factor(x)
    # LAPACK counts rows from 1.
    return lu, pivots - 1


@_checked
def eig(x):
    return tuple(torch.linalg.eig(x))


def cdist(x, y):
    if x.dtype not in (torch.float32, torch.float64):
        return cdist(x.float(), y.float()).to(x.dtype)
    # By products of matrices, which is PyTorch's way, near points lose half of their digits.
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


VALUES_ALONE["cholesky_inverse"] = _checked(lambda x, upper: torch.cholesky_inverse(x, upper=upper))
