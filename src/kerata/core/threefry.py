"""Threefry-2x32 (20 rounds) and the recipes from its bits to numbers, in NumPy.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A *key* is a pair of 32-bit words;
block `i` of a key is the cipher of the counter `(i >> 32, i mod 2**32)`, two words `out0, out1`. The layout
is that of `jax.random` with `jax_threefry_partitionable=True`, so every backend can give the same bits:

| drawn | from block `i` |
| --- | --- |
| 32-bit word `i` | `out0 ^ out1` |
| 64-bit word `i` | `out0 << 32 | out1` |
| 16- and 8-bit word `i` | the low bits of the 32-bit word |
| key `i` of a split | `(out0, out1)` |
| mask | every bit of `out0` of all blocks, then every bit of `out1` (see `mask`) |

This file is the reference for the recipes and is quick on a CPU: all passes are made in place over chunks
that stay in the cache. The initializers draw with the `host_*` functions, so that initial weights don't
depend on a backend.
"""

import math
from functools import lru_cache

import numpy as np

from kerata.core import dtypes

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA  # Skein's key schedule constant, lower half

_WORD = 0xFFFFFFFF
_CHUNK = 1 << 15  # blocks a pass: 3 buffers of 128 KiB, within a usual L2 cache


# -- the cipher ------------------------------------------------------------------------------------


def cipher(k0, k1, x0, x1, rotate):
    """Encrypt counters of any array type whose 32-bit `+` wraps; `rotate(x, r)` turns left by r bits."""
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = x0 + schedule[0], x1 + schedule[1]
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = rotate(x1, distance) ^ x0
        x0 = x0 + schedule[(group + 1) % 3]
        x1 = x1 + (schedule[(group + 2) % 3] + (group + 1))
    return x0, x1


# Ufuncs and 0-d operands looked up once: a pass over a small chunk costs about as much as its call.
_add, _xor, _or = np.add, np.bitwise_xor, np.bitwise_or
_left, _right = np.left_shift, np.right_shift
_SHIFTS = tuple(tuple((np.array(r, np.uint32), np.array(32 - r, np.uint32)) for r in group) for group in ROTATIONS)


def _encrypt(schedule, x0, x1, spare):
    """`cipher` in place; `schedule` are Python ints, `spare` is a buffer of the counters' length."""
    for group in range(5):
        for left, right in _SHIFTS[group % 2]:
            _add(x0, x1, x0)
            _left(x1, left, spare)
            _right(x1, right, x1)
            _or(x1, spare, x1)
            _xor(x1, x0, x1)
        _add(x0, np.array(schedule[(group + 1) % 3], np.uint32), x0)
        _add(x1, np.array((schedule[(group + 2) % 3] + group + 1) & _WORD, np.uint32), x1)


_FEW = 64  # blocks; so many are encrypted in Python integers, since NumPy's calls alone would take longer


@lru_cache(maxsize=_FEW)
def _lanes(count):
    """Integers of `count` lanes of 64 bits that hold 1 each, their numbers, and a full word each."""
    ones = sum(1 << 64 * i for i in range(count))
    return ones, sum(i << 64 * i for i in range(count)), ones * _WORD


def _encrypt_few(key, count, high=0, low=0):
    """Both words of the blocks from `(high, low)` on, all blocks at once: each in its lane, which no carry leaves."""
    k0, k1 = key_pair(key)
    ones, numbers, words = _lanes(count)
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = ones * ((high + k0) & _WORD), (numbers + ones * ((low + k1) & _WORD)) & words
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x0 += x1
            x1 = (((x1 << distance) | (x1 >> (32 - distance))) ^ x0) & words
        x0 += ones * schedule[(group + 1) % 3]
        x1 = (x1 + ones * ((schedule[(group + 2) % 3] + group + 1) & _WORD)) & words
    return x0 & words, x1


def _from_lanes(lanes, count):
    return np.frombuffer(lanes.to_bytes(8 * count, "little"), "<u8").astype(np.uint32)


