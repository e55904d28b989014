"""Absolute errors."""

from kerata import ops
from kerata.core import config
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def mean_absolute_error(y_true, y_pred):
    """`mean(|y_true - y_pred|, axis=-1)`.

    Args:
        y_true, y_pred: tensors `(batch, …, d)`.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.mean_absolute_error([[0.0, 1.0]], [[2.0, 1.0]])
    Array([1.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    return ops.mean(ops.abs(y_true - y_pred), axis=-1)


def mean_absolute_percentage_error(y_true, y_pred):
    """`100 * mean(|y_true - y_pred| / |y_true|, axis=-1)`; a target below epsilon counts as epsilon.

    Args:
        y_true, y_pred: tensors `(batch, …, d)`.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.mean_absolute_percentage_error([[2.0, 1.0]], [[1.0, 1.0]])
    Array([25.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    relative = ops.abs((y_true - y_pred) / ops.maximum(ops.abs(y_true), config.epsilon()))
    return 100.0 * ops.mean(relative, axis=-1)


class MeanAbsoluteError(FunctionLoss):
    """Mean of absolute differences.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.MeanAbsoluteError()([[0.0, 1.0]], [[2.0, 1.0]]))
    1.0
    """

    function = staticmethod(mean_absolute_error)

    def __init__(self, reduction="sum_over_batch_size", name="mean_absolute_error", dtype=None):
        super().__init__(name, reduction, dtype)


class MeanAbsolutePercentageError(FunctionLoss):
    """Mean of absolute differences in percent of the targets.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.MeanAbsolutePercentageError()([[2.0, 1.0]], [[1.0, 1.0]]))
    25.0
    """

    function = staticmethod(mean_absolute_percentage_error)

    def __init__(self, reduction="sum_over_batch_size", name="mean_absolute_percentage_error", dtype=None):
        super().__init__(name, reduction, dtype)
