"""Ragged tensors of TensorFlow."""

from kerata.backends.tensorflow.core import tf

_REDUCTIONS = {
    "sum": tf.reduce_sum,
    "mean": tf.reduce_mean,
    "max": tf.reduce_max,
    "min": tf.reduce_min,
    "prod": tf.reduce_prod,
    "any": tf.reduce_any,
    "all": tf.reduce_all,
}


def mapped(function, x, inner=0):
    """A function of all values at once; `inner`: of so many dimensions at least, besides the rows'."""
    if x.flat_values.shape.rank <= inner:
        raise ValueError(
            f"A ragged tensor of shape {tuple(x.shape)} has no dimension after its rows that could be multiplied; make it dense "
            "first: `ops.convert_to_tensor(x, ragged=False)`."
        )
    return x.with_flat_values(function(x.flat_values))


def broadcast(function, x, y):
    """A function of two tensors of which one or both are ragged, element by element."""
    if isinstance(x, tf.RaggedTensor) and isinstance(y, tf.RaggedTensor):
        same = len(x.nested_row_splits) == len(y.nested_row_splits) and all(
            a is b for a, b in zip(x.nested_row_splits, y.nested_row_splits, strict=True)
        )
        if same:
            return x.with_flat_values(function(x.flat_values, y.flat_values))
    for dense, other in ((x, y), (y, x)):
        if not hasattr(dense, "shape") or dense.shape.rank == 0:
            values = [v.flat_values if v is other else v for v in (x, y)]
            return other.with_flat_values(function(*values))
    shapes = [tf.experimental.DynamicRaggedShape.from_tensor(v) for v in (x, y)]
    shape = tf.broadcast_dynamic_shape(*shapes)
    x, y = (tf.broadcast_to(v, shape) for v in (x, y))
    ragged = x if isinstance(x, tf.RaggedTensor) else y
    values = [v.flat_values if isinstance(v, tf.RaggedTensor) else v for v in (x, y)]
    return ragged.with_flat_values(function(*values))


def reduced(name, x, axis, keepdims):
    """Over what is there: rows end where they end."""
    return _REDUCTIONS[name](x, axis=axis, keepdims=keepdims)


def rows(x, at, dtype):
    """Some rows, by a slice or by their numbers."""
    return tf.cast(x[at] if isinstance(at, slice) else tf.gather(x, at), dtype)


def joined(parts):
    """Tensors, ragged or of other sizes, one after another."""
    shapes = [p.shape for p in parts]
    uneven = [i for i in range(1, len(shapes[0])) if len({s[i] for s in shapes}) > 1]
    parts = [
        p if isinstance(p, tf.RaggedTensor) else tf.RaggedTensor.from_tensor(p, ragged_rank=max(uneven, default=1))
        for p in parts
    ]
    return tf.concat(parts, axis=0)


def take(function, x, indices, axis=None):
    """What stands at ragged indices: `function` takes it at flat ones."""
    if isinstance(x, tf.RaggedTensor):
        raise ValueError(
            "take: `x` can't be ragged, only `indices` can; make it dense first: `ops.convert_to_tensor(x, ragged=False)`."
        )
    if axis is None:
        x, axis = tf.reshape(x, (-1,)), 0
    axis %= x.shape.rank
    found = function(x, indices.flat_values, axis)
    if not axis:
        return indices.with_flat_values(found)
    # The rows are found anew for each place in the dimensions before.
    outer = tf.shape(x, indices.row_splits.dtype)[:axis]
    times = tf.reduce_prod(outer)
    values = tf.reshape(found, tf.concat([[-1], tf.shape(found)[axis + 1 :]], 0))
    lengths = [tf.tile(n, [times]) for n in indices.nested_row_lengths()]
    rows = tf.RaggedTensor.from_nested_row_lengths(values, lengths)
    for n in [indices.nrows(), *tf.unstack(outer, axis)[:0:-1]]:
        rows = tf.RaggedTensor.from_uniform_row_length(rows, n)
    return rows
