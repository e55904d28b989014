"""Counts of right and wrong answers."""

from kerata import ops
from kerata.metrics.metric import Metric
from kerata.metrics.thresholds import checked_thresholds, confusion_counts


class _Count(Metric):
    """One of the four counts; a subclass says which."""

    place = None

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.thresholds = thresholds
        self._limits = checked_thresholds(thresholds, 0.5, type(self).__name__)
        self.accumulator = self.add_variable((len(self._limits),), "zeros", name="accumulator")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets, 0 and 1.
            y_pred: predictions in [0, 1].
            sample_weight: weights that broadcast to them from the first axis on, or `None`.
        """
        counts = confusion_counts(y_true, y_pred, self._limits, sample_weight, dtype=self.dtype)
        self.accumulator.assign(self.accumulator.value + counts[self.place])

    def result(self):
        """The count, a scalar for a single threshold."""
        value = self.accumulator.value
        return value[0] if len(self._limits) == 1 else ops.convert_to_tensor(value)

    def reset_state(self):
        self.accumulator.assign(ops.zeros((len(self._limits),), dtype=self.dtype))


class TruePositives(_Count):
    """(Weighted) number of positives that are predicted as such.

    Args:
        thresholds: a float or list of floats in [0, 1], above which a prediction is positive; `None`: 0.5.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.TruePositives()([0, 1, 1, 1], [1, 0, 1, 1]))
    2.0
    """

    place = 0


class FalsePositives(_Count):
    """(Weighted) number of negatives that are predicted as positives.

    Args:
        thresholds: a float or list of floats in [0, 1], above which a prediction is positive; `None`: 0.5.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.FalsePositives()([0, 1, 0, 0], [0, 0, 1, 1]))
    2.0
    """

    place = 1


class TrueNegatives(_Count):
    """(Weighted) number of negatives that are predicted as such.

    Args:
        thresholds: a float or list of floats in [0, 1], above which a prediction is positive; `None`: 0.5.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.TrueNegatives()([0, 1, 0, 0], [1, 1, 0, 0]))
    2.0
    """

    place = 2


class FalseNegatives(_Count):
    """(Weighted) number of positives that are predicted as negatives.

    Args:
        thresholds: a float or list of floats in [0, 1], above which a prediction is positive; `None`: 0.5.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.FalseNegatives()([0, 1, 1, 1], [0, 1, 0, 0]))
    2.0
    """

    place = 3
