"""Unsigned integers with a scale and a zero: `(integer - zero) * scale`, as GPTQ and AWQ keep weights."""

import numpy as np


def parameters(weights, bits, symmetric=False, per_channel=True):
    """`(scale, zero)` of the rows of a matrix, each `(rows, 1)`.

    Args:
        weights: float matrix `(outputs, weights that share a scale)`.
        bits: bits of an integer.
        symmetric: the range reaches as far down as up.
        per_channel: a scale a row; otherwise one for all rows.
    """
    low = np.minimum(weights.min(axis=1, keepdims=True), 0)
    high = np.maximum(weights.max(axis=1, keepdims=True), 0)
    if not per_channel:
        low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
    if symmetric:
        high = np.maximum(np.abs(low), high)
        low = np.where(low < 0, -high, low)
    nothing = low == high
    low, high = np.where(nothing, low - 1, low), np.where(nothing, high + 1, high)
    most = 2**bits - 1
    scale = ((high - low) / most).astype(weights.dtype)
    zero = np.full_like(scale, (most + 1) / 2) if symmetric else np.round(-low / scale)
    return scale, zero


def rounded(weights, scale, zero, bits):
    """The integers of weights, as floats."""
    return np.clip(np.round(weights / np.where(scale == 0, 1e-8, scale)) + zero, 0, 2**bits - 1)


def restored(integers, scale, zero):
    """What integers stand for."""
    return (integers - zero) * scale