@lru_cache(maxsize=1)
def _iota():
    return np.arange(_CHUNK, dtype=np.uint32)


def _chunks(key, count):
    """Yield `(start, stop, out0, out1)` over blocks `0..count`; the next chunk overwrites the arrays."""
    count = int(count)  # which may be a TensorFlow scalar
    if 0 < count <= _FEW:
        x0, x1 = _encrypt_few(key, count)
        yield 0, count, _from_lanes(x0, count), _from_lanes(x1, count)
        return
    k0, k1 = key_pair(key)
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    buffers = [np.empty(min(count, _CHUNK), np.uint32) for _ in range(3)]
    for start in range(0, count, _CHUNK):
        stop = min(start + _CHUNK, count)
        x0, x1, spare = (b[: stop - start] for b in buffers)
        x0.fill(((start >> 32) + k0) & _WORD)  # a chunk never crosses a multiple of 2**32
        _add(_iota()[: stop - start], np.array((start + k1) & _WORD, np.uint32), x1)
        _encrypt(schedule, x0, x1, spare)
        yield start, stop, x0, x1


def key_pair(key):
    """The key as two Python ints in [0, 2**32), from any pair of integers (signed: the bit pattern)."""
    first, second = key.tolist() if hasattr(key, "tolist") else key
    return int(first) & _WORD, int(second) & _WORD


# -- keys ------------------------------------------------------------------------------------------


def fold(key, data):
    """A key that depends on `key` and the integer `data` (`jax.random.fold_in`); uint32[2]."""
    return np.array(_encrypt_few(key, 1, 0, int(data) & _WORD), np.uint32)


def split(key, num=2):
    """`num` independent keys; uint32[num, 2]."""
    keys = np.empty((num, 2), np.uint32)
    for start, stop, x0, x1 in _chunks(key, num):
        keys[start:stop, 0], keys[start:stop, 1] = x0, x1
    return keys


# -- bits ------------------------------------------------------------------------------------------


def bits(key, size, width=32):
    """`size` random words of 8, 16, 32 or 64 bits."""
    out = np.empty(size, f"uint{width}")
    for start, stop, x0, x1 in _chunks(key, size):
        if width == 64:
            wide = out[start:stop]
            _left(x0, np.uint64(32), wide)
            _or(wide, x1, wide)
        elif width == 32:
            _xor(x0, x1, out[start:stop])
        else:
            out[start:stop] = _xor(x0, x1, x0)  # the assignment keeps the low bits
    return out


# -- masks -----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def mask_recipe(keep_prob):
    """How a mask is cut from random bits: `(width, threshold)`, an element is True where its `width` bits <
    threshold.

    The narrowest of 1, 8 and 16 bits that holds `keep_prob` exactly; else 16 bits, for which the
    probability is right to 2**-17.
    """
    for width in (1, 8, 16):
        threshold = keep_prob * (1 << width)
        if threshold == round(threshold):
            break
    return width, round(threshold)


def mask_blocks(size, width):
    """Number of cipher blocks for a mask of `size` elements of `width` bits."""
    per_block = 64 // width
    return (size + per_block - 1) // per_block


def mask(key, size, keep_prob):
    """`size` booleans, each True with probability `keep_prob`.

    The random words are `out0` of all blocks, then `out1` of all blocks. Each gives `32 / width` elements,
    lowest bits first.
    """
    width, threshold = mask_recipe(keep_prob)
    if threshold in (0, 1 << width):
        return np.full(size, threshold > 0)
    blocks, per_word = mask_blocks(size, width), 32 // width
    out = np.empty(2 * blocks * per_word, np.bool_)
    for start, stop, x0, x1 in _chunks(key, blocks):
        _cut(x0, width, threshold, out[start * per_word : stop * per_word])
        _cut(x1, width, threshold, out[(blocks + start) * per_word : (blocks + stop) * per_word])
    return out[:size]


def _cut(words, width, threshold, out):
    words = words.astype("<u4", copy=False)
    if width == 1:
        np.equal(np.unpackbits(words.view(np.uint8), bitorder="little"), 0, out)
    else:
        narrow = np.dtype(f"<u{width // 8}")
        np.less(words.view(narrow), np.array(threshold, narrow), out)


# -- floats ----------------------------------------------------------------------------------------

# dtype -> (bits drawn, bits of the mantissa, the pattern of 1.0). bfloat16 draws 8 bits, as jax.random does.
FLOAT_RECIPES = {
    "float16": (16, 10, 0x3C00),
    "bfloat16": (8, 7, 0x3F80),
    "float32": (32, 23, 0x3F800000),
    "float64": (64, 52, 0x3FF0000000000000),
}


def uniform01(key, size, dtype="float32"):
    """Uniform floats in [0, 1): random mantissa bits under the exponent of 1.0, minus 1; exact."""
    drawn, mantissa, one = FLOAT_RECIPES[dtype]
    if dtype != "float32":
        words = bits(key, size, drawn)
        pattern = np.dtype(f"uint{max(drawn, 16)}")
        words = words.astype(pattern, copy=False) >> pattern.type(drawn - mantissa) | pattern.type(one)
        values = words.view(dtypes.to_numpy_dtype(dtype))
        return values - values.dtype.type(1)
    out = np.empty(size, np.uint32)
    values, shift, exponent = out.view(np.float32), np.array(9, np.uint32), np.array(one, np.uint32)
    for start, stop, x0, x1 in _chunks(key, size):
        _xor(x0, x1, x0)
        _right(x0, shift, x0)
        _or(x0, exponent, out[start:stop])
        np.subtract(values[start:stop], np.float32(1), values[start:stop])
    return values


def uniform(key, size, minval, maxval, dtype="float32"):
    """Uniform floats in [minval, maxval): `u * (maxval - minval) + minval`.

    In float32 it is rounded once, at the end, as by the fused multiply-add that XLA's compilers use here.
    That is had by computing in float64, where the product is exact and, unless `|minval|` is more than 64
    times the width, the sum is too. The other dtypes round after each step.
    """
    values = uniform01(key, size, dtype)
    low, scale = affine_constants(minval, maxval, dtype)
    if low == 0:
        return _scaled(values, scale)
    wide = np.float64 if dtype == "float32" else values.dtype.type
    for part in _parts(values):
        part[...] = part.astype(wide, copy=False) * wide(scale) + wide(low)
        np.maximum(part, low, out=part)
    return values


def affine_constants(minval, maxval, dtype):
    """`minval` and `maxval - minval`, each rounded to `dtype` (as scalars of it)."""
    kind = dtypes.to_numpy_dtype(dtype).type
    low = kind(minval)
    return low, kind(kind(maxval) - low)


def _scaled(values, scale):
    if scale != 1:
        np.multiply(values, scale, values)
    return values


def _parts(values):
    return (values[i : i + _CHUNK] for i in range(0, len(values), _CHUNK))


# -- normals ---------------------------------------------------------------------------------------

# M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): coefficients of the polynomials
# in w - 2.5 for w = -log(1 - x*x) < 5 and in sqrt(w) - 3 above, highest power first. XLA's erf_inv
# evaluates the same ones.
ERFINV_CENTER = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
    -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
    0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip
# The same paper's double precision polynomials, in w - 3.125 (w < 6.25), sqrt(w) - 3.25 (w < 16), sqrt(w) -
# 5.
ERFINV_64 = (
    (
        -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18,
        1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17,
        6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
        2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
        1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08,
        4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05,
        0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533,
        0.24015818242558961693, 1.6536545626831027356,
    ),
    (
        2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
        1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
        2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
        6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
        0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
        -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635,
    ),
    (
        -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
        -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
        2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
        -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
        7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
        1.0103004648645343977, 4.8499064014085844221,
    ),
)  # fmt: skip


def erfinv(x):
    """Inverse error function of a float32 or float64 array in (-1, 1) (same dtype; a new array)."""
    return _erfinv64(x) if x.dtype == np.float64 else _erfinv32(x)


def _erfinv32(x):
    w = np.multiply(x, x)
    # the product is rounded to float32 (XLA's is); its logarithm in float64, so that no machine's libm shows
    w = np.negative(np.log1p(np.negative(w, dtype=np.float64))).astype(np.float32)
    p = _horner(ERFINV_CENTER, w - np.float32(2.5))
    tail = np.flatnonzero(w >= 5)  # 0.34 % of uniform x
    p[tail] = _horner(ERFINV_TAIL, np.sqrt(w[tail]) - np.float32(3))
    return np.multiply(p, x, p)


def _erfinv64(x):
    w = -np.log1p(-x * x)
    center, middle, tail = ERFINV_64
    p = _horner(center, w - 3.125)
    far = np.flatnonzero(w >= 6.25)
    root = np.sqrt(w[far])
    p[far] = np.where(w[far] < 16, _horner(middle, root - 3.25), _horner(tail, root - 5.0))
    return p * x


def _horner(coefficients, w):
    kind = w.dtype.type
    p = np.full_like(w, coefficients[0])
    for c in coefficients[1:]:
        np.multiply(p, w, p)
        np.add(p, kind(c), p)
    return p


def normal(key, size, dtype="float32"):
    """Standard normals: sqrt(2) * erfinv(u), u uniform in (-1, 1)."""
    return _from_quantile(uniform(key, size, *normal_bounds(dtype), dtype), dtype)


def truncated_normal(key, size, dtype="float32"):
    """Standard normals conditioned on |z| < 2: quantiles of uniforms in (-erf(sqrt 2), erf(sqrt 2))."""
    values = _from_quantile(uniform(key, size, *truncated_bounds(dtype), dtype), dtype)
    low, high = truncated_limits(dtype)
    return np.clip(values, low, high, out=values)


def _from_quantile(u, dtype):
    """sqrt(2) * erfinv(u) in `u`'s memory. Narrow floats round after each of the two, as in jax.random."""
    root2 = u.dtype.type(math.sqrt(2))
    work = np.float64 if dtype == "float64" else np.float32
    for part in _parts(u):
        part[...] = erfinv(part.astype(work, copy=False))
        np.multiply(part, root2, part)
    return u


def normal_bounds(dtype):
    """The interval of the uniforms that normals are made of: it excludes -1, whose quantile is infinite."""
    kind = dtypes.to_numpy_dtype(dtype).type
    return np.nextafter(kind(-1), kind(0)), kind(1)


def truncated_bounds(dtype):
    """erf(-2 / sqrt 2) and erf(2 / sqrt 2) in `dtype`."""
    kind = dtypes.to_numpy_dtype(dtype).type
    edge = kind(math.erf(math.sqrt(2)))
    return -edge, edge


def truncated_limits(dtype):
    """Least and greatest value of a truncated normal: -2 and 2 are excluded."""
    kind = dtypes.to_numpy_dtype(dtype).type
    return np.nextafter(kind(-2), kind(0)), np.nextafter(kind(2), kind(0))


# -- integers --------------------------------------------------------------------------------------


def randint(key, size, minval, maxval, dtype="int32"):
    """Integers in [minval, maxval), `minval` where that is empty; bounds are ints or arrays of `size`.

    The remainder of a number of twice the word's bits by the width of the interval (`jax.random.randint`):
    uneven by at most width / 2**64. Words have 32 bits unless the interval is wider than that.
    """
    low, span, word = randint_recipe(minval, maxval)
    high_key, low_key = split(key)
    kind = np.dtype(f"uint{word}").type
    offset = _remainder(bits(high_key, size, word), span)
    offset *= np.asarray(randint_multiplier(span, word), kind)
    offset += _remainder(bits(low_key, size, word), span)
    offset = _remainder(offset, span)
    return (offset.astype(np.uint64) + _as_uint64(low)).astype(np.int64).astype(dtype)


