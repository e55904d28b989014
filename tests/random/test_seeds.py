"""Seed generators, the global one, and `set_random_seed`."""

import random as python_random

import numpy as np
import pytest

import kerata
from kerata import backends, ops, random
from kerata.core.scopes import StatelessScope
from kerata.random.seeds import SeedGenerator, draw_seed, global_seed_generator, set_random_seed


def values(x):
    return np.asarray(ops.convert_to_numpy(x)).tolist()


def test_keys_count_up_from_the_seed(backend):
    generator = SeedGenerator(7)
    assert [values(generator.next()) for _ in range(3)] == [[7, 0], [7, 1], [7, 2]]
    assert values(generator.state) == [7, 3]
    assert generator.state.dtype == "uint32" and not generator.state.trainable


def test_unordered_keys_are_unrelated_and_the_same_everywhere(backend):
    generator = SeedGenerator(7)
    assert values(generator.next(ordered=False)) == [7, 0]
    state = values(generator.state)
    with backends.use_backend("numpy"):
        other = SeedGenerator(7)
        other.next(ordered=False)
        assert state == values(other.state) != [7, 1]


def test_keys_as_seeds(backend):
    key = backend.convert(np.array([3, 4], np.uint32))
    assert values(draw_seed(key)) == [3, 4]
    assert values(random.uniform((2,), seed=np.array([7, 0], np.int32))) == values(random.uniform((2,), seed=7))


def test_key_of_a_seed():
    with backends.use_backend("numpy"):
        assert values(draw_seed(5)) == [5, 0]
        assert values(draw_seed(np.int64(5))) == [5, 0]
        assert values(draw_seed(-1)) == [2**32 - 1, 0]
        assert values(SeedGenerator(2**32 + 5).next()) == [5, 0]


def test_config():
    generator = SeedGenerator(7, name="mine")
    assert generator.get_config() == {"seed": 7, "name": "mine"}
    again = SeedGenerator.from_config(generator.get_config())
    assert again.name == "mine" and values(again.state) == [7, 0]
    assert SeedGenerator().get_config()["seed"] is None
    assert generator.state.path == "mine/seed_generator_state"


@pytest.mark.parametrize("seed", [1.5, "a", True, [1]])
def test_seed_must_be_an_integer(seed):
    with pytest.raises(ValueError, match="Argument `seed` must be an integer"):
        SeedGenerator(seed)


def test_stateless_scope_keeps_the_generator_as_it_was(backend):
    generator = SeedGenerator(7)
    start = backend.convert(np.array([9, 5], np.uint32))
    with StatelessScope([(generator.state, start)]) as scope:
        assert values(generator.next()) == [9, 5]
        assert values(scope.get_current_value(generator.state)) == [9, 6]
    assert values(generator.state) == [7, 0]


def test_set_random_seed_fixes_everything(backend):
    def draw():
        generator = SeedGenerator()
        return (
            values(random.uniform((2,))),
            values(random.uniform((2,))),
            values(generator.state),
            np.random.rand(),
        )

    set_random_seed(42)
    first, python = draw(), python_random.random()
    assert first[0] != first[1]
    set_random_seed(42)
    assert (draw(), python_random.random()) == (first, python)
    # Default seeds are those of Keras: from Python's generator, between 1 and 10**9.
    assert first[2] == [686579304, 0]


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "a"])
def test_set_random_seed_takes_32_bits(seed):
    with pytest.raises(ValueError, match="seed"):
        set_random_seed(seed)


def test_global_generator_follows_the_backend():
    set_random_seed(3)
    drawn = []
    for name in ("numpy", *backends.installed()):
        if name in ("numpy", "jax", "torch", "tensorflow"):
            with backends.use_backend(name):
                drawn.append(values(random.randint((3,), 0, 10**6)))
                assert global_seed_generator().state.backend == name
    set_random_seed(3)
    with backends.use_backend("numpy"):
        assert drawn == [values(random.randint((3,), 0, 10**6)) for _ in drawn]


def test_jax_tracing_with_a_variable_is_refused():
    jax = pytest.importorskip("jax")
    with backends.use_backend("jax"):
        generator = SeedGenerator(1)
        with pytest.raises(ValueError, match="transforms.jit"):
            jax.jit(lambda: random.uniform((2,), seed=generator))()
        assert values(generator.state) == [1, 0]
        assert values(jax.jit(lambda: random.uniform((2,), seed=1))()) == values(random.uniform((2,), seed=1))


def test_jax_tracing_with_a_fresh_global_generator():
    jax = pytest.importorskip("jax")
    with backends.use_backend("jax"):
        set_random_seed(1)
        with pytest.raises(ValueError, match="only use seeded random ops"):
            jax.jit(lambda: random.uniform((2,)))()
        assert len(values(random.uniform((2,)))) == 2


def test_jax_stateless_in_jit():
    jax = pytest.importorskip("jax")
    with backends.use_backend("jax"):
        generator = SeedGenerator(1)

        @jax.jit
        def draw(state):
            with StatelessScope([(generator.state, state)]) as scope:
                drawn = random.uniform((2,), seed=generator)
            return drawn, scope.get_current_value(generator.state)

        first, state = draw(generator.state.value)
        second, state = draw(state)
        assert values(first) == values(random.uniform((2,), seed=1)) != values(second)
        assert values(state) == [1, 2]


def test_tensorflow_function_advances_the_generator():
    tf = pytest.importorskip("tensorflow")
    with backends.use_backend("tensorflow"):
        generator = SeedGenerator(1)
        draw = tf.function(lambda: random.uniform((2,), seed=generator))
        eager = SeedGenerator(1)
        for _ in range(2):
            assert values(draw()) == values(random.uniform((2,), seed=eager))
        assert values(generator.state) == [1, 2]


def test_public_names():
    for name in ("SeedGenerator", "uniform", "dropout", "shuffle", "beta"):
        assert name in dir(kerata.random) and hasattr(kerata.random, name)


def test_initial_weights_of_keras():
    """What Keras 3.15.1 on JAX makes after `set_random_seed(42)`, bit for bit."""
    with backends.use_backend("numpy"):
        set_random_seed(42)
        dense = kerata.layers.Dense(3)
        dense.build((None, 2))
        expected = [
            [-0.9347962141036987, 0.1289956420660019, -0.5326799750328064],
            [-0.28175869584083557, -0.44790953397750854, 0.9868702292442322],
        ]
        assert dense.kernel.numpy().tolist() == expected
