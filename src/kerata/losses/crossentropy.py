"""Crossentropies."""

import warnings

from kerata import ops
from kerata.core import errors
from kerata.core.masks import set_mask
from kerata.losses.function_loss import FunctionLoss
from kerata.losses.reduction import comparable, same_rank


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """Minus the log-likelihood of yes-or-no targets, the mean over `axis`.

    Args:
        y_true: targets, 0 and 1 or anything between.
        y_pred: probabilities, or logits.
        from_logits: whether `y_pred` are logits (better conditioned).
        label_smoothing: how far, from 0 to 1, targets are moved towards 1/2.
        axis: axis of the mean.

    Returns:
        Tensor without that axis.

    >>> from kerata import losses
    >>> losses.binary_crossentropy([[1.0, 0.0]], [[0.5, 0.5]])
    Array([0.6931472], dtype=float32)
    """
    y_true, y_pred = comparable(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return ops.mean(ops.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=axis)


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """Minus the log-likelihood of one-hot targets.

    Args:
        y_true: distributions over `axis`, mostly one-hot.
        y_pred: probabilities or logits of the same shape.
        from_logits: whether `y_pred` are logits (better conditioned).
        label_smoothing: how far, from 0 to 1, targets are moved towards the uniform distribution.
        axis: axis of the classes.

    Returns:
        Tensor without that axis.

    Raises:
        ValueError: when the shapes differ, or `axis` is no integer.

    >>> from kerata import losses
    >>> losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
    Array([0.6931472], dtype=float32)
    """
    axis = errors.integer(axis, "axis", "categorical_crossentropy")
    y_true, y_pred = comparable(y_true, y_pred)
    classes = y_pred.shape[axis]
    if classes == 1:
        warnings.warn(
            f"categorical_crossentropy: with a single class (shape of y_pred: {tuple(y_pred.shape)}) the "
            "loss is always "
            "zero. For yes-or-no targets there is 'binary_crossentropy'.",
            SyntaxWarning,
            stacklevel=2,
        )
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / ops.shape(y_pred)[axis]
    return ops.categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """Minus the log-likelihood of class numbers.

    Args:
        y_true: class numbers `(batch, …)`, a trailing dimension of one being dropped.
        y_pred: probabilities or logits `(batch, …, classes)`.
        from_logits: whether `y_pred` are logits (better conditioned).
        ignore_class: class number whose places have loss zero and don't count in means, or `None`.
        axis: axis of the classes.

    Returns:
        Tensor without that axis.

    Raises:
        ValueError: when the shapes don't fit, or `axis` is no integer.

    >>> from kerata import losses
    >>> losses.sparse_categorical_crossentropy([1], [[0.5, 0.5]])
    Array([0.6931472], dtype=float32)
    """
    values, valid = masked_sparse_categorical_crossentropy(y_true, y_pred, from_logits, ignore_class, axis)
    if valid is not None:
        set_mask(values, valid)
    return values


def masked_sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """`sparse_categorical_crossentropy`, and the mask of what counts (`None`: all)."""
    axis = errors.integer(axis, "axis", "sparse_categorical_crossentropy")
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(ops.convert_to_tensor(y_true), "int32")
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = ops.squeeze(y_true, -1)
    if ignore_class is None:
        return ops.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis), None
    valid = ops.not_equal(y_true, ignore_class)
    values = ops.sparse_categorical_crossentropy(
        ops.where(valid, y_true, ops.zeros_like(y_true)), y_pred, from_logits=from_logits, axis=axis
    )
    valid, values = same_rank(valid, values)
    return ops.where(valid, values, ops.zeros_like(values)), valid


class BinaryCrossentropy(FunctionLoss):
    """Crossentropy of yes-or-no targets.

    Args:
        from_logits: whether predictions are logits (better conditioned) rather than probabilities.
        label_smoothing: how far, from 0 to 1, targets are moved towards 1/2.
        axis: axis of the mean.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.BinaryCrossentropy(from_logits=True)([[1.0], [0.0]], [[40.0], [-40.0]])) < 1e-6
    True
    """

    function = staticmethod(binary_crossentropy)

    def __init__(
        self,
        from_logits=False,
        label_smoothing=0.0,
        axis=-1,
        reduction="sum_over_batch_size",
        name="binary_crossentropy",
        dtype=None,
    ):
        super().__init__(name, reduction, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


class CategoricalCrossentropy(FunctionLoss):
    """Crossentropy of one-hot targets.

    Args:
        from_logits: whether predictions are logits (better conditioned) rather than probabilities.
        label_smoothing: how far, from 0 to 1, targets are moved towards the uniform distribution.
        axis: axis of the classes.
        reduction, name, dtype: see `Loss`.

    >>> from kerata import losses
    >>> float(losses.CategoricalCrossentropy()([[0.0, 1.0]], [[0.0, 1.0]])) < 1e-6
    True
    """

    function = staticmethod(categorical_crossentropy)

    def __init__(
        self,
        from_logits=False,
        label_smoothing=0.0,
        axis=-1,
        reduction="sum_over_batch_size",
        name="categorical_crossentropy",
        dtype=None,
    ):
        super().__init__(name, reduction, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


class SparseCategoricalCrossentropy(FunctionLoss):
    """Crossentropy of targets that are class numbers.

    Args:
        from_logits: whether predictions are logits (better conditioned) rather than probabilities.
        ignore_class: class number whose places don't count, or `None`.
        reduction, name, dtype: see `Loss`.
        axis: axis of the classes.

    >>> from kerata import losses
    >>> float(losses.SparseCategoricalCrossentropy()([1], [[0.0, 1.0]])) < 1e-6
    True
    """

    function = staticmethod(sparse_categorical_crossentropy)

    def __init__(
        self,
        from_logits=False,
        ignore_class=None,
        reduction="sum_over_batch_size",
        axis=-1,
        name="sparse_categorical_crossentropy",
        dtype=None,
    ):
        super().__init__(name, reduction, dtype)
        self.from_logits = from_logits
        self.ignore_class = ignore_class
        self.axis = axis

    def _converted_target(self, x):
        # Class numbers stay integers: half precision counts exactly only to 256.
        return ops.convert_to_tensor(x)

    def _masked_call(self, y_true, y_pred):
        if type(self).call is not FunctionLoss.call:
            return super()._masked_call(y_true, y_pred)
        return masked_sparse_categorical_crossentropy(y_true, y_pred, self.from_logits, self.ignore_class, self.axis)
