"""The Huber loss."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable


def huber(y_true, y_pred, delta=1.0):
    """Squared near zero, linear beyond `delta`. Source: Huber, 1964.

    Of an error `e`: `e²/2` where `|e| <= delta`, else `delta * |e| - delta²/2`; the mean over the last axis.

    Args:
        y_true, y_pred: tensors `(batch, …, d)`.
        delta: where the linear part begins.

    Returns:
        Tensor `(batch, …)`.

    >>> from kerata import losses
    >>> losses.huber([[0.0, 0.0]], [[1.0, 3.0]])
    Array([1.5], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    error = ops.abs(y_true - y_pred)
    near = ops.minimum(error, delta)
    # With m = min(|e|, delta) both branches are m * (|e| - m/2).
    return ops.mean(near * (error - 0.5 * near), axis=-1)


class Huber(FunctionLoss):
    """Squared near zero, linear beyond `delta`: less moved by outliers than the squared error. Huber, 1964.

    Args:
        delta: where the linear part begins.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.Huber()([[0.0, 0.0]], [[1.0, 3.0]]))
    1.5
    """

    function = staticmethod(huber)
    _config_unless = {"delta": 1.0, "dtype": "float32"}

    def __init__(self, delta=1.0, reduction="sum_over_batch_size", name="huber_loss", dtype=None):
        super().__init__(name, reduction, dtype, delta=delta)
