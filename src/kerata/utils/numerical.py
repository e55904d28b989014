"""Labels and vectors, made ready for a model."""

import numpy as np

from kerata import backends, ops


def to_categorical(x, num_classes=None):
    """Class numbers as one-hot rows.

    Args:
        x: integers from 0 to `num_classes - 1`, of any shape. A last axis of length 1 is dropped.
        num_classes: number of classes; the greatest number in `x` plus one unless given.

    Returns:
        Array with one more axis at the end, float64; for a tensor of the current backend a tensor of that.

    >>> import kerata
    >>> kerata.utils.to_categorical([0, 2], num_classes=3)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    if backends.current().is_tensor(x):
        return _one_hot_tensor(x, num_classes)
    labels = np.asarray(x)
    if labels.dtype.kind not in "biuf":
        labels = labels.astype("int64")  # says what it can't convert
    labels = labels.astype("int64")
    shape = labels.shape[:-1] if labels.ndim > 1 and labels.shape[-1] == 1 else labels.shape
    if not num_classes:
        if not labels.size:
            raise ValueError(
                "to_categorical: there are no labels to tell the number of classes from; give `num_classes`."
            )
        num_classes = int(labels.max()) + 1
    labels = labels.reshape(-1)
    if labels.size and (labels.min() < 0 or labels.max() >= num_classes):
        raise IndexError(
            f"to_categorical: labels must lie between 0 and {num_classes - 1} for {num_classes} classes, but "
            f"they go from {labels.min()} to {labels.max()}."
        )
    rows = np.zeros((labels.size, num_classes))
    rows[np.arange(labels.size), labels] = 1
    return rows.reshape(*shape, num_classes)


def _one_hot_tensor(x, num_classes):
    shape = ops.shape(x)
    if len(shape) > 1 and shape[-1] == 1:
        x = ops.squeeze(x, -1)
    if not num_classes:
        num_classes = int(backends.current().to_numpy(x).max()) + 1
    return ops.one_hot(x, num_classes)


def normalize(x, axis=-1, order=2):
    """Vectors divided by their length.

    Args:
        x: array (then a NumPy array is returned) or tensor.
        axis: axis along which the vectors lie.
        order: which norm: 2 for the Euclidean length, 1 for the sum of the absolute values, ...

    Returns:
        `x` with vectors of length 1, those of length 0 as they are.

    >>> import numpy as np, kerata
    >>> kerata.utils.normalize(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    if not isinstance(order, (int, float)) or isinstance(order, bool):
        raise ValueError(f"normalize: `order` must be a number such as 1 or 2, but {order!r} was given.")
    if isinstance(x, np.ndarray):
        length = np.atleast_1d(np.linalg.norm(x, order, axis))
        # One vector comes back as a row of a matrix, as in Keras.
        return x / np.expand_dims(np.where(length == 0, 1, length), axis)
    length = ops.norm(x, ord=order, axis=axis, keepdims=True)
    return ops.divide(x, ops.where(ops.equal(length, 0), ops.ones_like(length), length))
