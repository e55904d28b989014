"""Sparse tensors of TensorFlow: `tf.SparseTensor`, and `tf.IndexedSlices`, which store rows.

Elements are numbered row by row, and so their places are a vector of integers. Everything is made of gathers and of sums
over segments, which have gradients and kernels for all dtypes.
"""

from kerata.backends.tensorflow.core import tf


def is_sparse(x):
    return isinstance(x, (tf.SparseTensor, tf.IndexedSlices))


def is_composite(x):
    """Whether it is a ragged or sparse tensor."""
    return isinstance(x, (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices))


def map_values(function, x):
    """A function of the values of a tensor that may be ragged or sparse, whatever it makes of 0."""
    if isinstance(x, tf.RaggedTensor):
        return x.with_flat_values(function(x.flat_values))
    if isinstance(x, tf.SparseTensor):
        return tf.SparseTensor(x.indices, function(x.values), x.dense_shape)
    return function(x)


def densify(x, fill=None):
    """A dense tensor."""
    if isinstance(x, tf.RaggedTensor):
        return x.to_tensor(fill)
    if isinstance(x, tf.IndexedSlices):
        return tf.convert_to_tensor(x)
    return tf.sparse.to_dense(x, fill) if isinstance(x, tf.SparseTensor) else x


def to_sparse(dense):
    """A sparse tensor of what isn't 0."""
    return tf.sparse.from_dense(dense)


def sparse_one_hot(x, num_classes, axis, dtype):
    """One 1 a number, as a sparse tensor."""
    shape = tf.concat([tf.shape(x, tf.int64), [num_classes]], 0)
    row = x if x.shape.rank else x[None]
    kept = tf.logical_and(row >= 0, row < num_classes)
    at, classes = tf.where(kept)[:, : x.shape.rank], tf.cast(tf.boolean_mask(row, kept), tf.int64)
    hot = tf.SparseTensor(tf.concat([at, classes[:, None]], 1), tf.ones(tf.shape(classes), dtype), shape)
    hot.set_shape(x.shape + [num_classes])
    rank = x.shape.rank
    order = list(range(rank))
    order.insert(axis % (rank + 1), rank)
    return hot if order[-1] == rank else transpose(hot, order)


def shape_of(x):
    """Numbers, and scalar tensors where they aren't known; `None` for the rows of ragged tensors."""
    if isinstance(x, tf.RaggedTensor):
        return tuple(x.shape.as_list())
    return tuple(x.dense_shape[i] if n is None else n for i, n in enumerate(x.shape.as_list()))


def entries(x):
    """Places `(n, rank)` and values `(n,)`."""
    x = _by_element(x)
    return x.indices, x.values


def taken(x, dense):
    """What a dense tensor has at the places of `x`."""
    return tf.gather_nd(tf.broadcast_to(dense, x.dense_shape), x.indices)


# ------------------------------------------------------------------ places


def _by_element(x):
    return x if isinstance(x, tf.SparseTensor) else tf.sparse.from_dense(tf.convert_to_tensor(x))


def _ordered(x):
    """With its elements in ascending order: one that was put together by hand may have them in any."""
    if not isinstance(x, tf.SparseTensor):
        return x
    # (XLA hasn't got `tf.sparse.reorder`.)
    order = tf.argsort(_numbers(x.indices, x.dense_shape))
    return tf.SparseTensor(tf.gather(x.indices, order), tf.gather(x.values, order), x.dense_shape)


def _numbers(indices, shape):
    """The numbers of elements, from their indices."""
    return tf.reduce_sum(indices * tf.math.cumprod(shape, exclusive=True, reverse=True), -1)


def _indices(numbers, shape):
    return numbers[:, None] // tf.math.cumprod(shape, exclusive=True, reverse=True) % shape


