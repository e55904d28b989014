"""Files of Keras 2. Those in `keras2/` were written by tf_keras 2.21, with the predictions on `INPUTS`."""

import os

import numpy as np
import pytest

import kerata
from kerata import saving
from kerata.saving.older import is_older, modern_config

FOLDER = os.path.join(os.path.dirname(__file__), "keras2")
INPUTS = {
    "f": np.arange(12).reshape(2, 6) % 10,
    "g": np.ones((2, 4), "float32"),
    "h": np.ones((2, 3, 4), "float32"),
    "s": np.ones((2, 8, 8, 2), "float32"),
}


def predictions(model, name):
    found = model(INPUTS[name])
    return [kerata.ops.convert_to_numpy(y) for y in (found if isinstance(found, (list, tuple)) else [found])]


def wanted(name):
    with np.load(os.path.join(FOLDER, f"{name}.npz")) as file:
        return [file[key] for key in file.files]


# f: embedding, LSTM, attention, normalization, two outputs, Adam. g: shared layers and a model in a model,
# RMSprop. h: wrapped recurrent layers, SGD with a schedule. s: convolutions.
@pytest.mark.parametrize("file", ["f.h5", "f.keras", "g.h5", "g.keras", "h.h5", "s.h5"])
def test_models(file, backend):
    name = file[0]
    model = saving.load_model(os.path.join(FOLDER, file), compile=False)
    for y, w in zip(predictions(model, name), wanted(name), strict=True):
        np.testing.assert_allclose(y, w, atol=1e-5)


@pytest.mark.parametrize("file", ["f.h5", "f.keras", "g.h5", "g.keras", "h.h5"])
def test_training_goes_on(file):
    with kerata.config.use_backend("torch"):
        model = saving.load_model(os.path.join(FOLDER, file))
        assert int(model.optimizer.iterations) == 1
        slots = [v.numpy() for v in model.optimizer.variables if v.shape]
        assert any(np.any(s) for s in slots)


def test_an_optimizer_that_kept_other_state():
    with pytest.warns(UserWarning, match="optimizer's state is of another version of Keras"):
        saving.load_model(os.path.join(FOLDER, "s.h5"))


def test_weights_alone():
    model = saving.load_model(os.path.join(FOLDER, "f.h5"), compile=False)
    for v in model.variables:
        v.assign(np.zeros(v.shape))
    model.load_weights(os.path.join(FOLDER, "w.h5"), by_name=True)
    for y, w in zip(predictions(model, "f"), wanted("f"), strict=True):
        np.testing.assert_allclose(y, w, atol=1e-5)
    with pytest.raises(ValueError, match="holds weights only"):
        saving.load_model(os.path.join(FOLDER, "w.h5"))


@pytest.mark.parametrize(
    "version, older", [("2.15.0", True), (b"2.1.0", True), (None, True), ("3.0.0", False), ("3.15.1", False)]
)
def test_versions(version, older):
    assert is_older(version) == older


def test_calls():
    def layer(name, *nodes):
        return {"class_name": "Dense", "config": {"name": name}, "name": name, "inbound_nodes": list(nodes)}

    config = {
        "name": "m",
        "layers": [layer("a", [["x", 0, 0, {}]]), layer("b", [["a", 0, 0, {}], ["x", 0, 0, {"mask": ["a", 0, 0]}]])],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["b", 0, 0]],
    }
    nodes = [entry["inbound_nodes"][0] for entry in modern_config(config)["layers"]]
    histories = [tensor["config"]["keras_history"] for tensor in nodes[1]["args"][0]]
    assert nodes[0]["args"][0]["config"]["keras_history"] == ["x", 0, 0]
    assert histories == [["a", 0, 0], ["x", 0, 0]]
    assert nodes[1]["kwargs"]["mask"]["config"]["keras_history"] == ["a", 0, 0]
