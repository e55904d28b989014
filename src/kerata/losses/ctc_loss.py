"""Connectionist temporal classification."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss

BLANK = 0
# Log-probability of what can't be: minus infinity would make gradients NaN.
NEVER = -1e30


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
    time = ops.shape(y_pred)[1]
    log_probabilities = ops.log_softmax(y_pred, axis=-1)
    lengths = ops.sum(ops.cast(ops.not_equal(y_true, BLANK), "int32"), axis=1)
    return -_log_likelihood(y_true, log_probabilities, lengths, time)


def _log_likelihood(labels, log_probabilities, lengths, time):
    """Sum over alignments by the paper's forward recursion, over labels with a blank around each.

    `total[s]` is the log-probability of all beginnings that end in place `s` of the labels with blanks.
    """
    places = 2 * ops.shape(labels)[1] + 1
    around = ops.full_like(labels, BLANK)
    spaced = ops.reshape(ops.stack([around, labels], axis=2), (-1, places - 1))
    spaced = ops.concatenate([spaced, around[:, :1]], axis=1)
    emitted = ops.take_along_axis(log_probabilities, ops.expand_dims(spaced, 1), axis=2)
    place = ops.arange(places, dtype="int32")
    # A blank between two different labels may be left out. Labels stand at odd places.
    skippable = ops.logical_and(ops.equal(place % 2, 1), ops.not_equal(spaced, _moved(spaced, 2, -1)))

    def later(total, emitted_now):
        ways = [total, _moved(total, 1, NEVER), ops.where(skippable, _moved(total, 2, NEVER), NEVER)]
        total = ops.logsumexp(ops.stack(ways, axis=0), axis=0) + emitted_now
        return total, total[:, 0]

    first = ops.where(place < 2, emitted[:, 0], ops.full_like(emitted[:, 0], NEVER))
    total, _ = ops.scan(later, first, ops.transpose(emitted[:, 1:], (1, 0, 2)), length=time - 1)
    # The end is the last label, or the blank after it.
    last = ops.expand_dims(2 * lengths, 1)
    at_end = ops.logical_or(ops.equal(place, last), ops.equal(place, last - 1))
    return ops.logsumexp(ops.where(at_end, total, ops.full_like(total, NEVER)), axis=1)


def _moved(x, by, fill):
    """`x[:, s - by]` at place `s`."""
    return ops.concatenate([ops.full_like(x[:, :by], fill), x[:, :-by]], axis=1)


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
