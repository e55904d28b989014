"""Squared errors."""

from kerata import ops
from kerata.core import config
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def mean_squared_error(y_true, y_pred):
    """`mean((y_true - y_pred)², axis=-1)`.

    Args:
        y_true, y_pred: tensors `(batch, …, d)`.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.mean_squared_error([[0.0, 1.0]], [[2.0, 1.0]])
    Array([2.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    return ops.mean(ops.square(y_true - y_pred), axis=-1)


def mean_squared_logarithmic_error(y_true, y_pred):
    """`mean((log(y_true + 1) - log(y_pred + 1))², axis=-1)`; what lies below epsilon counts as epsilon.

    Args:
        y_true, y_pred: tensors `(batch, …, d)` of non-negative numbers.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.mean_squared_logarithmic_error([[1.0, 3.0]], [[1.0, 3.0]])
    Array([0.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    floor = config.epsilon()
    difference = ops.log1p(ops.maximum(y_true, floor)) - ops.log1p(ops.maximum(y_pred, floor))
    return ops.mean(ops.square(difference), axis=-1)


class MeanSquaredError(FunctionLoss):
    """Mean of squared differences.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.MeanSquaredError()([[0.0, 1.0]], [[2.0, 1.0]]))
    2.0
    """

    function = staticmethod(mean_squared_error)

    def __init__(self, reduction="sum_over_batch_size", name="mean_squared_error", dtype=None):
        super().__init__(name, reduction, dtype)


class MeanSquaredLogarithmicError(FunctionLoss):
    """Mean of squared differences of `log(y + 1)`: an error by factors rather than by amounts.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.MeanSquaredLogarithmicError()([[1.0]], [[1.0]]))
    0.0
    """

    function = staticmethod(mean_squared_logarithmic_error)

    def __init__(self, reduction="sum_over_batch_size", name="mean_squared_logarithmic_error", dtype=None):
        super().__init__(name, reduction, dtype)
