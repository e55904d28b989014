"""Sums and means, and metrics that are the mean of a function."""

from kerata import ops
from kerata.core import serialization
from kerata.core.masks import get_mask
from kerata.losses.loss import as_tensors
from kerata.losses.reduction import broadcastable
from kerata.metrics.metric import Metric


class Sum(Metric):
    """(Weighted) sum of all values.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.Sum()([1.0, 3.0]))
    4.0
    """

    def __init__(self, name="sum", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, values, sample_weight=None):
        """Add values.

        Args:
            values: tensor.
            sample_weight: weights that broadcast to them, or `None`.
        """
        values, weight = weighted(values, sample_weight, self.dtype)
        self.total.assign(self.total.value + ops.sum(values if weight is None else values * weight))

    def result(self):
        return self.total.value

    def reset_state(self):
        self.total.assign(0)


class Mean(Metric):
    """(Weighted) mean of all values.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> mean = metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> mean.update_state([8.0], sample_weight=[2.0])
    >>> float(mean.result())
    5.0
    """

    def __init__(self, name="mean", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")
        self.count = self.add_variable((), "zeros", name="count")

    def update_state(self, values, sample_weight=None):
        """Take values into account.

        Args:
            values: tensor.
            sample_weight: weights that broadcast to them, or `None`. With fewer axes than the values they
                count for the mean over the other axes.
        """
        values, weight = weighted(values, sample_weight, self.dtype)
        if weight is None:
            total, number = _of_samples(values, self.dtype)
        else:
            number = ops.sum(ops.broadcast_to(weight, ops.shape(values)))
            total = ops.sum(values * weight)
        self.total.assign(self.total.value + total)
        self.count.assign(self.count.value + number)

    def result(self):
        return ops.divide_no_nan(self.total.value, self.count.value)

    def reset_state(self):
        self.total.assign(0)
        self.count.assign(0)


class MeanMetricWrapper(Mean):
    """Mean over samples of a function of targets and predictions.

    Args:
        fn: function `(y_true, y_pred, **kwargs)` that returns a value for each sample.
        name, dtype: see `Metric`.
        **kwargs: what else the function is called with.

    >>> from kerata import metrics, ops
    >>> metric = metrics.MeanMetricWrapper(lambda t, p: ops.abs(t - p), name="distance")
    >>> float(metric([1.0, 2.0], [2.0, 5.0]))
    2.0
    """

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name or getattr(fn, "__name__", None), dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets.
            y_pred: predictions; their mask, if a layer left one, is honoured.
            sample_weight: a weight for each sample, or `None`.
        """
        mask = get_mask(y_pred)
        values = self._fn(as_tensors(y_true), as_tensors(y_pred), **self._fn_kwargs)
        if mask is not None:
            mask = broadcastable(ops.cast(mask, self.dtype), values)
            if sample_weight is not None:
                mask = mask * broadcastable(ops.convert_to_tensor(sample_weight, dtype=self.dtype), values)
            sample_weight = mask
        super().update_state(values, sample_weight=sample_weight)

    def get_config(self):
        return {
            **super().get_config(),
            "fn": serialization.serialize_keras_object(self._fn),
            **{name: serialization.serialize_keras_object(v) for name, v in self._fn_kwargs.items()},
        }


def weighted(values, sample_weight, dtype):
    """Values and weights as tensors that broadcast; values are averaged over axes that weights lack.

    A mask that the values bring along (a loss with `ignore_class`) lowers given weights; alone it has no
    effect, as in Keras.
    """
    mask = get_mask(values)
    values = ops.convert_to_tensor(values, dtype=dtype)
    if sample_weight is None:
        return values, None
    weight = ops.convert_to_tensor(sample_weight, dtype=dtype)
    if mask is not None:
        weight = broadcastable(ops.cast(mask, dtype), weight) * weight
    rank, wanted = len(values.shape), len(weight.shape)
    if wanted == rank + 1 and weight.shape[-1] == 1:
        return values, ops.squeeze(weight, -1)
    if wanted == rank - 1 and values.shape[-1] == 1:
        return ops.squeeze(values, -1), weight
    if wanted < rank:
        values = ops.mean(values, axis=tuple(range(wanted, rank)))
    return values, weight


def _of_samples(values, dtype):
    """Sum over samples of the mean of each, and the number of samples."""
    rank = len(values.shape)
    if rank == 0:
        return values, 1.0
    samples = values.shape[0]
    if samples is None:
        samples = ops.cast(ops.shape(values)[0], dtype)
    if rank == 1:
        return ops.sum(values), samples
    return ops.mean(values) * samples, samples
