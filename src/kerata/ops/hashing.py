"""Hashes of integers, by which preprocessing layers put categories into buckets."""

from kerata.graph.tensor import spec
from kerata.ops.declare import Index, primitive


def _one_a_value(x, *_):
    return spec(x.shape, "int64")


def _one_a_row(x, *_):
    return spec(x.shape[:-1], "int64")


@primitive(rule=_one_a_value)
def hash_buckets(x: Index, num_bins, salt=None):
    """The bucket of each number: the hash of its decimal notation modulo the number of buckets.

    Args:
        x: integer tensor; on the NumPy and TensorFlow backends also strings.
        num_bins: number of buckets.
        salt: `None`: FarmHash's fingerprint; two integers: SipHash with this key.

    Returns:
        int64 tensor of `x`'s shape.

    >>> from kerata.ops.hashing import hash_buckets
    >>> hash_buckets([0, 1, 2, 3, 4], 3)
    [1, 0, 1, 0, 2]
    """


@primitive(rule=_one_a_row)
def cross_buckets(x: Index, num_bins):
    """The bucket of each row of integers: the hashes of its numbers, chained, modulo the number of buckets.

    Args:
        x: integer tensor of shape `(..., features)`.
        num_bins: number of buckets.

    Returns:
        int64 tensor of `x`'s shape without the last dimension.
    """
