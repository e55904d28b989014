"""Initializers: the same bits on every backend, Keras's numbers, configs, names, errors."""

import numpy as np
import pytest

from kerata import backends, initializers, ops
from kerata.initializers.variance import compute_fans
from kerata.state import Variable

TABLE = [
    ("Zeros", {}, (2, 3)),
    ("Ones", {}, (2, 3)),
    ("Constant", {"value": 0.3}, (2, 3)),
    ("Identity", {"gain": 2.0}, (3, 2)),
    ("RandomUniform", {"minval": -0.2, "maxval": 0.7, "seed": 3}, (4, 5)),
    ("RandomNormal", {"mean": 0.5, "stddev": 0.1, "seed": 3}, (4, 5)),
    ("TruncatedNormal", {"mean": 0.5, "stddev": 0.1, "seed": 3}, (4, 5)),
    ("VarianceScaling", {"scale": 2.0, "seed": 3}, (4, 5)),
    ("VarianceScaling", {"mode": "fan_out", "distribution": "uniform", "seed": 3}, (3, 3, 4, 5)),
    ("VarianceScaling", {"mode": "fan_avg", "distribution": "untruncated_normal", "seed": 3}, (7,)),
    ("VarianceScaling", {"input_axes": (0,), "output_axes": (1, 2), "seed": 3}, (8, 2, 3)),
    ("GlorotUniform", {"seed": 2**40 + 1}, (4, 5)),
    ("GlorotUniform", {"seed": 0}, ()),
    ("GlorotNormal", {"seed": 3}, (4, 5)),
    ("HeUniform", {"seed": 3}, (3, 3, 4, 5)),
    ("HeNormal", {"seed": 3}, (4, 5)),
    ("LecunUniform", {"seed": 3}, (4, 5)),
    ("LecunNormal", {"seed": 3}, (4, 5)),
    ("Orthogonal", {"gain": 1.5, "seed": 3}, (5, 3)),
    ("Orthogonal", {"seed": 3}, (2, 2, 7)),
    ("STFT", {}, (8, 1, 9)),
    ("STFT", {"side": "imag", "window": "hamming", "scaling": "spectrum", "periodic": True}, (8, 1, 5)),
    ("STFT", {"window": None}, (8, 1, 5)),
]
IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(TABLE)]
TABLE_ONLY = pytest.mark.parametrize(("name", "arguments", "shape"), TABLE, ids=IDS)
DRAWN = [row for row in TABLE if "seed" in row[1]]


@TABLE_ONLY
def test_bits_are_the_same_everywhere(backend, name, arguments, shape):
    initializer = getattr(initializers, name)(**arguments)
    with backends.use_backend("numpy"):
        wanted = initializer(shape)
    found = initializer(shape)
    assert backend.is_tensor(found)
    np.testing.assert_array_equal(ops.convert_to_numpy(found), wanted)
    np.testing.assert_array_equal(Variable(initializer, shape).numpy(), wanted)
    for dtype in ("float16", "bfloat16"):
        half = initializer(shape, dtype=dtype)
        assert ops.dtype(half) == dtype
        np.testing.assert_array_equal(Variable(initializer, shape, dtype).numpy(), ops.convert_to_numpy(half))


@TABLE_ONLY
def test_values_are_keras_s(name, arguments, shape, jax_keras):
    """The real Keras on JAX draws the same bits; only Orthogonal and STFT compute in another order."""
    if arguments.get("seed", 0) >= 2**32:
        pytest.skip("JAX takes seeds of 32 bits")
    wanted = np.asarray(getattr(jax_keras.initializers, name)(**arguments)(shape))
    with backends.use_backend("numpy"):
        found = getattr(initializers, name)(**arguments)(shape)
    if name in ("Orthogonal", "STFT"):
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    else:
        np.testing.assert_allclose(found, wanted, rtol=3e-7, atol=1e-9)


@pytest.fixture(scope="module")
def jax_keras(real_keras):
    """Initializers of the real Keras on JAX, as values computed in a process of their own."""
    import os
    import pickle
    import subprocess
    import sys

    code = (
        "import sys, pickle, keras, numpy as np\n"
        "table = pickle.load(sys.stdin.buffer)\n"
        "out = [np.asarray(getattr(keras.initializers, n)(**a)(s)) for n, a, s in table]\n"
        "sys.stdout.buffer.write(b'\\n>>>' + pickle.dumps(out))\n"
    )
    table = [row for row in TABLE if row[1].get("seed", 0) < 2**32]
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(table),
        env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True,
        check=True,
    )
    values = pickle.loads(done.stdout.split(b"\n>>>", 1)[1])
    known = {(n, repr(a), s): v for (n, a, s), v in zip(table, values)}

    class Recorded:
        def __getattr__(self, name):
            return lambda **arguments: lambda shape: known[name, repr(arguments), shape]

    class Module:
        initializers = Recorded()

    return Module


@TABLE_ONLY
def test_config_makes_an_equal_initializer(real_keras, name, arguments, shape):
    initializer = getattr(initializers, name)(**arguments)
    again = initializers.deserialize(initializers.serialize(initializer))
    assert again.get_config() == initializer.get_config()
    with backends.use_backend("numpy"):
        np.testing.assert_array_equal(again(shape), initializer(shape))
        np.testing.assert_array_equal(initializer.clone()(shape), initializer(shape))
    theirs = getattr(real_keras.initializers, name)(**arguments)
    if name == "Identity":
        return  # whose gain Keras forgets
    wanted = theirs.get_config()
    assert initializer.get_config() == wanted
    assert initializers.deserialize(real_keras.initializers.serialize(theirs)).get_config() == wanted
    assert real_keras.initializers.deserialize(initializers.serialize(initializer)).get_config() == wanted


