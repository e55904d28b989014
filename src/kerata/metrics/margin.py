"""Margin losses as metrics."""

from kerata.losses import categorical_hinge, hinge, squared_hinge
from kerata.metrics.mean import MeanMetricWrapper


class Hinge(MeanMetricWrapper):
    """Mean of `max(1 - y_true * y_pred, 0)`; targets are -1 and 1, or 0 and 1.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.Hinge()([[1.0, -1.0]], [[0.5, -2.0]]))
    0.25
    """

    def __init__(self, name="hinge", dtype=None):
        super().__init__(hinge, name=name, dtype=dtype)


class SquaredHinge(MeanMetricWrapper):
    """Mean of `max(1 - y_true * y_pred, 0)²`; targets are -1 and 1, or 0 and 1.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.SquaredHinge()([[1.0, -1.0]], [[0.0, -2.0]]))
    0.5
    """

    def __init__(self, name="squared_hinge", dtype=None):
        super().__init__(squared_hinge, name=name, dtype=dtype)


class CategoricalHinge(MeanMetricWrapper):
    """Mean of `max(1 + (best wrong class) - (right class), 0)` for one-hot targets.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.CategoricalHinge()([[0.0, 1.0]], [[0.5, 1.0]]))
    0.5
    """

    def __init__(self, name="categorical_hinge", dtype=None):
        super().__init__(categorical_hinge, name=name, dtype=dtype)