def _places(x):
    """Places, of elements in the order in which they are stored or of rows, ascending, and what is there."""
    if isinstance(x, tf.SparseTensor):
        return _numbers(x.indices, x.dense_shape), x.values
    return _summed(tf.cast(x.indices, tf.int64), x.values)


def _at(places, values, like):
    """Values at the places of elements or rows of a tensor like this one."""
    if isinstance(like, tf.IndexedSlices):
        return tf.IndexedSlices(values, tf.cast(places, like.indices.dtype), like.dense_shape)
    return tf.SparseTensor(_indices(places, like.dense_shape), values, like.dense_shape)


def _summed(places, values):
    """Each place once, ascending, with the sum of what was there."""
    distinct = tf.sort(tf.unique(places).y)
    return distinct, _spread(places, values, distinct)


def _spread(places, values, over):
    """Values at other places, ascending, which these are among; 0 at the rest."""
    at, n = tf.searchsorted(over, places), tf.size(over)
    if values.dtype == tf.bool:
        return tf.cast(tf.math.unsorted_segment_max(tf.cast(values, tf.int32), at, n), tf.bool)
    return tf.math.unsorted_segment_sum(values, at, n)


def _broadcast(x, shape):
    """A tensor of elements repeated along dimensions of 1, and new ones in front."""
    x = _by_element(x)
    rank, known = shape.shape[0], tf.get_static_value(shape)
    if known is not None and x.shape.as_list() == known.tolist():
        return x
    missing = rank - x.shape.rank
    old = tf.concat([tf.ones([missing], tf.int64), x.dense_shape], 0)
    indices = tf.pad(x.indices, [[0, 0], [missing, 0]])
    wider = tf.where(old == 1, shape, 1)
    offsets = _indices(tf.range(tf.reduce_prod(wider)), wider)
    indices = tf.reshape(indices[:, None] + offsets, (-1, rank))
    return tf.sparse.reorder(tf.SparseTensor(indices, tf.repeat(x.values, tf.shape(offsets)[0]), shape))


def _shape(x):
    return x.dense_shape if is_sparse(x) else tf.shape(x, tf.int64)


def _common_shape(x, y, last=None):
    """The shape that two tensors, or the dimensions up to `last`, have together."""
    known = tf.broadcast_static_shape(x.shape[:last], y.shape[:last])
    if known.is_fully_defined():
        return tf.constant(known.as_list(), tf.int64)
    return tf.broadcast_dynamic_shape(_shape(x)[:last], _shape(y)[:last])


def _together(x, y):
    """Two sparse tensors of one shape and kind."""
    if type(x) is type(y) and x.shape.is_fully_defined() and x.shape == y.shape:
        return x, y
    x, y = _by_element(x), _by_element(y)
    shape = _common_shape(x, y)
    return _broadcast(x, shape), _broadcast(y, shape)


# ------------------------------------------------------------------ values


def mapped(function, x):
    """A function with f(0) = 0 of each element."""
    if isinstance(x, tf.SparseTensor):
        return x.with_values(function(x.values))
    places, values = _places(x)
    return _at(places, function(values), x)


def united(function, x, y):
    """A function of two sparse tensors with f(0, 0) = 0."""
    x, y = _together(x, y)
    at_x, at_y = _places(x), _places(y)
    places = tf.sort(tf.unique(tf.concat([at_x[0], at_y[0]], 0)).y)
    return _at(places, function(_spread(*at_x, places), _spread(*at_y, places)), x)


def intersected(function, x, y):
    """A product: 0 where either is 0."""
    if not is_sparse(x):
        return intersected(lambda a, b: function(b, a), y, x)
    if not is_sparse(y):
        return _with_dense(function, x, y)
    x, y = _together(x, y)
    (places, values), (others, at_others) = _places(_ordered(x)), _places(_ordered(y))
    at = tf.searchsorted(others, places)
    both = tf.gather(tf.concat([others, [-1]], 0), at) == places
    values = function(tf.boolean_mask(values, both), tf.gather(at_others, tf.boolean_mask(at, both)))
    return _at(tf.boolean_mask(places, both), values, x)


