"""How often predictions are right."""

from kerata import ops
from kerata.core import config
from kerata.losses.reduction import comparable, same_rank
from kerata.metrics.mean import MeanMetricWrapper


def accuracy(y_true, y_pred):
    """Whether prediction and target are equal.

    Args:
        y_true, y_pred: tensors of one shape.

    Returns:
        Tensor of that shape of zeros and ones.

    >>> from kerata.metrics.accuracy import accuracy
    >>> accuracy([[1, 2]], [[1, 3]])
    Array([[1., 0.]], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    return _as_float(ops.equal(y_true, y_pred))


def binary_accuracy(y_true, y_pred, threshold=0.5):
    """Whether the prediction is on the target's side of the threshold.

    Args:
        y_true: targets, 0 and 1.
        y_pred: predictions of the same shape.
        threshold: above it a prediction is a 1.

    Returns:
        Tensor of that shape of zeros and ones.

    >>> from kerata import metrics
    >>> metrics.binary_accuracy([[1, 0]], [[0.6, 0.6]])
    Array([[1., 0.]], dtype=float32)
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.convert_to_tensor(y_true)
    y_true, y_pred = same_rank(y_true, y_pred)
    if ops.dtype(y_pred) == "bool":
        y_pred = ops.cast(y_pred, config.floatx())
    predicted = ops.cast(y_pred > threshold, ops.dtype(y_true))
    return _as_float(ops.equal(y_true, predicted))


def categorical_accuracy(y_true, y_pred):
    """Whether the most probable class is the target's.

    Args:
        y_true: one-hot targets `(batch, …, classes)`.
        y_pred: predictions of the same shape.

    Returns:
        Tensor `(batch, …)` of zeros and ones.

    >>> from kerata import metrics
    >>> metrics.categorical_accuracy([[0, 1]], [[0.1, 0.9]])
    Array([1.], dtype=float32)
    """
    y_true, y_pred = (ops.convert_to_tensor(y) for y in (y_true, y_pred))
    return _as_float(ops.equal(ops.argmax(y_true, axis=-1), ops.argmax(y_pred, axis=-1)))


def sparse_categorical_accuracy(y_true, y_pred):
    """Whether the most probable class is the target.

    Args:
        y_true: class numbers `(batch, …)`, or with a trailing dimension of one.
        y_pred: predictions `(batch, …, classes)`.

    Returns:
        Tensor `(batch, …)` of zeros and ones.

    >>> from kerata import metrics
    >>> metrics.sparse_categorical_accuracy([1], [[0.1, 0.9]])
    Array([1.], dtype=float32)
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = without_last_one(ops.convert_to_tensor(y_true), y_pred)
    best = ops.argmax(y_pred, axis=-1)
    return _as_float(ops.equal(ops.cast(y_true, "int32"), ops.cast(best, "int32")))


def without_last_one(y_true, y_pred):
    """Class numbers without the trailing dimension of one that gives them the predictions' rank."""
    rank = len(y_true.shape)
    if rank and rank == len(y_pred.shape) and y_true.shape[-1] == 1:
        return ops.squeeze(y_true, -1)
    return y_true


def _as_float(x):
    return ops.cast(x, config.floatx())


class Accuracy(MeanMetricWrapper):
    """How often predictions equal targets.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.Accuracy()([[1], [2]], [[1], [3]]))
    0.5
    """

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(accuracy, name=name, dtype=dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on the target's side of a threshold.

    Args:
        name, dtype: see `Metric`.
        threshold: in [0, 1].

    Raises:
        ValueError: for a threshold out of range.

    >>> from kerata import metrics
    >>> float(metrics.BinaryAccuracy()([[1], [0]], [[0.6], [0.6]]))
    0.5
    """

    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"BinaryAccuracy: `threshold` must be in the range [0, 1], but {threshold!r} was given.")
        super().__init__(binary_accuracy, name=name, dtype=dtype, threshold=threshold)
        self.threshold = threshold


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the most probable class is that of the one-hot target.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.CategoricalAccuracy()([[0, 1]], [[0.1, 0.9]]))
    1.0
    """

    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(categorical_accuracy, name=name, dtype=dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the most probable class is the target, a class number.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.SparseCategoricalAccuracy()([1], [[0.1, 0.9]]))
    1.0
    """

    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(sparse_categorical_accuracy, name=name, dtype=dtype)


def kind_of_classification(y_true_shape, y_pred_shape):
    """`"binary"`, `"sparse_categorical"` or `"categorical"`, told from the shapes of targets and predictions.

    >>> from kerata.metrics.accuracy import kind_of_classification
    >>> kind_of_classification((None,), (None, 10))
    'sparse_categorical'
    """
    classes = y_pred_shape[-1] if len(y_pred_shape) else None
    if len(y_pred_shape) < 2 or classes == 1:
        return "binary"
    if len(y_true_shape) < len(y_pred_shape) or y_true_shape[-1] == 1:
        return "sparse_categorical"
    return "categorical"


def resolve_accuracy(y_true_shape, y_pred_shape):
    """The class that `"accuracy"` stands for with targets and predictions of these shapes.

    >>> from kerata.metrics.accuracy import resolve_accuracy
    >>> resolve_accuracy((None, 1), (None, 1)).__name__
    'BinaryAccuracy'
    """
    return {
        "binary": BinaryAccuracy,
        "sparse_categorical": SparseCategoricalAccuracy,
        "categorical": CategoricalAccuracy,
    }[kind_of_classification(y_true_shape, y_pred_shape)]
