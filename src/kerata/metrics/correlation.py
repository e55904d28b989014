"""How predictions and targets vary together, sample by sample."""

from kerata import ops
from kerata.core import config
from kerata.losses.reduction import comparable
from kerata.metrics.mean import MeanMetricWrapper


def pearson_correlation(y_true, y_pred, axis=-1):
    """Covariance of predictions and targets over the product of their standard deviations.

    Args:
        y_true, y_pred: tensors of one shape.
        axis: axis along which the pairs lie.

    Returns:
        Tensor without that axis.

    >>> from kerata import metrics
    >>> metrics.pearson_correlation([[1.0, 2.0, 3.0]], [[3.0, 2.0, 1.0]]).round(4)
    Array([-1.], dtype=float32)
    """
    (_, spread1, away1), (_, spread2, away2) = _moments(y_true, y_pred, axis)
    covariance = ops.mean(away1 * away2, axis=axis)
    return covariance / (ops.sqrt(spread1 * spread2) + config.epsilon())


def concordance_correlation(y_true, y_pred, axis=-1):
    """Pearson's correlation, lowered where means or variances differ. Source: Lin, 1989.

    Args:
        y_true, y_pred: tensors of one shape.
        axis: axis along which the pairs lie.

    Returns:
        Tensor without that axis.

    >>> from kerata import metrics
    >>> metrics.concordance_correlation([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]).round(4)
    Array([1.], dtype=float32)
    """
    (mean1, spread1, away1), (mean2, spread2, away2) = _moments(y_true, y_pred, axis)
    covariance = ops.mean(away1 * away2, axis=axis)
    apart = ops.squeeze(ops.square(mean1 - mean2), axis)
    return 2.0 * covariance / (spread1 + spread2 + apart + config.epsilon())


def _moments(y_true, y_pred, axis):
    """Of both: mean (axis kept), variance, deviations."""
    found = []
    for y in comparable(y_true, y_pred):
        mean = ops.mean(y, axis=axis, keepdims=True)
        away = y - mean
        found.append((mean, ops.mean(ops.square(away), axis=axis), away))
    return found


class PearsonCorrelation(MeanMetricWrapper):
    """Mean over samples of Pearson's correlation of predictions and targets.

    Args:
        name, dtype: see `Metric`.
        axis: axis along which the pairs lie.

    >>> from kerata import metrics
    >>> round(float(metrics.PearsonCorrelation()([[1.0, 2.0, 3.0]], [[3.0, 2.0, 1.0]])), 4)
    -1.0
    """

    def __init__(self, name="pearson_correlation", dtype=None, axis=-1):
        super().__init__(pearson_correlation, name=name, dtype=dtype, axis=axis)
        self.axis = axis


class ConcordanceCorrelation(MeanMetricWrapper):
    """Mean over samples of the concordance correlation of predictions and targets. Source: Lin, 1989.

    Args:
        name, dtype: see `Metric`.
        axis: axis along which the pairs lie.

    >>> from kerata import metrics
    >>> round(float(metrics.ConcordanceCorrelation()([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]])), 4)
    1.0
    """

    def __init__(self, name="concordance_correlation", dtype=None, axis=-1):
        super().__init__(concordance_correlation, name=name, dtype=dtype, axis=axis)
        self.axis = axis
