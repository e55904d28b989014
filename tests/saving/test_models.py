"""`save_model`, `load_model` and weights: whole, exact, and without effect when they fail."""

import errno
import json
import os
import weakref
import zipfile

import h5py
import numpy as np
import pytest

import kerata
from kerata import layers, saving
from kerata.saving import archive
from kerata.saving.store import Entry


def dense(*units, inputs=4, **kwargs):
    return kerata.Sequential([kerata.Input((inputs,)), *(layers.Dense(n) for n in units)], **kwargs)


def trained(*units, optimizer="adam"):
    model = dense(*units)
    model.compile(optimizer, "mse", jit_compile=False)
    model.fit(np.ones((2, 4), "float32"), np.ones((2, units[-1]), "float32"), verbose=0)
    return model


def values(model):
    optimizer = getattr(model, "optimizer", None)
    variables = [*model.variables, *(optimizer.variables if optimizer else ())]
    return [np.array(v.numpy()) for v in variables]


def assert_same(found, wanted):
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(f, w)


# Round trips


def test_model(tmp_path, training_backend):
    model = trained(3, 2)
    model.save(tmp_path / "m.keras")
    again = saving.load_model(tmp_path / "m.keras")
    assert_same(values(again), values(model))
    assert again.get_config() == model.get_config()
    assert int(again.optimizer.iterations) == 1
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]


def test_weights(tmp_path, training_backend):
    model, other = trained(3, 2), trained(3, 2)
    model.save_weights(tmp_path / "m.weights.h5")
    other.load_weights(tmp_path / "m.weights.h5")
    assert_same(values(other), values(model))


def test_from_one_backend_to_the_next(tmp_path):
    with kerata.config.use_backend("torch"):
        model = trained(3, 2)
        model.save(tmp_path / "m.keras")
        wanted = values(model)
    with kerata.config.use_backend("jax"):
        again = saving.load_model(tmp_path / "m.keras")
        assert_same(values(again), wanted)
        again.fit(np.ones((2, 4), "float32"), np.ones((2, 2), "float32"), verbose=0)
        again.save(tmp_path / "again.keras")
    with kerata.config.use_backend("numpy"):
        assert_same(values(saving.load_model(tmp_path / "again.keras", compile=False)), values(again)[:4])


def test_every_backend_writes_the_same_bytes(tmp_path, backend):
    model = dense(3, name="same")
    model.layers[0].set_weights([np.ones((4, 3)), np.zeros(3)])
    model.save_weights(tmp_path / "m.weights.h5")
    with kerata.config.use_backend("numpy"):
        other = dense(3, name="same")
        other.layers[0].set_weights([np.ones((4, 3)), np.zeros(3)])
        other.layers[0].name = model.layers[0].name
        other.save_weights(tmp_path / "n.weights.h5")
    assert (tmp_path / "m.weights.h5").read_bytes() == (tmp_path / "n.weights.h5").read_bytes()


def test_folder(tmp_path):
    model = dense(3)
    model.save(tmp_path / "m", zipped=False)
    assert sorted(os.listdir(tmp_path / "m")) == ["config.json", "metadata.json", "model.weights.h5"]
    assert_same(values(saving.load_model(tmp_path / "m")), values(model))
    other = dense(3)
    other.load_weights(tmp_path / "m")
    assert_same(values(other), values(model))


def test_weights_of_a_model_file(tmp_path):
    model, other = dense(3), dense(3)
    model.save(tmp_path / "m.keras")
    other.load_weights(tmp_path / "m.keras")
    assert_same(values(other), values(model))


@pytest.mark.parametrize("name", ["m.weights.h5", "m.weights.json"])
def test_shards(tmp_path, name):
    model, other = dense(50, 40), dense(50, 40)
    model.save_weights(tmp_path / name, max_shard_size=3000 / 1024**3)
    assert sorted(os.listdir(tmp_path)) == ["m.weights.json", *(f"m_0000{i}.weights.h5" for i in range(3))]
    other.load_weights(tmp_path / "m.weights.json")
    assert_same(values(other), values(model))


def test_the_metadata(tmp_path):
    dense(3).save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as file:
        metadata = json.loads(file.read("metadata.json"))
    assert metadata["keras_version"].startswith("3.")
    assert metadata["kerata_version"] == kerata.__version__


def test_a_layer_in_two_models(tmp_path):
    """Keras writes such a file, but can't load it."""
    inner = kerata.Sequential([kerata.Input((4,)), layers.Dense(4)], name="inner")
    x, y = kerata.Input((4,)), kerata.Input((4,))
    middle = kerata.Model(x, layers.Dense(4)(inner(x)))
    model = kerata.Model(y, inner(middle(y)))
    model.save(tmp_path / "m.keras")
    again = saving.load_model(tmp_path / "m.keras")
    assert again.get_layer("inner") is again.layers[1].get_layer("inner")
    assert_same(values(again), values(model))


