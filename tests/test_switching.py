"""Choosing and switching backends in one process, and what is said when that can't be."""

import importlib.util
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import kerata
from kerata import backends, ops
from kerata.core import config


def kind(x):
    return type(x).__module__.split(".")[0].removesuffix("lib")


def test_switching_is_immediate_and_nests():
    with kerata.config.use_backend("torch"):
        assert kind(ops.ones(2)) == "torch"
        with kerata.config.use_backend("jax"):
            assert kerata.config.backend() == "jax" and kind(ops.ones(2)) == "jax"
        assert kind(ops.ones(2)) == "torch"


def test_set_backend_is_for_all_threads():
    before = backends.process.backend
    try:
        kerata.config.set_backend("torch")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(kerata.config.backend()))
        thread.start()
        thread.join()
        assert seen == ["torch"] and kerata.backend.backend() == "torch"
    finally:
        backends.process.backend = before


def test_use_backend_is_for_this_thread_alone():
    seen = []
    with kerata.config.use_backend("torch"):
        thread = threading.Thread(target=lambda: seen.append(backends.current_name()))
        thread.start()
        thread.join()
    assert seen == [backends.current_name()]


def test_unknown_name():
    with pytest.raises(ValueError, match="'pytorch'.*torch"):
        kerata.config.set_backend("pytorch")


def test_missing_framework_gives_the_command(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(backends, "_loaded", {})
    with pytest.raises(ImportError, match=r'isn\'t installed: pip install "kerata\[torch\]"'):
        backends.load("torch")


@pytest.mark.parametrize(
    "name, old", [("torch", "2.0.1"), ("jax", "0.4.19"), ("tensorflow", "2.15.0"), ("openvino", "2024.6.0")]
)
def test_old_framework_is_refused(monkeypatch, name, old):
    monkeypatch.setattr(backends, "_loaded", {})
    monkeypatch.setattr(backends.importlib.metadata, "version", lambda distribution: old)
    with pytest.raises(
        ImportError, match=rf"{name} {backends.MINIMUM[name]} or newer, but {old} is installed.*--upgrade"
    ):
        backends.load(name)


def run(code, **env):
    env = {k: v for k, v in os.environ.items() if k not in ("KERAS_BACKEND", "KERAS_HOME")} | env
    result = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, env=env)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_where_the_default_comes_from(tmp_path):
    show = "import kerata; from kerata.core import config; print(kerata.config.backend(), '|', config.default_backend_reason())"
    assert run(show, KERAS_BACKEND="numpy", KERAS_HOME=str(tmp_path)).startswith(
        "numpy | the environment variable KERAS_BACKEND"
    )
    assert run(show, KERAS_HOME=str(tmp_path)).startswith("jax | the first installed")
    (tmp_path / "keras.json").write_text(json.dumps({"backend": "torch", "floatx": "float16", "epsilon": 1e-5}))
    assert run(show, KERAS_HOME=str(tmp_path)).startswith(f"torch | {tmp_path}")
    assert (
        run("import kerata; print(kerata.config.floatx(), kerata.config.epsilon())", KERAS_HOME=str(tmp_path))
        == "float16 1e-05"
    )


def test_what_is_set_is_not_overwritten_by_keras_json(tmp_path):
    (tmp_path / "keras.json").write_text(json.dumps({"floatx": "float16", "image_data_format": "channels_last"}))
    code = (
        "from kerata import config; config.set_image_data_format('channels_first'); config.set_floatx('float32'); "
        "print(config.image_data_format(), config.floatx())"
    )
    assert run(code, KERAS_HOME=str(tmp_path)).split() == ["channels_first", "float32"]


def test_an_unreadable_keras_json_is_named(tmp_path):
    (tmp_path / "keras.json").write_text("{")
    code = "import kerata\ntry: kerata.config.floatx()\nexcept ValueError as e: print(e)"
    assert "keras.json" in run(code, KERAS_HOME=str(tmp_path))


def test_importing_and_building_import_no_framework():
    code = (
        "import sys, kerata as k\n"
        "before = [m for m in ('jax', 'torch', 'tensorflow', 'keras', 'scipy', 'h5py') if m in sys.modules]\n"
        "x = k.KerasTensor((None, 4)); y = k.ops.softmax(x @ k.KerasTensor((4, 3)) + 1)\n"
        "from kerata.graph.trace import trace\n"
        "def many(y):\n"
        "    for _ in range(100): y = k.ops.tanh(y * 0.5 + 1.0)\n"
        "    return y\n"
        "assert many(k.Input((4,))).shape == (None, 4)\n"
        "assert len(trace(many, k.KerasTensor((None, 4))).nodes) == 300\n"
        "after = [m for m in ('jax', 'torch', 'tensorflow', 'keras') if m in sys.modules]\n"
        "print(before, after, y.shape)"
    )
    assert run(code, KERAS_BACKEND="jax") == "[] [] (None, 3)"


def test_tensors_of_other_frameworks_are_taken():
    made = {}
    for name in ("numpy", *backends.TRAINING):
        with kerata.config.use_backend(name):
            made[name] = ops.ones((2,)) * 2
    for name in made:
        with kerata.config.use_backend(name):
            for other in made.values():
                assert float(ops.sum(ops.convert_to_tensor(other))) == 4.0


def test_settings_are_checked():
    for call, message in (
        (lambda: config.set_floatx("float8"), "float8"),
        (lambda: config.set_image_data_format("sideways"), "sideways"),
        (lambda: config.set_rng("dice"), "dice"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def _small_model():
    return kerata.Sequential([kerata.Input((4,)), kerata.layers.Dense(2), kerata.layers.BatchNormalization()])


@pytest.mark.parametrize("inner, outer", [("numpy", "torch"), ("torch", "numpy"), ("jax", "torch")])
def test_predict_on_the_process_backend_while_another_is_in_force(inner, outer):
    """The one that is selected counts, not the process's."""
    pytest.importorskip(inner)
    pytest.importorskip(outer)
    x, before = np.ones((3, 4), "float32"), backends.process.backend
    with backends.use_backend(inner) as b:
        model = _small_model()
        want = model.predict(x, verbose=0), model.predict(x, verbose=0)
    try:
        backends.process.backend = b
        with backends.use_backend(outer):
            for _ in range(2):
                np.testing.assert_array_equal(model.predict(x[:2], verbose=0), want[0][:2])
    finally:
        backends.process.backend = before


def test_a_layer_from_another_backend_is_named():
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    x = np.ones((3, 4), "float32")
    with backends.use_backend("torch"):
        dense = kerata.layers.Dense(2)
        want = ops.convert_to_numpy(dense(x))
    with backends.use_backend("jax"):
        model = kerata.Sequential([kerata.Input((4,)), dense])
        model.compile("sgd", "mse")
        for run in (lambda: model.fit(x, x[:, :2], verbose=0), lambda: model.predict(x, verbose=0)):
            with pytest.raises(ValueError, match="'dense/kernel' was made on 'torch'"):
                run()
        for _ in range(3):
            np.testing.assert_allclose(model(x), want, rtol=1e-5)
