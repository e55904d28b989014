"""Distributions: what `keras.random` draws.

Where a `seed` is taken: an int gives the same values at each call, a `SeedGenerator` new ones, `None` those
of a global generator (`keras.utils.set_random_seed`). For the same seed all backends give the same bits,
except normals, which agree to 3 units in the last place, and what is made of them. Keras on JAX gives the
same uniforms, normals, integers, categories and (of one dimension) shuffles for a seed.
"""

import operator

import numpy as np

from kerata import ops
from kerata.core import dtypes, threefry
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace
from kerata.ops import draws
from kerata.ops.movement import canonical_dims
from kerata.random.seeds import draw_seed


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers in [minval, maxval).

    Args:
        shape: shape of the result.
        minval, maxval: bounds, numbers or tensors that broadcast to `shape`.
        dtype: floating dtype, by default `floatx()`.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` isn't floating.

    >>> import kerata
    >>> kerata.random.uniform((3,), seed=1)
    [0.13620758, 0.68262076, 0.8059528]
    """
    dtype = _floating(dtype, "uniform")
    key = draw_seed(seed, "uniform")
    if isinstance(minval, (int, float)) and isinstance(maxval, (int, float)):
        return _drawn(draws.random_uniform, key, shape, minval, maxval, dtype)
    span = ops.cast(maxval, dtype) - ops.cast(minval, dtype)
    return _drawn(draws.random_uniform, key, shape, 0.0, 1.0, dtype) * span + ops.cast(minval, dtype)


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers.

    Args:
        shape: shape of the result.
        mean, stddev: numbers or tensors that broadcast to `shape`.
        dtype: floating dtype, by default `floatx()`.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` isn't floating.

    >>> import kerata
    >>> z = kerata.random.normal((1000,), 5.0, 2.0, seed=1)
    >>> bool(abs(kerata.ops.mean(z) - 5.0) < 0.2), bool(abs(kerata.ops.std(z) - 2.0) < 0.2)
    (True, True)
    """
    dtype = _floating(dtype, "normal")
    z = _drawn(draws.random_normal, draw_seed(seed, "normal"), shape, dtype)
    return _shifted(z, mean, stddev)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers of which those further than two standard deviations from the mean are drawn again.

    Args:
        shape: shape of the result.
        mean, stddev: mean and standard deviation before truncation, numbers or tensors.
        dtype: floating dtype, by default `floatx()`.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` isn't floating.

    >>> import kerata
    >>> bool(kerata.ops.all(abs(kerata.random.truncated_normal((100,), seed=1)) < 2))
    True
    """
    dtype = _floating(dtype, "truncated_normal")
    z = _drawn(draws.random_truncated_normal, draw_seed(seed, "truncated_normal"), shape, dtype)
    return _shifted(z, mean, stddev)


