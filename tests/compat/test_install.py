"""`kerata.compat.install()` in this process, and in fresh ones where what was imported before matters."""

import importlib
import subprocess
import sys
import textwrap
from unittest import mock

import numpy as np
import pytest

import kerata
from kerata import compat
from kerata.version import KERAS_API_VERSION, __version__


@pytest.fixture
def keras():
    """Kerata under the name `keras`. A real Keras that other tests use steps aside for the time."""
    with mock.patch.object(compat, "_users_of_keras", return_value=[]):
        compat.install()
    try:
        yield importlib.import_module("keras")
    finally:
        compat.uninstall()


def run(code, **environment):
    """Run code in a fresh Python; returns its standard output."""
    from os import environ

    settings = {**environ, "KERAS_BACKEND": "numpy", "TF_CPP_MIN_LOG_LEVEL": "3", **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=settings,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_modules_are_the_same_objects(keras):
    import keras.layers
    import keras.ops as keras_ops
    from keras.layers import Dense

    assert keras.layers is kerata.layers and keras_ops is kerata.ops
    assert Dense is kerata.layers.Dense and keras.Model is kerata.Model
    assert sys.modules["keras.layers"] is kerata.layers
    assert kerata.layers.__spec__.name == "kerata.layers"
    assert importlib.util.find_spec("keras") is not None


def test_version_is_of_the_api_here_and_of_kerata_there(keras):
    from keras.src import version as internal

    assert keras.__version__ == keras.version() == KERAS_API_VERSION
    assert keras.src.__version__ == internal.__version__ == internal.version() == KERAS_API_VERSION
    assert kerata.__version__ == kerata.version() == __version__


def test_what_is_set_on_keras_is_set_on_kerata(keras, monkeypatch):
    monkeypatch.setattr(keras, "a_name_of_ours", 1, raising=False)
    assert kerata.a_name_of_ours == 1
    monkeypatch.undo()
    assert not hasattr(kerata, "a_name_of_ours")


@pytest.mark.parametrize(
    "path, public",
    [
        ("layers.core.dense.Dense", "layers.Dense"),
        ("layers.layer.Layer", "layers.Layer"),
        ("layers.Dense", "layers.Dense"),
        ("models.sequential.Sequential", "Sequential"),
        ("models.model.Model", "Model"),
        ("optimizers.adam.Adam", "optimizers.Adam"),
        ("losses.losses.MeanSquaredError", "losses.MeanSquaredError"),
        ("ops.numpy.add", "ops.add"),
        ("ops.matmul", "ops.matmul"),
        ("saving.saving_api.load_model", "saving.load_model"),
        ("backend.config.floatx", "config.floatx"),
        ("backend.common.variables.Variable", "Variable"),
        ("random.seed_generator.SeedGenerator", "random.SeedGenerator"),
        ("utils.numerical_utils.to_categorical", "utils.to_categorical"),
        ("callbacks.callback.Callback", "callbacks.Callback"),
    ],
)
def test_internal_names_are_the_public_objects(keras, path, public):
    module, _, name = path.rpartition(".")
    expected = kerata
    for part in public.split("."):
        expected = getattr(expected, part)
    assert getattr(importlib.import_module(f"keras.src.{module}"), name) is expected
    found = keras.src
    for part in path.split("."):
        found = getattr(found, part)
    assert found is expected


def test_a_missing_name_is_an_error_that_names_kerata(keras):
    with pytest.raises(AttributeError, match="Kerata .* has no `keras.Nope`"):
        _ = keras.Nope
    with pytest.raises(ModuleNotFoundError, match="Kerata .* has no module 'keras.nope'"):
        import keras.nope  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="Kerata .* has no module 'keras.src.layers.nope'"):
        import keras.src.layers.nope  # noqa: F401
    with pytest.raises(AttributeError, match="Kerata .* has nothing for `keras.src.layers.core.dense.Nope`"):
        _ = keras.src.layers.core.dense.Nope
    with pytest.raises(ImportError, match="kerata"):
        from keras.src.layers.core.dense import nope  # noqa: F401
    with pytest.raises(ImportError, match="kerata"):
        from keras.layers import Nope  # noqa: F401


