"""Random natives on TensorFlow.

Eagerly the numbers are made by `core.threefry` in NumPy, in place; in a graph the same recipes are TensorFlow
ops, for XLA and without, and dimensions may be scalar tensors. The cipher's 120 ops take a graph long, so
where XLA doesn't compile it anyway, it compiles the cipher of a fixed number of blocks, which is called as
often as needed; uniforms, orders and splits of few blocks are one call. With `set_rng("native")`,
`tf.random.stateless_*` give uniforms, normals and masks.
"""

import functools
import math

import numpy as np

from kerata.backends.tensorflow.core import DTYPES, in_xla, tf
from kerata.backends.tensorflow.eager_calls import eager_alone
from kerata.core import config, threefry

__all__ = [
    "compiled_whole", "draws_on_host", "random_bits", "random_fold", "random_mask", "random_next", "random_normal", "random_permutation",
    "random_randint", "random_randint_between", "random_split", "random_truncated_normal",
    "random_uniform",
]  # fmt: skip

_STEP = np.array([0, 1], np.uint32)
_WORD = 0xFFFFFFFF
# Blocks in a call of the compiled cipher: of most draws, and of large ones.
_FEW, _CHUNK = 1 << 8, 1 << 13
_KEY_SPEC, _CHUNK_SPEC = tf.TensorSpec((2,), tf.uint32), tf.TensorSpec((2, _CHUNK), tf.uint32)


def _on_host():
    eager_alone()
    return tf.executing_eagerly()


def draws_on_host(*tensors):
    """Whether draws from a key are made in NumPy, and the values of all these tensors are at hand."""
    return _on_host() and config.rng_mode() != "native"


def _size(shape):
    """Number of elements: an int, or a scalar tensor where a dimension is one."""
    return math.prod(shape) if all(isinstance(d, int) for d in shape) else tf.reduce_prod(tf.stack(shape))


def compiled_whole(function):
    """A function of a shape and tensors, compiled by XLA in a graph where all of the shape is known; else as it is."""

    def whole(shape, *tensors):
        if in_xla() or not all(isinstance(d, int) for d in shape):
            return function(shape, *tensors)
        return _compiled(function, shape)(*tensors)

    return whole


@functools.lru_cache(64)
def _compiled(function, shape):
    return tf.function(functools.partial(function, shape), jit_compile=True, autograph=False)


def _in_few(count, few, many):
    """Which of two functions to call: for at most `_FEW` blocks where XLA doesn't compile all, or for any number."""
    if in_xla():
        return many()
    if isinstance(count, int):
        return few() if count <= _FEW else many()
    return tf.cond(count <= _FEW, few, many)


# -- keys and bits ---------------------------------------------------------------------------------


def random_next(state):
    if _on_host():
        words = state.numpy()
        return tf.constant(words), tf.constant(words + _STEP)
    return state, state + _STEP


def random_split(key, num):
    if _on_host():
        return tf.constant(threefry.split(key.numpy(), num))
    if isinstance(num, int) and num == 2 and not in_xla():
        return _halves(key)
    return tf.stack(_blocks(key, num), 1)


@tf.function(jit_compile=True, autograph=False, input_signature=[_KEY_SPEC])
def _halves(key):
    return tf.stack(_encrypted(key, tf.range(2)), 1)


def random_fold(key, data):
    if _on_host():
        return tf.constant(threefry.fold(key.numpy(), data))
    data = tf.cast(data, tf.uint32)
    return _folded.python_function(key, data) if in_xla() else _folded(key, data)


@tf.function(jit_compile=True, autograph=False, input_signature=[_KEY_SPEC, tf.TensorSpec((), tf.uint32)])
def _folded(key, data):
    return tf.stack(threefry.cipher(key[0], key[1], 0, data, _rotate))


def random_bits(key, shape):
    if _on_host():
        return tf.constant(threefry.host_bits(shape, key.numpy()))
    return _words(key, shape)


def _rotate(x, distance):
    left = tf.bitwise.left_shift(x, np.uint32(distance))
    return tf.bitwise.bitwise_or(left, tf.bitwise.right_shift(x, np.uint32(32 - distance)))


def _blocks(key, count):
    """Both outputs of the blocks `0..count` (a tensor here has fewer than 2**31 elements), uint32."""
    if in_xla():
        return _encrypted(key, tf.range(count, dtype=tf.int32))
    both = _in_few(count, lambda: _few(key), lambda: _many(key, count))
    return tf.unstack(both[:, :count])


