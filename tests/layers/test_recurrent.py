"""Recurrent layers: fused, scanned and unrolled agree; states, masks, cells of one's own."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops

X = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")


@pytest.mark.parametrize("kind", ("LSTM", "GRU"))
@pytest.mark.parametrize("backwards", (False, True))
def test_fused_is_scanned_is_unrolled(kind, backwards, backend):
    """`use_cudnn=False` forbids the fused kernel."""
    options = {"return_sequences": True, "return_state": True, "go_backwards": backwards}
    results = []
    for how in ({}, {"use_cudnn": False}, {"unroll": True}):
        layer = getattr(layers, kind)(4, **options, **how)
        layer(X)
        weights = [np.cos(np.arange(np.prod(w.shape), dtype="float32")).reshape(w.shape) / 3 for w in layer.weights]
        layer.set_weights(weights)
        results.append([ops.convert_to_numpy(t) for t in layer(X)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


MASKS = {
    "right": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
    "any": [[0, 1, 0, 0, 1], [1, 0, 1, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]],
}


@pytest.mark.parametrize("kind", ("LSTM", "GRU"))
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sequences", (False, True))
@pytest.mark.parametrize("backwards", (False, True))
def test_masked_kernel_is_scanned(kind, mask, sequences, backwards, backend):
    """What is masked, NaN here, leaves no trace, whatever the first state is."""
    mask = np.array(MASKS[mask], bool)
    x = np.where(mask[..., None], np.random.default_rng(1).normal(size=(4, 5, 3)), np.nan).astype("float32")
    state = [np.full((4, 4), 0.3, "float32")] * (2 if kind == "LSTM" else 1)
    options = {"return_sequences": sequences, "return_state": True, "go_backwards": backwards}
    ours, scanned = (getattr(layers, kind)(4, **options, **how) for how in ({}, {"use_cudnn": False}))
    for layer in (ours, scanned):
        layer.build(x.shape)
    scanned.set_weights(ours.get_weights())
    for first in (None, state):
        for a, b in zip(*(layer(x, mask=mask, initial_state=first) for layer in (ours, scanned)), strict=True):
            np.testing.assert_allclose(ops.convert_to_numpy(a), ops.convert_to_numpy(b), rtol=1e-5, atol=1e-5)


def test_the_fused_kernel_is_used(monkeypatch):
    from kerata.backends.numpy import nn

    calls = []
    with backends.use_backend("numpy") as b:
        monkeypatch.setattr(b, "lstm", lambda *a: calls.append(1) or nn.lstm(*a))
        layers.LSTM(4)(X)
        assert len(calls) == 1
        layers.LSTM(4)(X, mask=np.ones((2, 5), bool))
        layers.LSTM(4, activation="relu")(X)
        layers.LSTM(4, unroll=True)(X)
    assert len(calls) == 1


def test_stateful(backend):
    layer = layers.LSTM(4, stateful=True)
    whole = layers.LSTM(4)
    whole.build((2, 5, 3))
    layer.build((2, 2, 3))
    layer.set_weights(whole.get_weights())
    layer(X[:, :2])
    halves = ops.convert_to_numpy(layer(X[:, 2:]))
    np.testing.assert_allclose(halves, ops.convert_to_numpy(whole(X)), rtol=1e-5, atol=1e-6)
    assert len(layer.weights) == 3
    assert len(layer.variables) == 5
    layer.reset_state()
    assert not np.any(layer.states[0].numpy())


def test_stateful_keeps_to_its_batch_size():
    layer = layers.SimpleRNN(2, stateful=True)
    layer(np.ones((4, 3, 2), "float32"))
    with pytest.raises(ValueError, match="batch size that its states were made for, 4, but the inputs have 1"):
        layer(np.ones((1, 3, 2), "float32"))


def test_stateful_needs_a_batch_size():
    with pytest.raises(ValueError, match="needs a fixed batch size"):
        layers.LSTM(4, stateful=True).build((None, 5, 3))


def test_masked_steps_change_nothing(backend):
    """A padded sequence ends like the sequence without padding."""
    for layer in (layers.LSTM(4), layers.SimpleRNN(4), layers.ConvLSTM1D(2, 2)):
        x = X if not isinstance(layer, layers.ConvLSTM1D) else np.repeat(X[..., None], 2, -1)
        mask = np.arange(5) < 3
        padded = ops.convert_to_numpy(layer(x, mask=np.stack([mask, mask])))
        np.testing.assert_allclose(padded, ops.convert_to_numpy(layer(x[:, :3])), rtol=1e-5, atol=1e-6)


class Counter(kerata.Layer):
    """A cell without weights: counts its steps, and says neither output size nor first state."""

    state_size = 2

    def call(self, inputs, states):
        new = states[0] + 1.0
        return ops.concatenate([new, inputs], axis=-1), [new]


def test_cell_of_ones_own(backend):
    y, state = layers.RNN(Counter(), return_state=True)(X)
    assert tuple(y.shape) == (2, 5)
    assert (ops.convert_to_numpy(state) == 5).all()
    y = layers.RNN(Counter())(X, mask=np.array([[1, 1, 0, 0, 0]] * 2, bool))
    assert (ops.convert_to_numpy(y)[:, :2] == 2).all()
    np.testing.assert_allclose(ops.convert_to_numpy(y)[:, 2:], X[:, 1], rtol=1e-6)


def test_unknown_number_of_steps():
    with backends.use_backend("jax"):
        x = kerata.Input((None, 3))
        model = kerata.Model(x, layers.Bidirectional(layers.GRU(2, return_sequences=True))(x))
        assert model.output_shape == (None, None, 4)
        assert tuple(model(X).shape) == (2, 5, 4)
        with pytest.raises(ValueError, match="number of steps must be known"):
            layers.LSTM(2, unroll=True)(x)
