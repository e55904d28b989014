"""The cosine between targets and predictions."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def cosine_similarity(y_true, y_pred, axis=-1):
    """Minus the cosine of the angle between targets and predictions: -1 for the same direction.

    Args:
        y_true, y_pred: tensors.
        axis: axis along which the vectors lie.

    Returns:
        Tensor without that axis. A zero vector has cosine 0.

    >>> from kerata import losses
    >>> losses.cosine_similarity([[1.0, 0.0]], [[0.0, 2.0]]) + 0.0
    Array([0.], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    y_true, y_pred = (ops.normalize(y, axis=axis) for y in (y_true, y_pred))
    return -ops.sum(y_true * y_pred, axis=axis)


class CosineSimilarity(FunctionLoss):
    """Minus the cosine of the angle between targets and predictions.

    Args:
        axis: axis along which the vectors lie.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> round(float(losses.CosineSimilarity()([[1.0, 1.0]], [[2.0, 2.0]])), 4)
    -1.0
    """

    function = staticmethod(cosine_similarity)

    def __init__(self, axis=-1, reduction="sum_over_batch_size", name="cosine_similarity", dtype=None):
        super().__init__(name, reduction, dtype, axis=axis)
