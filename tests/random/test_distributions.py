"""`kerata.random`: the same numbers on every backend and as Keras gives on JAX; traced, compiled, in
scopes.
"""

import numpy as np
import pytest

from kerata import backends, ops, random
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import trace

LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], np.float32))
DRAWS = {
    "uniform": lambda seed: random.uniform((40, 3), -1.3, 2.1, seed=seed),
    "uniform_half": lambda seed: random.uniform((40,), dtype="bfloat16", seed=seed),
    "uniform_between_tensors": lambda seed: random.uniform(
        (5, 2), np.zeros(2, np.float32), np.float32([1, 2]), seed=seed
    ),
    "randint": lambda seed: random.randint((40,), -3, 1000, seed=seed),
    "randint_small": lambda seed: random.randint((40,), 0, 2, dtype="uint8", seed=seed),
    "dropout": lambda seed: random.dropout(np.ones((40, 5), np.float32), 0.3, seed=seed),
    "dropout_noise_shape": lambda seed: random.dropout(np.ones((40, 5), np.float32), 0.5, (None, 1), seed=seed),
    "shuffle": lambda seed: random.shuffle(np.arange(40, dtype=np.int32).reshape(20, 2), seed=seed),
    "shuffle_last": lambda seed: random.shuffle(np.arange(40, dtype=np.int32).reshape(2, 20), axis=-1, seed=seed),
    "categorical": lambda seed: random.categorical(LOGITS, 50, seed=seed),
    "binomial": lambda seed: random.binomial((40,), 20, 0.3, seed=seed),
    "normal": lambda seed: random.normal((40,), 2.0, 3.0, seed=seed),
    "truncated_normal": lambda seed: random.truncated_normal((40,), seed=seed),
    "gamma": lambda seed: random.gamma((40,), 0.7, seed=seed),
    "beta": lambda seed: random.beta((40,), 2.0, 3.0, seed=seed),
}
# Normals differ in the last bits, and so does what is computed from them.
TOLERANCE = {"normal": 1e-6, "truncated_normal": 1e-6, "gamma": 1e-4, "beta": 1e-4}


def values(x):
    return np.asarray(ops.convert_to_numpy(x), np.float64)


def on_numpy(name, seed):
    with backends.use_backend("numpy"):
        return values(DRAWS[name](seed() if callable(seed) else seed))


def check(name, result, expected):
    np.testing.assert_allclose(result, expected, rtol=0, atol=TOLERANCE.get(name, 0))


@pytest.mark.parametrize("name", DRAWS)
def test_same_numbers_everywhere(backend, name):
    check(name, values(DRAWS[name](1)), on_numpy(name, 1))


@pytest.mark.parametrize("name", DRAWS)
def test_generator_advances_alike_everywhere(backend, name):
    generator = random.SeedGenerator(3)
    first, second = values(DRAWS[name](generator)), values(DRAWS[name](generator))
    check(name, first, on_numpy(name, 3))
    assert values(generator.state).tolist() == [3, 2]
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", DRAWS)
def test_traced_to_a_graph(backend, name):
    """The generator's state is a variable that the graph reads and updates."""
    generator = random.SeedGenerator(3)
    graph = trace(lambda: DRAWS[name](generator))
    assert [v for v, _ in graph.variables] == [generator.state] == [v for v, _ in graph.updates]
    plan = Plan(graph, backend)
    eager = DRAWS[name](3)
    symbol = graph.outputs
    assert tuple(symbol.shape) == tuple(eager.shape) and symbol.dtype == backend.dtype_of(eager)
    check(name, values(plan()), on_numpy(name, 3))
    assert values(generator.state).tolist() == [3, 1]