def randint_recipe(minval, maxval):
    """`(minval, width, bits of a word)`; the width of the interval is an int or a uint64 array."""
    if isinstance(minval, int) and isinstance(maxval, int):
        span = max(maxval - minval, 1)
        return minval, span, 32 if span <= 1 << 32 else 64
    low, high = np.asarray(minval).astype(np.int64), np.asarray(maxval).astype(np.int64)
    return low, np.where(high > low, high - low, 1).astype(np.uint64), 32


def randint_multiplier(span, word):
    """2**word mod span, the weight of the high word. If the square overflows, 0, as in jax.random."""
    half = 1 << (word // 2)
    if isinstance(span, int):
        return (half % span) ** 2 % (1 << word) % span
    root = np.uint64(half) % span  # an array of widths: 32-bit words
    return root * root % np.uint64(1 << word) % span


def _remainder(words, span):
    if not isinstance(span, int):
        return np.remainder(words, span).astype(words.dtype)
    whole = span > np.iinfo(words.dtype).max
    return words if whole else np.remainder(words, words.dtype.type(span), words)


def _as_uint64(x):
    return np.uint64(x & 0xFFFFFFFFFFFFFFFF) if isinstance(x, int) else x.astype(np.uint64)


# -- order -----------------------------------------------------------------------------------------


def permutation(key, n):
    """A random order of `n` indices (int32): sorted by random words until ties can't matter."""
    order = np.arange(n, dtype=np.int32)
    for _ in range(permutation_rounds(n)):
        key, subkey = split(key)
        # word and position in one integer: a plain sort, faster than a stable argsort
        tagged = np.left_shift(bits(subkey, n), np.uint64(32), dtype=np.uint64)
        tagged |= np.arange(n, dtype=np.uint64)
        tagged.sort()
        order = order[(tagged & np.uint64(_WORD)).astype(np.intp)]
    return order


def permutation_rounds(n):
    """So many sorts that all keys tie with probability below 1 / n**3 (`jax.random.permutation`)."""
    return math.ceil(3 * math.log(max(1, n)) / math.log(_WORD))


# -- draws on the host -----------------------------------------------------------------------------
# Shaped draws for initial weights and the order of batches: the same bits whatever backend is current.


def host_bits(shape, key):
    """Random words, uint32."""
    return bits(key, math.prod(shape)).reshape(shape)


def host_mask(shape, key, keep_prob):
    """Booleans, each True with probability `keep_prob`."""
    return mask(key, math.prod(shape), keep_prob).reshape(shape)


def host_uniform(shape, key, minval=0.0, maxval=1.0, dtype="float32"):
    """Uniform NumPy array in [minval, maxval)."""
    return uniform(key, math.prod(shape), minval, maxval, dtype).reshape(shape)


def host_normal(shape, key, mean=0.0, stddev=1.0, dtype="float32"):
    """Normal NumPy array: `z * stddev + mean`, rounded to `dtype` after each step."""
    return _shifted(normal(key, math.prod(shape), dtype), mean, stddev).reshape(shape)


def host_truncated_normal(shape, key, mean=0.0, stddev=1.0, dtype="float32"):
    """Normal NumPy array without values further than two `stddev` from the mean."""
    return _shifted(truncated_normal(key, math.prod(shape), dtype), mean, stddev).reshape(shape)


def host_randint(shape, key, minval, maxval, dtype="int32"):
    """Integer NumPy array in [minval, maxval)."""
    return randint(key, math.prod(shape), minval, maxval, dtype).reshape(shape)


def _shifted(z, mean, stddev):
    z = _scaled(z, z.dtype.type(stddev))
    return z + z.dtype.type(mean) if mean else z