def _with_dense(function, x, y):
    """A function of the values and of what a dense tensor has at their places."""
    if not hasattr(y, "shape") or y.shape.rank == 0:
        return mapped(lambda values: function(values, y), x)
    shape = _common_shape(x, y)
    if isinstance(x, tf.IndexedSlices) and y.shape.rank <= x.shape.rank:
        places, values = _places(x)
        return _at(places, function(values, tf.gather(tf.broadcast_to(y, shape), places)), x)
    x = _broadcast(x, shape)
    return x.with_values(function(x.values, taken(x, y)))


def divided(function, x, y):
    """A quotient by a dense tensor. Where that is 0 or nan so is 0 divided by it, which has to be stored."""
    if isinstance(y, (int, float)) and y and y == y:
        return _with_dense(function, x, y)
    y = tf.convert_to_tensor(y, x.dtype)
    shape = _common_shape(x, y)
    wrong = tf.broadcast_to((y != y) | (y == 0), shape)
    if isinstance(x, tf.IndexedSlices):
        rows = tf.where(tf.reduce_any(tf.reshape(wrong, (tf.shape(wrong)[0], -1)), -1))[:, 0]
        zeros = tf.zeros(tf.concat([tf.shape(rows), tf.shape(x.values)[1:]], 0), x.dtype)
        places = tf.IndexedSlices(zeros, tf.cast(rows, x.indices.dtype), x.dense_shape)
    else:
        at = tf.where(wrong)
        x, places = _broadcast(x, shape), tf.SparseTensor(at, tf.zeros(tf.shape(at)[:1], x.dtype), shape)
    return _with_dense(function, united(tf.add, x, places), y)


# ------------------------------------------------------------------ moving


def transpose(x, axes):
    return tf.sparse.transpose(_by_element(x), axes)


def reshape(x, newshape):
    sizes = [newshape] if isinstance(newshape, int) else newshape
    if isinstance(sizes, (tuple, list)):
        sizes = tf.stack([tf.cast(n, tf.int64) for n in sizes]) if sizes else tf.zeros([0], tf.int64)
    return tf.sparse.reshape(_by_element(x), sizes)


def expand_dims(x, axis):
    x = _by_element(x)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = x.shape.rank + len(axes)
    for a in sorted(a % rank for a in axes):
        x = tf.sparse.expand_dims(x, a)
    return x


def squeeze(x, axis=None):
    x = _by_element(x)
    if axis is None:
        axes = {i for i, n in enumerate(x.shape) if n == 1}
    else:
        axes = {a % x.shape.rank for a in ((axis,) if isinstance(axis, int) else axis)}
    kept = tf.constant([i for i in range(x.shape.rank) if i not in axes], tf.int64)
    return tf.SparseTensor(tf.gather(x.indices, kept, axis=1), x.values, tf.gather(x.dense_shape, kept))


def concatenate(xs, axis):
    # `tf.sparse.concat` has no gradient.
    xs = [_by_element(x) for x in xs]
    rank = xs[0].shape.rank
    along = tf.one_hot(axis % rank, rank, dtype=tf.int64)
    for x in xs[1:]:
        tf.debugging.assert_equal(
            x.dense_shape * (1 - along), xs[0].dense_shape * (1 - along), "concatenate: shapes differ"
        )
    lengths = tf.stack([x.dense_shape[axis] for x in xs])
    offsets = tf.unstack(tf.cumsum(lengths, exclusive=True))
    indices = tf.concat([x.indices + along * n for x, n in zip(xs, offsets, strict=True)], 0)
    shape = xs[0].dense_shape * (1 - along) + along * tf.reduce_sum(lengths)
    return tf.sparse.reorder(tf.SparseTensor(indices, tf.concat([x.values for x in xs], 0), shape))


