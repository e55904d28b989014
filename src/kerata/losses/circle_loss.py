"""The circle loss on embeddings."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss


def circle(y_true, y_pred, ref_labels=None, ref_embeddings=None, remove_diagonal=True, gamma=80, margin=0.4):
    """Pulls embeddings of one class together, pushes others apart, each pair at its pace. Sun et al., 2020.

    Args:
        y_true: class numbers `(batch,)` or `(batch, 1)`.
        y_pred: embeddings `(batch, d)` of unit length.
        ref_labels, ref_embeddings: what to compare with; `None`: the batch itself.
        remove_diagonal: whether a sample compared with itself is left out.
        gamma: scale.
        margin: how far from the ideal similarities 1 and 0 a pair may be.

    Returns:
        Tensor `(batch,)`; zero for samples without a positive or without a negative.

    >>> from kerata import losses
    >>> losses.circle([0, 1], [[1.0, 0.0], [0.0, 1.0]])
    Array([0., 0.], dtype=float32)
    """
    return _circle(y_true, y_pred, ref_labels, ref_embeddings, remove_diagonal, gamma, margin)[0]


def _circle(y_true, y_pred, ref_labels, ref_embeddings, remove_diagonal, gamma, margin):
    """The losses, and which samples have both a positive and a negative."""
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(ops.convert_to_tensor(y_true), "int32")
    labels = ops.reshape(y_true, (-1,))
    ref_labels = labels if ref_labels is None else ops.reshape(ops.cast(ref_labels, "int32"), (-1,))
    ref_embeddings = y_pred if ref_embeddings is None else ops.convert_to_tensor(ref_embeddings, y_pred.dtype)

    similarity = ops.matmul(y_pred, ops.transpose(ref_embeddings))
    same = ops.equal(ops.expand_dims(labels, 1), ops.expand_dims(ref_labels, 0))
    positive, negative = same, ops.logical_not(same)
    if remove_diagonal:
        rows, columns = ops.shape(similarity)
        positive = ops.logical_and(positive, ops.logical_not(ops.cast(ops.eye(rows, columns), "bool")))

    # Pairs far from their optimum (1 + margin, -margin) pull harder. (The gradient goes through the pace
    # too, as in Keras.)
    pull = ops.relu((1.0 + margin) - similarity)
    push = ops.relu(similarity + margin)
    pulled = _log_sum_exp(-gamma * pull * (similarity - (1.0 - margin)), positive)
    pushed = _log_sum_exp(gamma * push * (similarity - margin), negative)
    usable = ops.logical_and(ops.any(positive, axis=1), ops.any(negative, axis=1))
    joint = ops.where(usable, pulled + pushed, ops.zeros_like(pulled))
    return ops.where(usable, ops.softplus(joint), ops.zeros_like(pulled)), usable


def _log_sum_exp(x, where):
    """Over the places of each row where `where` holds; a row without any gives a very small number."""
    return ops.logsumexp(ops.where(where, x, ops.full_like(x, -1e30)), axis=1)


class Circle(FunctionLoss):
    """Circle loss on L2-normalized embeddings. Source: Sun et al., 2020.

    Args:
        gamma: scale.
        margin: how far from the ideal similarities 1 and 0 a pair may be.
        remove_diagonal: whether a sample compared with itself is left out.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.Circle()([0, 1], [[1.0, 0.0], [0.0, 1.0]]))
    0.0
    """

    function = staticmethod(circle)

    def __init__(
        self,
        gamma=80.0,
        margin=0.4,
        remove_diagonal=True,
        reduction="sum_over_batch_size",
        name="circle",
        dtype=None,
    ):
        super().__init__(name, reduction, dtype)
        self.gamma = gamma
        self.margin = margin
        self.remove_diagonal = remove_diagonal

    def _converted_target(self, x):
        return ops.convert_to_tensor(x)

    def _masked_call(self, y_true, y_pred):
        # Samples that take part in no pair count in no mean.
        return _circle(y_true, y_pred, None, None, self.remove_diagonal, self.gamma, self.margin)
