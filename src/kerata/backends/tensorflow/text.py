"""Text as TensorFlow's string tensors, ragged and sparse ones too; hashes and counts of categories."""

import numpy as np
import tensorflow as tf

from kerata.backends.tensorflow.sparse import is_composite, map_values

__all__ = [
    "TextTable",
    "category_counts",
    "cross_buckets",
    "cross_text",
    "dense_rows",
    "from_host",
    "hash_buckets",
    "in_graph",
    "is_text",
    "ngrams",
    "received_text",
    "split_text",
    "squeeze_text",
    "standardize_text",
    "text_array",
    "text_at",
    "text_equal",
    "text_of",
]

_PUNCTUATION = "[" + "".join("\\" + c for c in map(chr, range(33, 127)) if not c.isalnum()) + "]"


def in_graph():
    return not tf.executing_eagerly()


def is_text(x):
    return x.dtype == tf.string


def text_of(x):
    """A string tensor."""
    return x if is_composite(x) else tf.convert_to_tensor(x)


text_array = received_text = text_of


def standardize_text(x, how):
    def standardized(values):
        values = tf.strings.lower(values) if how.startswith("lower") else values
        return tf.strings.regex_replace(values, _PUNCTUATION, "") if how.endswith("punctuation") else values

    return map_values(standardized, x)


def squeeze_text(x):
    """Text without its last dimension, of length 1."""
    return tf.squeeze(x, -1)


def split_text(x, how, encoding):
    return tf.strings.split(x) if how == "whitespace" else tf.strings.unicode_split(x, encoding)


def ngrams(x, sizes):
    return tf.strings.ngrams(x, sizes, separator=" ")


def dense_rows(values, rows, length):
    """Values as a dense tensor; rows are filled with zeros, and cut to `length` if there is one."""
    del rows
    if isinstance(values, tf.RaggedTensor):
        shape = None if length is None else [None] * (values.shape.rank - 1) + [length]
        dense = values.to_tensor(0, shape=shape)
        return dense if length is None else tf.ensure_shape(dense, values.shape[:-1] + [length])
    if length is None or not values.shape.rank:
        return values
    values = values[..., :length]
    missing = length - tf.shape(values)[-1]
    padded = tf.pad(values, [[0, 0]] * (values.shape.rank - 1) + [[0, missing]])
    return tf.ensure_shape(padded, values.shape[:-1] + [length])


class TextTable:
    """Number of each known string.

    Args:
        tokens: list of `str`.
        numbers: their numbers.
    """

    def __init__(self, tokens, numbers):
        # Made in a function, it must outlive its graph.
        with tf.init_scope():
            initializer = tf.lookup.KeyValueTensorInitializer(
                tf.constant(tokens, tf.string), tf.constant(numbers, tf.int64)
            )
            self.table = tf.lookup.StaticHashTable(initializer, -1)

    def find(self, x):
        return self.table.lookup(x)


def text_at(tokens, indices, default):
    n = len(tokens)
    known = tf.constant([*tokens, default], tf.string)
    return tf.gather(known, tf.where((indices >= 0) & (indices < n), indices, n))


def text_equal(x, value):
    return tf.equal(x, tf.constant(value, tf.string))


def hash_buckets(x, num_bins, salt):
    if x.dtype != tf.string:
        x = tf.strings.as_string(x)
    if salt is None:
        return tf.strings.to_hash_bucket_fast(x, num_bins)
    return tf.strings.to_hash_bucket_strong(x, num_bins, list(salt))


def cross_buckets(x, num_bins):
    return cross_text(tf.unstack(x, axis=-1), num_bins)


def cross_text(xs, num_bins):
    columns = [x if x.dtype == tf.string else tf.cast(x, tf.int64) for x in xs]
    columns = [x if x.shape.rank == 2 else tf.reshape(x, (-1, 1)) for x in columns]
    # What `tf.sparse.cross_hashed` calls, with its key.
    _, buckets, _ = tf.raw_ops.SparseCross(
        indices=[],
        values=[],
        shapes=[],
        dense_inputs=columns,
        hashed_output=True,
        num_buckets=num_bins,
        hash_key=_HASH_KEY,
        out_type=tf.int64,
        internal_type=tf.int64,
    )
    return tf.ensure_shape(tf.reshape(buckets, tf.shape(xs[0])), xs[0].shape)


_HASH_KEY = 0xDECAFCAFFE


_COUNTED = frozenset({"int32", "int64", "float32", "float64"})


def category_counts(indices, depth, dtype, hot):
    indices = indices if indices.dtype in (tf.int32, tf.int64) else tf.cast(indices, tf.int32)
    # What's beyond the last category counts nowhere, but what's below the first is an error to the kernel.
    # Without a sign those are beyond too.
    unsigned = tf.bitcast(indices, tf.uint32 if indices.dtype == tf.int32 else tf.uint64)
    indices = tf.bitcast(tf.minimum(unsigned, tf.constant(depth, unsigned.dtype)), indices.dtype)
    shape = [*indices.shape[:-1], depth]
    rows = indices if indices.shape.rank < 3 else tf.reshape(indices, (-1, tf.shape(indices)[-1]))
    kind = dtype if dtype in _COUNTED else "int32"
    counts = tf.raw_ops.DenseBincount(
        input=rows,
        size=tf.constant(depth, indices.dtype),
        weights=tf.constant([], kind),
        binary_output=hot,
    )
    if indices.shape.rank > 2:
        counts = tf.reshape(counts, tf.concat([tf.shape(indices)[:-1], [depth]], 0))
    return tf.ensure_shape(tf.cast(counts, dtype), shape)


def from_host(x):
    """A tensor of a NumPy array, text too."""
    return tf.convert_to_tensor(x.astype(object) if x.dtype.kind == "U" else np.asarray(x))
