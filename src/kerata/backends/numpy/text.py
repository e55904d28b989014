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
        self.tokens, self.numbers = list(tokens), np.array(numbers, np.int64)
        self.table = {t.encode("utf-8", "surrogatepass"): n for t, n in zip(tokens, numbers, strict=True)}
        self.table.update(zip(tokens, numbers, strict=True))
        self.by_kind = {}

    def find(self, x):
        """int64 array: numbers of the strings, -1 for those that aren't in the table."""
        if isinstance(x, Text):
            return self.one_by_one(x.flat)
        flat = x.ravel()
        if flat.dtype.kind in "US" and len(flat) >= _MANY and 0 < flat.dtype.itemsize <= _WIDEST:
            return self.of_kind(flat.dtype.kind).find(flat).reshape(x.shape)
        return self.one_by_one(flat.tolist()).reshape(x.shape)

    def one_by_one(self, flat):
        return np.fromiter(map(self.table.get, flat, itertools.repeat(-1)), np.int64, len(flat))

    def of_kind(self, kind):
        """The table for arrays of this kind."""
        table = self.by_kind.get(kind)
        if table is None:
            tokens = self.tokens if kind == "U" else [t.encode("utf-8", "surrogatepass") for t in self.tokens]
            end, most = ("\0", _WIDEST // 4) if kind == "U" else (b"\0", _WIDEST)
            # What such arrays can't hold isn't found in them.
            at = [i for i, t in enumerate(tokens) if len(t) <= most and not t.endswith(end)]
            tokens = np.array([tokens[i] for i in at], kind)
            table = self.by_kind[kind] = HashTable(tokens, self.numbers[at], hashes(tokens))
        return table


# Arrays of fewer strings, or of wider ones (in bytes), are looked up string by string.
_MANY, _WIDEST = 256, 256
# Places in a hash table for each string in it.
_ROOM = 8
# Odd numbers without a pattern: weights of a string's words in its hash, and of hashes at each level of a table.
_WEIGHTS = np.random.default_rng(0).integers(0, 2**63, _WIDEST // 8, np.uint64) * np.uint64(2) + np.uint64(1)
_LEVELS = np.random.default_rng(1).integers(0, 2**63, 16, np.uint64) * np.uint64(2) + np.uint64(1)


def hashes(x):
    """A hash of each string of a flat array, whatever the array's width: zeros behind a string don't count."""
    unit = 4 if x.dtype.kind == "U" else 1
    width = -(-max(x.dtype.itemsize, 1) // 8) * 8
    words = np.ascontiguousarray(x.astype(f"{x.dtype.kind}{width // unit}", copy=False)).view(np.uint64)
    return words.reshape(len(x), width // 8) @ _WEIGHTS[: width // 8]


class HashTable:
    """Numbers of the strings of an array. Many are looked up at once; what is found in a place is compared.

    A place has room for one. Strings that meet are in a smaller table at the next level, with places of their own.

    Args:
        tokens: array of strings.
        numbers: their numbers.
        hashed: their `hashes`.
        level: of the table.
    """

    def __init__(self, tokens, numbers, hashed, level=0):
        self.level, self.shift = level, np.uint64(64 - max(len(tokens) * _ROOM, 2).bit_length())
        place = self.places(hashed)
        taken, first = np.unique(place, return_index=True)
        # Behind the last token stands one that nothing has, for free places.
        self.tokens, self.numbers = np.append(tokens, tokens.dtype.type()), np.append(numbers, -1)
        self.table = np.full(2 ** (64 - int(self.shift)), len(tokens), np.int32)
        self.table[taken] = first
        rest = np.delete(np.arange(len(tokens)), first)
        self.beyond = None
        if len(rest) and level + 1 < len(_LEVELS):
            self.beyond = HashTable(tokens[rest], numbers[rest], hashed[rest], level + 1).find
        elif len(rest):
            # Strings that meet again and again were made to.
            table = dict(zip(tokens[rest].tolist(), numbers[rest].tolist(), strict=True))
            self.beyond = lambda x, _: np.array([table.get(t, -1) for t in x.tolist()])

    def places(self, hashed):
        return ((hashed * _LEVELS[self.level]) >> self.shift).astype(np.int64)

    def find(self, x, hashed=None):
        """Numbers of the strings of a flat array, -1 for those that aren't in the table."""
        hashed = hashes(x) if hashed is None else hashed
        at = self.table[self.places(hashed)]
        same = self.tokens[at] == x
        found = np.where(same, self.numbers[at], -1)
        if self.beyond is not None:
            left = np.flatnonzero(~same & (at < len(self.tokens) - 1))
            if len(left):
                found[left] = self.beyond(x[left], hashed[left])
        return found


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
