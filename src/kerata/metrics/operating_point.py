"""The best of one rate where another is good enough."""

from kerata import ops
from kerata.metrics.metric import Metric
from kerata.metrics.thresholds import confusion_counts, only_class

COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


class _OperatingPoint(Metric):
    """Greatest `wanted` rate over thresholds where the `required` rate is at least a given value."""

    required = None  # name of the constructor argument, and of the rate below
    wanted = None

    def __init__(self, value, num_thresholds, class_id, name, dtype):
        super().__init__(name=name, dtype=dtype)
        owner = type(self).__name__
        if not 0 <= value <= 1:
            raise ValueError(
                f"{owner}: Argument `{self.required}` must be in the range [0, 1], but {value!r} was given."
            )
        if not isinstance(num_thresholds, int) or num_thresholds <= 0:
            raise ValueError(
                f"{owner}: Argument `num_thresholds` must be an integer > 0, but {num_thresholds!r} was given."
            )
        self.value = value
        self.class_id = class_id
        self.num_thresholds = num_thresholds
        steps = num_thresholds - 1
        self.thresholds = [i / steps for i in range(num_thresholds)] if steps else [0.5]
        for count in COUNTS:
            setattr(self, count, self.add_variable((num_thresholds,), "zeros", name=count))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets, 0 and 1.
            y_pred: predictions in [0, 1].
            sample_weight: weights that broadcast to them from the first axis on, or `None`.
        """
        y_true, y_pred, sample_weight = only_class(y_true, y_pred, sample_weight, self.class_id)
        counts = confusion_counts(y_true, y_pred, self.thresholds, sample_weight, dtype=self.dtype)
        for name, count in zip(COUNTS, counts, strict=True):
            variable = getattr(self, name)
            variable.assign(variable.value + count)

    def result(self):
        required, wanted = self._rate(self.required), self._rate(self.wanted)
        return ops.max(ops.where(required >= self.value, wanted, ops.zeros_like(wanted)))

    def _rate(self, name):
        tp, fp, tn, fn = (getattr(self, count).value for count in COUNTS)
        part, whole = {
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
        }[name]
        return ops.divide_no_nan(part, whole)


class SensitivityAtSpecificity(_OperatingPoint):
    """Best sensitivity (share of positives found) where the specificity is at least a given value.

    Args:
        specificity: least share of negatives that are predicted as such, in [0, 1].
        num_thresholds: number of thresholds tried.
        class_id: the class of the last axis that is looked at; `None`: all.
        name, dtype: see `Metric`.

    Raises:
        ValueError: for arguments out of range.

    >>> from kerata import metrics
    >>> float(metrics.SensitivityAtSpecificity(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8]))
    0.5
    """

    required, wanted = "specificity", "sensitivity"

    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)
        self.specificity = specificity


class SpecificityAtSensitivity(_OperatingPoint):
    """Best specificity (share of negatives seen as such) where the sensitivity is at least a given value.

    Args:
        sensitivity: least share of positives that are found, in [0, 1].
        num_thresholds: number of thresholds tried.
        class_id: the class of the last axis that is looked at; `None`: all.
        name, dtype: see `Metric`.

    Raises:
        ValueError: for arguments out of range.

    >>> from kerata import metrics
    >>> round(float(metrics.SpecificityAtSensitivity(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8])), 4)
    0.6667
    """

    required, wanted = "sensitivity", "specificity"

    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)
        self.sensitivity = sensitivity


class PrecisionAtRecall(_OperatingPoint):
    """Best precision where the recall is at least a given value.

    Args:
        recall: least share of positives that are found, in [0, 1].
        num_thresholds: number of thresholds tried.
        class_id: the class of the last axis that is looked at; `None`: all.
        name, dtype: see `Metric`.

    Raises:
        ValueError: for arguments out of range.

    >>> from kerata import metrics
    >>> float(metrics.PrecisionAtRecall(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8]))
    0.5
    """

    required, wanted = "recall", "precision"

    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name, dtype)
        self.recall = recall


class RecallAtPrecision(_OperatingPoint):
    """Best recall where the precision is at least a given value.

    Args:
        precision: least share of positive predictions that are right, in [0, 1].
        num_thresholds: number of thresholds tried.
        class_id: the class of the last axis that is looked at; `None`: all.
        name, dtype: see `Metric`.

    Raises:
        ValueError: for arguments out of range.

    >>> from kerata import metrics
    >>> float(metrics.RecallAtPrecision(0.8)([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]))
    0.5
    """

    required, wanted = "precision", "recall"

    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(precision, num_thresholds, class_id, name, dtype)
        self.precision = precision
