"""Drawing at random: primitives that are pure functions of a key, and what is composed of them.

A key is a tensor uint32[2]; the recipes, the same on every backend, are those of `kerata.core.threefry`.
Users draw with `kerata.random`, which gets the keys from seeds.
"""

import math

import numpy as np

from kerata import backends
from kerata.core import dtypes
from kerata.graph.tensor import any_symbolic, spec
from kerata.ops import rules
from kerata.ops.control import while_loop
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.core import stop_gradient
from kerata.ops.creation import zeros
from kerata.ops.declare import Dims, Float, Index, composite, primitive
from kerata.ops.elementwise import (
    cast,
    exp,
    floor,
    greater,
    less,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    sqrt,
    where,
)  # fmt: skip
from kerata.ops.indexing import take
from kerata.ops.movement import broadcast_to, canonical_dims, unstack
from kerata.ops.reduction import any as any_
from kerata.ops.reduction import argmax

# -- keys ------------------------------------------------------------------------------------------


def _two_states(state):
    return spec((2,), "uint32"), spec((2,), "uint32")


@primitive(rule=_two_states)
def random_next(state: Index):
    """Advance a generator.

    Args:
        state: uint32[2], a seed and a counter.

    Returns:
        `(key, state)`: the state as it was, to draw with, and with the counter one higher.
    """


@primitive(rule=lambda key, num: spec((num, 2), "uint32"))
def random_split(key: Index, num=2):
    """Independent keys out of one.

    Args:
        key: uint32[2].
        num: how many.

    Returns:
        Tensor uint32[num, 2].
    """


@primitive(rule=lambda key, data: spec((2,), "uint32"))
def random_fold(key: Index, data: Index):
    """A key that depends on a key and an integer.

    Args:
        key: uint32[2].
        data: integer scalar.

    Returns:
        Tensor uint32[2].
    """


# -- numbers ---------------------------------------------------------------------------------------


def _drawn(key, shape, *rest):
    """Rule of draws whose last argument is the dtype."""
    return spec(rules.dims(shape), rest[-1])


@primitive(rule=lambda key, shape: spec(rules.dims(shape), "uint32"))
def random_bits(key: Index, shape: Dims):
    """Random 32-bit words.

    Args:
        key: uint32[2].
        shape: shape of the result.

    Returns:
        Tensor uint32: the bits of `jax.random.bits`.
    """
    return key, canonical_dims(shape, "random_bits")


@primitive(rule=lambda key, shape, keep_prob: spec(rules.dims(shape), "bool"))
def random_mask(key: Index, shape: Dims, keep_prob):
    """Random booleans, several cut from each random word.

    Args:
        key: uint32[2].
        shape: shape of the result.
        keep_prob: probability of True, met to 2**-17.

    Returns:
        Tensor bool.
    """
    return key, canonical_dims(shape, "random_mask"), float(keep_prob)


@primitive(rule=_drawn)
def random_uniform(key: Index, shape: Dims, minval, maxval, dtype):
    """Uniform numbers.

    Args:
        key: uint32[2].
        shape: shape of the result.
        minval, maxval: Python numbers; the values are in [minval, maxval).
        dtype: floating dtype.

    Returns:
        Tensor of `dtype`.
    """
    return key, canonical_dims(shape, "random_uniform"), float(minval), float(maxval), dtype


@primitive(rule=_drawn)
def random_normal(key: Index, shape: Dims, dtype):
    """Standard normal numbers.

    Args:
        key: uint32[2].
        shape: shape of the result.
        dtype: floating dtype.

    Returns:
        Tensor of `dtype`.
    """
    return key, canonical_dims(shape, "random_normal"), dtype


@primitive(rule=_drawn)
def random_truncated_normal(key: Index, shape: Dims, dtype):
    """Standard normal numbers between -2 and 2.

    Args:
        key: uint32[2].
        shape: shape of the result.
        dtype: floating dtype.

    Returns:
        Tensor of `dtype`.
    """
    return key, canonical_dims(shape, "random_truncated_normal"), dtype


@primitive(rule=_drawn)
def random_randint(key: Index, shape: Dims, minval, maxval, dtype):
    """Random integers.

    Args:
        key: uint32[2].
        shape: shape of the result.
        minval, maxval: Python ints; the values are in [minval, maxval).
        dtype: integer dtype.

    Returns:
        Tensor of `dtype`.
    """
    return key, canonical_dims(shape, "random_randint"), minval, maxval, dtype


@primitive(rule=lambda key, minval, maxval, shape, dtype: spec(rules.dims(shape), dtype))
def random_randint_between(key: Index, minval: Index, maxval: Index, shape: Dims, dtype):
    """Random integers between bounds that are tensors.

    Args:
        key: uint32[2].
        minval, maxval: integer tensors that broadcast to `shape`; the values are in [minval, maxval).
        shape: shape of the result.
        dtype: integer dtype.

    Returns:
        Tensor of `dtype`.
    """
    return key, minval, maxval, canonical_dims(shape, "random_randint_between"), dtype


@primitive(rule=lambda key, n: spec(rules.dims((n,)), "int32"))
def random_permutation(key: Index, n: Dims):
    """The integers from 0 to `n - 1` in random order.

    Args:
        key: uint32[2].
        n: how many.

    Returns:
        Tensor int32[n].
    """


# -- composites ------------------------------------------------------------------------------------


@composite
def random_dropout(x: Float, key: Index, rate, noise_shape: Dims = None):
    """Zero elements at random and scale the others up.

    Args:
        x: tensor.
        key: uint32[2].
        rate: share of elements to drop, at least 0 and below 1.
        noise_shape: shape of the mask, which broadcasts to `x`'s; by default that.

    Returns:
        Tensor of `x`'s shape and dtype.
    """
    mask = random_mask(key, shape_of(x) if noise_shape is None else noise_shape, 1 - rate)
    dtype = dtype_of(x)
    # narrow floats are scaled in float32: rounded to bfloat16, the factor alone would shift the mean by up
    # to 0.4 %
    kept = (x if dtype in ("float32", "float64") else cast(x, "float32")) * (1 / (1 - rate))
    return where(mask, cast(kept, dtype), 0.0)


@composite
def random_categorical(logits: Float, key: Index, num_samples, dtype):
    """Draw classes with given log-probabilities, by the Gumbel-max trick, as `jax.random.categorical`.

    Args:
        logits: tensor [batch, classes], which needn't be normalized.
        key: uint32[2].
        num_samples: how many for each row.
        dtype: integer dtype.

    Returns:
        Tensor [batch, num_samples].
    """
    batch, classes = shape_of(logits)
    kind = dtype_of(logits)
    tiny = float(np.finfo(dtypes.to_numpy_dtype(kind)).tiny) if kind != "bfloat16" else 2.0**-126
    uniform = random_uniform(key, (batch, classes, num_samples), tiny, 1.0, kind)
    gumbel = -log(-log(uniform))
    return cast(argmax(logits[:, :, None] + gumbel, axis=1), dtype)


@composite
def random_log_gamma(alpha: Float, key: Index, shape: Dims):
    """Logarithm of gamma-distributed numbers of scale 1, which small `alpha` can't underflow.

    Source: Marsaglia & Tsang, "A simple method for generating gamma variables" (ACM TOMS, 2000).

    Args:
        alpha: tensor that broadcasts to `shape`, positive.
        key: uint32[2].
        shape: shape of the result.

    Returns:
        Tensor of `alpha`'s dtype. No gradient flows to `alpha`.
    """
    return _whole(_log_gamma, shape, stop_gradient(alpha), key)


def _whole(function, shape, *tensors):
    """Call a function that loops over small draws, as a whole: the calls of its ops would take longer than they.

    Where draws are made on the host anyway, so is all else; where loops can be compiled, it's one program that is kept.
    """
    b = backends.current()
    if any_symbolic((shape, *tensors)):
        return function(shape, *tensors)
    if hasattr(b, "draws_on_host") and b.draws_on_host(*tensors):
        with backends.use_backend("numpy"):
            result = function(shape, *map(b.to_numpy, tensors))
        return b.convert(result)
    if hasattr(b, "compiled_whole"):
        return b.compiled_whole(function)(tuple(shape), *tensors)
    return function(shape, *tensors)


def _log_gamma(shape, alpha, key):
    alpha = broadcast_to(alpha, shape)
    dtype = dtype_of(alpha)
    boosted = less(alpha, 1.0)  # gamma(alpha) is gamma(alpha + 1) times u ** (1 / alpha)
    d = where(boosted, alpha + 1.0, alpha) - 1 / 3
    c = 1 / sqrt(9.0 * d)
    proposals, powers = unstack(random_split(key, 2))

    def propose(round_key):
        normal_key, uniform_key = unstack(random_split(round_key, 2))
        z, u = random_normal(normal_key, shape, dtype), random_uniform(uniform_key, shape, 0.0, 1.0, dtype)
        root = 1.0 + c * z
        log_v = 3.0 * log(maximum(root, 1e-30))
        bound = 0.5 * z * z + d - d * root * root * root + d * log_v
        return log_v, logical_and(greater(root, 0.0), less(log(u), bound))

    log_v = _first_accepted(propose, proposals, shape, dtype)
    u = 1.0 - random_uniform(powers, shape, 0.0, 1.0, dtype)
    return log(d) + log_v + where(boosted, log(u) / alpha, 0.0)


# A proposal is refused with probability below 0.3: after so many rounds only what no proposal satisfies, a parameter
# that is NaN or out of range, is left.
_ROUNDS = 64


