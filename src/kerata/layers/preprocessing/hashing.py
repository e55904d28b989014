"""`Hashing`: categories to buckets."""

from kerata import backends, ops
from kerata.core import errors
from kerata.layers.preprocessing import encoding
from kerata.layers.preprocessing.encoding import EncodingLayer
from kerata.ops.hashing import hash_buckets

MODES = ("int", "one_hot", "multi_hot", "count")


class HashingLayer(EncodingLayer):
    """Base of layers that put what they get into buckets by its hash.

    Args:
        num_bins: number of buckets.
        output_mode: as of `EncodingLayer`; with `"int"` the dtype is an integer one.
    """

    # XLA has no hashes.
    supports_jit = False

    def __init__(self, num_bins, *, output_mode, **kwargs):
        if output_mode == "int":
            kwargs["dtype"] = encoding.integer_dtype(kwargs.get("dtype"), named(self, kwargs.get("name")))
        super().__init__(output_mode=output_mode, **kwargs)
        self.num_bins = num_bins

    def _depth(self):
        return self.num_bins

    @property
    def _opaque(self):
        return backends.current_name() == "tensorflow"


class Hashing(HashingLayer):
    """Puts strings or integers into buckets by their hashes: a vocabulary isn't needed, but categories may collide.

    The buckets are those of TensorFlow's `to_hash_bucket_fast` (FarmHash), with a salt those of `to_hash_bucket_strong` (SipHash), on
    every backend, and the same on every machine.

    Args:
        num_bins: number of buckets, the one for `mask_value` included.
        mask_value: a value that gets bucket 0 for itself; `None`: no bucket is kept.
        salt: an integer or two: the key of SipHash.
        output_mode: `"int"`: the bucket's number; `"one_hot"`, `"multi_hot"`, `"count"`: as in `CategoryEncoding`.
        sparse: return sparse tensors (TensorFlow, JAX).

    Input: strings or integers of any shape. Inside a compiled model: integers (strings too on TensorFlow). Output: int64 of the same
    shape, or an encoding.

    Raises:
        ValueError: a bad `num_bins`, `salt`, `output_mode` or `dtype`.
        TypeError: text inside a model, where the backend's tensors hold numbers only.

    >>> import kerata
    >>> layer = kerata.layers.Hashing(num_bins=3)
    >>> kerata.ops.convert_to_numpy(layer([["A"], ["B"], ["E"]])).tolist()
    [[1], [0], [2]]
    """

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        owner = named(self, kwargs.get("name"))
        if num_bins is None or isinstance(num_bins, bool) or num_bins <= 0:
            raise ValueError(
                f"{owner}: The `num_bins` for `Hashing` cannot be `None` or non-positive, but {num_bins!r} was given."
            )
        num_bins = errors.positive_int(num_bins, "num_bins", owner)
        check_mode(output_mode, MODES, owner)
        super().__init__(num_bins, output_mode=output_mode, sparse=sparse, **kwargs)
        self.mask_value = mask_value
        self.salt = salt_of(salt, owner)

    def call(self, inputs):
        return self._encoded(encoding.of_values(self._bucket, inputs))

    def _bucket(self, x):
        text = encoding.text_dtype(x)
        if text:
            self._check_text(x)
        bins = self.num_bins
        if self.mask_value is None:
            return hash_buckets(x, bins, self.salt)
        # Bucket 0 is the mask's.
        if bins == 1:
            return ops.zeros(ops.shape(x), "int64")
        masked = backends.current().text_equal(x, self.mask_value) if text else ops.equal(x, self.mask_value)
        hashed = hash_buckets(x, bins - 1, self.salt) + 1
        return ops.where(masked, ops.zeros_like(hashed), hashed)


def named(layer, name):
    """How errors call a layer that isn't made yet."""
    return f"{type(layer).__name__} {name or ''}".strip()


def check_mode(output_mode, modes, owner):
    """An unknown `output_mode` is an error."""
    if output_mode not in modes:
        raise ValueError(
            f"{owner}: Invalid value for argument `output_mode`. Expected one of {', '.join(map(repr, modes))}, but "
            f"{output_mode!r} was given.{errors.nearest(output_mode, modes)}"
        )


def salt_of(salt, owner):
    """A salt as two integers, or `None`."""
    if salt is None:
        return None
    pair = [salt, salt] if isinstance(salt, int) else salt
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(s, int) for s in pair):
        raise ValueError(
            f"{owner}: The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single integer, but "
            f"{salt!r} was given."
        )
    return list(pair)