def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Integers from `minval` up to, but without, `maxval`.

    Args:
        shape: shape of the result.
        minval, maxval: bounds, integers or integer tensors that broadcast to `shape`.
        dtype: integer dtype.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` is no integer dtype, or doesn't hold the bounds.

    >>> import kerata
    >>> kerata.random.randint((5,), 0, 10, seed=1)
    [4, 5, 3, 1, 4]
    """
    dtype = dtypes.standardize_dtype(dtype)
    if not dtypes.is_int(dtype):
        raise ValueError(f"`keras.random.randint` requires an integer `dtype`. Received: {dtype}.")
    low, high = _bound(minval), _bound(maxval)
    shape = canonical_dims(shape, "randint")
    key = draw_seed(seed, "randint")
    if isinstance(low, int) and isinstance(high, int):
        _check_bounds(low, high, dtype)
        return draws.random_randint(key, shape, low, high, dtype)
    return draws.random_randint_between(key, ops.cast(low, "int32"), ops.cast(high, "int32"), shape, dtype)


def categorical(logits, num_samples, dtype="int32", seed=None):
    """Classes drawn with given log-probabilities.

    Args:
        logits: tensor [batch, classes] of log-probabilities, which needn't be normalized.
        num_samples: how many to draw for each row.
        dtype: integer dtype.
        seed: int, `SeedGenerator` or `None`.

    Returns:
        Tensor [batch, num_samples] of class numbers.

    Raises:
        ValueError: `logits` hasn't two dimensions.

    >>> import kerata
    >>> kerata.random.categorical([[0.0, 1e9]], 3, seed=1)
    [[1, 1, 1]]
    """
    _no_symbols("categorical", logits)
    logits = ops.convert_to_tensor(logits)
    if len(logits.shape) != 2:
        raise ValueError(f"categorical: `logits` must be [batch, classes], but its shape is {tuple(logits.shape)}.")
    key = draw_seed(seed, "categorical")
    return draws.random_categorical(logits, key, operator.index(num_samples), dtypes.standardize_dtype(dtype))


def dropout(inputs, rate, noise_shape=None, seed=None):
    """Set elements to zero at random and scale the others up, so that the mean stays.

    Args:
        inputs: floating tensor.
        rate: share of elements to drop, from 0 to 1.
        noise_shape: shape of the random mask, broadcast to the inputs; `None` entries: as long as the inputs.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: a rate outside [0, 1].

    >>> import kerata
    >>> y = kerata.random.dropout(kerata.ops.ones((1000,)), 0.5, seed=1)
    >>> sorted(set(kerata.ops.convert_to_numpy(y).tolist()))
    [0.0, 2.0]
    """
    _no_symbols("dropout", inputs)
    if not 0 <= rate <= 1:
        raise ValueError(f"dropout: `rate` must be from 0 to 1, but {rate!r} was given.")
    key = draw_seed(seed, "dropout")
    if rate == 0:
        return ops.convert_to_tensor(inputs)
    if rate == 1:
        return ops.zeros_like(inputs)
    if noise_shape is not None:
        sizes = ops.shape(inputs) if None in noise_shape else noise_shape
        noise_shape = tuple(size if d is None else d for d, size in zip(noise_shape, sizes, strict=True))
    return draws.random_dropout(inputs, key, float(rate), noise_shape)


def shuffle(x, axis=0, seed=None):
    """Put the slices along an axis into random order; what is in a slice stays together.

    Args:
        x: tensor.
        axis: which axis.
        seed: int, `SeedGenerator` or `None`.

    >>> import kerata
    >>> kerata.random.shuffle(kerata.ops.arange(5), seed=1)
    [4, 0, 1, 2, 3]
    """
    _no_symbols("shuffle", x)
    x = x if isinstance(x, KerasTensor) else ops.convert_to_tensor(x)
    order = draws.random_permutation(draw_seed(seed, "shuffle"), ops.shape(x)[axis])
    return ops.take(x, order, axis=axis)


def gamma(shape, alpha, dtype=None, seed=None):
    """Gamma-distributed numbers of scale 1.

    Args:
        shape: shape of the result.
        alpha: shape parameter, positive; number or tensor that broadcasts to `shape`. No gradient flows to
            it.
        dtype: floating dtype, by default `floatx()`.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` isn't floating.

    >>> import kerata
    >>> bool(kerata.ops.all(kerata.random.gamma((100,), 0.5, seed=1) >= 0))
    True
    """
    dtype = _floating(dtype, "gamma")
    key = draw_seed(seed, "gamma")
    work = _work_dtype(dtype)
    log_gamma = draws.random_log_gamma(ops.cast(alpha, work), key, canonical_dims(shape, "gamma"))
    return ops.cast(ops.exp(log_gamma), dtype)


def beta(shape, alpha, beta, dtype=None, seed=None):
    """Beta-distributed numbers.

    Args:
        shape: shape of the result.
        alpha, beta: the two parameters, positive; numbers or tensors that broadcast to `shape`. No gradient
            flows to them.
        dtype: floating dtype, by default `floatx()`.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` isn't floating.

    >>> import kerata
    >>> x = kerata.random.beta((1000,), 2.0, 2.0, seed=1)
    >>> bool(abs(kerata.ops.mean(x) - 0.5) < 0.05)
    True
    """
    dtype = _floating(dtype, "beta")
    key = draw_seed(seed, "beta")
    work, shape = _work_dtype(dtype), canonical_dims(shape, "beta")
    # Both in one loop.
    parameters = ops.stack([ops.broadcast_to(ops.cast(p, work), shape) for p in (alpha, beta)])
    x, y = ops.unstack(draws.random_log_gamma(parameters, key, (2, *shape)), 2)
    # x / (x + y) of the gammas, from their logarithms: small parameters underflow otherwise
    return ops.cast(ops.sigmoid(x - y), dtype)


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    """Number of successes in `counts` trials, each with a probability.

    Args:
        shape: shape of the result.
        counts: number of trials; number or tensor that broadcasts to `shape`.
        probabilities: probability of success; number or tensor that broadcasts to `shape`.
        dtype: floating dtype, by default `floatx()`.
        seed: int, `SeedGenerator` or `None`.

    Raises:
        ValueError: `dtype` isn't floating.

    >>> import kerata
    >>> x = kerata.random.binomial((1000,), 10, 0.3, seed=1)
    >>> bool(abs(kerata.ops.mean(x) - 3) < 0.2)
    True
    """
    dtype = _floating(dtype, "binomial")
    key = draw_seed(seed, "binomial")
    work = _work_dtype(dtype)
    counts, probabilities = ops.cast(counts, work), ops.cast(probabilities, work)
    successes = draws.random_binomial(counts, probabilities, key, canonical_dims(shape, "binomial"))
    return ops.cast(successes, dtype)


# -- what the above share --------------------------------------------------------------------------


def _floating(dtype, owner):
    dtype = dtypes.standardize_dtype(dtype)
    if not dtypes.is_float(dtype):
        raise ValueError(f"`keras.random.{owner}` requires a floating point `dtype`. Received: {dtype}.")
    return dtype


def _drawn(draw, key, shape, *rest):
    """A draw whose last argument is the dtype; what has no recipe (float8) is rounded from float32."""
    shape = canonical_dims(shape, draw.__name__)
    if rest[-1] in threefry.FLOAT_RECIPES:
        return draw(key, shape, *rest)
    return ops.cast(draw(key, shape, *rest[:-1], "float32"), rest[-1])


def _work_dtype(dtype):
    return "float64" if dtype == "float64" else "float32"


def _shifted(z, mean, stddev):
    dtype = ops.dtype(z)
    if not isinstance(stddev, (int, float)) or stddev != 1:
        z = z * ops.cast(stddev, dtype)
    if not isinstance(mean, (int, float)) or mean != 0:
        z = z + ops.cast(mean, dtype)
    return z


def _bound(value):
    """A Python int of any scalar that is known, else the tensor."""
    if isinstance(value, float):
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        return value


def _check_bounds(low, high, dtype):
    info = np.iinfo(dtype)
    if not (info.min <= low <= info.max and high <= info.max + 1):
        raise ValueError(f"randint: {dtype} holds {info.min} to {info.max}, not all of [{low}, {high}).")


def _no_symbols(owner, *tensors):
    """While a Functional model is put together by hand a draw would be made once and for all: refuse."""
    if current_trace.get() is None and any(isinstance(t, KerasTensor) for t in tensors):
        raise ValueError(
            f"{owner}: a KerasTensor was given. Put the call into a layer's `call`, so that each run of the "
            "model draws anew."
        )
