"""The coefficient of determination."""

from kerata import ops
from kerata.core import errors
from kerata.losses.reduction import broadcastable, count
from kerata.metrics.metric import Metric

AGGREGATIONS = (None, "uniform_average", "variance_weighted_average")


class R2Score(Metric):
    """Share of the targets' variance that predictions explain: 1 is perfect, 0 as good as the mean.

    Args:
        class_aggregation: how the outputs' scores become one: `"uniform_average"`,
            `"variance_weighted_average"` or `None` (a score for each).
        num_regressors: number of independent variables, for the adjusted score; 0: not adjusted.
        name, dtype: see `Metric`.

    Raises:
        ValueError: for arguments out of range, or targets that aren't `(batch, outputs)`.

    >>> from kerata import metrics
    >>> float(metrics.R2Score()([[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]]))
    1.0
    """

    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        if class_aggregation not in AGGREGATIONS:
            listed = ", ".join(repr(a) for a in AGGREGATIONS)
            raise ValueError(
                "R2Score: Invalid value for argument `class_aggregation`: "
                f"{class_aggregation!r}. Choose one of {listed}."
            )
        try:
            self.num_regressors = errors.integer(num_regressors, "num_regressors", "R2Score", minimum=0)
        except ValueError as error:
            raise ValueError(f"Invalid value for argument `num_regressors`. {error}") from None
        self.class_aggregation = class_aggregation
        self.num_samples = self.add_variable((), "zeros", name="num_samples")
        self._built = False

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true, y_pred: tensors `(batch, outputs)`.
            sample_weight: weights `(batch,)` or `(batch, 1)`, or `None`.
        """
        y_true, y_pred = (ops.convert_to_tensor(y, dtype=self.dtype) for y in (y_true, y_pred))
        if not self._built:
            self._build(tuple(y_true.shape), tuple(y_pred.shape))
        weight = ops.ones((1, 1), dtype=self.dtype)
        if sample_weight is not None:
            weight = broadcastable(ops.convert_to_tensor(sample_weight, dtype=self.dtype), y_true)
        weighed = y_true * weight
        for variable, values in (
            (self.sum, weighed),
            (self.squared_sum, y_true * weighed),
            (self.total_mse, ops.square(y_true - y_pred) * weight),
            (self.count, ops.broadcast_to(weight, ops.shape(y_true))),
        ):
            variable.assign(variable.value + ops.sum(values, axis=0))
        # Outputs count as samples of their own, as in Keras.
        self.num_samples.assign(self.num_samples.value + count(y_true, self.dtype))

    def result(self):
        mean = self.sum.value / self.count.value
        total = self.squared_sum.value - self.sum.value * mean
        unexplained = self.total_mse.value / total
        score = 1.0 - unexplained
        # Targets that are all alike have no variance to explain.
        score = ops.where(ops.isinf(score), ops.zeros_like(score), score)
        if self.class_aggregation == "uniform_average":
            score = ops.mean(score)
        elif self.class_aggregation == "variance_weighted_average":
            score = ops.sum(score * total / ops.sum(total))
        return score if not self.num_regressors else self._adjusted(score)

    def _adjusted(self, score):
        samples, regressors = self.num_samples.value, float(self.num_regressors)
        degrees = samples - regressors - 1.0
        safe = ops.where(degrees > 0, degrees, ops.ones_like(degrees))
        adjusted = 1.0 - (1.0 - score) * (samples - 1.0) / safe
        # With as many regressors as samples nothing is left to adjust by.
        return ops.where(degrees > 0, adjusted, score)

    def _build(self, y_true_shape, y_pred_shape):
        if len(y_true_shape) != 2 or len(y_pred_shape) != 2 or y_pred_shape[1] is None:
            raise ValueError(
                "R2Score expects 2D inputs with shape (batch_size, output_dim) and a known output_dim, but "
                "the shapes "
                f"are {y_true_shape} and {y_pred_shape}."
            )
        for name in ("squared_sum", "sum", "total_mse", "count"):
            label = "residual" if name == "total_mse" else name
            setattr(self, name, self.add_variable((y_pred_shape[1],), "zeros", name=label))
        self._built = True
