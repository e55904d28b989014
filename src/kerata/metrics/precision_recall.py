"""Precision and recall."""

from kerata import ops
from kerata.metrics.metric import Metric
from kerata.metrics.thresholds import NEVER, checked_thresholds, confusion_counts, only_class, only_top_k


class _Ratio(Metric):
    """True positives over true positives and one kind of mistake; a subclass says which kind."""

    mistakes = place = None

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self._limits = checked_thresholds(thresholds, 0.5 if top_k is None else NEVER, type(self).__name__)
        shape = (len(self._limits),)
        self.true_positives = self.add_variable(shape, "zeros", name="true_positives")
        setattr(self, self.mistakes, self.add_variable(shape, "zeros", name=self.mistakes))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets, 0 and 1.
            y_pred: predictions in [0, 1].
            sample_weight: weights that broadcast to them from the first axis on, or `None`.
        """
        if self.top_k is not None:
            y_pred = only_top_k(ops.convert_to_tensor(y_pred, dtype=self.dtype), self.top_k)
        y_true, y_pred, sample_weight = only_class(y_true, y_pred, sample_weight, self.class_id)
        counts = confusion_counts(y_true, y_pred, self._limits, sample_weight, dtype=self.dtype)
        for variable, count in ((self.true_positives, counts[0]), (self._wrong, counts[self.place])):
            variable.assign(variable.value + count)

    def result(self):
        """The ratio, a scalar for a single threshold; 0 where there is nothing to divide by."""
        right = self.true_positives.value
        ratio = ops.divide_no_nan(right, right + self._wrong.value)
        return ratio[0] if len(self._limits) == 1 else ratio

    def reset_state(self):
        for variable in self.variables:
            variable.assign(ops.zeros((len(self._limits),), dtype=self.dtype))

    @property
    def _wrong(self):
        return getattr(self, self.mistakes)


class Precision(_Ratio):
    """Share of the positive predictions that are right.

    Args:
        thresholds: a float or list of floats in [0, 1], above which a prediction is positive; `None`: 0.5.
        top_k: only the `k` greatest predictions of the last axis can be positive (without `thresholds`: all
            are).
        class_id: the class of the last axis that is looked at; `None`: all.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> round(float(metrics.Precision()([0, 1, 1, 1], [1, 0, 1, 1])), 4)
    0.6667
    """

    mistakes, place = "false_positives", 1


class Recall(_Ratio):
    """Share of the positives that are found.

    Args:
        thresholds: a float or list of floats in [0, 1], above which a prediction is positive; `None`: 0.5.
        top_k: only the `k` greatest predictions of the last axis can be positive (without `thresholds`: all
            are).
        class_id: the class of the last axis that is looked at; `None`: all.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> round(float(metrics.Recall()([0, 1, 1, 1], [1, 0, 1, 1])), 4)
    0.6667
    """

    mistakes, place = "false_negatives", 3
