"""GPTQ: weights rounded one input after the other, each error spread over the inputs that follow.

Source: Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022.
"""

import numpy as np

from kerata.quantizers.affine import parameters, restored, rounded

# Inputs whose errors are spread at once over all that follow: a speed matter only.
_AT_ONCE = 128


class Hessian:
    """That of a layer's squared error with respect to one output's weights: twice the inputs' second moments.

    Args:
        size: number of inputs.
    """

    def __init__(self, size):
        self.matrix = np.zeros((size, size), np.float64)
        self.count = 0

    def add(self, inputs):
        """Count a batch `(examples, inputs)` in."""
        inputs = np.asarray(inputs, np.float64)
        total = self.count + len(inputs)
        self.matrix *= self.count / total
        self.matrix += (2.0 / total) * (inputs.T @ inputs)
        self.count = total

    def damped(self, fraction):
        """The matrix made invertible; inputs that were never other than 0 get a curvature of 1."""
        matrix = self.matrix.copy()
        diagonal = np.diagonal(matrix).copy()
        diagonal[diagonal == 0] = 1.0
        np.fill_diagonal(matrix, diagonal + fraction * diagonal.mean())
        return matrix


def gptq_rounded(weights, hessian, config):
    """Quantize a matrix of weights.

    Args:
        weights: `(outputs, inputs)` array.
        hessian: the `Hessian` of its inputs.
        config: `GPTQConfig`.

    Returns:
        `(integers, scale, zero, group numbers)`: uint8 `(outputs, inputs)`, twice `(outputs, groups)`, and `(inputs,)`.
    """
    weights = np.array(weights, np.float64)
    inputs = weights.shape[1]
    matrix = hessian.damped(config.hessian_damping)
    weights[:, np.diagonal(hessian.matrix) == 0] = 0
    order = np.arange(inputs)
    if config.activation_order:
        order = np.argsort(-np.diagonal(matrix), kind="stable")
        weights, matrix = weights[:, order], matrix[order][:, order]
    size = inputs if config.group_size == -1 else config.group_size
    # Rows of the upper factor of the inverse say how an input's error is made good by those after it.
    factor = np.linalg.cholesky(np.linalg.inv(matrix)).T
    return _one_after_the_other(weights, factor, size, order, config)


def _one_after_the_other(weights, factor, size, order, config):
    outputs, inputs = weights.shape
    groups = -(-inputs // size)
    integers = np.zeros_like(weights)
    scales, zeros = np.ones((outputs, groups)), np.zeros((outputs, groups))
    for start in range(0, inputs, _AT_ONCE):
        stop = min(start + _AT_ONCE, inputs)
        errors = np.zeros((outputs, stop - start))
        for i in range(start, stop):
            group = i // size
            if i % size == 0:
                found = parameters(weights[:, i : i + size], config.weight_bits, config.symmetric, config.per_channel)
                scales[:, [group]], zeros[:, [group]] = found
            scale, zero = scales[:, group], zeros[:, group]
            integers[:, i] = rounded(weights[:, i], scale, zero, config.weight_bits)
            error = (weights[:, i] - restored(integers[:, i], scale, zero)) / factor[i, i]
            weights[:, i + 1 : stop] -= np.outer(error, factor[i, i + 1 : stop])
            errors[:, i - start] = error
        weights[:, stop:] -= errors @ factor[start:stop, stop:]
    numbers = np.empty(inputs, np.float32)
    numbers[order] = np.arange(inputs) // size
    back = np.argsort(order)
    return integers[:, back].astype(np.uint8), scales, zeros, numbers
