"""Losses by overlap of regions, for segmentation."""

from kerata import ops
from kerata.core import config
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def dice(y_true, y_pred, axis=None):
    """`1 - 2 * |A ∩ B| / (|A| + |B|)` of regions with soft edges. Source: Milletari et al., 2016.

    Args:
        y_true, y_pred: tensors of values in [0, 1].
        axis: axes over which a region extends; `None`: all.

    Returns:
        Tensor without those axes.

    >>> from kerata import losses
    >>> round(float(losses.dice([[1.0, 1.0]], [[1.0, 0.0]])), 4)
    0.3333
    """
    y_true, y_pred = comparable(y_true, y_pred)
    both = ops.sum(y_true * y_pred, axis=axis)
    sizes = ops.sum(y_true, axis=axis) + ops.sum(y_pred, axis=axis)
    return 1.0 - ops.divide(2.0 * both, sizes + config.epsilon())


def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """`1 - |A ∩ B| / (|A ∩ B| + alpha * |A - B| + beta * |B - A|)`, `A` being the truth. Salehi et al., 2017.

    Args:
        y_true, y_pred: tensors of values in [0, 1].
        alpha: weight of what is missed (false negatives), as in Keras.
        beta: weight of what is found in vain (false positives).
        axis: axes over which a region extends; `None`: all.

    Returns:
        Tensor without those axes.

    >>> from kerata import losses
    >>> round(float(losses.tversky([[1.0, 1.0]], [[1.0, 0.0]])), 4)
    0.3333
    """
    y_true, y_pred = comparable(y_true, y_pred)
    both = ops.sum(y_true * y_pred, axis=axis)
    false_positive = ops.sum((1.0 - y_true) * y_pred, axis=axis)
    false_negative = ops.sum(y_true * (1.0 - y_pred), axis=axis)
    union = both + alpha * false_negative + beta * false_positive
    return 1.0 - both / (union + config.epsilon())


class Dice(FunctionLoss):
    """One minus the Dice coefficient of two regions.

    Args:
        reduction, name, dtype: see `Loss`.
        axis: axes over which a region extends; `None`: all.

    >>> from kerata import losses
    >>> round(float(losses.Dice()([[1.0, 1.0]], [[1.0, 0.0]])), 4)
    0.3333
    """

    function = staticmethod(dice)

    def __init__(self, reduction="sum_over_batch_size", name="dice", axis=None, dtype=None):
        super().__init__(name, reduction, dtype, axis=axis)


class Tversky(FunctionLoss):
    """One minus the Tversky index of two regions; `alpha` and `beta` weigh the two kinds of mistake.

    Args:
        alpha: weight of what is missed (false negatives), as in Keras.
        beta: weight of what is found in vain (false positives).
        reduction, name, dtype: see `Loss`.
        axis: axes over which a region extends; `None`: all.

    >>> from kerata import losses
    >>> round(float(losses.Tversky()([[1.0, 1.0]], [[1.0, 0.0]])), 4)
    0.3333
    """

    function = staticmethod(tversky)

    def __init__(self, alpha=0.5, beta=0.5, reduction="sum_over_batch_size", name="tversky", axis=None, dtype=None):
        super().__init__(name, reduction, dtype, alpha=alpha, beta=beta, axis=axis)
