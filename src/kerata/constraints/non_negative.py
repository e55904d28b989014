"""No negative weights."""

from kerata import ops
from kerata.constraints.constraint import Constraint


class NonNeg(Constraint):
    """Negative entries become zero.

    >>> from kerata import constraints, ops
    >>> constraints.NonNeg()(ops.convert_to_tensor([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """

    def __call__(self, w):
        return ops.maximum(w, 0)
