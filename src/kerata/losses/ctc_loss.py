"""Connectionist temporal classification."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss

BLANK = 0


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
    y_true, y_pred = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
    if len(y_true.shape) != 2 or len(y_pred.shape) != 3:
        raise ValueError(
            "ctc: y_true must have the shape (batch, length) and y_pred (batch, time, classes), but they are "
            f"{tuple(y_true.shape)} and {tuple(y_pred.shape)}."
        )
    lengths = ops.sum(ops.cast(ops.not_equal(y_true, BLANK), "int32"), axis=1)
    times = ops.full_like(lengths, ops.shape(y_pred)[1])
    return ops.ctc_loss(y_true, y_pred, lengths, times, BLANK)


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