def test_an_unbuilt_model(tmp_path):
    with pytest.warns(UserWarning, match="not built"):
        kerata.Sequential([layers.Dense(3)]).save(tmp_path / "m.keras")
    again = saving.load_model(tmp_path / "m.keras")
    assert not again.built
    assert again(np.ones((2, 4), "float32")).shape == (2, 3)


class WithAssets(layers.Layer):
    words = ()

    def call(self, x):
        return x

    def save_assets(self, folder):
        with open(os.path.join(folder, "words.txt"), "w") as file:
            file.write(" ".join(self.words))

    def load_assets(self, folder):
        with open(os.path.join(folder, "words.txt")) as file:
            self.words = file.read().split()


@pytest.mark.parametrize("zipped", [True, False])
def test_assets(tmp_path, zipped):
    layer = WithAssets()
    layer.words = ["a", "b"]
    path = tmp_path / ("m.keras" if zipped else "m")
    kerata.Sequential([kerata.Input((4,)), layer]).save(path, zipped=zipped)
    again = saving.load_model(path, custom_objects={"WithAssets": WithAssets})
    assert again.layers[0].words == ["a", "b"]


class OwnWay(layers.Layer):
    """A layer that stores its variable under a name of its own, and refuses negative ones."""

    def build(self, input_shape):
        self.factor = self.add_weight(shape=(), initializer="ones", name="factor")

    def call(self, x):
        return x * self.factor

    def save_own_variables(self, store):
        store["factor"] = self.factor

    def load_own_variables(self, store):
        value = store["factor"][...]
        self.factor.assign(value)
        if value < 0:
            raise ValueError("negative")


def own_way(value):
    model = kerata.Sequential([kerata.Input((4,)), layers.Dense(4), OwnWay(), OwnWay(), layers.Dense(4)])
    for layer in model.layers[1:3]:
        layer.factor.assign(value)
    return model


def test_layers_with_a_way_of_their_own(tmp_path):
    model, other = own_way(3.0), own_way(1.0)
    model.save_weights(tmp_path / "m.weights.h5")
    other.load_weights(tmp_path / "m.weights.h5")
    assert_same(values(other), values(model))


# Failures leave everything as it was


def unchanged(model, function, error, match):
    before = values(model)
    with pytest.raises(error, match=match):
        function()
    assert_same(values(model), before)


def test_a_layer_that_refuses(tmp_path):
    model = own_way(3.0)
    model.layers[2].factor.assign(-1.0)
    model.save_weights(tmp_path / "m.weights.h5")
    other = own_way(1.0)
    unchanged(other, lambda: other.load_weights(tmp_path / "m.weights.h5"), ValueError, "negative")


def test_other_shapes(tmp_path):
    dense(3, 5).save_weights(tmp_path / "m.weights.h5")
    model = dense(3, 6)
    name = model.layers[1].name
    unchanged(
        model,
        lambda: model.load_weights(tmp_path / "m.weights.h5"),
        ValueError,
        rf"'{name}'.*layers/dense_1\).*kernel' has the shape \(3, 6\), but the file has \(3, 5\)",
    )


def test_other_shapes_skipped(tmp_path):
    saved = dense(3, 5)
    saved.save_weights(tmp_path / "m.weights.h5")
    model = dense(3, 6)
    last = [np.array(w) for w in model.layers[1].get_weights()]
    with pytest.warns(UserWarning, match=r"\(3, 6\), but the file has \(3, 5\)"):
        model.load_weights(tmp_path / "m.weights.h5", skip_mismatch=True)
    assert_same(model.layers[0].get_weights(), saved.layers[0].get_weights())
    assert_same(model.layers[1].get_weights(), last)


def test_a_layer_too_many(tmp_path):
    dense(3).save_weights(tmp_path / "m.weights.h5")
    model = dense(3, 6)
    unchanged(
        model,
        lambda: model.load_weights(tmp_path / "m.weights.h5"),
        ValueError,
        r"has 2 variables \(kernel \(3, 6\), bias \(6,\)\), but the file has none",
    )


def test_a_layer_too_few(tmp_path):
    dense(3, 6).save_weights(tmp_path / "m.weights.h5")
    with pytest.warns(UserWarning, match="no place for, which were not loaded: layers/dense_1"):
        dense(3).load_weights(tmp_path / "m.weights.h5")


def test_objects_to_skip(tmp_path):
    dense(3, 5).save_weights(tmp_path / "m.weights.h5")
    model = dense(3, 6)
    model.load_weights(tmp_path / "m.weights.h5", objects_to_skip=[model.layers[1]])


