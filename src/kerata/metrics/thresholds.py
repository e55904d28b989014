"""Right and wrong answers at each of several thresholds: what the confusion metrics are made of."""

import numpy as np

from kerata import ops
from kerata.core import config
from kerata.losses.reduction import broadcastable, same_rank

# Up to so many comparisons all thresholds are compared at once; above, predictions are sorted into
# bins (measured with 200 thresholds on one CPU core: equal at about 300 predictions).
DIRECT = 1 << 16
# Score of a class that isn't among the top k: below every threshold.
NEVER = -1e10


def confusion_counts(
    y_true, y_pred, thresholds, sample_weight=None, label_weights=None, multi_label=False, dtype="float32"
):
    """Weights of true positives, false positives, true negatives and false negatives at each threshold.

    A prediction is positive when it is greater than the threshold.

    Args:
        y_true: targets; what isn't zero is a positive.
        y_pred: predictions of the same shape (trailing dimension of one aside).
        thresholds: list of floats.
        sample_weight: weights that broadcast to the predictions from the first axis on, or `None`.
        label_weights: a weight for each place of the last axis, or `None`.
        multi_label: whether the last axis is kept.
        dtype: dtype of the result.

    Returns:
        `(tp, fp, tn, fn)`, each `(thresholds,)`, or `(thresholds, labels)` with `multi_label`.
    """
    y_pred = ops.convert_to_tensor(y_pred, dtype=dtype)
    y_true = ops.cast(ops.convert_to_tensor(y_true), "bool")
    y_true, y_pred = same_rank(y_true, y_pred)
    positive, negative = _weights(y_true, y_pred, sample_weight, label_weights, dtype)
    labels = y_pred.shape[-1] if multi_label else 1
    y_pred, positive, negative = (ops.reshape(x, (-1, labels)) for x in (y_pred, positive, negative))
    size = y_pred.shape[0]
    if size is not None and size * labels * len(thresholds) <= DIRECT:
        tp, fp = _by_comparing(y_pred, positive, negative, thresholds, dtype)
    else:
        tp, fp = _by_binning(y_pred, positive, negative, thresholds, dtype)
    # Rounding must not make a count negative.
    tn, fn = (ops.relu(ops.sum(all_, axis=0) - some) for all_, some in ((negative, fp), (positive, tp)))
    return tuple(x if multi_label else ops.squeeze(x, 1) for x in (tp, fp, tn, fn))


def _weights(y_true, y_pred, sample_weight, label_weights, dtype):
    """Weight of each place as a positive and as a negative; one of the two is zero."""
    positive = ops.cast(y_true, dtype)
    weight = None
    if sample_weight is not None:
        weight = broadcastable(ops.convert_to_tensor(sample_weight, dtype=dtype), y_pred)
    if label_weights is not None:
        label_weights = ops.convert_to_tensor(label_weights, dtype=dtype)
        weight = label_weights if weight is None else weight * label_weights
    if weight is None:
        return positive, 1.0 - positive
    return weight * positive, weight * (1.0 - positive)


def _by_comparing(y_pred, positive, negative, thresholds, dtype):
    limits = ops.reshape(ops.convert_to_tensor(np.array(thresholds), dtype=dtype), (-1, 1, 1))
    over = ops.cast(ops.expand_dims(y_pred, 0) > limits, dtype)
    return ops.sum(over * positive, axis=1), ops.sum(over * negative, axis=1)


def _by_binning(y_pred, positive, negative, thresholds, dtype):
    """Weights summed by the number of thresholds that a prediction exceeds; tails of that are counts."""
    number = len(thresholds)
    order = np.argsort(thresholds, kind="stable")
    labels = y_pred.shape[1]
    limits = ops.convert_to_tensor(np.array(thresholds)[order], dtype=dtype)
    exceeded = ops.reshape(ops.searchsorted(limits, ops.reshape(y_pred, (-1,)), side="left"), (-1, labels))
    bins = ops.cast(exceeded, "int32") + ops.arange(labels, dtype="int32") * (number + 1)
    weights = ops.stack([ops.reshape(positive, (-1,)), ops.reshape(negative, (-1,))], axis=1)
    sums = ops.segment_sum(weights, ops.reshape(bins, (-1,)), num_segments=labels * (number + 1))
    sums = ops.reshape(sums, (labels, number + 1, 2))
    tails = ops.flip(ops.cumsum(ops.flip(sums, axis=1), axis=1), axis=1)[:, 1:]
    places = np.argsort(order, kind="stable").astype("int32")
    if not np.array_equal(places, np.arange(number)):
        tails = ops.take(tails, places, axis=1)
    return ops.transpose(tails[..., 0]), ops.transpose(tails[..., 1])


def checked_thresholds(thresholds, default, owner):
    """Thresholds as a list of floats in [0, 1] (or the default alone).

    Raises:
        ValueError: for one out of range.
    """
    if thresholds is None:
        return [default]
    listed = list(thresholds) if isinstance(thresholds, (list, tuple, np.ndarray)) else [thresholds]
    wrong = [t for t in listed if t is None or not 0 <= t <= 1]
    if wrong:
        raise ValueError(f"{owner}: Threshold values must be in [0, 1]. Received: {wrong}")
    return [float(t) for t in listed]


def even_thresholds(number):
    """`number` thresholds from just below 0 to just above 1, evenly spaced between."""
    inner = [i / (number - 1) for i in range(1, number - 1)]
    return [-config.epsilon(), *inner, 1.0 + config.epsilon()]


def only_class(y_true, y_pred, sample_weight, class_id):
    """Targets and predictions of one class (and its weights, where each place has one)."""
    y_true, y_pred = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
    if class_id is None:
        return y_true, y_pred, sample_weight
    if len(y_pred.shape) < 2:
        raise ValueError(
            f"With `class_id` predictions must have the shape (samples, classes), not {tuple(y_pred.shape)}."
        )
    y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    if sample_weight is not None:
        sample_weight = ops.convert_to_tensor(sample_weight)
        if len(sample_weight.shape) == len(y_pred.shape) + 1 and sample_weight.shape[-1] != 1:
            sample_weight = sample_weight[..., class_id]
    return y_true, y_pred, sample_weight


def only_top_k(y_pred, k):
    """Predictions with all but the `k` greatest of the last axis made smaller than any threshold."""
    y_pred = ops.convert_to_tensor(y_pred)
    _, places = ops.top_k(y_pred, k, sorted=False)
    kept = ops.sum(ops.one_hot(places, y_pred.shape[-1], dtype=y_pred.dtype), axis=-2)
    return y_pred * kept + NEVER * (1.0 - kept)
