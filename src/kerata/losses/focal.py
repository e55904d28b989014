"""Focal crossentropies: what is classified well already counts less."""

from kerata import ops
from kerata.core import config
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def binary_focal_crossentropy(
    y_true,
    y_pred,
    apply_class_balancing=False,
    alpha=0.25,
    gamma=2.0,
    from_logits=False,
    label_smoothing=0.0,
    axis=-1,
):
    """Binary crossentropy times `(1 - p)**gamma`, `p` being the truth's probability. Lin et al., 2017.

    Args:
        y_true: targets, 0 and 1.
        y_pred: probabilities, or logits.
        apply_class_balancing: whether to weigh ones by `alpha` and zeros by `1 - alpha`.
        alpha: weight of the ones.
        gamma: focusing exponent.
        from_logits: whether `y_pred` are logits.
        label_smoothing: how far, from 0 to 1, targets are moved towards 1/2.
        axis: axis of the mean.

    Returns:
        Tensor without that axis.

    >>> from kerata import losses
    >>> losses.binary_focal_crossentropy([[1.0]], [[0.5]])
    Array([0.1732868], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    values = ops.binary_crossentropy(y_true, y_pred, from_logits=from_logits)
    p = ops.sigmoid(y_pred) if from_logits else y_pred
    of_truth = y_true * p + (1.0 - y_true) * (1.0 - p)
    values = ops.power(1.0 - of_truth, gamma) * values
    if apply_class_balancing:
        values = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * values
    return ops.mean(values, axis=axis)


def categorical_focal_crossentropy(
    y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
):
    """Categorical crossentropy times `alpha * (1 - p)**gamma`, class by class. Lin et al., 2017.

    Args:
        y_true: one-hot targets.
        y_pred: probabilities or logits of the same shape.
        alpha: weight, a number or one for each class.
        gamma: focusing exponent.
        from_logits: whether `y_pred` are logits.
        label_smoothing: how far, from 0 to 1, targets are moved towards the uniform distribution.
        axis: axis of the classes.

    Returns:
        Tensor without that axis.

    >>> from kerata import losses
    >>> losses.categorical_focal_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
    Array([0.0433217], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / ops.shape(y_pred)[axis]
    p = ops.softmax(y_pred, axis=axis) if from_logits else y_pred
    p = ops.clip(p / ops.sum(p, axis=axis, keepdims=True), config.epsilon(), 1.0 - config.epsilon())
    weight = ops.power(1.0 - p, gamma) * ops.convert_to_tensor(alpha, dtype=p.dtype)
    return ops.sum(-weight * y_true * ops.log(p), axis=axis)


class BinaryFocalCrossentropy(FunctionLoss):
    """Focal crossentropy of yes-or-no targets. Source: Lin et al., 2017.

    Args:
        apply_class_balancing: whether to weigh ones by `alpha` and zeros by `1 - alpha`.
        alpha: weight of the ones.
        gamma: focusing exponent.
        from_logits: whether predictions are logits rather than probabilities.
        label_smoothing: how far, from 0 to 1, targets are moved towards 1/2.
        axis: axis of the mean.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> round(float(losses.BinaryFocalCrossentropy()([[1.0]], [[0.5]])), 4)
    0.1733
    """

    function = staticmethod(binary_focal_crossentropy)

    def __init__(
        self,
        apply_class_balancing=False,
        alpha=0.25,
        gamma=2.0,
        from_logits=False,
        label_smoothing=0.0,
        axis=-1,
        reduction="sum_over_batch_size",
        name="binary_focal_crossentropy",
        dtype=None,
    ):
        super().__init__(name, reduction, dtype)
        self.apply_class_balancing = apply_class_balancing
        self.alpha = alpha
        self.gamma = gamma
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


class CategoricalFocalCrossentropy(FunctionLoss):
    """Focal crossentropy of one-hot targets. Source: Lin et al., 2017.

    Args:
        alpha: weight, a number or one for each class.
        gamma: focusing exponent.
        from_logits: whether predictions are logits rather than probabilities.
        label_smoothing: how far, from 0 to 1, targets are moved towards the uniform distribution.
        axis: axis of the classes.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> round(float(losses.CategoricalFocalCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]])), 4)
    0.0433
    """

    function = staticmethod(categorical_focal_crossentropy)

    def __init__(
        self,
        alpha=0.25,
        gamma=2.0,
        from_logits=False,
        label_smoothing=0.0,
        axis=-1,
        reduction="sum_over_batch_size",
        name="categorical_focal_crossentropy",
        dtype=None,
    ):
        super().__init__(name, reduction, dtype)
        self.alpha = alpha
        self.gamma = gamma
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis
