"""Hashes of byte strings on the host, many at a time: FarmHash's `Fingerprint64`, and SipHash-2-4 with a key.

They are the numbers of TensorFlow's `to_hash_bucket_fast` and `to_hash_bucket_strong`. Sources: FarmHash (G. Pike, Google,
https://github.com/google/farmhash), whose fingerprint is fixed for good; SipHash (J.-P. Aumasson and D. J. Bernstein, 2012).
"""

import numpy as np

_U64 = np.uint64
_K0, _K1, _K2 = _U64(0xC3A5C85C97CB3127), _U64(0xB492B66FBE98F273), _U64(0x9AE16A3B2F90404F)
# Bytes that may be read behind the last string.
_TAIL = 64
# The longest decimal notation of 64 bits, with its sign.
_WIDTH = 21
# Strings hashed together: their words stay in a processor's cache.
_CHUNK = 8192


class Packed:
    """Byte strings in one buffer.

    Args:
        buffer: their bytes (`bytes`).
        starts: where each begins.
        lengths: how many bytes each has.
    """

    def __init__(self, buffer, starts, lengths):
        self.buffer = buffer + bytes(_TAIL)
        self.starts, self.lengths = starts, lengths
        self.bytes = np.frombuffer(self.buffer, np.uint8)

    @classmethod
    def of(cls, strings):
        """From a list of `bytes`."""
        lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        return cls(b"".join(strings), np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def of_integers(cls, x):
        """The decimal notation of integers."""
        x = x.ravel()
        negative = x < 0
        rest = x.astype(_U64)
        rest = np.where(negative, ~rest + _U64(1), rest)
        if len(rest) and rest.max() < 2**32:
            rest = rest.astype(np.uint32)  # which divides faster
        digits = np.zeros((len(x), _WIDTH), np.uint8)
        lengths = np.ones(len(x), np.int64)
        for place in range(_WIDTH - 1, 0, -1):
            tens = rest // rest.dtype.type(10)
            digits[:, place] = rest - tens * rest.dtype.type(10) + ord("0")
            rest = tens
            if not rest.any():
                break
            lengths += rest > 0
        digits[negative, _WIDTH - 1 - lengths[negative]] = ord("-")
        lengths += negative
        return cls(digits.tobytes(), np.arange(1, len(x) + 1) * _WIDTH - lengths, lengths)

    def read(self, places, dtype="<u8"):
        """The little-endian words that begin at these places, as uint64."""
        size = np.dtype(dtype).itemsize
        words = np.ndarray((len(self.buffer) - size + 1,), dtype, self.buffer, strides=(1,))
        return words[places].astype(_U64, copy=False)


# ------------------------------------------------------------------ FarmHash


def _rotate(x, bits):
    return (x >> _U64(bits)) | (x << _U64(64 - bits))


def _mixed(x):
    return x ^ (x >> _U64(47))


def _pair(u, v, factor):
    """Two words to one."""
    return _mixed((v ^ _mixed((u ^ v) * factor)) * factor) * factor


def fingerprint64(packed):
    """FarmHash's 64-bit fingerprint of each string.

    Args:
        packed: `Packed` strings.

    Returns:
        uint64 array.

    >>> from kerata.core.fingerprint import Packed, fingerprint64
    >>> (fingerprint64(Packed.of([b"A", b"B"])) % 3).tolist()
    [1, 0]
    """
    out = np.full(len(packed.lengths), _K2, _U64)
    for least, most, function in _BY_LENGTH:
        of_class = np.nonzero((packed.lengths >= least) & (packed.lengths <= most))[0]
        for i in range(0, len(of_class), _CHUNK):
            chosen = of_class[i : i + _CHUNK]
            with np.errstate(over="ignore"):
                out[chosen] = function(packed, packed.starts[chosen], packed.lengths[chosen])
    return out


def _to_3(packed, start, length):
    first, middle, last = (packed.bytes[p].astype(_U64) for p in (start, start + length // 2, start + length - 1))
    y = first + (middle << _U64(8))
    z = length.astype(_U64) + (last << _U64(2))
    return _mixed(y * _K2 ^ z * _K0) * _K2


def _factor(length):
    return _K2 + length.astype(_U64) * _U64(2)


def _to_7(packed, start, length):
    first, last = packed.read(start, "<u4"), packed.read(start + length - 4, "<u4")
    return _pair(length.astype(_U64) + (first << _U64(3)), last, _factor(length))


def _to_16(packed, start, length):
    factor = _factor(length)
    a, b = packed.read(start) + _K2, packed.read(start + length - 8)
    return _pair(_rotate(b, 37) * factor + a, (_rotate(a, 25) + b) * factor, factor)


def _ends(packed, start, length, factor, first):
    """What strings of 17 bytes and more begin with: their first and last two words, weighed."""
    a, b = packed.read(start) * first, packed.read(start + 8)
    c, d = packed.read(start + length - 8) * factor, packed.read(start + length - 16) * _K2
    return a, _rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c


def _to_32(packed, start, length):
    factor = _factor(length)
    _, u, v = _ends(packed, start, length, factor, _K1)
    return _pair(u, v, factor)


def _to_64(packed, start, length):
    factor = _factor(length)
    a, y, v = _ends(packed, start, length, factor, _K2)
    z = _pair(y, v, factor)
    e, f = packed.read(start + 16) * factor, packed.read(start + 24)
    g, h = (y + packed.read(start + length - 32)) * factor, (z + packed.read(start + length - 24)) * factor
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, factor)


def _weak(packed, place, a, b):
    """Four words and two seeds to two words."""
    w, x, y, z = (packed.read(place + 8 * i) for i in range(4))
    a = a + w
    b = _rotate(b + a + z, 21)
    s = a + x + y
    return s + z, b + _rotate(s, 44) + a


def _block(packed, place, state, factor, nine):
    """Take in 64 bytes. `nine` is 9 for the last block of a string, else 1."""
    x, y, z, v0, v1, w0, w1 = state
    x = _rotate(x + y + v0 + packed.read(place + 8), 37) * factor
    y = _rotate(y + v1 + packed.read(place + 48), 42) * factor
    x = x ^ w1 * nine
    y = y + v0 * nine + packed.read(place + 40)
    z = _rotate(z + w0, 33) * factor
    v0, v1 = _weak(packed, place, v1 * factor, x + w0)
    w0, w1 = _weak(packed, place + 32, z + w1, y + packed.read(place + 16))
    return z, y, x, v0, v1, w0, w1


def _longer(packed, start, length):
    """Strings of more than 64 bytes: all together, block by block, the longest first."""
    order = np.argsort(-length, kind="stable")
    start, length = start[order], length[order]
    blocks = (length - 1) // 64
    zero = np.zeros(len(start), _U64)
    seed = _U64(81)
    y = zero + (seed * _K1 + _U64(113))
    z = _mixed(y * _K2 + _U64(113)) * _K2
    state = [seed * _K2 + packed.read(start), y, z, zero, zero.copy(), zero.copy(), zero.copy()]
    for i in range(int(blocks[0])):
        n = int(np.searchsorted(-blocks, -i, side="left"))
        for part, new in zip(
            state, _block(packed, start[:n] + 64 * i, [s[:n] for s in state], _K1, _U64(1)), strict=True
        ):
            part[:n] = new
    x, y, z, v0, v1, w0, w1 = state
    factor = _K1 + ((z & _U64(255)) << _U64(1))
    w0 = w0 + ((length - 1) & 63).astype(_U64)
    v0 = v0 + w0
    w0 = w0 + v0
    x, y, z, v0, v1, w0, w1 = _block(packed, start + length - 64, (x, y, z, v0, v1, w0, w1), factor, _U64(9))
    result = _pair(_pair(v0, w0, factor) + _mixed(y) * _K0 + z, _pair(v1, w1, factor) + x, factor)
    back = np.empty_like(result)
    back[order] = result
    return back


_BY_LENGTH = (
    (1, 3, _to_3),
    (4, 7, _to_7),
    (8, 16, _to_16),
    (17, 32, _to_32),
    (33, 64, _to_64),
    (65, np.iinfo(np.int64).max, _longer),
)


# ------------------------------------------------------------------ SipHash


def siphash(packed, key):
    """SipHash-2-4 of each string.

    Args:
        packed: `Packed` strings.
        key: two integers below 2**64.

    Returns:
        uint64 array.
    """
    order = _longest_first(packed.lengths // 8)
    out = np.empty(len(order), _U64)
    with np.errstate(over="ignore"):
        for i in range(0, len(order), _CHUNK):
            chosen = order[i : i + _CHUNK]
            out[chosen] = _siphash(packed, packed.starts[chosen], packed.lengths[chosen], [_U64(k) for k in key])
    return out


def _longest_first(blocks):
    """Order of strings by their number of blocks."""
    if blocks.max(initial=0) < 2**16:
        blocks = blocks.astype(np.uint16)  # which NumPy sorts in linear time
    return np.argsort(np.iinfo(blocks.dtype).max - blocks, kind="stable")


def _siphash(packed, start, length, key):
    """The same of strings ordered by length, the longest first."""
    k0, k1 = key
    constants = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    # The state and room to work in.
    v = np.empty((5, len(start)), _U64)
    for row, constant, k in zip(v, constants, (k0, k1, k0, k1), strict=False):
        row[:] = _U64(constant) ^ k
    blocks = length // 8
    for i in range(int(blocks[0])):
        n = int(np.searchsorted(-blocks, -i, side="left"))
        _absorb(v[:, :n], packed.read(start[:n] + 8 * i))
    # The rest of less than 8 bytes, with the length in the highest one.
    rest = (length - 8 * blocks).astype(_U64)
    last = packed.read(start + 8 * blocks) & ((_U64(1) << (rest * _U64(8))) - _U64(1))
    _absorb(v, last | (length.astype(_U64) << _U64(56)))
    v[2] ^= _U64(255)
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _absorb(v, word):
    v[3] ^= word
    _rounds(v, 2)
    v[0] ^= word


def _rounds(v, count):
    a, b, c, d, room = v
    for _ in range(count):
        for left, right in ((13, 16), (17, 21)):
            a += b
            c += d
            _turn(b, left, room)
            _turn(d, right, room)
            b ^= a
            d ^= c
            _turn(a, 32, room)
            # In the second half the pairs are (c, b) and (a, d), as in the first (a, b) and (c, d).
            a, c = c, a


def _turn(x, bits, room):
    """Rotate to the left, in place."""
    np.right_shift(x, _U64(64 - bits), out=room)
    x <<= _U64(bits)
    x |= room


# ------------------------------------------------------------------ arrays


def encoded(x):
    """A text array's strings as a flat list of UTF-8 `bytes`."""
    return [s if type(s) is bytes else str(s).encode("utf-8", "surrogatepass") for s in x.ravel().tolist()]


def packed(x):
    """An array's values as strings: text as it is, numbers in decimal notation."""
    kind = x.dtype.kind
    if kind in "iu":
        return Packed.of_integers(x)
    if kind == "b":
        return Packed.of([b"true" if v else b"false" for v in x.ravel().tolist()])
    if kind == "f":
        return Packed.of([b"%f" % v for v in x.ravel().tolist()])
    return (_fixed_width(x) if kind in "US" and x.size and x.dtype.itemsize else None) or Packed.of(encoded(x))


def _fixed_width(x):
    """A NumPy string array's own memory, if it is all ASCII: no string is made an object of Python's."""
    x = np.ascontiguousarray(x).ravel()
    codes = x.view(np.uint32 if x.dtype.kind == "U" else np.uint8)
    if codes.max() > 127 or not x.dtype.isnative:
        return None
    width = len(codes) // len(x)
    return Packed(codes.astype(np.uint8).tobytes(), np.arange(len(x)) * width, np.char.str_len(x))


def buckets(x, num_bins, salt=None):
    """Hashes of an array's values modulo `num_bins`: int64, of its shape. With a salt SipHash, else FarmHash."""
    hashed = fingerprint64(packed(x)) if salt is None else siphash(packed(x), salt)
    return (hashed % _U64(num_bins)).astype(np.int64).reshape(x.shape)


# Of TensorFlow's `sparse.cross_hashed`: the first fingerprint of a chain, and what chains multiply by.
_CHAIN_START, _CHAIN_FACTOR = _U64(0xDECAFCAFFE), _U64(0xC6A4A7935BD1E995)


def crossed(arrays, num_bins):
    """Bucket of each combination of values at one place of several arrays of one shape. Integers are their own hash."""
    result = np.full(arrays[0].shape, _CHAIN_START, _U64)
    with np.errstate(over="ignore"):
        for x in arrays:
            hashed = x.astype(np.int64).astype(_U64) if x.dtype.kind in "iub" else fingerprint64(packed(x))
            chained = result ^ _CHAIN_FACTOR ^ (_mixed(hashed.reshape(x.shape) * _CHAIN_FACTOR) * _CHAIN_FACTOR)
            result = _mixed(_mixed(chained * _CHAIN_FACTOR) * _CHAIN_FACTOR)
    return (result % _U64(num_bins)).astype(np.int64)
