"""Files go both ways between Kerata and the real Keras, which runs in a process of its own."""

import importlib.util
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import kerata
from kerata import backends

SCRIPT = os.path.join(os.path.dirname(__file__), "architectures.py")
_spec = importlib.util.spec_from_file_location("architectures", SCRIPT)
architectures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(architectures)
ARCHITECTURES = architectures.ARCHITECTURES

pytestmark = pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="the real Keras is not installed")

# bfloat16 has 8 bits, and frameworks round its sums each in its own way.
TOLERANCE = {"half": 0.03}
EXACT = 1e-5
# Keras's files don't depend on its backend but for a few internal names, of which torch has the most.
KERAS_BACKENDS = os.environ.get("KERATA_INTEROP_BACKENDS", "torch").split(",")


def real_keras(backend, what, folder, *names):
    """Run `architectures.py` with Keras; returns its result for each architecture."""
    env = os.environ | {"KERAS_BACKEND": backend, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    subprocess.run([sys.executable, SCRIPT, what, str(folder), *names], env=env, check=True, capture_output=True)
    with open(os.path.join(folder, f"{what}.json")) as file:
        return json.load(file)


@pytest.fixture(scope="module", params=KERAS_BACKENDS)
def keras_files(request, tmp_path_factory):
    """A folder of files that Keras wrote."""
    folder = tmp_path_factory.mktemp("keras")
    failed = {name: text for name, text in real_keras(request.param, "write", folder).items() if text}
    return folder, failed


@pytest.fixture(scope="module")
def kerata_files(tmp_path_factory):
    """A folder of files that Kerata wrote, and what Keras finds in them."""
    folder = tmp_path_factory.mktemp("kerata")
    errors = {}
    with backends.use_backend("torch"):
        for name in ARCHITECTURES:
            try:
                architectures.write(kerata, name, folder)
            except Exception as error:
                errors[name] = error
    return folder, errors


@pytest.fixture(scope="module", params=KERAS_BACKENDS)
def read_by_keras(request, kerata_files):
    folder, errors = kerata_files
    return real_keras(request.param, "read", folder, *(name for name in ARCHITECTURES if name not in errors))


def check(found, name):
    assert isinstance(found, dict), found
    tolerance = TOLERANCE.get(name, EXACT)
    assert {k: v for k, v in found.items() if isinstance(v, str) or v > tolerance} == {}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_kerata_reads_what_keras_wrote(name, keras_files, backend):
    folder, failed = keras_files
    if name in failed:
        pytest.skip("Keras can't train this one itself")
    check(architectures.read(kerata, name, folder), name)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_keras_reads_what_kerata_wrote(name, kerata_files, read_by_keras):
    _, errors = kerata_files
    if name in errors:
        raise errors[name]
    check(read_by_keras[name], name)


def test_training_goes_on_where_keras_stopped(keras_files, training_backend):
    """Keras itself can't load a model trained on torch with Adam anywhere else."""
    folder, _ = keras_files
    for name in ("shared", "with_ops"):
        model = kerata.saving.load_model(folder / f"{name}.keras")
        loss = architectures.train_on(model, name)
        np.testing.assert_allclose(loss, architectures.stored(folder / f"{name}.loss.npz")[0], rtol=1e-4)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_same_groups_as_keras(name, keras_files, kerata_files):
    """Not only can each read the other's files: they have the same groups, shapes and dtypes."""
    (theirs, failed), (ours, errors) = keras_files, kerata_files
    if name in failed or name in errors:
        pytest.skip("not written")
    assert tree(ours / f"{name}.weights.h5") == tree(theirs / f"{name}.weights.h5")


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_same_classes_as_keras(name, keras_files, kerata_files):
    (theirs, failed), (ours, errors) = keras_files, kerata_files
    if name in failed or name in errors:
        pytest.skip("not written")
    assert classes(ours / f"{name}.keras") == classes(theirs / f"{name}.keras")


@pytest.fixture(scope="module")
def our_layers():
    return architectures.describe_layers(kerata)


@pytest.mark.parametrize("name", architectures.LAYERS)
def test_a_layer_is_written_as_keras_writes_it(name, keras_files, our_layers):
    with open(keras_files[0] / "layers.json") as file:
        their_datasets, theirs = json.load(file)[name]
    assert not isinstance(our_layers[name], str), our_layers[name]
    our_datasets, ours = our_layers[name]
    assert our_datasets == their_datasets
    their_config, our_config = theirs.pop("config"), ours.pop("config")
    assert ours == theirs
    # Leaving out what is `None` means the same, and so do an axis and a list of one.
    assert _settled(our_config) == _settled(their_config)


def _settled(config):
    config = {k: v for k, v in config.items() if v is not None and k != "name"}
    if isinstance(config.get("axis"), int):
        config["axis"] = [config["axis"]]
    for key, value in config.items():
        if isinstance(value, dict) and isinstance(value.get("config"), dict):
            config[key] = {**value, "config": _settled(value["config"])}
    return config


def tree(path):
    import h5py

    found = {}

    def visit(name, item):
        found[name] = (item.shape, item.dtype.str) if isinstance(item, h5py.Dataset) else None

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def classes(path):
    """`(module, class name, keys of the config)` of every object in a file's config."""
    found = []

    def visit(value):
        if isinstance(value, dict):
            if "class_name" in value and "module" in value:
                found.append((_module(value), _one_name(value["class_name"]), _keys(value)))
            for inner in value.values():
                visit(inner)
        elif isinstance(value, list):
            for inner in value:
                visit(inner)

    with zipfile.ZipFile(path) as file:
        visit(json.loads(file.read("config.json")))
    return found


def _keys(value):
    config = value.get("config")
    # What Kerata records of a class without `get_config` is more than what Keras does: the name too.
    own = (value.get("registered_name") or "").startswith("tests>")
    return sorted(config) if isinstance(config, dict) and not own else None


def _one_name(name):
    # Two names of one op in Keras.
    return {"TrueDivide": "Divide"}.get(name, name)


def _module(value):
    module = value["module"]
    if (value.get("registered_name") or "").startswith("tests>"):
        return None
    return "keras.optimizers" if module and ".torch.optimizers." in module else module
