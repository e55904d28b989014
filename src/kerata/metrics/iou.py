"""Intersection over union of classes, for segmentation."""

from kerata import ops
from kerata.core import errors
from kerata.losses.reduction import broadcastable
from kerata.metrics.metric import Metric


class IoU(Metric):
    """Mean over some classes of `tp / (tp + fp + fn)`.

    Args:
        num_classes: number of classes.
        target_class_ids: the classes that count.
        name: see `Metric`.
        dtype: dtype of the counts; `None`: an integer one, to which sample weights are cast too.
        ignore_class: class number of targets that don't count, or `None`.
        sparse_y_true, sparse_y_pred: whether targets and predictions are class numbers (else: scores over
            `axis`).
        axis: axis of the classes where they are scores.

    Raises:
        ValueError: for a target class that there isn't.

    >>> from kerata import metrics
    >>> round(float(metrics.IoU(2, [0])([0, 0, 1, 1], [0, 1, 0, 1])), 4)
    0.3333
    """

    def __init__(
        self,
        num_classes,
        target_class_ids,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_true=True,
        sparse_y_pred=True,
        axis=-1,
    ):
        super().__init__(name=name, dtype=dtype or "int32")
        owner = type(self).__name__
        self.num_classes = errors.positive_int(num_classes, "num_classes", owner)
        if max(target_class_ids) >= num_classes:
            raise ValueError(
                f"{owner}: Target class id {max(target_class_ids)} is out of range, which is [0, {num_classes})."
            )
        self.target_class_ids = list(target_class_ids)
        self.ignore_class = ignore_class
        self.sparse_y_true = sparse_y_true
        self.sparse_y_pred = sparse_y_pred
        self.axis = axis
        self.total_confusion_matrix = self.add_variable(
            (num_classes, num_classes), "zeros", name="total_confusion_matrix"
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account.

        Args:
            y_true: targets.
            y_pred: predictions.
            sample_weight: weights that broadcast to the targets from the first axis on, or `None`.
        """
        y_true, y_pred = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
        if not self.sparse_y_true:
            y_true = ops.argmax(y_true, axis=self.axis)
        if not self.sparse_y_pred:
            y_pred = ops.argmax(y_pred, axis=self.axis)
        self._count(y_true, y_pred, sample_weight)

    def _count(self, y_true, y_pred, sample_weight):
        """Add to the confusion matrix: rows are targets, columns predictions."""
        weight = ops.ones(ops.shape(y_true), dtype=self.dtype)
        if sample_weight is not None:
            weight = weight * broadcastable(ops.cast(ops.convert_to_tensor(sample_weight), self.dtype), y_true)
        y_true, y_pred, weight = (ops.reshape(x, (-1,)) for x in (y_true, y_pred, weight))
        y_true, y_pred = ops.cast(y_true, "int32"), ops.cast(y_pred, "int32")
        if self.ignore_class is not None:
            counts = ops.not_equal(y_true, int(self.ignore_class))
            y_true = ops.where(counts, y_true, ops.zeros_like(y_true))
            weight = weight * ops.cast(counts, self.dtype)
        number = self.num_classes
        matrix = ops.segment_sum(weight, y_true * number + y_pred, num_segments=number * number)
        self.total_confusion_matrix.assign(self.total_confusion_matrix.value + ops.reshape(matrix, (number, number)))

    def result(self):
        """Mean over the target classes that occur at all."""
        matrix = ops.cast(self.total_confusion_matrix.value, "float32")
        hits = ops.diagonal(matrix)
        union = ops.sum(matrix, axis=0) + ops.sum(matrix, axis=1) - hits
        ids = self.target_class_ids
        hits, union = (ops.take(x, ids, axis=0) for x in (hits, union))
        occurring = ops.sum(ops.cast(union > 0, "float32"))
        return ops.divide_no_nan(ops.sum(ops.divide_no_nan(hits, union)), occurring)

    def reset_state(self):
        variable = self.total_confusion_matrix
        variable.assign(ops.zeros(variable.shape, dtype=variable.dtype))


class BinaryIoU(IoU):
    """Intersection over union of the two classes of a yes-or-no prediction.

    Args:
        target_class_ids: the classes that count, out of 0 and 1.
        threshold: predictions at or above it are 1.
        name, dtype: see `IoU`.

    >>> from kerata import metrics
    >>> round(float(metrics.BinaryIoU([0, 1], 0.3)([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7])), 4)
    0.3333
    """

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(num_classes=2, target_class_ids=target_class_ids, name=name, dtype=dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account; arguments as of `IoU.update_state`."""
        y_pred = ops.convert_to_tensor(y_pred)
        super().update_state(y_true, ops.cast(y_pred >= self.threshold, "int32"), sample_weight)


class MeanIoU(IoU):
    """Mean of intersection over union of all classes.

    Args:
        num_classes: number of classes.
        name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis: see `IoU`.

    >>> from kerata import metrics
    >>> round(float(metrics.MeanIoU(2)([0, 0, 1, 1], [0, 1, 0, 1])), 4)
    0.3333
    """

    def __init__(
        self,
        num_classes,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_true=True,
        sparse_y_pred=True,
        axis=-1,
    ):
        super().__init__(
            num_classes=num_classes,
            target_class_ids=list(range(num_classes)),
            name=name,
            dtype=dtype,
            ignore_class=ignore_class,
            sparse_y_true=sparse_y_true,
            sparse_y_pred=sparse_y_pred,
            axis=axis,
        )


class OneHotIoU(IoU):
    """`IoU` of one-hot targets.

    Args:
        num_classes: number of classes.
        target_class_ids: the classes that count.
        name, dtype, ignore_class, sparse_y_pred, axis: see `IoU`.

    >>> from kerata import metrics
    >>> y_true, y_pred = [[1, 0], [1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]]
    >>> float(metrics.OneHotIoU(2, [0])(y_true, y_pred))
    0.5
    """

    def __init__(
        self,
        num_classes,
        target_class_ids,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_pred=False,
        axis=-1,
    ):
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)


class OneHotMeanIoU(MeanIoU):
    """`MeanIoU` of one-hot targets.

    Args:
        num_classes: number of classes.
        name, dtype, ignore_class, sparse_y_pred, axis: see `IoU`.

    >>> from kerata import metrics
    >>> y_true, y_pred = [[1, 0], [1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]]
    >>> float(metrics.OneHotMeanIoU(2)(y_true, y_pred))
    0.5
    """

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)
