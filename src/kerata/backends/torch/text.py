"""Hashes, computed on the host."""

import torch

from kerata.core import fingerprint

__all__ = [
    "cross_buckets",
    "hash_buckets",
]


def hash_buckets(x, num_bins, salt):
    return torch.from_numpy(fingerprint.buckets(x.detach().cpu().numpy(), num_bins, salt)).to(x.device)


def cross_buckets(x, num_bins):
    columns = [c.detach().cpu().numpy() for c in torch.unbind(x, -1)]
    return torch.from_numpy(fingerprint.crossed(columns, num_bins)).to(x.device)


# What `torch.compiler.disable` would mark them with, without importing the compiler.
hash_buckets._torchdynamo_disable = cross_buckets._torchdynamo_disable = True
