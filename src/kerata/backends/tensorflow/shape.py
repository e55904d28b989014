"""Shape natives on TensorFlow. Shapes may hold scalar tensors where a dimension is unknown."""

import builtins

from kerata.backends import windows
from kerata.backends.tensorflow.core import size_of, tf


def reshape(x, newshape):
    return tf.reshape(x, newshape)


def transpose(x, axes):
    # TensorFlow copies even what stays in order.
    if axes is not None and list(axes) == list(range(len(axes))):
        return x
    return tf.transpose(x, axes)


def expand_dims(x, axis):
    if isinstance(axis, int):
        return tf.expand_dims(x, axis)
    rank = x.shape.rank + len(axis)
    for a in sorted(a % rank for a in axis):
        x = tf.expand_dims(x, a)
    return x


def squeeze(x, axis):
    return tf.squeeze(x, axis)


def broadcast_to(x, shape):
    return tf.broadcast_to(x, shape)


def concatenate(xs, axis):
    return tf.concat(xs, axis)


def stack(xs, axis):
    return tf.stack(xs, axis)


def unstack(x, axis):
    return tf.unstack(x, axis=axis)


def split(x, indices_or_sections, axis):
    if isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    size = size_of(x, axis)
    least, most = (builtins.min, builtins.max) if isinstance(size, int) else (tf.minimum, tf.maximum)
    # As NumPy's: cuts count from the end when negative, and stay inside.
    cuts = [0, *(least(c + size if c < 0 else c, size) for c in indices_or_sections), size]
    return tf.split(x, [most(b - a, 0) for a, b in zip(cuts, cuts[1:], strict=False)], axis, num=len(cuts) - 1)


def flip(x, axis):
    return tf.reverse(x, [axis] if isinstance(axis, int) else list(axis))


def roll(x, shift, axis):
    return tf.roll(x, shift, axis)


def tile(x, repeats):
    return tf.tile(x, repeats)


def repeat(x, repeats, axis):
    return tf.repeat(x, repeats, axis)


def pad(x, pad_width, mode, constant_values):
    if mode == "constant":
        return tf.pad(x, pad_width, "CONSTANT", tf.cast(constant_values or 0, x.dtype))
    for axis, pair in enumerate(pad_width):
        if builtins.any(pair):
            x = tf.gather(x, _padded_places(size_of(x, axis), pair, mode), axis=axis)
    return x


def _padded_places(size, pair, mode):
    """Which place each one of a padded axis copies."""
    if isinstance(size, int):
        return windows.padded_places(size, *pair, mode)
    places = tf.range(-pair[0], size + pair[1])
    if mode == "edge":
        return tf.clip_by_value(places, 0, size - 1)
    if mode == "symmetric":
        places = tf.math.floormod(places, 2 * size)
        return tf.minimum(places, 2 * size - 1 - places)
    period = tf.maximum(2 * (size - 1), 1)
    places = tf.math.floormod(places, period)
    return tf.minimum(tf.minimum(places, period - places), size - 1)


def tril(x, k):
    # The kernel takes diagonals that there are.
    if isinstance(k, int) and 0 <= k < (x.shape[-1] or 0):
        return tf.linalg.band_part(x, -1, k)
    return tf.where(_below(x, k), x, tf.zeros((), x.dtype))


def triu(x, k):
    if isinstance(k, int) and 0 <= -k < (x.shape[-2] or 0):
        return tf.linalg.band_part(x, -k, -1)
    return tf.where(_below(x, k - 1), tf.zeros((), x.dtype), x)


def _below(x, k):
    """Places on or below the k-th diagonal."""
    rows, columns = tf.range(size_of(x, -2)), tf.range(size_of(x, -1))
    return columns[None, :] - rows[:, None] <= k


def diag(x, k):
    return tf.linalg.diag(x, k=k) if x.shape.rank == 1 else tf.linalg.diag_part(x, k=k)


def diagonal(x, offset, axis1, axis2):
    rank = x.shape.rank
    axis1, axis2 = axis1 % rank, axis2 % rank
    rest = [a for a in range(rank) if a not in (axis1, axis2)]
    return tf.linalg.diag_part(transpose(x, [*rest, axis1, axis2]), k=offset)


def shape_dim(x, axis):
    return tf.shape(x)[axis]


def frames_of(x, sequence_length, sequence_stride):
    return tf.signal.frame(x, sequence_length, sequence_stride)
