"""Distances between distributions, and between counts and their rates."""

from kerata import ops
from kerata.core import config
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def kl_divergence(y_true, y_pred):
    """`sum(y_true * log(y_true / y_pred), axis=-1)`, both clipped to [epsilon, 1]. Kullback & Leibler, 1951.

    Args:
        y_true, y_pred: distributions over the last axis, `(batch, …, d)`.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.kl_divergence([[0.5, 0.5]], [[0.5, 0.5]])
    Array([0.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    y_true, y_pred = (ops.clip(y, config.epsilon(), 1.0) for y in (y_true, y_pred))
    return ops.sum(y_true * ops.log(y_true / y_pred), axis=-1)


def poisson(y_true, y_pred):
    """`mean(y_pred - y_true * log(y_pred), axis=-1)`: minus the log-likelihood of counts under rates.

    Args:
        y_true: counts `(batch, …, d)`.
        y_pred: rates of the same shape.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.poisson([[0.0, 0.0]], [[1.0, 3.0]])
    Array([2.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    return ops.mean(y_pred - y_true * ops.log(y_pred + config.epsilon()), axis=-1)


class KLDivergence(FunctionLoss):
    """Kullback-Leibler divergence of predicted from true distributions.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.KLDivergence()([[0.5, 0.5]], [[0.5, 0.5]]))
    0.0
    """

    function = staticmethod(kl_divergence)

    def __init__(self, reduction="sum_over_batch_size", name="kl_divergence", dtype=None):
        super().__init__(name, reduction, dtype)


class Poisson(FunctionLoss):
    """Minus the log-likelihood of counts under predicted rates.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.Poisson()([[0.0, 0.0]], [[1.0, 3.0]]))
    2.0
    """

    function = staticmethod(poisson)

    def __init__(self, reduction="sum_over_batch_size", name="poisson", dtype=None):
        super().__init__(name, reduction, dtype)
