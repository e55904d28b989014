"""The area under a curve."""

from kerata import ops
from kerata.core import config, errors
from kerata.metrics.metric import Metric
from kerata.metrics.thresholds import confusion_counts, even_thresholds

COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")
CURVES = ("ROC", "PR", "PRGAIN")
SUMMATIONS = ("interpolation", "majoring", "minoring")


class AUC(Metric):
    """Approximate area under the ROC curve, the precision-recall curve or the precision-recall-gain curve.

    The curve is known at a number of thresholds; counts of right and wrong answers are kept for each.

    Args:
        num_thresholds: number of thresholds, evenly spaced in [0, 1].
        curve: `"ROC"`, `"PR"` or `"PRGAIN"` (Flach & Kull, 2015).
        summation_method: `"interpolation"` (trapezoids; for `"PR"` interpolation by Davis & Goadrich, 2006),
            `"minoring"` (lower sum) or `"majoring"` (upper sum).
        name, dtype: see `Metric`.
        thresholds: the thresholds between 0 and 1, in place of `num_thresholds`.
        multi_label: whether each place of the last axis has a curve of its own, over whose areas the mean is
            taken.
        num_labels: their number, where the metric's state is wanted before the first batch.
        label_weights: a weight for each of them in the mean; without `multi_label` for each place.
        from_logits: whether predictions are logits.

    Raises:
        ValueError: for arguments out of range.

    >>> from kerata import metrics
    >>> float(metrics.AUC(num_thresholds=3)([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]))
    0.75
    """

    def __init__(
        self,
        num_thresholds=200,
        curve="ROC",
        summation_method="interpolation",
        name=None,
        dtype=None,
        thresholds=None,
        multi_label=False,
        num_labels=None,
        label_weights=None,
        from_logits=False,
    ):
        super().__init__(name=name, dtype=dtype)
        self.curve = _choice(curve, CURVES, "curve", str.upper)
        self.summation_method = _choice(summation_method, SUMMATIONS, "summation method", str.lower)
        self._init_from_thresholds = thresholds is not None
        self._thresholds = _thresholds(num_thresholds, thresholds)
        self.num_thresholds = len(self._thresholds)
        self.multi_label = multi_label
        self.num_labels = num_labels
        self.label_weights = label_weights
        self.from_logits = from_logits
        self._built = False
        if num_labels and not multi_label:
            raise ValueError("AUC: `num_labels` is needed only when `multi_label` is True.")
        if not multi_label or num_labels:
            self._build(num_labels)

    @property
    def thresholds(self):
        """The thresholds, the two outermost being just below 0 and just above 1."""
        return list(self._thresholds)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets, 0 and 1.
            y_pred: predictions in [0, 1], or logits with `from_logits`.
            sample_weight: weights that broadcast to them from the first axis on, or `None`.
        """
        y_pred = ops.convert_to_tensor(y_pred, dtype=self.dtype)
        if self.multi_label:
            self._check_labels(tuple(y_pred.shape))
        if self.from_logits:
            y_pred = ops.sigmoid(y_pred)
        counts = confusion_counts(
            y_true,
            y_pred,
            self._thresholds,
            sample_weight,
            label_weights=None if self.multi_label else self.label_weights,
            multi_label=self.multi_label,
            dtype=self.dtype,
        )
        for name, count in zip(COUNTS, counts, strict=True):
            variable = getattr(self, name)
            variable.assign(variable.value + count)

    def result(self):
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self.interpolate_pr_auc()
        x, y = self._points()
        left, right = y[:-1], y[1:]
        heights = {
            "interpolation": lambda: (left + right) / 2.0,
            "minoring": lambda: ops.minimum(left, right),
            "majoring": lambda: ops.maximum(left, right),
        }[self.summation_method]()
        return self._averaged(ops.sum((x[:-1] - x[1:]) * heights, axis=0))

    def interpolate_pr_auc(self):
        """Area under the precision-recall curve with true positives linear between thresholds.

        Between two thresholds `tp = slope * p + intercept`, where `p` is the number of positive predictions;
        the area is the integral of `tp / p`. Source: Davis & Goadrich, 2006.
        """
        tp, fp, _, fn = self._counts()
        p = tp + fp
        tp_step, p_step = tp[:-1] - tp[1:], p[:-1] - p[1:]
        slope = ops.divide_no_nan(tp_step, ops.relu(p_step))
        intercept = tp[1:] - slope * p[1:]
        both = ops.logical_and(p[:-1] > 0, p[1:] > 0)
        ratio = ops.where(both, ops.divide_no_nan(p[:-1], ops.relu(p[1:])), ops.ones_like(p[1:]))
        area = slope * (tp_step + intercept * ops.log(ratio))
        return self._averaged(ops.sum(ops.divide_no_nan(area, ops.relu(tp[1:] + fn[1:])), axis=0))

    def reset_state(self):
        for variable in self.variables:
            variable.assign(ops.zeros(variable.shape, dtype=variable.dtype))

    def get_config(self):
        config_ = super().get_config()
        config_.update(
            {
                "num_thresholds": self.num_thresholds,
                "curve": self.curve,
                "summation_method": self.summation_method,
                "multi_label": self.multi_label,
                "num_labels": self.num_labels,
                "label_weights": self.label_weights,
                "from_logits": self.from_logits,
            }
        )
        if self._init_from_thresholds:
            # The two outermost come back by themselves.
            config_["thresholds"] = self.thresholds[1:-1]
        return config_

    def _counts(self):
        return [getattr(self, name).value for name in COUNTS]

    def _points(self):
        """x and y of the curve at each threshold."""
        tp, fp, tn, fn = self._counts()
        recall = ops.divide_no_nan(tp, tp + fn)
        if self.curve == "ROC":
            return ops.divide_no_nan(fp, fp + tn), recall
        precision = ops.divide_no_nan(tp, tp + fp)
        if self.curve == "PR":
            return recall, precision
        # Gains: how much of the way from "all positive" to perfect, in harmonic measure.
        odds = ops.divide_no_nan(tp[0] + fn[0], tn[0] + fp[0])
        precision_gain = 1.0 - odds * ops.divide_no_nan(fp, tp)
        recall_gain = 1.0 - odds * ops.divide_no_nan(fn, tp)
        # The curve begins where the recall gain is zero; without a true positive it is minus infinity.
        return ops.where(tp > 0, ops.relu(recall_gain), ops.zeros_like(tp)), precision_gain

    def _averaged(self, areas):
        if not self.multi_label:
            return areas
        if self.label_weights is None:
            return ops.mean(areas)
        weights = ops.convert_to_tensor(self.label_weights, dtype=self.dtype)
        return ops.divide_no_nan(ops.sum(areas * weights), ops.sum(weights))

    def _build(self, num_labels):
        shape = (self.num_thresholds, num_labels) if self.multi_label else (self.num_thresholds,)
        for name in COUNTS:
            setattr(self, name, self.add_variable(shape, "zeros", name=name))
        self._built = True

    def _check_labels(self, shape):
        if len(shape) != 2:
            raise ValueError(f"AUC: with `multi_label` predictions must have the shape (batch, labels), not {shape}.")
        if not self._built:
            self._build(shape[1])
        known = self.true_positives.shape[1]
        if shape[1] != known:
            raise ValueError(f"AUC: the metric was made for {known} labels, but predictions have {shape[1]}.")


def _choice(value, choices, what, spelled):
    found = spelled(str(value))
    if found not in choices:
        listed = ", ".join(f'"{c}"' for c in choices)
        hint = errors.nearest(found, choices)
        raise ValueError(f'AUC: Invalid AUC {what} value: "{value}". Choose one of {listed}.{hint}')
    return found


def _thresholds(number, inner):
    if inner is not None:
        inner = sorted(inner)
        if any(not 0 <= t <= 1 for t in inner):
            raise ValueError(f"AUC: Threshold values must be in [0, 1], but {inner} were given.")
        return [-config.epsilon(), *inner, 1.0 + config.epsilon()]
    if not isinstance(number, int) or number <= 1:
        raise ValueError(f"AUC: Argument `num_thresholds` must be an integer > 1, but {number!r} was given.")
    return even_thresholds(number)