def _first_accepted(propose, key, shape, dtype):
    """Draw proposals, each round with a key of its own, until every element has accepted one."""

    def body(i, value, done):
        proposal, accepted = propose(random_fold(key, i))
        take_it = logical_and(accepted, logical_not(done))
        return i + 1, where(take_it, proposal, value), logical_or(done, accepted)

    def unfinished(i, value, done):
        return logical_and(less(i, _ROUNDS), any_(logical_not(done)))

    start = (cast(0, "int32"), zeros(shape, dtype), zeros(shape, "bool"))
    return while_loop(unfinished, body, start)[1]


@composite
def random_binomial(counts: Float, probabilities: Float, key: Index, shape: Dims):
    """Number of successes in `counts` trials.

    Few expected successes (below 10): by inversion of the distribution function. Source for more: Hörmann,
    "The generation of binomial random variates" (J. Stat. Comput. Simul., 1993), algorithm BTRS.

    Args:
        counts: tensor that broadcasts to `shape`, whole and not negative.
        probabilities: tensor that broadcasts to `shape`, from 0 to 1.
        key: uint32[2].
        shape: shape of the result.

    Returns:
        Tensor of the arguments' dtype. No gradient flows through it.
    """
    return _whole(_binomial, shape, stop_gradient(counts), stop_gradient(probabilities), key)


def _binomial(shape, counts, probabilities, key):
    n, given = broadcast_to(counts, shape), broadcast_to(probabilities, shape)
    p = where(greater(given, 0.5), 1.0 - given, given)
    few = less(n * p, 10.0)
    inversion_key, rejection_key = unstack(random_split(key, 2))
    low = _binomial_by_inversion(where(few, n, 0.0), p, inversion_key, shape)
    high = _binomial_by_rejection(where(few, 40.0, n), where(few, 0.5, p), rejection_key, shape)
    successes = where(few, low, high) + 0.0 * (n * p)  # a parameter that is NaN gives NaN
    return where(greater(given, 0.5), n - successes, successes)


# P(X > 48) < 1e-16 for a binomial X with mean 10.
_MOST_OF_FEW = 48


def _binomial_by_inversion(n, p, key, shape):
    dtype = dtype_of(n)
    u = random_uniform(key, shape, 0.0, 1.0, dtype)
    odds = p / (1.0 - p)
    mass = exp(n * log1p(-p))

    def body(i, mass, below, successes):
        k = cast(i, dtype)
        below = below + mass
        # rounded, the sum of the masses may stay below u: nothing is counted beyond the last mass that
        # matters
        counted = logical_and(greater(u, below), greater(mass, 1e-9))
        return i + 1, mass * odds * (n - k) / (k + 1.0), below, successes + cast(counted, dtype)

    start = (cast(0, "int32"), mass, zeros(shape, dtype), zeros(shape, dtype))
    return while_loop(lambda i, *_: less(i, _MOST_OF_FEW), body, start)[3]


def _binomial_by_rejection(n, p, key, shape):
    dtype = dtype_of(n)
    spread = sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    center = n * p + 0.5
    inner = 0.92 - 4.2 / b
    odds = p / (1.0 - p)
    scale = (2.83 + 5.1 / b) * spread
    mode = floor((n + 1.0) * p)

    def propose(round_key):
        u_key, v_key = unstack(random_split(round_key, 2))
        u = random_uniform(u_key, shape, -0.5, 0.5, dtype)
        v = 1.0 - random_uniform(v_key, shape, 0.0, 1.0, dtype)
        width = 0.5 - where(less(u, 0.0), -u, u)
        k = floor((2.0 * a / maximum(width, 1e-30) + b) * u + center)
        inside = logical_and(logical_not(less(k, 0.0)), logical_not(greater(k, n)))
        k = minimum(maximum(k, 0.0), n)
        sure = logical_and(logical_not(less(width, 0.07)), less(v, inner))
        ratio = log(v * scale / (a / maximum(width * width, 1e-30) + b))
        bound = (
            (mode + 0.5) * log((mode + 1.0) / (odds * (n - mode + 1.0)))
            + (n + 1.0) * log1p((k - mode) / (n - k + 1.0))
            + (k + 0.5) * log(odds * (n - k + 1.0) / (k + 1.0))
            + _stirling_rest(mode) + _stirling_rest(n - mode) - _stirling_rest(k) - _stirling_rest(n - k)
        )  # fmt: skip
        return k, logical_and(inside, logical_or(sure, less(ratio, bound)))

    return _first_accepted(propose, key, shape, dtype)


def _stirling_rest(k):
    """log k! minus Stirling's formula for it, exact to 1e-7 from k = 10 and by table below."""
    table = [
        math.lgamma(i + 1) - (0.5 * math.log(2 * math.pi) + (i + 0.5) * math.log(i + 1) - (i + 1)) for i in range(10)
    ]
    small = take(np.asarray(table, dtypes.to_numpy_dtype(dtype_of(k))), cast(minimum(maximum(k, 0.0), 9.0), "int32"))
    inverse = 1.0 / (k + 1.0)
    square = inverse * inverse
    return where(less(k, 10.0), small, (1 / 12 - (1 / 360 - square / 1260) * square) * inverse)