def test_an_unbuilt_model_has_no_weights(tmp_path):
    model = kerata.Sequential([layers.Dense(3)])
    with pytest.raises(ValueError, match="not built"):
        model.save_weights(tmp_path / "m.weights.h5")
    dense(3).save_weights(tmp_path / "m.weights.h5")
    with pytest.raises(ValueError, match="not built"):
        model.load_weights(tmp_path / "m.weights.h5")


@pytest.fixture
def trained_files(tmp_path):
    with kerata.config.use_backend("torch"):
        model = trained(3, 2)
        model.save_weights(tmp_path / "m.weights.h5")
        model.save(tmp_path / "m.keras")
        yield tmp_path


def test_another_optimizer(trained_files):
    model = trained(3, 2, optimizer="sgd")
    with pytest.warns(UserWarning, match="SGD .* has 2 variables .*, but the file has 10 .* starts anew"):
        model.load_weights(trained_files / "m.weights.h5")


def test_an_optimizer_that_has_not_begun(trained_files):
    model = dense(3, 2)
    model.compile("adam", "mse")
    model.load_weights(trained_files / "m.weights.h5")
    assert int(model.optimizer.iterations) == 1


def test_an_optimizer_of_another_model(trained_files):
    """The weights fit; the optimizer had frozen layers."""
    model = dense(3, 2)
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    with pytest.warns(UserWarning, match="Adam .* has 6 variables .*, but the file has 10 .* starts anew"):
        model.load_weights(trained_files / "m.weights.h5")


@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5"])
def test_damaged_files(trained_files, name, part):
    path = trained_files / name
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    model = trained(3, 2)
    unchanged(model, lambda: model.load_weights(path), ValueError, "damaged, cut off")
    if name == "m.keras":
        with pytest.raises(ValueError, match="damaged, cut off"):
            saving.load_model(path)


@pytest.mark.parametrize("kept", ["config.json", "model.weights.h5"])
def test_missing_parts(trained_files, kept):
    with zipfile.ZipFile(trained_files / "m.keras") as old:
        content = old.read(kept)
    with zipfile.ZipFile(trained_files / "n.keras", "w") as new:
        new.writestr(kept, content)
    with pytest.raises(ValueError, match="no model file"):
        saving.load_model(trained_files / "n.keras")


@pytest.mark.parametrize("config", ["", "[]", "{}", "nonsense", '{"class_name": "Dense"}', "[" * 100_000])
def test_a_config_that_is_none(tmp_path, config):
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as file:
        file.writestr("config.json", config)
        file.writestr("model.weights.h5", "")
    with pytest.raises(ValueError, match=r"config"):
        saving.load_model(tmp_path / "m.keras")


def test_a_file_of_a_layer(tmp_path):
    config = {
        "module": "keras.layers",
        "class_name": "Dense",
        "config": {"units": 3},
        "registered_name": None,
    }
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as file:
        file.writestr("config.json", json.dumps(config))
        file.writestr("model.weights.h5", "")
    with pytest.raises(ValueError, match="holds a Dense, not a model"):
        saving.load_model(tmp_path / "m.keras")


def test_missing_files(tmp_path):
    dense(3).save(tmp_path / "model.keras")
    with pytest.raises(FileNotFoundError, match="File not found: .*Did you mean 'model.keras'"):
        saving.load_model(tmp_path / "modle.keras")
    with pytest.raises(FileNotFoundError, match="no folder"):
        dense(3).load_weights(tmp_path / "no" / "m.weights.h5")


@pytest.mark.parametrize("name", ["m", "m.h5x", "m.weights.h5"])
def test_wrong_endings_of_models(tmp_path, name):
    with pytest.raises(ValueError, match=r"\.keras"):
        dense(3).save(tmp_path / name)
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match="unknown ending"):
        saving.load_model(tmp_path / name)


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m", "m.weights.json"])
def test_wrong_endings_of_weights(tmp_path, name):
    with pytest.raises(ValueError, match=r"weights\.(h5|json)"):
        dense(3).save_weights(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_not_overwritten(tmp_path):
    model = dense(3)
    for save, name in ((model.save, "m.keras"), (model.save_weights, "m.weights.h5")):
        save(tmp_path / name)
        before = (tmp_path / name).read_bytes()
        with pytest.raises(FileExistsError, match="overwrite=False"):
            save(tmp_path / name, overwrite=False)
        assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("answer", ["y", "n"])
def test_asked_on_a_terminal(tmp_path, monkeypatch, answer):
    (tmp_path / "m.keras").write_text("old")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    answers = iter(["what?", answer])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    dense(3).save(tmp_path / "m.keras", overwrite=False)
    assert ((tmp_path / "m.keras").read_bytes() == b"old") == (answer == "n")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5", "m", "m.weights.json", "m.h5"])
def test_interrupted_while_saving(tmp_path, monkeypatch, name, error):
    model = dense(50, 40)
    save = {
        "m": lambda: model.save(tmp_path / name, zipped=False),
        "m.weights.h5": lambda: model.save_weights(tmp_path / name),
        "m.weights.json": lambda: model.save_weights(tmp_path / name, max_shard_size=3000 / 1024**3),
    }.get(name, lambda: model.save(tmp_path / name))
    save()
    before = content(tmp_path)
    real = archive.Writer.write

    def write(self, path, key, array):
        if key == "1":
            raise error
        real(self, path, key, array)

    monkeypatch.setattr(archive.Writer, "write", write)
    monkeypatch.setattr("kerata.saving.legacy.write_dataset", lambda *args: (_ for _ in ()).throw(error))
    with pytest.raises(type(error)):
        save()
    assert content(tmp_path) == before


def content(folder):
    found = {}
    for inner, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(inner, name), "rb") as file:
                found[os.path.join(inner, name)] = file.read()
    return found