def _many(key, count):
    if isinstance(count, int) and count <= _CHUNK:
        return _chunk(key, 0)
    starts = tf.range((count + _CHUNK - 1) // _CHUNK) * _CHUNK
    chunks = tf.map_fn(lambda start: _chunk(key, start), starts, fn_output_signature=_CHUNK_SPEC)
    return tf.reshape(tf.transpose(chunks, (1, 0, 2)), (2, -1))


@tf.function(jit_compile=True, autograph=False, input_signature=[_KEY_SPEC, tf.TensorSpec((), tf.int32)])
def _chunk(key, start):
    return tf.stack(_encrypted(key, start + tf.range(_CHUNK)))


@tf.function(jit_compile=True, autograph=False, input_signature=[_KEY_SPEC])
def _few(key):
    return tf.stack(_encrypted(key, tf.range(_FEW)))


def _encrypted(key, counter):
    return threefry.cipher(key[0], key[1], 0, tf.bitcast(counter, tf.uint32), _rotate)


def _words(key, shape):
    return tf.reshape(tf.bitwise.bitwise_xor(*_blocks(key, _size(shape))), shape)


# -- floats ----------------------------------------------------------------------------------------


def random_uniform(key, shape, minval, maxval, dtype):
    if config.rng_mode() == "native":
        return tf.random.stateless_uniform(shape, _native_seed(key), minval, maxval, DTYPES[dtype])

    if _on_host():
        return tf.constant(threefry.host_uniform(shape, key.numpy(), minval, maxval, dtype))
    return _uniform(key, shape, minval, maxval, dtype)


def random_normal(key, shape, dtype):
    if config.rng_mode() == "native":
        return tf.random.stateless_normal(shape, _native_seed(key), dtype=DTYPES[dtype])
    if _on_host():
        return tf.constant(threefry.host_normal(shape, key.numpy(), dtype=dtype))
    return _normal(key, shape, dtype)


def random_truncated_normal(key, shape, dtype):
    if _on_host():
        return tf.constant(threefry.host_truncated_normal(shape, key.numpy(), dtype=dtype))
    return _truncated_normal(key, shape, dtype)


def _normal(key, shape, dtype):
    return _quantile(_uniform(key, shape, *threefry.normal_bounds(dtype), dtype))


def _truncated_normal(key, shape, dtype):
    values = _quantile(_uniform(key, shape, *threefry.truncated_bounds(dtype), dtype))
    return tf.clip_by_value(values, *threefry.truncated_limits(dtype))


def _uniform(key, shape, minval, maxval, dtype):
    low, scale = threefry.affine_constants(minval, maxval, dtype)
    if dtype != "float32":
        return _scaled(_uniform01(key, shape, dtype), low, scale, dtype)
    count = _size(shape)
    return _in_few(
        count,
        lambda: tf.reshape(_few_uniform(key, float(low), float(scale))[:count], shape),
        lambda: _scaled(_uniform01(key, shape, dtype), low, scale, dtype),
    )


@tf.function(jit_compile=True, autograph=False, input_signature=[_KEY_SPEC, *[tf.TensorSpec((), tf.float64)] * 2])
def _few_uniform(key, low, scale):
    values = tf.cast(_uniform01(key, (_FEW,), "float32"), tf.float64) * scale + low
    return tf.maximum(tf.cast(values, tf.float32), tf.cast(low, tf.float32))


def _scaled(values, low, scale, dtype):
    if low == 0:
        return values * scale
    if dtype == "float32":  # rounded once, see `threefry.uniform`
        values = tf.cast(tf.cast(values, tf.float64) * float(scale) + float(low), tf.float32)
    else:
        values = values * scale + low
    return tf.maximum(values, low)


def _uniform01(key, shape, dtype):
    drawn, mantissa, one = threefry.FLOAT_RECIPES[dtype]
    if drawn == 64:
        high, words = (tf.cast(out, tf.uint64) for out in _blocks(key, _size(shape)))
        words = tf.reshape(tf.bitwise.bitwise_or(tf.bitwise.left_shift(high, np.uint64(32)), words), shape)
    else:
        words = tf.bitwise.bitwise_and(_words(key, shape), np.uint32((1 << drawn) - 1))
    kind = words.dtype.as_numpy_dtype
    words = tf.bitwise.bitwise_or(tf.bitwise.right_shift(words, kind(drawn - mantissa)), kind(one))
    if drawn < 32:
        words = tf.cast(words, tf.uint16)
    return tf.bitcast(words, DTYPES[dtype]) - tf.ones((), DTYPES[dtype])


def _quantile(u):
    """sqrt(2) * erfinv(u), by `threefry.erfinv`'s polynomials; narrow floats round after each of the two."""
    erfinv = _erfinv64(u) if u.dtype == tf.float64 else tf.cast(_erfinv32(tf.cast(u, tf.float32)), u.dtype)
    return erfinv * tf.constant(math.sqrt(2), u.dtype)


def _erfinv32(x):
    w = -tf.math.log1p(-(x * x))
    center = _horner(threefry.ERFINV_CENTER, w - 2.5)
    tail = _horner(threefry.ERFINV_TAIL, tf.sqrt(w) - 3.0)
    return tf.where(w < 5, center, tail) * x


def _erfinv64(x):
    w = -tf.math.log1p(-x * x)
    root = tf.sqrt(w)
    center, middle, tail = threefry.ERFINV_64
    far = tf.where(w < 16, _horner(middle, root - 3.25), _horner(tail, root - 5.0))
    return tf.where(w < 6.25, _horner(center, w - 3.125), far) * x


def _horner(coefficients, w):
    p = coefficients[0] * w + coefficients[1]
    for c in coefficients[2:]:
        p = p * w + c
    return p


# -- masks -----------------------------------------------------------------------------------------


def random_mask(key, shape, keep_prob):
    if config.rng_mode() == "native":
        return tf.random.stateless_uniform(shape, _native_seed(key)) < keep_prob
    if _on_host():
        return tf.constant(threefry.host_mask(shape, key.numpy(), keep_prob))
    return _mask(key, shape, keep_prob)


def _mask(key, shape, keep_prob):
    width, threshold = threefry.mask_recipe(keep_prob)
    if threshold in (0, 1 << width):
        return tf.fill(shape, threshold > 0)
    size = _size(shape)
    words = tf.concat(_blocks(key, threefry.mask_blocks(size, width)), 0)
    if width == 1:
        shifts = np.arange(32, dtype=np.uint32)
        elements = tf.bitwise.bitwise_and(tf.bitwise.right_shift(words[:, None], shifts), np.uint32(1))
    else:
        elements = tf.bitcast(words, DTYPES[f"uint{width}"])
    elements = tf.reshape(tf.reshape(elements, (-1,))[:size], shape)
    return elements < elements.dtype.as_numpy_dtype(threshold)


# -- integers and order ----------------------------------------------------------------------------


def random_randint(key, shape, minval, maxval, dtype):
    if _on_host():
        return tf.constant(threefry.host_randint(shape, key.numpy(), minval, maxval, dtype))
    return _randint(key, shape, minval, maxval, dtype)


def random_randint_between(key, minval, maxval, shape, dtype):
    return _randint(key, shape, minval, maxval, dtype)


def _randint(key, shape, minval, maxval, dtype):
    """`threefry.randint`, in int64."""
    high_key, low_key = tf.unstack(random_split(key, 2))
    if isinstance(minval, int):
        low, span, word = threefry.randint_recipe(minval, maxval)
        if word == 64:
            raise ValueError(
                f"randint: [{minval}, {maxval}) has more than 2**32 integers. TensorFlow draws those only eagerly."
            )
        multiplier = threefry.randint_multiplier(span, word)
    else:
        low = tf.cast(minval, tf.int64)
        span = tf.maximum(tf.cast(maxval, tf.int64) - low, 1)
        root = (1 << 16) % span
        multiplier = tf.bitwise.bitwise_and(root * root, _WORD) % span
    high, low_words = (tf.cast(random_bits(k, shape), tf.int64) for k in (high_key, low_key))
    offset = tf.bitwise.bitwise_and((high % span) * multiplier + low_words % span, _WORD) % span
    return tf.cast(offset + low, DTYPES[dtype])


def random_permutation(key, n):
    if _on_host():
        return tf.constant(threefry.permutation(key.numpy(), n))
    return _in_few(n, lambda: _few_in_order(key, n)[:n], lambda: _permutation(key, n))


@tf.function(jit_compile=True, autograph=False, input_signature=[_KEY_SPEC, tf.TensorSpec((), tf.int32)])
def _few_in_order(key, n):
    """An order of `n`, then what is left of `_FEW`: so few are sorted once, see `threefry.permutation_rounds`."""
    _, subkey = tf.unstack(random_split(key, 2))
    places = tf.range(_FEW)
    words = tf.where(places < n, tf.cast(_words(subkey, (_FEW,)), tf.int64), _WORD + 1)
    tagged = tf.sort(words * _FEW + tf.cast(places, tf.int64))
    return tf.cast(tf.bitwise.bitwise_and(tagged, _FEW - 1), tf.int32)


def _permutation(key, n):
    if not isinstance(n, int):
        return _permutation_of_unknown(key, n)
    order = tf.range(n, dtype=tf.int32)
    for _ in range(threefry.permutation_rounds(n)):
        key, order = _sorted_by_bits(key, order, n)
    return order


def _sorted_by_bits(key, order, n):
    key, subkey = tf.unstack(random_split(key, 2))
    # Word and position in one integer: no two are equal, so any sort is stable.
    tagged = tf.cast(_words(subkey, (n,)), tf.int64) * (1 << 31) + tf.range(tf.cast(n, tf.int64))
    places = tf.bitwise.bitwise_and(tf.sort(tagged), (1 << 31) - 1)
    return key, tf.gather(order, places)


def _permutation_of_unknown(key, n):
    order = tf.range(n, dtype=tf.int32)
    rounds = tf.math.ceil(3 * tf.math.log(tf.cast(tf.maximum(n, 1), tf.float64)) / math.log(_WORD))
    _, _, order = tf.while_loop(
        lambda i, key, order: i < tf.cast(rounds, tf.int32),
        lambda i, key, order: (i + 1, *_sorted_by_bits(key, order, n)),
        (0, key, order),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([2]), tf.TensorShape([None])),
    )
    return order


def _native_seed(key):
    return tf.bitcast(key, tf.int32)
