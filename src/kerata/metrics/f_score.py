"""F-scores: means of precision and recall."""

from kerata import ops
from kerata.losses.reduction import broadcastable
from kerata.metrics.metric import Metric

AVERAGES = (None, "micro", "macro", "weighted")


class FBetaScore(Metric):
    """`(1 + beta²) * precision * recall / (beta² * precision + recall)`: the harmonic mean for `beta = 1`.

    Args:
        average: how the classes' scores become one: `None` (a score for each), `"micro"` (counts over all
            classes), `"macro"` (their mean), `"weighted"` (their mean by number of positives).
        beta: how much more recall counts than precision.
        threshold: above it a prediction is positive; `None`: the greatest of a row is.
        name, dtype: see `Metric`.

    Raises:
        ValueError: for arguments out of range, or inputs that aren't `(batch, classes)`.

    >>> from kerata import metrics
    >>> metrics.FBetaScore(beta=2.0, threshold=0.5)([[1, 1], [1, 0]], [[0.2, 0.6], [0.8, 0.8]]).round(4)
    Array([0.5556, 0.8333], dtype=float32)
    """

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        owner = type(self).__name__
        if average not in AVERAGES:
            raise ValueError(
                f"{owner}: Invalid `average` argument value: {average!r}. Choose one of "
                f"{', '.join(repr(a) for a in AVERAGES)}."
            )
        if not isinstance(beta, float):
            raise ValueError(
                f"{owner}: Invalid `beta` argument value: it should be a Python float, not {beta!r} "
                f"({type(beta).__name__})."
            )
        if beta <= 0:
            raise ValueError(f"{owner}: Invalid `beta` argument value: it should be > 0, not {beta!r}.")
        if threshold is not None and not isinstance(threshold, float):
            raise ValueError(
                f"{owner}: Invalid `threshold` argument value: it should be a Python float, not "
                f"{threshold!r} "
                f"({type(threshold).__name__})."
            )
        if threshold is not None and not 0 < threshold <= 1:
            raise ValueError(
                f"{owner}: Invalid `threshold` argument value: it should verify 0 < threshold <= 1, not {threshold!r}."
            )
        self.average = average
        self.beta = beta
        self.threshold = threshold
        self._built = False

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets `(batch, classes)`, 0 and 1.
            y_pred: predictions of the same shape.
            sample_weight: weights `(batch,)` or `(batch, 1)`, or `None`.
        """
        y_true, y_pred = (ops.convert_to_tensor(y, dtype=self.dtype) for y in (y_true, y_pred))
        if not self._built:
            self._build(tuple(y_true.shape), tuple(y_pred.shape))
        predicted, actual = ops.cast(self._positive(y_pred), self.dtype), ops.cast(y_true, self.dtype)
        weight = None
        if sample_weight is not None:
            weight = broadcastable(ops.convert_to_tensor(sample_weight, dtype=self.dtype), y_true)
        axis = None if self.average == "micro" else 0
        for variable, hits in (
            (self.true_positives, predicted * actual),
            (self.false_positives, predicted * (1.0 - actual)),
            (self.false_negatives, (1.0 - predicted) * actual),
            (self.intermediate_weights, actual),
        ):
            hits = hits if weight is None else hits * weight
            variable.assign(variable.value + ops.sum(hits, axis=axis))

    def result(self):
        tp, fp, fn = self.true_positives.value, self.false_positives.value, self.false_negatives.value
        precision, recall = ops.divide_no_nan(tp, tp + fp), ops.divide_no_nan(tp, tp + fn)
        square = self.beta**2
        score = (1.0 + square) * ops.divide_no_nan(precision * recall, square * precision + recall)
        if self.average == "weighted":
            weights = self.intermediate_weights.value
            return ops.sum(score * ops.divide_no_nan(weights, ops.sum(weights)))
        return ops.mean(score) if self.average is not None else score

    def _positive(self, y_pred):
        if self.threshold is not None:
            return y_pred > self.threshold
        greatest = ops.max(y_pred, axis=-1, keepdims=True)
        # A row of zeros predicts nothing.
        return ops.logical_and(y_pred >= greatest, ops.abs(y_pred) > 1e-9)

    def _build(self, y_true_shape, y_pred_shape):
        if len(y_true_shape) != 2 or len(y_pred_shape) != 2:
            raise ValueError(
                f"{type(self).__name__} expects 2D inputs with shape (batch_size, output_dim), but the "
                "shapes are "
                f"{y_true_shape} and {y_pred_shape}."
            )
        if y_pred_shape[1] is None or y_true_shape[1] is None:
            raise ValueError(
                f"{type(self).__name__} expects 2D inputs with shape (batch_size, output_dim) and a known "
                "output_dim, "
                f"but the shapes are {y_true_shape} and {y_pred_shape}."
            )
        shape = () if self.average == "micro" else (y_true_shape[1],)
        for name in ("true_positives", "false_positives", "false_negatives", "intermediate_weights"):
            setattr(self, name, self.add_variable(shape, "zeros", name=name))
        self._built = True


class F1Score(FBetaScore):
    """Harmonic mean of precision and recall.

    Args:
        average: how the classes' scores become one, see `FBetaScore`.
        threshold: above it a prediction is positive; `None`: the greatest of a row is.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> metrics.F1Score(threshold=0.5)([[1, 1], [1, 0]], [[0.2, 0.6], [0.8, 0.8]]).round(4)
    Array([0.6667, 0.6667], dtype=float32)
    """

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average=average, beta=1.0, threshold=threshold, name=name, dtype=dtype)
