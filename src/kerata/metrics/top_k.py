"""How often the right class is among the k most probable."""

from kerata import ops
from kerata.core import config
from kerata.metrics.accuracy import without_last_one
from kerata.metrics.mean import MeanMetricWrapper


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Whether the target's class is among the `k` most probable.

    Args:
        y_true: one-hot targets `(batch, …, classes)`.
        y_pred: predictions of the same shape.
        k: number of classes looked at.

    Returns:
        Tensor `(batch, …)` of zeros and ones.

    >>> from kerata import metrics
    >>> metrics.top_k_categorical_accuracy([[0, 0, 1]], [[0.1, 0.7, 0.2]], k=2)
    Array([1.], dtype=float32)
    """
    y_true = ops.convert_to_tensor(y_true)
    return sparse_top_k_categorical_accuracy(ops.argmax(y_true, axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """Whether the target is among the `k` most probable classes.

    Args:
        y_true: class numbers `(batch, …)`, or with a trailing dimension of one.
        y_pred: predictions `(batch, …, classes)`.
        k: number of classes looked at.
        from_sorted_ids: whether `y_pred` are class numbers, the most probable first.

    Returns:
        Tensor `(batch, …)` of zeros and ones.

    >>> from kerata import metrics
    >>> metrics.sparse_top_k_categorical_accuracy([2], [[0.1, 0.7, 0.2]], k=2)
    Array([1.], dtype=float32)
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(without_last_one(ops.convert_to_tensor(y_true), y_pred), "int32")
    if from_sorted_ids:
        same = ops.equal(ops.expand_dims(y_true, -1), ops.cast(y_pred[..., :k], "int32"))
        return ops.cast(ops.any(same, axis=-1), config.floatx())
    # Among the k best: fewer than k classes are more probable. A score that isn't finite never is.
    of_truth = ops.take_along_axis(y_pred, ops.expand_dims(y_true, -1), axis=-1)
    better = ops.sum(ops.cast(y_pred > of_truth, "int32"), axis=-1)
    finite = ops.squeeze(ops.isfinite(of_truth), -1)
    return ops.cast(ops.logical_and(better < k, finite), config.floatx())


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the one-hot target's class is among the `k` most probable.

    Args:
        k: number of classes looked at.
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.TopKCategoricalAccuracy(k=2)([[0, 0, 1]], [[0.1, 0.7, 0.2]]))
    1.0
    """

    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(top_k_categorical_accuracy, name=name, dtype=dtype, k=k)
        self.k = k


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the target, a class number, is among the `k` most probable classes.

    Args:
        k: number of classes looked at.
        name, dtype: see `Metric`.
        from_sorted_ids: whether predictions are class numbers, the most probable first.

    >>> from kerata import metrics
    >>> float(metrics.SparseTopKCategoricalAccuracy(k=2)([2], [[0.1, 0.7, 0.2]]))
    1.0
    """

    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None, from_sorted_ids=False):
        super().__init__(
            sparse_top_k_categorical_accuracy, name=name, dtype=dtype, k=k, from_sorted_ids=from_sorted_ids
        )
        self.k = k
        self.from_sorted_ids = from_sorted_ids
