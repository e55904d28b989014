"""AWQ: weights of inputs that are large are scaled up before they're rounded, so that they lose less.

Source: Lin et al., "AWQ: Activation-aware Weight Quantization for LLM Compression and Acceleration", 2023.
"""

import numpy as np

from kerata.quantizers.affine import parameters, restored, rounded


class Activations:
    """What a layer's inputs are like: the largest of each, and their second moments.

    Args:
        size: number of inputs.
    """

    def __init__(self, size):
        self.largest = np.zeros(size)
        self.moments = np.zeros((size, size))

    def add(self, inputs):
        """Count a batch `(examples, inputs)` in."""
        inputs = np.asarray(inputs, np.float64)
        self.largest = np.maximum(self.largest, np.abs(inputs).max(axis=0))
        self.moments += inputs.T @ inputs


def awq_rounded(weights, activations, config):
    """Quantize a matrix of weights with the strength of scaling that changes the layer's outputs least.

    Args:
        weights: `(outputs, inputs)` array.
        activations: the `Activations` of its inputs.
        config: `AWQConfig`.

    Returns:
        `(integers, scale, zero, scales of the inputs)`: uint8 `(outputs, inputs)`, twice `(outputs, groups)`, and
        `(inputs,)`, by which what the integers stand for is to be divided.
    """
    weights = np.asarray(weights, np.float64)
    size = weights.shape[1] if config.group_size == -1 else config.group_size
    best = None
    for i in range(config.num_grid_points):
        strengths = _strengths(activations.largest, i / config.num_grid_points)
        integers, scale, zero, values = _grouped(weights * strengths, size, config.weight_bits)
        change = values / strengths - weights
        error = np.einsum("oi,ij,oj->", change, activations.moments, change, optimize=True)
        if best is None or error < best[0]:
            best = error, integers, scale, zero, strengths
    return best[1].astype(np.uint8), *best[2:]


def _strengths(largest, power):
    """`largest ** power`, so that the largest and the smallest are as far from 1."""
    strengths = np.maximum(largest, 1e-8) ** power
    return strengths / np.sqrt(strengths.max() * strengths.min())


def _grouped(weights, size, bits):
    inputs = weights.shape[1]
    parts = [weights[:, i : i + size] for i in range(0, inputs, size)]
    found = [parameters(part, bits) for part in parts]
    integers = [rounded(part, *pair, bits) for part, pair in zip(parts, found, strict=True)]
    values = [restored(q, *pair) for q, pair in zip(integers, found, strict=True)]
    scale, zero = (np.concatenate(kind, axis=1) for kind in zip(*found, strict=True))
    return np.concatenate(integers, axis=1), scale, zero, np.concatenate(values, axis=1)