def sum(x, axis=None, keepdims=False):
    x = _by_element(x)
    rank = x.shape.rank
    axes = {a % rank for a in (range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis)}
    kept = tf.constant([i for i in range(rank) if i not in axes], tf.int64)
    shape = tf.gather(x.dense_shape, kept)
    places, values = _summed(_numbers(tf.gather(x.indices, kept, axis=1), shape), x.values)
    result = tf.SparseTensor(_indices(places, shape), values, shape)
    return expand_dims(result, sorted(axes)) if keepdims else result


# ------------------------------------------------------------------ products


def matmul(x, y):
    """Matrix product of which one or both are sparse; sparse if both are."""
    if x.shape.rank == 1:
        return _squeezed(matmul(_expanded(x, 0), y), -2)
    if y.shape.rank == 1:
        return _squeezed(matmul(x, _expanded(y, 1)), -1)
    if not is_sparse(x):
        return _swapped(matmul(_swapped(y), _swapped(x)))
    x = _by_element(x)
    if y.shape.rank > 2:
        batch = _common_shape(x, y, -2)
        x = _broadcast(x, tf.concat([batch, x.dense_shape[-2:]], 0))
        shape = tf.concat([batch, _shape(y)[-2:]], 0)
        y = _broadcast(y, shape) if is_sparse(y) else tf.broadcast_to(y, shape)
    return _sparse_product(x, y) if is_sparse(y) else _dense_product(x, y)


def _dense_product(x, y):
    """With one row of `y` an element of `x`, so that the gradient is sparse too."""
    rows, columns = _rows(x), _columns(x, y)
    width = y.shape[-1] or tf.shape(y)[-1]
    y_rows = y if y.shape.rank == 2 else tf.reshape(y, (-1, width))
    products = tf.gather(y_rows, columns) * x.values[:, None]
    flat = tf.math.unsorted_segment_sum(products, rows, tf.reduce_prod(x.dense_shape[:-1]))
    out = tf.reshape(flat, tf.concat([x.dense_shape[:-1], [tf.cast(width, tf.int64)]], 0))
    return tf.ensure_shape(out, x.shape[:-1] + y.shape[-1:])


def _sparse_product(x, y):
    """Each element of `x` with all of the row of `y` that its column is."""
    y = _ordered(_by_element(y))
    rows, columns, y_rows = _rows(x), _columns(x, y), _rows(y)
    start = tf.searchsorted(y_rows, columns)
    count = tf.searchsorted(y_rows, columns, "right") - start
    of_x = tf.repeat(tf.range(tf.size(count)), count)
    of_y = tf.gather(start - tf.cumsum(count, exclusive=True), of_x) + tf.range(tf.size(of_x))
    shape = tf.concat([x.dense_shape[:-1], y.dense_shape[-1:]], 0)
    places = tf.gather(rows, of_x) * shape[-1] + tf.gather(y.indices[:, -1], of_y)
    places, values = _summed(places, tf.gather(x.values, of_x) * tf.gather(y.values, of_y))
    return tf.SparseTensor(_indices(places, shape), values, shape)


def _rows(x):
    """For each element the number of its row, through all matrices."""
    return _numbers(x.indices[:, :-1], x.dense_shape[:-1])


def _columns(x, y):
    """For each element of `x` the number of the row of `y` that it is multiplied with."""
    if y.shape.rank == 2:
        return x.indices[:, -1]
    return x.indices[:, -1] + x.dense_shape[-1] * _numbers(x.indices[:, :-2], x.dense_shape[:-2])


def _swapped(x):
    rank = x.shape.rank
    order = [*range(rank - 2), rank - 1, rank - 2]
    return transpose(x, order) if is_sparse(x) else tf.transpose(x, order)


def _expanded(x, axis):
    return expand_dims(x, axis) if is_sparse(x) else tf.expand_dims(x, axis)


def _squeezed(x, axis):
    return squeeze(x, axis) if is_sparse(x) else tf.squeeze(x, axis)
