"""Creation natives on PyTorch, on its default device."""

import numpy as np
import torch

from kerata.backends.torch.core import DTYPES, VALUES_ALONE, on_host, watched


def zeros(shape, dtype):
    return torch.zeros(shape, dtype=DTYPES[dtype])


def ones(shape, dtype):
    return torch.ones(shape, dtype=DTYPES[dtype])


def full(shape, fill_value, dtype):
    if isinstance(fill_value, (torch.Tensor, np.ndarray)):
        value = torch.as_tensor(fill_value, dtype=DTYPES[dtype])
        if not value.ndim and on_host(value) and not watched(value):
            return torch.full(shape, value.item(), dtype=DTYPES[dtype], device=value.device)
        return value.expand(shape).clone()
    return torch.full(shape, fill_value, dtype=DTYPES[dtype])


def arange(start, stop, step, dtype):
    if (stop - start) * step <= 0:
        return torch.empty(0, dtype=DTYPES[dtype])
    return torch.arange(start, stop, step, dtype=DTYPES[dtype])


def eye(N, M, k, dtype):
    if not k:
        return torch.eye(N, M, dtype=DTYPES[dtype])
    rows, columns = torch.arange(N).unsqueeze(1), torch.arange(M)
    return (columns - rows == k).to(DTYPES[dtype])


def linspace(start, stop, num, endpoint, dtype, axis):
    start, stop = torch.as_tensor(start), torch.as_tensor(stop)
    work = torch.promote_types(torch.promote_types(start.dtype, stop.dtype), torch.float32)
    start, stop = torch.broadcast_tensors(start.to(work), stop.to(work))
    gaps = num - 1 if endpoint else num
    shares = torch.arange(num, dtype=work).reshape(-1, *(1,) * start.ndim).div_(max(gaps, 1))
    if not start.ndim and on_host(start) and on_host(stop) and not watched(start, stop):
        # New memory takes longer than the numbers.
        values = torch.add(start, shares, alpha=(stop - start).item(), out=shares)
    else:
        values = start + (stop - start) * shares
    if endpoint and num > 1:
        values[-1] = stop
    if not DTYPES[dtype].is_floating_point and not DTYPES[dtype].is_complex:
        values = torch.floor(values)
    return torch.movedim(values, 0, axis).to(DTYPES[dtype])


VALUES_ALONE["powers"] = lambda x, count, increasing: torch.vander(x, count, increasing).to(x.dtype)
