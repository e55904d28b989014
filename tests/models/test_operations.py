"""Operations of the user's own in Functional models: run, saved, told apart from layers."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers

X = np.arange(6, dtype="float32").reshape(2, 3)


@kerata.saving.register_keras_serializable(package="TestOperations")
class Times(kerata.Operation):
    def __init__(self, by, name=None):
        super().__init__(name=name)
        self.by = by

    def call(self, x):
        return x * self.by


def test_in_a_model_and_its_file(backend, tmp_path):
    inputs = kerata.Input((3,))
    double = Times(2, name="double")
    model = kerata.Model(inputs, double(layers.Activation("relu")(inputs)))
    assert model.output_shape == (None, 3) and double.output is model.output and len(model.layers) == 2
    assert model.operations[-1] is double
    np.testing.assert_array_equal(model.predict(X, verbose=0), 2 * X)
    np.testing.assert_array_equal(model(X), 2 * X)
    model.save(tmp_path / "model.keras")
    again = kerata.saving.load_model(tmp_path / "model.keras")
    assert isinstance(again.operations[-1], Times) and again.operations[-1].name == "double"
    np.testing.assert_array_equal(again.predict(X, verbose=0), 2 * X)


def test_trained_through(training_backend):
    inputs = kerata.Input((3,))
    model = kerata.Model(inputs, Times(2)(layers.Dense(1, kernel_initializer="zeros")(inputs)))
    model.compile(kerata.optimizers.SGD(0.002), "mse")
    losses = model.fit(X, X[:, :1], epochs=5, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]


def test_config_and_kinds():
    with backends.use_backend("numpy"):
        times = Times(3)
        assert times.get_config() == {"name": times.name, "by": 3}
        assert isinstance(layers.Dense(1), kerata.Operation) and not isinstance(times, kerata.Layer)
        assert isinstance(Times.from_config({"by": 4}), Times)
        with pytest.raises(AttributeError, match="never called on a KerasTensor"):
            assert times.output
        with pytest.raises(NotImplementedError, match="no `call`"):
            kerata.Operation()(1)
