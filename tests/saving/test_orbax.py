"""Checkpoints in Orbax's format: written while training, read by every backend and by Keras."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops, saving
from kerata.callbacks import OrbaxCheckpoint

pytest.importorskip("orbax.checkpoint")
X, Y = np.random.default_rng(0).normal(size=(20, 3)).astype("float32"), np.ones((20, 2), "float32")


@pytest.fixture
def on_jax():
    with backends.use_backend("jax"):
        yield


def made():
    model = kerata.Sequential([layers.Dense(4), layers.BatchNormalization(), layers.Dropout(0.1), layers.Dense(2)])
    model.compile("adam", "mse")
    return model


def fitted(folder, epochs=1, **options):
    model = made()
    model.fit(X, Y, batch_size=5, epochs=epochs, callbacks=[OrbaxCheckpoint(folder, **options)], verbose=0)
    return model


def assert_same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(x), ops.convert_to_numpy(y))


def test_a_model_comes_back_with_its_optimizer(training_backend, tmp_path):
    model = fitted(tmp_path)
    again = saving.load_model(tmp_path)
    assert_same(model.weights, again.weights)
    assert_same(model.optimizer.variables, again.optimizer.variables)
    again.fit(X, Y, verbose=0)
    assert not saving.load_model(tmp_path, compile=False).compiled
    np.testing.assert_allclose(model.predict(X, verbose=0), saving.load_model(tmp_path / "0").predict(X, verbose=0))


def test_weights_go_into_a_model_that_is_there(training_backend, tmp_path):
    model, other = fitted(tmp_path, save_weights_only=True), made()
    other.build((None, 3))
    other.load_weights(tmp_path)
    assert_same(model.weights, other.weights)
    with pytest.raises(ValueError, match="weights without a model"):
        saving.load_model(tmp_path)
    wide = kerata.Sequential([layers.Dense(5), layers.Dense(2)], name=model.name)
    wide.build((None, 3))
    before = wide.get_weights()
    with pytest.raises(ValueError, match="shape|no variable|no value for"):
        wide.load_weights(tmp_path)
    assert_same(before, wide.get_weights())


def test_layers_that_do_not_fit_are_left_out(on_jax, tmp_path):
    def named(units):
        model = kerata.Sequential([kerata.Input((3,)), layers.Dense(4, name="same"), layers.Dense(units, name="other")])
        model.compile("adam", "mse")
        return model

    model, other = named(2), named(5)
    model.fit(X, Y, callbacks=[OrbaxCheckpoint(tmp_path)], verbose=0)
    before = other.layers[1].get_weights()
    with pytest.warns(UserWarning, match="other/kernel"):
        other.load_weights(tmp_path, skip_mismatch=True)
    assert_same(model.layers[0].weights, other.layers[0].weights)
    assert_same(before, other.layers[1].get_weights())
    again = named(2)
    again.load_weights(tmp_path, objects_to_skip=[again.layers[0]])
    assert_same(model.layers[1].weights, again.layers[1].weights)
    assert not np.array_equal(model.layers[0].get_weights()[0], again.layers[0].get_weights()[0])


def test_which_steps_are_kept(on_jax, tmp_path):
    fitted(tmp_path / "epochs", epochs=3, save_on_background=False)
    fitted(tmp_path / "two", epochs=3, max_to_keep=2)
    model = fitted(tmp_path / "batches", epochs=2, save_freq=3, max_to_keep=None)
    model.fit(
        X, Y, batch_size=5, callbacks=[OrbaxCheckpoint(tmp_path / "batches", save_freq=3, max_to_keep=None)], verbose=0
    )
    kept = {name: sorted(map(int, os.listdir(tmp_path / name))) for name in ("epochs", "two", "batches")}
    assert kept == {"epochs": [2], "two": [1, 2], "batches": [3, 6, 11]}


def test_a_run_that_begins_anew_beside_an_older_one(on_jax, tmp_path):
    fitted(tmp_path, epochs=4, max_to_keep=None)
    with pytest.warns(UserWarning, match=r"later steps \(1, 2, 3\).*first that this run saves \(0\)"):
        model = fitted(tmp_path, epochs=2, max_to_keep=None)
    assert_same(model.weights, saving.load_model(tmp_path).weights)
    again = made()
    again.build((None, 3))
    again.load_weights(tmp_path)
    assert_same(model.weights, again.weights)
    assert_same(model.optimizer.variables, again.optimizer.variables)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.fit(X, Y, epochs=6, initial_epoch=4, callbacks=[OrbaxCheckpoint(tmp_path)], verbose=0)
    assert os.listdir(tmp_path) == ["5"]


def test_only_what_is_better(on_jax, tmp_path):
    fitted(
        tmp_path / "best", epochs=3, save_best_only=True, monitor="loss", max_to_keep=None, initial_value_threshold=1e9
    )
    assert "0" in os.listdir(tmp_path / "best")
    fitted(tmp_path / "none", save_best_only=True, monitor="loss", initial_value_threshold=0.0)
    assert os.listdir(tmp_path / "none") == []


def test_vocabularies_come_along(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("cat\ndog")
    inputs = kerata.Input((1,), dtype="string")
    model = kerata.Model(inputs, layers.StringLookup(vocabulary=str(words))(inputs))
    callback = OrbaxCheckpoint(tmp_path / "c")
    callback.set_model(model)
    callback._save_checkpoint(0)
    callback.wait_until_finished()
    words.unlink()
    again = saving.load_model(tmp_path / "c")
    assert again.layers[-1].get_vocabulary() == ["[UNK]", "cat", "dog"]


class Own(kerata.Model):
    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(2)

    def call(self, x):
        return self.dense(x)


def test_names_of_models_are_no_matter_but_layers_must_be_all_there(tmp_path):
    def nested():
        inner = kerata.Sequential([kerata.Input((3,)), layers.Dense(3), layers.BatchNormalization()], name="inner")
        inputs = kerata.Input((3,))
        return kerata.Model(inputs, layers.Dense(2)(inner(inputs)))

    def kept(model, name):
        callback = OrbaxCheckpoint(tmp_path / name)
        callback.set_model(model)
        callback._save_checkpoint(0)
        callback.wait_until_finished()
        return tmp_path / name

    model = nested()
    path = kept(model, "nested")
    assert_same(model.weights, saving.load_model(path).weights)
    told, other = Own(name="mine"), Own()
    told(X), other(X)
    other.load_weights(kept(told, "own"))
    assert_same(told.weights, other.weights)
    more = kerata.Sequential([kerata.Input((3,)), layers.Dense(2, name=told.dense.name), layers.Dense(2)], name="mine")
    before = more.get_weights()
    with pytest.raises(ValueError, match="no value for|no variable"):
        more.load_weights(tmp_path / "own")
    assert_same(before, more.get_weights())


def test_bad_input(on_jax, tmp_path):
    for options, message in (
        ({"save_freq": "never"}, "save_freq"),
        ({"save_freq": 0}, "save_freq"),
        ({"max_to_keep": 0}, "max_to_keep"),
    ):
        with pytest.raises(ValueError, match=message):
            OrbaxCheckpoint(tmp_path, **options)
    fitted(tmp_path)
    for name in ("manifest.ocdbt", "_METADATA"):
        (tmp_path / "0" / "pytree" / name).write_bytes(b"no")
    with pytest.raises(ValueError, match="can't be read as an Orbax checkpoint"):
        saving.load_model(tmp_path)


THEIRS = """
import sys, numpy as np, keras
there, here = sys.argv[1:]
model = keras.models.load_model(there)
x = np.load(there + "/x.npy")
np.save(there + "/y.npy", model.predict(x, verbose=0))
model.fit(x, np.ones((20, 2)), epochs=1, verbose=0, callbacks=[keras.callbacks.OrbaxCheckpoint(here)])
np.save(here + "/y.npy", model.predict(x, verbose=0))
"""


@pytest.mark.slow
def test_to_keras_and_back(on_jax, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    # (Of a Sequential model that wasn't built from an Input, Keras 3.15.1 doesn't load the weights.)
    inputs = kerata.Input((3,))
    model = kerata.Model(inputs, layers.Dense(2)(layers.BatchNormalization()(layers.Dense(4)(inputs))))
    model.compile("adam", "mse")
    model.fit(X, Y, callbacks=[OrbaxCheckpoint(there)], verbose=0)
    np.save(there / "x.npy", X)
    subprocess.run(
        [sys.executable, "-c", THEIRS, str(there), str(here)], check=True, env={**os.environ, "KERAS_BACKEND": "jax"}
    )
    np.testing.assert_allclose(np.load(there / "y.npy"), model.predict(X, verbose=0), rtol=1e-5, atol=1e-6)
    again = saving.load_model(here)
    np.testing.assert_allclose(np.load(here / "y.npy"), again.predict(X, verbose=0), rtol=1e-5, atol=1e-6)
