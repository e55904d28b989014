"""Linear algebra on PyTorch."""

import math

import torch

from kerata.backends.contraction import MOST_IN_FLOAT32, as_matmul, summands
from kerata.backends.halves import in_float32
from kerata.backends.torch.core import VALUES_ALONE, on_host, watched
from kerata.core.errors import wrong_value

matmul = torch.matmul
einsum = torch.einsum


_wide = in_float32({torch.bfloat16, torch.float16}, torch.float32, torch.Tensor.to)
_wrong = wrong_value(RuntimeError)


def _checked(native):
    return _wide(_wrong(native))


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


@_wide
def qr(x, mode):
    return tuple(torch.linalg.qr(x, mode))


@_wide
def svd(x, full_matrices, compute_uv):
    return tuple(torch.linalg.svd(x, full_matrices)) if compute_uv else torch.linalg.svdvals(x)


@_checked
def eigh(x):
    return tuple(torch.linalg.eigh(x))


@_wide
def lu_factor(x):
    lu, pivots = torch.linalg.lu_factor(x)
    # LAPACK counts rows from 1.
    return lu, pivots - 1


@_checked
def eig(x):
    return tuple(torch.linalg.eig(x))


def cross_of_three(a, b):
    # It spreads dimensions of 1, but makes none.
    return torch.linalg.cross(*(torch.broadcast_tensors(a, b) if a.ndim != b.ndim else (a, b)))


def vdot(x1, x2):
    x1, x2 = x1.reshape(-1), x2.reshape(-1)
    return torch.vdot(x1, x2) if x1.dtype in _DOTTED else torch.tensordot(x1.conj(), x2, 1)


_DOTTED = frozenset({torch.float32, torch.float64, torch.complex64, torch.complex128})


def distances(x, y):
    if x.dtype not in (torch.float32, torch.float64):
        return distances(x.float(), y.float()).to(x.dtype)
    long = x.shape[-1] >= _LONG and x.shape[:-2] == y.shape[:-2] and x.numel() and y.numel()
    if long and on_host(x) and on_host(y) and not watched(x, y):
        return _distances_by_products(x, y)
    return _distances_by_differences(x, y)


_LONG = 16  # vectors from which on products pay
_NEAR = 0.25  # of the sum of two squared lengths: what's less loses more than two bits to them


def _distances_by_differences(x, y):
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def _distances_by_products(x, y):
    """By a product of matrices, where it's exact: near points would lose half of their digits."""
    squares, of_x, of_y = _squared_distances(x, y)
    # NaN and infinity count as near.
    if torch.all(squares.amin(-1) > _NEAR * (of_x.squeeze(-1) + of_y.amax(-2))):
        return squares.sqrt_()
    near = torch.logical_not(squares > _NEAR * (of_x + of_y.mT)).nonzero(as_tuple=True)
    if near[0].numel() * _LONG > squares.numel():
        return _distances_by_differences(x, y)
    *batch, i, j = near
    result = squares.sqrt_()
    result[near] = torch.linalg.vector_norm(x[*batch, i] - y[*batch, j], 2, -1)
    return result


def _squared_distances(x, y):
    """Squared distances, and the squared lengths of which they are differences, counted from the middle."""
    middle = y.mean(-2, keepdim=True)
    x, y = x - middle, y - middle
    of_x, of_y = (v.square().sum(-1, keepdim=True) for v in (x, y))
    left = torch.cat([-2 * x, of_x, torch.ones_like(of_x)], -1)
    right = torch.cat([y, torch.ones_like(of_y), of_y], -1)
    return left @ right.mT, of_x, of_y


VALUES_ALONE["cholesky_inverse"] = _checked(lambda x, upper: torch.cholesky_inverse(x, upper=upper))


def _least_squares(a, b, rcond):
    if a.dtype not in (torch.float32, torch.float64) or not (on_host(a) and b.numel()):
        return NotImplemented
    # LAPACK's way by singular values, which is NumPy's.
    x = torch.linalg.lstsq(a, b.reshape(len(b), -1), rcond, driver="gelsd")[0]
    return x.reshape(-1) if b.ndim == 1 else x


VALUES_ALONE["least_squares"] = _least_squares
