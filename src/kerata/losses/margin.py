"""Margin losses for classifiers whose targets are -1 and 1 (0 and 1 are taken too)."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def hinge(y_true, y_pred):
    """`mean(max(1 - y_true * y_pred, 0), axis=-1)`.

    Args:
        y_true: targets, -1 and 1; when they are all 0 or 1, 0 counts as -1.
        y_pred: predictions `(batch, …, d)`.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.hinge([[1.0, -1.0]], [[0.5, -2.0]])
    Array([0.25], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    return ops.mean(ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


def squared_hinge(y_true, y_pred):
    """`mean(max(1 - y_true * y_pred, 0)², axis=-1)`; arguments as of `hinge`.

    >>> from kerata import losses
    >>> losses.squared_hinge([[1.0, -1.0]], [[0.0, -2.0]])
    Array([0.5], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    return ops.mean(ops.square(ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


def categorical_hinge(y_true, y_pred):
    """`max(1 + (best wrong class) - (right class), 0)`.

    Args:
        y_true: one-hot targets `(batch, …, classes)`.
        y_pred: scores of the same shape.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.categorical_hinge([[0.0, 1.0]], [[0.5, 1.0]])
    Array([0.5], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    right = ops.sum(y_true * y_pred, axis=-1)
    wrong = ops.max((1.0 - y_true) * y_pred, axis=-1)
    return ops.maximum(wrong - right + 1.0, 0.0)


def _signs(y_true):
    """Targets as -1 and 1. Whether they are 0 and 1 is known only from all of them together."""
    binary = ops.all(ops.logical_or(ops.equal(y_true, 0), ops.equal(y_true, 1)))
    return ops.where(binary, 2.0 * y_true - 1.0, y_true)


class Hinge(FunctionLoss):
    """Mean of `max(1 - y_true * y_pred, 0)`.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.Hinge()([[1.0, -1.0]], [[0.5, -2.0]]))
    0.25
    """

    function = staticmethod(hinge)

    def __init__(self, reduction="sum_over_batch_size", name="hinge", dtype=None):
        super().__init__(name, reduction, dtype)


class SquaredHinge(FunctionLoss):
    """Mean of `max(1 - y_true * y_pred, 0)²`.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.SquaredHinge()([[1.0, -1.0]], [[0.0, -2.0]]))
    0.5
    """

    function = staticmethod(squared_hinge)

    def __init__(self, reduction="sum_over_batch_size", name="squared_hinge", dtype=None):
        super().__init__(name, reduction, dtype)


class CategoricalHinge(FunctionLoss):
    """`max(1 + (best wrong class) - (right class), 0)` for one-hot targets.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.CategoricalHinge()([[0.0, 1.0]], [[0.5, 1.0]]))
    0.5
    """

    function = staticmethod(categorical_hinge)

    def __init__(self, reduction="sum_over_batch_size", name="categorical_hinge", dtype=None):
        super().__init__(name, reduction, dtype)
