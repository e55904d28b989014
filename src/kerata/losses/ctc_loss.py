"""Connectionist temporal classification."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss


def ctc(y_true, y_pred):
    """Minus the log-likelihood of label sequences under unaligned predictions. Source: Graves et al., 2006.

    Args:
        y_true: label sequences `(batch, length)`, padded with 0, which is the blank.
        y_pred: logits `(batch, time, classes)`.

    Returns:
        Tensor `(batch,)`.

    Raises:
        ValueError: when `y_true` isn't of rank 2 or `y_pred` not of rank 3.

    >>> from kerata import losses, ops
    >>> losses.ctc([[1]], ops.zeros((1, 1, 2)))
    Array([0.6931472], dtype=float32)
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(ops.convert_to_tensor(y_true), "int32")
    if len(y_true.shape) != 2 or len(y_pred.shape) != 3:
        raise ValueError(
            "ctc: y_true must have the shape (batch, length) and y_pred (batch, time, classes), but they are "
            f"{tuple(y_true.shape)} and {tuple(y_pred.shape)}."
        )
    batch, time, _ = ops.shape(y_pred)
    length = ops.shape(y_true)[1]
    whole = ops.ones((batch,), dtype="int32")
    return ops.ctc_loss(y_true, y_pred, whole * length, whole * time, mask_index=0)


class CTC(FunctionLoss):
    """Connectionist temporal classification, for sequences whose alignment isn't known.

    Args:
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses, ops
    >>> round(float(losses.CTC()([[1]], ops.zeros((1, 1, 2)))), 4)
    0.6931
    """

    function = staticmethod(ctc)

    def __init__(self, reduction="sum_over_batch_size", name="ctc", dtype=None):
        super().__init__(name, reduction, dtype)

    def _converted_target(self, x):
        return ops.convert_to_tensor(x)
