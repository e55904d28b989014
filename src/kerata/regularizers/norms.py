"""Penalties by norm."""

from kerata import ops
from kerata.regularizers.regularizer import Regularizer, strength


class L1L2(Regularizer):
    """`l1 * sum(|x|) + l2 * sum(x²)`.

    Args:
        l1, l2: the two factors.

    Raises:
        ValueError: for a negative or non-finite factor.

    >>> from kerata import regularizers
    >>> float(regularizers.L1L2(l1=1.0, l2=2.0)([3.0, -1.0]))
    24.0
    """

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = strength(l1, "l1", "L1L2")
        self.l2 = strength(l2, "l2", "L1L2")

    def __call__(self, x):
        penalty = 0.0
        if self.l1:
            penalty = self.l1 * ops.sum(ops.abs(x))
        if self.l2:
            penalty = penalty + self.l2 * ops.sum(ops.square(x))
        return penalty if self.l1 or self.l2 else ops.zeros((), ops.convert_to_tensor(x).dtype)


class L1(Regularizer):
    """`l1 * sum(|x|)`: drives weights to zero one by one (Tibshirani, 1996).

    Args:
        l1: factor.

    >>> from kerata import regularizers
    >>> float(regularizers.L1(0.5)([3.0, -1.0]))
    2.0
    """

    def __init__(self, l1=0.01):
        self.l1 = strength(l1, "l1", "L1")

    def __call__(self, x):
        return self.l1 * ops.sum(ops.abs(x))


class L2(Regularizer):
    """`l2 * sum(x²)`: keeps all weights small.

    Args:
        l2: factor.

    >>> from kerata import regularizers
    >>> float(regularizers.L2(0.5)([3.0, -1.0]))
    5.0
    """

    def __init__(self, l2=0.01):
        self.l2 = strength(l2, "l2", "L2")

    def __call__(self, x):
        return self.l2 * ops.sum(ops.square(x))
