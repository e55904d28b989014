"""Layers of the user's own that call their framework's functions: shapes are asked of the framework."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers

X = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
MODULES = {"numpy": "numpy", "jax": "jax.numpy", "torch": "torch", "tensorflow": "tensorflow"}


@pytest.fixture
def native(backend):
    """The functions of the framework in force."""
    return pytest.importorskip(MODULES[backend.NAME])


def double(native):
    """A layer whose output is twice as wide, with a weight and state inside."""

    class Double(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense, self.dropout, self.norm = layers.Dense(3), layers.Dropout(0.5), layers.BatchNormalization()

        def call(self, x, training=None):
            x = native.abs(self.norm(self.dropout(self.dense(native.tanh(x)))))
            return kerata.ops.concatenate([x, x + 1], -1)

    return Double()


def test_in_a_functional_model(native):
    inputs = kerata.Input((4,))
    hidden = double(native)(inputs)
    assert hidden.shape == (None, 6) and hidden.dtype == "float32"
    model = kerata.Model(inputs, layers.Dense(1)(hidden))
    assert model.predict(X, verbose=0).shape == (6, 1)
    assert [w.path for w in model.weights][:2] == ["double/dense/kernel", "double/dense/bias"]


def test_a_model_not_built_trains(native, backend):
    model = kerata.Sequential([double(native), layers.Dense(1)])
    model.compile("sgd", "mse")
    if backend.NAME in backends.TRAINING:
        model.fit(X, X[:, :1], verbose=0)
    assert np.isfinite(model.evaluate(X, X[:, :1], verbose=0))
    # What was tried on shapes left nothing behind.
    assert all(np.all(np.isfinite(w)) for w in model.get_weights())


def test_unknown_lengths_structures_and_cells(native):
    class Two(layers.Layer):
        def call(self, x, scale=1.0):
            return {"a": native.abs(x["a"]), "b": (native.tanh(x["b"])[:, 0] * scale, 3)}

    out = Two()({"a": kerata.Input((None, 2)), "b": kerata.Input((5,))}, scale=2.0)
    assert out["a"].shape == (None, None, 2) and out["b"][0].shape == (None,) and out["b"][1] == 3

    class Cell(layers.Layer):
        state_size = output_size = 3

        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(3)

        def call(self, x, states):
            state = native.tanh(self.dense(x) + states[0])
            return state, [state]

    assert layers.RNN(Cell())(kerata.Input((5, 4))).shape == (None, 3)
    assert layers.Lambda(lambda x: native.abs(x))(kerata.Input((4,))).shape == (None, 4)


def test_errors_are_the_ones_that_help(native):
    class Own(layers.Layer):
        def call(self, x):
            return kerata.ops.matmul(x, kerata.ops.ones((7, 2)))

    class Native(layers.Layer):
        def call(self, x):
            return native.abs(x) + native.ones((7, 7))

    with pytest.raises(ValueError, match="inner dimensions 4 and 7"):
        Own()(kerata.Input((4,)))
    with pytest.raises(Exception) as error:
        Native()(kerata.Input((4,)))
    assert "KerasTensor" not in str(error.value)