def test_each_call_of_a_seed_gives_the_same_and_of_a_generator_the_next(backend):
    from kerata.random import SeedGenerator

    seeded = initializers.HeNormal(seed=1)
    np.testing.assert_array_equal(*(ops.convert_to_numpy(seeded((2, 2))) for _ in range(2)))
    unseeded = initializers.HeNormal()
    np.testing.assert_array_equal(*(ops.convert_to_numpy(unseeded((2, 2))) for _ in range(2)))
    assert (ops.convert_to_numpy(unseeded((2, 2))) != ops.convert_to_numpy(initializers.HeNormal()((2, 2)))).any()
    assert (ops.convert_to_numpy(unseeded((2, 2))) != ops.convert_to_numpy(unseeded.clone()((2, 2)))).any()
    generated = initializers.HeNormal(seed=SeedGenerator(1))
    first, second = (ops.convert_to_numpy(generated((2, 2))) for _ in range(2))
    assert (first != second).any()
    again = initializers.deserialize(initializers.serialize(generated))
    np.testing.assert_array_equal(ops.convert_to_numpy(again((2, 2))), first)


def test_orthogonal_columns():
    with backends.use_backend("numpy"):
        for shape in ((6, 4), (4, 6), (2, 3, 4)):
            w = initializers.Orthogonal(2.0, seed=1)(shape).reshape(-1, shape[-1])
            gram = w.T @ w if w.shape[0] >= w.shape[1] else w @ w.T
            np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)


def test_moments():
    with backends.use_backend("numpy"):
        for name, deviation in (("HeNormal", (2 / 300) ** 0.5), ("GlorotUniform", (2 / 500) ** 0.5)):
            values = getattr(initializers, name)(seed=1)((300, 200))
            assert abs(values.mean()) < 1e-3
            assert abs(values.std() / deviation - 1) < 0.01
        assert abs(initializers.TruncatedNormal(stddev=1.0, seed=1)((1000,))).max() < 2


@pytest.mark.parametrize(
    ("shape", "fans"),
    [((), (1, 1)), ((5,), (5, 5)), ((3, 4), (3, 4)), ((3, 3, 2, 7), (18, 63)), ((9, 2, 7), (18, 63))],
)
def test_fans(shape, fans):
    assert compute_fans(shape) == fans


def test_fans_by_axes():
    assert compute_fans((512, 8, 64), [0], [1, 2]) == (512, 512)
    assert compute_fans((512, 8, 64), [0, 1], [2]) == (4096, 64)


def test_own_initializers(backend):
    class Ramp(initializers.Initializer):
        def __init__(self, scale=1.0):
            self.scale = scale

        def __call__(self, shape, dtype=None):
            return ops.reshape(ops.arange(np.prod(shape), dtype=dtype) * self.scale, shape)

    np.testing.assert_array_equal(Variable(Ramp(2.0), (2, 2)).numpy(), [[0, 2], [4, 6]])
    assert Ramp(2.0).get_config() == {"scale": 2.0}
    assert Variable(lambda shape, dtype=None: ops.ones(shape, dtype), (2,)).numpy().tolist() == [1, 1]
    assert Variable(initializers.get(np.array([1.0, 2.0])), (2,)).numpy().tolist() == [1, 2]
    with pytest.raises(NotImplementedError, match="Bare must define"):
        type("Bare", (initializers.Initializer,), {})()((2,))


def test_names():
    for name, cls in (
        ("glorot_uniform", "GlorotUniform"),
        ("GlorotUniform", "GlorotUniform"),
        ("normal", "RandomNormal"),
        ("uniform", "RandomUniform"),
        ("one", "Ones"),
        ("IdentityInitializer", "Identity"),
        ("STFTInitializer", "STFT"),
        ("lecun_normal", "LecunNormal"),
    ):
        assert type(initializers.get(name)).__name__ == cls
    assert isinstance(initializers.get(initializers.HeNormal), initializers.HeNormal)
    assert initializers.get(None) is None
    initializer = initializers.Ones()
    assert initializers.get(initializer) is initializer
    assert initializers.get({"class_name": "Constant", "config": {"value": 3.0}}).value == 3.0


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: initializers.get("glorot_unifrom"), "Did you mean 'glorot_uniform'"),
        (lambda: initializers.get(3), "identifier: 3"),
        (lambda: initializers.VarianceScaling(scale=-1), "scale.*positive"),
        (lambda: initializers.VarianceScaling(mode="fan"), "Invalid `mode` argument:.*Did you mean"),
        (lambda: initializers.VarianceScaling(distribution="x"), "Invalid `distribution` argument:"),
        (lambda: initializers.VarianceScaling(input_axes=(0,)), "both `input_axes`"),
        (lambda: initializers.HeNormal(seed=1.5), "seed.*1.5"),
        (lambda: initializers.HeNormal(seed=1)((2, 2), "int32"), "int32"),
        (lambda: initializers.HeNormal(seed=1)((2, None)), "shape"),
        (lambda: initializers.Orthogonal(seed=1)((3,)), "at least two-dimensional"),
        (lambda: initializers.Identity()((3,)), "matrix"),
        (lambda: initializers.Constant([1.0, 2.0])((3,)), "broadcast"),
        (lambda: initializers.STFT("imaginary"), "side"),
        (lambda: initializers.STFT(scaling="l2"), "scaling"),
        (lambda: initializers.STFT(window="unknown"), "window"),
    ],
)
def test_errors(action, message):
    with backends.use_backend("numpy"), pytest.raises(ValueError, match=message):
        action()
