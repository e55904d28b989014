"""Text on the host: strings as arrays or flat lists of `bytes`, rows of tokens, tables; and hashes."""

import itertools

import numpy as np

from kerata.core import fingerprint
from kerata.core.fingerprint import encoded

__all__ = [
    "Text",
    "TextTable",
    "cross_buckets",
    "cross_text",
    "dense_rows",
    "hash_buckets",
    "is_text",
    "ngrams",
    "received_text",
    "row_numbers",
    "split_text",
    "squeeze_text",
    "standardize_text",
    "text_array",
    "text_at",
    "text_equal",
    "text_of",
]

# What TensorFlow's text layers count as punctuation and lower: ASCII alone.
_PUNCTUATION = bytes(c for c in range(33, 127) if not chr(c).isalnum())
_LOWER = bytes(range(256)).lower()


class Text:
    """Strings in rows of their own length, or in an array of a shape.

    Args:
        flat: list of `bytes`.
        shape: of the array; `None` for rows.
        lengths: of the rows; `None` for an array.
    """

    def __init__(self, flat, shape=None, lengths=None):
        self.flat, self.shape, self.lengths = flat, shape, lengths

    def rows(self):
        """Lists of `bytes`: the rows, or those of the last dimension."""
        lengths = (
            [self.shape[-1]] * (len(self.flat) // max(self.shape[-1], 1)) if self.lengths is None else self.lengths
        )
        end, rows = 0, []
        for n in lengths:
            rows.append(self.flat[end : end + n])
            end += n
        return rows

    @classmethod
    def of_rows(cls, rows):
        return cls([t for row in rows for t in row], lengths=np.fromiter(map(len, rows), np.int64, len(rows)))


def is_text(x):
    return isinstance(x, Text) or x.dtype.kind in "USO"


def text_of(x):
    """`Text` of an array."""
    return x if isinstance(x, Text) else Text(encoded(x), x.shape)


def text_array(x):
    """An array of `str`, for functions of the user's."""
    if isinstance(x, Text):
        x = np.array([s.decode("utf-8", "replace") for s in x.flat], dtype=str).reshape(x.shape)
    return x


def received_text(x):
    """`Text` of what a function of the user's returned: an array, lists, or rows that have `to_list`."""
    if hasattr(x, "to_list"):
        x = x.to_list()
    if hasattr(x, "numpy"):
        x = x.numpy()
    if isinstance(x, (list, tuple)) and any(isinstance(row, (list, tuple, np.ndarray)) for row in x):
        return Text.of_rows([encoded(np.asarray(row, dtype=object)) for row in x])
    return text_of(np.asarray(x))


def standardize_text(x, how):
    """`"lower"`, `"strip_punctuation"` or `"lower_and_strip_punctuation"`."""
    text = text_of(x)
    table = _LOWER if how.startswith("lower") else None
    dropped = _PUNCTUATION if how.endswith("punctuation") else b""
    return Text([s.translate(table, dropped) for s in text.flat], text.shape, text.lengths)


def squeeze_text(x):
    """Text without its last dimension, of length 1."""
    return Text(x.flat, x.shape[:-1])


def split_text(x, how, encoding):
    """Rows of words (`"whitespace"`) or of characters (`"character"`)."""
    text = text_of(x)
    if how == "whitespace":
        rows = [s.split() for s in text.flat]
    else:
        rows = [[c.encode() for c in s.decode(encoding, "replace")] for s in text.flat]
    # One string, rather than a batch of them, gives one row: an array.
    return Text(rows[0], (len(rows[0]),)) if text.shape == () else Text.of_rows(rows)


def ngrams(x, sizes):
    """All runs of so many tokens of a row, joined by spaces; one size after the other."""
    text = text_of(x)
    rows = [
        [b" ".join(row[i : i + n]) if n > 1 else row[i] for n in sizes for i in range(len(row) - n + 1)]
        for row in text.rows()
    ]
    if text.shape is None:
        return Text.of_rows(rows)
    width = len(rows[0]) if rows else 0
    return Text([t for row in rows for t in row], (*text.shape[:-1], width))


def dense_rows(values, rows, length):
    """Values of `Text` as an array; rows are filled with zeros, and cut to `length` if there is one."""
    if rows.shape is not None:
        values = values.reshape(rows.shape)
        if length is None or not rows.shape:
            return values
        values = values[..., :length]
        return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, length - values.shape[-1])])
    lengths = rows.lengths
    width = length if length is not None else int(lengths.max(initial=0))
    out = np.zeros((len(lengths), width), values.dtype)
    out[np.arange(width) < np.minimum(lengths, width)[:, None]] = (
        values if not len(lengths) or lengths.max(initial=0) <= width else values[_within(lengths, width)]
    )
    return out


def _within(lengths, width):
    """Which values of all rows are among the first `width` of their row."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths) < width


def row_numbers(rows):
    """Of each value the row that it is in."""
    lengths = rows.lengths
    return np.repeat(np.arange(len(lengths)), lengths)


class TextTable:
    """Number of each known string.

    Args:
        tokens: list of `str`.
        numbers: their numbers.
    """

    def __init__(self, tokens, numbers):
        self.table = {t.encode("utf-8", "surrogatepass"): n for t, n in zip(tokens, numbers, strict=True)}
        self.table.update(zip(tokens, numbers, strict=True))

    def find(self, x):
        """int64 array: numbers of the strings, -1 for those that aren't in the table."""
        flat = x.flat if isinstance(x, Text) else x.ravel().tolist()
        found = np.fromiter(map(self.table.get, flat, itertools.repeat(-1)), np.int64, len(flat))
        return found if isinstance(x, Text) else found.reshape(x.shape)


def text_at(tokens, indices, default):
    """The strings with these numbers."""
    known = np.array([*tokens, default], dtype=object)
    n = len(tokens)
    return known[np.where((indices >= 0) & (indices < n), indices, n)].astype(str)


def text_equal(x, value):
    """Where a string is this one."""
    x = text_of(x)
    value = value.encode() if isinstance(value, str) else value
    return np.array([s == value for s in x.flat], bool).reshape(x.shape if x.shape is not None else -1)


def hash_buckets(x, num_bins, salt):
    if isinstance(x, Text):
        x = np.array([*x.flat, None], dtype=object)[:-1]
    return fingerprint.buckets(x, num_bins, salt)


def cross_buckets(x, num_bins):
    return fingerprint.crossed([x[..., i] for i in range(x.shape[-1])], num_bins)


def cross_text(xs, num_bins):
    """The same of several arrays, of which some hold text."""
    return fingerprint.crossed(xs, num_bins)
