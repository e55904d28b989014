"""From losses (or metric values) of single samples to one number: ranks, masks, weights."""

import math

from kerata import ops
from kerata.core import config

# The reductions that divide by the number of samples.
MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")
REDUCTIONS = (*MEANS, "sum", "none", None)


def same_rank(x1, x2):
    """Make ranks that differ by one equal: a trailing dimension of one is dropped from the longer.

    Between a vector and a column both become columns, so that `(n,)` and `(n, 1)` never broadcast to `(n,
    n)`.

    >>> from kerata import ops
    >>> from kerata.losses.reduction import same_rank
    >>> [ops.shape(x) for x in same_rank(ops.ones((3, 2)), ops.ones((3, 2, 1)))]
    [(3, 2), (3, 2)]
    """
    rank1, rank2 = len(x1.shape), len(x2.shape)
    if rank1 == rank2:
        return x1, x2
    if rank1 == 1 and rank2 == 2 and x2.shape[-1] == 1:
        return ops.expand_dims(x1, -1), x2
    if rank2 == 1 and rank1 == 2 and x1.shape[-1] == 1:
        return x1, ops.expand_dims(x2, -1)
    if rank1 == rank2 + 1 and x1.shape[-1] == 1:
        return ops.squeeze(x1, -1), x2
    if rank2 == rank1 + 1 and x2.shape[-1] == 1:
        return x1, ops.squeeze(x2, -1)
    return x1, x2


def comparable(y_true, y_pred):
    """Both as tensors of the predictions' dtype and of one rank.

    Raises:
        ValueError: when their shapes don't broadcast.
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.convert_to_tensor(y_true, dtype=y_pred.dtype)
    if y_true.shape == y_pred.shape:
        return y_true, y_pred
    y_true, y_pred = same_rank(y_true, y_pred)
    for a, b in zip(reversed(tuple(y_true.shape)), reversed(tuple(y_pred.shape)), strict=False):
        if a != b and 1 not in (a, b) and None not in (a, b):
            raise ValueError(
                f"Targets of shape {tuple(y_true.shape)} can't be compared with predictions of shape "
                f"{tuple(y_pred.shape)}: the shapes differ and don't broadcast."
            )
    return y_true, y_pred


def broadcastable(weight, values):
    """`weight` reshaped so that it broadcasts against `values` from the first axis on."""
    rank, wanted = len(weight.shape), len(values.shape)
    if rank == wanted:
        return weight
    if rank == wanted + 1 and weight.shape[-1] == 1:
        return ops.squeeze(weight, -1)
    if 0 < rank < wanted:
        return ops.expand_dims(weight, tuple(range(rank, wanted)))
    return weight


def reduce_weighted(values, sample_weight=None, mask=None, reduction="sum_over_batch_size", dtype=None):
    """Mask, weigh and reduce the losses of single samples.

    Masked samples count neither above nor below the fraction line; when all are masked the result is zero.

    Args:
        values: tensor of losses.
        sample_weight: tensor that broadcasts to them from the first axis on, or `None`.
        mask: boolean tensor likewise, or `None`.
        reduction: `"sum_over_batch_size"` or `"mean"` (weighted sum over number of samples), `"sum"`,
            `"mean_with_sample_weight"` (weighted sum over sum of weights), `"none"` or `None`.
        dtype: dtype of the result; `None`: that of `values`.
    """
    dtype = dtype or values.dtype
    values = ops.convert_to_tensor(values, dtype=dtype)
    weight = _weights(values, sample_weight, mask, reduction, dtype)
    if weight is not None:
        values = values * weight
    if reduction in ("none", None):
        return values
    if reduction == "sum":
        return ops.sum(values)
    if reduction == "mean_with_sample_weight" and weight is not None:
        return ops.divide_no_nan(ops.sum(values), ops.sum(weight))
    return ops.mean(values)


def _weights(values, sample_weight, mask, reduction, dtype):
    """Sample weights and mask as one tensor of weights, or `None`."""
    weight = None
    if sample_weight is not None:
        weight = broadcastable(ops.convert_to_tensor(sample_weight, dtype=dtype), values)
    if mask is not None:
        valid = broadcastable(ops.cast(ops.convert_to_tensor(mask), dtype), values)
        if reduction in ("sum_over_batch_size", "mean"):
            # The mean divides by the number of all entries; this makes it the number of valid ones.
            valid = valid * (count(valid, dtype) / ops.maximum(ops.sum(valid), config.epsilon()))
        weight = ops.cast(valid if weight is None else weight * valid, dtype)
    return weight


def count(x, dtype):
    """Number of entries: a Python float where the shape is known, else a scalar tensor."""
    shape = ops.shape(x)
    if all(isinstance(d, int) for d in shape):
        return float(math.prod(shape))
    return ops.cast(ops.size(x), dtype)