@pytest.mark.parametrize("noise_shape", [None, (None, 1)])
def test_dropout_of_unknown_batch_in_a_graph(backend, noise_shape):
    generator = random.SeedGenerator(3)
    x = KerasTensor((None, 5))
    graph = trace(lambda x: random.dropout(x, 0.3, noise_shape, seed=generator), x, dynamic=True)
    assert graph.outputs.shape == (None, 5)
    result = Plan(graph, backend)(backend.convert(np.ones((40, 5), np.float32)))
    with backends.use_backend("numpy"):
        expected = values(random.dropout(np.ones((40, 5), np.float32), 0.3, noise_shape, seed=3))
    assert values(result).tolist() == expected.tolist()


def test_uniform_like_an_unknown_batch_in_a_graph(backend):
    graph = trace(lambda x: x + random.uniform(ops.shape(x), seed=4), KerasTensor((None, 3)), dynamic=True)
    result = Plan(graph, backend)(backend.convert(np.zeros((7, 3), np.float32)))
    with backends.use_backend("numpy"):
        assert values(result).tolist() == values(random.uniform((7, 3), seed=4)).tolist()


def test_symbols_outside_of_a_trace_are_refused():
    for draw in (lambda x: random.dropout(x, 0.5, seed=1), lambda x: random.shuffle(x, seed=1)):
        with pytest.raises(ValueError, match="layer's `call`"):
            draw(KerasTensor((None, 4)))


