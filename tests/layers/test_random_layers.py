"""Layers that draw at random: nothing in inference, the same bits on every backend in training."""

import numpy as np
import pytest

from kerata import backends, layers, ops

X = np.ones((4, 6, 8), "float32")
RANDOM = {
    "Dropout": {"rate": 0.4},
    "SpatialDropout1D": {"rate": 0.4},
    "GaussianNoise": {"stddev": 0.3},
    "GaussianDropout": {"rate": 0.3},
    "AlphaDropout": {"rate": 0.3},
}


def drawn(name, kind, training=True, **more):
    with backends.use_backend(name):
        layer = getattr(layers, kind)(**RANDOM[kind], seed=7, **more)
        return ops.convert_to_numpy(layer(X, training=training))


@pytest.mark.parametrize("kind", RANDOM)
def test_same_on_every_backend(kind):
    first, *others = (drawn(name, kind) for name in ("numpy", "jax", "torch", "tensorflow"))
    assert not np.array_equal(first, X)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("kind", RANDOM)
def test_nothing_in_inference(kind):
    assert np.array_equal(drawn("numpy", kind, training=False), X)


def test_each_call_draws_anew_and_a_seed_repeats():
    with backends.use_backend("numpy"):
        one, two = (layers.Dropout(0.5, seed=3) for _ in range(2))
        a, b, c = one(X, training=True), one(X, training=True), two(X, training=True)
    assert not np.array_equal(a, b)
    assert np.array_equal(a, c)


def test_dropout_keeps_the_mean_and_shares_masks():
    with backends.use_backend("numpy"):
        kept = layers.Dropout(0.25, seed=1)(np.ones((100, 100), "float32"), training=True)
        shared = layers.Dropout(0.5, noise_shape=(4, 1, 8), seed=1)(X, training=True)
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(kept.mean() - 1) < 0.02
    assert (shared == shared[:, :1]).all()


def test_alpha_dropout_keeps_mean_and_variance():
    x = np.random.default_rng(0).normal(size=(200, 200)).astype("float32")
    with backends.use_backend("numpy"):
        y = layers.AlphaDropout(0.3, seed=1)(x, training=True)
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1) < 0.02


def test_rate_zero_owns_no_seed():
    with backends.use_backend("numpy"):
        assert layers.Dropout(0.0).variables == []
        assert len(layers.Dropout(0.1).variables) == 1


@pytest.mark.parametrize("kind", ("LSTM", "GRU", "SimpleRNN"))
def test_recurrent_dropout_masks_all_steps_alike(kind, training_backend):
    """Step by step and unrolled draw the same masks, and draw them once for a sequence."""
    outputs = []
    for unroll in (False, True):
        layer = getattr(layers, kind)(
            3,
            dropout=0.4,
            recurrent_dropout=0.3,
            seed=5,
            unroll=unroll,
            kernel_initializer="ones",
            recurrent_initializer="ones",
        )
        outputs.append(ops.convert_to_numpy(layer(X, training=True)))
        assert len(layer.non_trainable_variables) == 1
    np.testing.assert_allclose(*outputs, rtol=1e-5)


def test_attention_dropout_drops_scores():
    with backends.use_backend("jax"):
        layer = layers.MultiHeadAttention(2, 3, dropout=0.5, seed=2)
        x = ops.convert_to_tensor(np.random.default_rng(0).normal(size=(1, 4, 6)).astype("float32"))
        wet, dry = (ops.convert_to_numpy(layer(x, x, training=t)) for t in (True, False))
    assert not np.allclose(wet, dry)
