"""Gradients of lookups, which have values for some rows only: `tf.IndexedSlices`."""

from kerata.backends.tensorflow.core import tf


def gradient_rows(x):
    """`(row numbers, values, shape of the whole)` of such a gradient; `None` for anything else."""
    if not isinstance(x, tf.IndexedSlices):
        return None
    shape = None if x.dense_shape is None else tf.get_static_value(tf.convert_to_tensor(x.dense_shape))
    return tf.convert_to_tensor(x.indices), x.values, (None if shape is None else int(shape[0]), *x.values.shape[1:])


def as_row_gradient(indices, values, shape):
    return tf.IndexedSlices(values, indices, shape)


def add_rows(storage, indices, values):
    """Add to rows of a variable in place, which leaves the others where they are in memory."""
    storage.scatter_add(tf.IndexedSlices(values, indices))
