"""The logarithm of the hyperbolic cosine of the error."""

import math

from kerata import ops
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def log_cosh(y_true, y_pred):
    """`mean(log(cosh(y_pred - y_true)), axis=-1)`: `e²/2` for small errors, `|e| - log 2` for large ones.

    Args:
        y_true, y_pred: tensors `(batch, …, d)`.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.log_cosh([[0.0, 0.0]], [[0.0, 0.0]])
    Array([0.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    error = y_pred - y_true
    # log cosh e = log((exp(e) + exp(-e)) / 2), with exp(e) taken out so that nothing overflows.
    return ops.mean(error + ops.softplus(-2.0 * error) - math.log(2.0), axis=-1)


class LogCosh(FunctionLoss):
    """Logarithm of the hyperbolic cosine of the error.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.LogCosh()([[0.0]], [[0.0]]))
    0.0
    """

    function = staticmethod(log_cosh)
    _config_unless = {"dtype": "float32"}

    def __init__(self, reduction="sum_over_batch_size", name="log_cosh", dtype=None):
        super().__init__(name, reduction, dtype)
