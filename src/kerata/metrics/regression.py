"""Errors of predicted numbers."""

from kerata import ops
from kerata.losses import (
    cosine_similarity,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
)
from kerata.losses.reduction import comparable
from kerata.metrics.mean import Mean, MeanMetricWrapper


class MeanSquaredError(MeanMetricWrapper):
    """Mean of squared errors.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.MeanSquaredError()([[0.0, 1.0]], [[2.0, 1.0]]))
    2.0
    """

    def __init__(self, name="mean_squared_error", dtype=None):
        super().__init__(mean_squared_error, name=name, dtype=dtype)


class RootMeanSquaredError(Mean):
    """Root of the mean of squared errors.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.RootMeanSquaredError()([[0.0, 0.0]], [[2.0, 2.0]]))
    2.0
    """

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name=name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account; arguments as of `MeanMetricWrapper.update_state`."""
        y_true, y_pred = comparable(y_true, ops.convert_to_tensor(y_pred, dtype=self.dtype))
        super().update_state(ops.square(y_pred - y_true), sample_weight)

    def result(self):
        return ops.sqrt(super().result())


class MeanAbsoluteError(MeanMetricWrapper):
    """Mean of absolute errors.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.MeanAbsoluteError()([[0.0, 1.0]], [[2.0, 1.0]]))
    1.0
    """

    def __init__(self, name="mean_absolute_error", dtype=None):
        super().__init__(mean_absolute_error, name=name, dtype=dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """Mean of absolute errors in percent of the targets.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.MeanAbsolutePercentageError()([[2.0, 1.0]], [[1.0, 1.0]]))
    25.0
    """

    def __init__(self, name="mean_absolute_percentage_error", dtype=None):
        super().__init__(mean_absolute_percentage_error, name=name, dtype=dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """Mean of squared errors of `log(y + 1)`.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.MeanSquaredLogarithmicError()([[1.0]], [[1.0]]))
    0.0
    """

    def __init__(self, name="mean_squared_logarithmic_error", dtype=None):
        super().__init__(mean_squared_logarithmic_error, name=name, dtype=dtype)


class LogCoshError(MeanMetricWrapper):
    """Mean of the logarithm of the hyperbolic cosine of the error.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.LogCoshError()([[0.0]], [[0.0]]))
    0.0
    """

    def __init__(self, name="logcosh", dtype=None):
        super().__init__(log_cosh, name=name, dtype=dtype)


class CosineSimilarity(MeanMetricWrapper):
    """Mean cosine of the angle between targets and predictions: 1 for the same direction.

    Args:
        name, dtype: see `Metric`.
        axis: axis along which the vectors lie.

    >>> from kerata import metrics
    >>> round(float(metrics.CosineSimilarity()([[1.0, 1.0]], [[2.0, 2.0]])), 4)
    1.0
    """

    def __init__(self, name="cosine_similarity", dtype=None, axis=-1):
        super().__init__(_cosine, name=name, dtype=dtype, axis=axis)
        self.axis = axis


def _cosine(y_true, y_pred, axis=-1):
    """The loss is the negative of it."""
    return -cosine_similarity(y_true, y_pred, axis=axis)