def test_one_tensor_at_a_time(tmp_path, monkeypatch):
    """Loading never holds more than one value of the file."""
    model = dense(30, 30, 30)
    model.save(tmp_path / "m.keras")
    alive, most = [], []
    read = Entry.read

    def counted(self):
        value = read(self)
        alive[:] = [r for r in alive if r() is not None]
        alive.append(weakref.ref(value))
        most.append(len(alive))
        return value

    monkeypatch.setattr(Entry, "read", counted)
    with kerata.config.use_backend("tensorflow"):
        saving.load_model(tmp_path / "m.keras")
    assert len(most) == 6
    assert max(most) <= 2


# Safety


def test_lambdas(tmp_path):
    model = kerata.Sequential([kerata.Input((4,)), layers.Lambda(lambda x: x + 1)])
    model.save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match="safe_mode=False"):
        saving.load_model(tmp_path / "m.keras")
    again = saving.load_model(tmp_path / "m.keras", safe_mode=False)
    np.testing.assert_array_equal(np.asarray(again(np.ones((1, 4), "float32"))), [[2, 2, 2, 2]])


class Unknown(layers.Layer):
    def call(self, x):
        return x


def test_unregistered_classes(tmp_path):
    kerata.Sequential([kerata.Input((4,)), Unknown()]).save(tmp_path / "m.keras")
    with pytest.raises(TypeError, match="class 'Unknown'.*custom_objects"):
        saving.load_model(tmp_path / "m.keras")
    saving.load_model(tmp_path / "m.keras", custom_objects={"Unknown": Unknown})
    with saving.custom_object_scope({"Unknown": Unknown}):
        saving.load_model(tmp_path / "m.keras")


def test_a_link_among_the_weights(tmp_path):
    dense(3).save_weights(tmp_path / "m.weights.h5")
    with h5py.File(tmp_path / "m.weights.h5", "a") as file:
        del file["layers/dense/vars/0"]
        file["layers/dense/vars/0"] = h5py.ExternalLink("/etc/passwd", "/x")
    model = dense(3)
    unchanged(model, lambda: model.load_weights(tmp_path / "m.weights.h5"), ValueError, "refused")


# The older format


def test_one_h5_file(tmp_path, training_backend):
    model = trained(3, 2)
    model.save(tmp_path / "m.h5")
    again = saving.load_model(tmp_path / "m.h5")
    assert_same(values(again), values(model))
    assert saving.load_model(tmp_path / "m.h5", compile=False).optimizer is None
    other = dense(3, 2)
    other.load_weights(tmp_path / "m.h5")
    assert_same(values(other), values(model)[:4])


def test_by_name(tmp_path):
    model = dense(3, 2)
    model.save(tmp_path / "m.h5")
    other = kerata.Sequential(
        [kerata.Input((4,)), layers.Dense(3, name=model.layers[0].name), layers.Dense(5, name="other")]
    )
    with pytest.raises(ValueError, match="does not fit"):
        other.load_weights(tmp_path / "m.h5")
    other.load_weights(tmp_path / "m.h5", by_name=True)
    assert_same(other.layers[0].get_weights(), model.layers[0].get_weights())
    with pytest.raises(ValueError, match="by_name"):
        other.load_weights(tmp_path / "m.keras", by_name=True)


def test_many_names(tmp_path):
    """An attribute of HDF5 holds less than 64 KiB."""
    model = kerata.Sequential([kerata.Input((1,)), *(layers.Dense(1, name=f"{i}{'x' * 900}") for i in range(80))])
    model.save(tmp_path / "m.h5")
    other = saving.load_model(tmp_path / "m.h5")
    assert_same(values(other), values(model))


def test_one_h5_file_of_a_smaller_model(tmp_path):
    dense(3).save(tmp_path / "m.h5")
    model = dense(3, 2)
    unchanged(model, lambda: model.load_weights(tmp_path / "m.h5"), ValueError, "has 1 layers .* the model has 2")
