"""Bounds on the norm of the weights that lead into a unit."""

from kerata import ops
from kerata.constraints.constraint import Constraint
from kerata.core import config


class MaxNorm(Constraint):
    """Vectors longer than `max_value` are shortened to it (Srivastava et al., 2014).

    Args:
        max_value: the greatest norm.
        axis: axis or axes along which a vector lies: 0 for a Dense kernel, `[0, 1, 2]` for a Conv2D kernel.

    >>> from kerata import constraints, ops
    >>> float(ops.norm(constraints.MaxNorm(1.0)(ops.convert_to_tensor([[3.0], [4.0]])))) <= 1.0
    True
    """

    def __init__(self, max_value=2, axis=0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w):
        norm = _norm(w, self.axis)
        return w * (ops.clip(norm, 0, self.max_value) / (norm + config.epsilon()))


class MinMaxNorm(Constraint):
    """Vectors are drawn towards a norm between `min_value` and `max_value`.

    Args:
        min_value, max_value: the two bounds.
        rate: how much of the way each step goes: 1.0 lands in the interval at once.
        axis: as in `MaxNorm`.

    >>> from kerata import constraints, ops
    >>> round(float(ops.norm(constraints.MinMaxNorm(1.0, 2.0)(ops.convert_to_tensor([[0.3], [0.4]])))), 4)
    1.0
    """

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w):
        norm = _norm(w, self.axis)
        wanted = self.rate * ops.clip(norm, self.min_value, self.max_value) + (1 - self.rate) * norm
        return w * (wanted / (norm + config.epsilon()))


class UnitNorm(Constraint):
    """Each vector gets norm one.

    Args:
        axis: as in `MaxNorm`.

    >>> from kerata import constraints, ops
    >>> round(float(ops.norm(constraints.UnitNorm()(ops.convert_to_tensor([[3.0], [4.0]])))), 4)
    1.0
    """

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (_norm(w, self.axis) + config.epsilon())


def _norm(w, axis):
    axis = tuple(axis) if isinstance(axis, list) else axis
    return ops.sqrt(ops.sum(ops.square(w), axis=axis, keepdims=True))