# What Keras 3.15.1 prints on JAX, for `seed=1`.
KERAS = [
    (lambda: random.uniform((5,), -1.3, 2.1, seed=1),
     [-0.8368942141532898, 1.0209105014801025, 1.440239429473877, -0.4889228641986847, 0.7394322156906128]),
    (lambda: random.normal((5,), 2.0, 3.0, seed=1),
     [-1.2925529479980469, 3.4251203536987305, 4.589235305786133, -0.1329033374786377, 2.758744955062866]),
    (lambda: random.truncated_normal((5,), seed=1),
     [-1.024666666984558, 0.4518500864505768, 0.8134914636611938, -0.6730804443359375, 0.2411758303642273]),
    (lambda: random.randint((5,), -3, 1000, seed=1), [289, 538, 352, 283, 960]),
    (lambda: random.randint((9,), 0, 200, dtype="uint8", seed=1), [104, 115, 183, 151, 44, 84, 165, 168, 16]),
    (lambda: random.shuffle(np.arange(12), seed=1), [9, 4, 7, 10, 0, 1, 6, 5, 2, 11, 3, 8]),
    (lambda: random.categorical(LOGITS, 8, seed=1), [2, 2, 2, 2, 2, 2, 2, 0, 1, 1, 2, 1, 1, 0, 0, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("draw", "expected"), KERAS)
def test_numbers_of_keras(backend, draw, expected):
    np.testing.assert_allclose(values(draw()).ravel(), expected, rtol=3e-7)


def test_moments(backend):
    n = 10_000
    gamma = values(random.gamma((n,), np.full(n, 4.0, np.float32), seed=2))
    assert abs(gamma.mean() - 4) < 0.1 and abs(gamma.var() - 4) < 0.4
    beta = values(random.beta((n,), 2.0, 3.0, seed=3))
    assert abs(beta.mean() - 0.4) < 0.01 and abs(beta.var() - 0.04) < 0.002
    for trials, p in ((20, 0.3), (1000, 0.7), (100_000, 0.5)):
        successes = values(random.binomial((n,), trials, p, seed=4))
        spread = np.sqrt(trials * p * (1 - p))
        assert np.all(successes == np.round(successes)) and successes.min() >= 0 and successes.max() <= trials
        assert abs(successes.mean() - trials * p) < 5 * spread / np.sqrt(n)
        assert abs(successes.std() / spread - 1) < 0.03
    drawn = values(random.categorical(LOGITS, n, seed=5))
    for row, logits in zip(drawn, LOGITS, strict=True):
        np.testing.assert_allclose(np.bincount(row.astype(int), minlength=3) / n, np.exp(logits), atol=0.02)


def test_binomial_follows_its_distribution():
    stats = pytest.importorskip("scipy.stats")
    with backends.use_backend("numpy"):
        for trials, p in ((12, 0.4), (5, 0.99), (40, 0.25), (60, 0.5), (300, 0.9)):
            drawn = values(random.binomial((100_000,), trials, p, seed=6)).astype(int)
            counts = np.bincount(drawn, minlength=trials + 1)
            expected = stats.binom.pmf(np.arange(trials + 1), trials, p) * len(drawn)
            likely = expected > 10
            chi2 = ((counts - expected)[likely] ** 2 / expected[likely]).sum()
            assert chi2 < stats.chi2.ppf(1 - 1e-4, likely.sum() - 1)


def test_gamma_follows_its_distribution():
    stats = pytest.importorskip("scipy.stats")
    with backends.use_backend("numpy"):
        for alpha in (0.1, 0.9, 1.0, 7.5):
            drawn = values(random.gamma((20_000,), alpha, seed=7))
            assert stats.kstest(drawn, stats.gamma(alpha).cdf).pvalue > 1e-4


def test_degenerate_parameters(backend):
    assert values(random.binomial((4,), [0, 3, 3, 1000], [0.5, 0.0, 1.0, 1.0], seed=1)).tolist() == [
        0,
        0,
        3,
        1000,
    ]
    assert values(random.randint((3,), 5, 5, seed=1)).tolist() == [5, 5, 5]
    assert values(random.uniform((0, 3), seed=1)).shape == (0, 3)
    assert values(random.dropout(np.ones(3, np.float32), 0, seed=1)).tolist() == [1, 1, 1]
    assert values(random.dropout(np.ones(3, np.float32), 1, seed=1)).tolist() == [0, 0, 0]
    assert backend.dtype_of(random.gamma((2,), 2.0, dtype="float16", seed=1)) == "float16"


def test_parameters_out_of_range_give_nan(backend):
    assert np.isnan(values(random.gamma((2,), [-1.0, np.nan], seed=1))).all()
    assert np.isnan(values(random.binomial((2,), [5.0, np.nan], [np.nan, 0.5], seed=1))).all()


def test_gradient_flows_through_dropout(training_backend):
    b = training_backend
    x = b.convert(np.linspace(-1, 1, 60, dtype=np.float32))
    with backends.use_backend(b):
        mask = values(random.dropout(np.ones(60, np.float32), 0.25, seed=1))
        run = b.value_and_grad(lambda params: (ops.sum(random.dropout(params[0], 0.25, seed=1) * 2.0), ()))
        if b.NAME == "torch":
            x.requires_grad_(True)
        _, (grad,) = run([x])
    assert values(grad.detach() if b.NAME == "torch" else grad).tolist() == (2 * mask).tolist()


@pytest.mark.parametrize(
    "bad",
    [
        lambda: random.uniform((2,), dtype="int32"),
        lambda: random.normal((2,), dtype="int32"),
        lambda: random.gamma((2,), 1.0, dtype="int32"),
        lambda: random.binomial((2,), 3, 0.5, dtype="int32"),
        lambda: random.randint((2,), 0, 5, dtype="float32"),
        lambda: random.randint((2,), 0, 5, dtype="bool"),
        lambda: random.randint((2,), 0, 300, dtype="uint8"),
        lambda: random.randint((2,), -1, 3, dtype="uint8"),
        lambda: random.uniform((2, None)),
        lambda: random.uniform((2.5,)),
        lambda: random.uniform((2,), seed=1.5),
        lambda: random.uniform((2,), seed="a"),
        lambda: random.uniform((2,), seed=True),
        lambda: random.dropout(np.ones(2, np.float32), 1.5),
        lambda: random.dropout(np.ones(2, np.float32), -0.1),
        lambda: random.categorical(np.zeros(3, np.float32), 2),
    ],
)
def test_bad_arguments(bad):
    with backends.use_backend("numpy"), pytest.raises(ValueError):
        bad()