@pytest.mark.parametrize(
    "target", ["keras.src.backend.nn", "keras.src.backend", "keras.src.backend.numpy.nn"]
)
def test_patching_a_backend_function_patches_ours(keras, target):
    x = np.ones((1, 2, 4), "float32")
    with kerata.config.use_backend("numpy"):
        layer = kerata.layers.MultiHeadAttention(1, 4)
        before = layer(x, x)
        with mock.patch(
            f"{target}.dot_product_attention", return_value=np.zeros((1, 2, 1, 4), "float32")
        ) as fake:
            layer(x, x)
        assert fake.call_count == 1
        np.testing.assert_array_equal(layer(x, x), before)


def test_setting_back_what_was_read_restores(keras, monkeypatch):
    native = kerata.backends.load("numpy").matmul
    with kerata.config.use_backend("numpy"):
        monkeypatch.setattr("keras.src.backend.numpy.nn.relu", lambda x: "fake")
        monkeypatch.setattr("keras.src.backend.numpy.numpy.matmul", lambda x1, x2: "fake")
        assert kerata.ops.matmul(np.ones((1, 1)), np.ones((1, 1))) == "fake"
        monkeypatch.undo()
        assert kerata.backends.load("numpy").matmul is native
        assert kerata.ops.relu(np.array([-1.0], "float32")) == 0


def test_patching_an_op_patches_it_for_layers(keras):
    layer = kerata.layers.Activation("relu")
    with mock.patch("keras.src.ops.nn.relu") as fake:
        assert kerata.ops.relu is fake and keras.ops.relu is fake
    assert kerata.ops.relu is not fake
    assert layer is not None


def test_uninstall_gives_the_name_back():
    before = sys.modules.get("keras")
    with mock.patch.object(compat, "_users_of_keras", return_value=[]):
        compat.install()
        compat.install()
    assert compat.is_installed()
    import keras  # noqa: F401

    compat.uninstall()
    assert not compat.is_installed() and sys.modules.get("keras") is before


def test_installing_after_keras_is_in_use_is_an_error():
    out = run("""
        import sys, types
        held = [types.ModuleType("keras")]
        sys.modules["keras"] = held[0]
        import kerata.compat
        kerata.compat.install()          # nobody holds it: it steps aside
        import keras
        print(keras.__version__)
        kerata.compat.uninstall()
        assert sys.modules["keras"] is held[0]
        import keras
        try:
            kerata.compat.install()
        except RuntimeError as error:
            print(error)
    """)
    assert out.splitlines()[0] == KERAS_API_VERSION
    assert "already in use by __main__" in out


@pytest.mark.parametrize("legacy", ["0", "1"])
def test_tensorflow_and_the_alias_in_one_process(legacy):
    pytest.importorskip("tensorflow")
    out = run(
        """
        import kerata.compat
        kerata.compat.install()
        import tensorflow as tf
        import keras, kerata, os
        assert keras.layers.Dense is kerata.layers.Dense
        if os.environ["TF_USE_LEGACY_KERAS"] == "0":
            assert tf.keras.layers.Dense is kerata.layers.Dense
            assert tf.keras.Model is kerata.Model
        print("same")
        """,
        TF_USE_LEGACY_KERAS=legacy,
    )
    assert out.split()[-1] == "same"


def test_tensorflow_first():
    pytest.importorskip("tensorflow")
    out = run("""
        import tensorflow as tf
        import kerata, kerata.compat
        kerata.compat.install()
        import keras
        assert keras.layers is kerata.layers
        print("same")
    """)
    assert out.split()[-1] == "same"
