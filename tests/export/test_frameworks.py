"""SavedModels, LiteRT files and programs of torch.export: what the framework alone makes of a model of any backend."""

import os

import numpy as np
import pytest
from running import close
from test_export import NETS, Own, any_backend, f, mlp, on_numpy  # noqa: F401

import kerata as keras
from kerata import backends, layers, ops

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
CASES = [(net, name) for net in NETS for name in ("numpy", *backends.TRAINING) if net in ("convnet", "several") or name == "jax"]


@pytest.fixture
def tf():
    return pytest.importorskip("tensorflow")


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def net(request):
    """`(model, data)` of a net made on a backend that is in force."""
    name, backend = request.param
    if backend not in backends.installed():
        pytest.skip("not installed")
    make, data = NETS[name]
    with backends.use_backend(backend):
        yield make(), data


def flat(outputs):
    return [np.asarray(t) for t in keras.tree.flatten(outputs)]


def test_saved_model(net, tf, tmp_path):
    model, data = net
    model.export(tmp_path / "saved", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    for n in (1, 7):
        x = data(n)
        wanted = keras.tree.map_structure(ops.convert_to_numpy, model(x))
        close(flat(loaded.serve(x)), flat(wanted))
        signature = loaded.signatures["serving_default"]
        named = x if isinstance(x, dict) else {next(iter(signature.structured_input_signature[1])): x}
        found = signature(**{k: tf.constant(v) for k, v in named.items()})
        assert len(found) == len(flat(wanted))
        if isinstance(wanted, dict):
            close([found[k].numpy() for k in wanted], [wanted[k] for k in wanted])
    assert len(loaded.trainable_variables) == len(model.trainable_variables)
    with backends.use_backend("tensorflow"):
        layer, x = layers.TFSMLayer(tmp_path / "saved"), keras.tree.map_structure(ops.convert_to_tensor, data(3))
        outputs = keras.tree.map_structure(ops.convert_to_numpy, layer(x))
        close(flat(outputs), flat(loaded.serve(x)))


def test_litert(net, tf, tmp_path, capsys):
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    model, data = net
    path = str(tmp_path / "m.tflite")
    model.export(path, format="litert")
    if "Flex" in capsys.readouterr().out:
        assert any(type(layer).__name__ == "LSTM" for layer in model.layers), "loops over unknown lengths alone need it"
        return
    run = interpreter.Interpreter(path).get_signature_runner("serving_default")
    names = list(run.get_input_details())
    for n in (1, 7):
        x = data(n)
        wanted = keras.tree.map_structure(ops.convert_to_numpy, model(x))
        found = run(**(x if isinstance(x, dict) else {names[0]: x}))
        close([found[k] for k in sorted(wanted)] if isinstance(wanted, dict) else list(found.values()), flat(wanted))


def test_torch_program(net, tmp_path):
    torch = pytest.importorskip("torch")
    model, data = net
    path = tmp_path / "m.pt2"
    if any(isinstance(layer, layers.LSTM) for layer in model.layers):
        with pytest.raises(ValueError, match="can be given by `input_signature`"):
            model.export(path, format="torch", verbose=False)
        assert not path.exists()
        signature = [layers.InputSpec(shape=(None, 8, 4), dtype="float32")]
        model.export(path, format="torch", verbose=False, input_signature=signature)
        inputs = [f(n, 8, 4) for n in (1, 7)]
    else:
        model.export(path, format="torch", verbose=False)
        inputs = [data(n) for n in (1, 7)]
    program = torch.export.load(path)
    assert len(program.state_dict) == len(model.weights)
    for x in inputs:
        wanted = keras.tree.map_structure(ops.convert_to_numpy, model(x))
        found = program.module()(keras.tree.map_structure(torch.from_numpy, x))
        close([t.detach().numpy() for t in keras.tree.flatten(found)], flat(wanted))


def test_subclassed_models_are_exported_as_they_were_called(any_backend, tf, tmp_path):  # noqa: F811
    model, tokens = Own(), np.arange(12, dtype="int32").reshape(3, 4) % 7
    wanted = ops.convert_to_numpy(model(tokens))
    model.export(tmp_path / "own", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "own"))
    close([loaded.serve(tokens).numpy()], [wanted])


class Doubled(layers.Layer):
    """A layer of TensorFlow's own functions, built by other names."""

    def build(layer, shape):  # noqa: N805
        layer.factor = layer.add_weight((), "ones")

    def call(self, x):
        import tensorflow

        return tensorflow.math.add(x, x) * self.factor


WORDS = np.array([["a b"], ["c"]])
ON_TENSORFLOW = {
    "own functions": (lambda: [keras.Input((3,)), Doubled()], np.ones((2, 3), "float32")),
    "activity": (lambda: [keras.Input((3,)), layers.Dense(2, activity_regularizer="l2")], np.ones((2, 3), "float32")),
    "words": (lambda: [keras.Input((1,), dtype="string"), layers.StringLookup(vocabulary=["a b", "d"])], WORDS),
    "text": (
        lambda: [
            keras.Input((1,), dtype="string"),
            layers.TextVectorization(vocabulary=["c", "a"], output_sequence_length=3),
            layers.Embedding(4, 2),
        ],
        WORDS,
    ),
}


@pytest.mark.parametrize("kind", ON_TENSORFLOW)
def test_what_only_tensorflow_can_do_goes_along(kind, tf, tmp_path):
    make, x = ON_TENSORFLOW[kind]
    with backends.use_backend("tensorflow"):
        model, x = keras.Sequential(make()), tf.constant(x)
        wanted = ops.convert_to_numpy(model(x))
        model.export(tmp_path / "m", verbose=False)
        tf.saved_model.save(model, str(tmp_path / "own"))
    for folder in ("m", "own"):
        loaded = tf.saved_model.load(str(tmp_path / folder))
        (found,) = loaded.signatures["serving_default"](x).values()
        close([found.numpy()], [wanted])


def test_archive(any_backend, tf, tmp_path, capsys):  # noqa: F811
    model, x = keras.Sequential([keras.Input((3,)), layers.BatchNormalization(), layers.Dense(2)]), f(5, 3)
    model.compile("adam", "mse")
    spec = [layers.InputSpec(shape=(None, 3), dtype="float32")]
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", lambda x: model(x, training=False), spec)
    archive.add_endpoint("learn", lambda x: {"y": model(x, training=True)}, spec)
    archive.add_variable_collection("kernels", [model.layers[-1].kernel])
    archive.write_out(tmp_path / "saved")
    assert "serve" in capsys.readouterr().out
    wanted = ops.convert_to_numpy(model(x, training=False))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    close([loaded.serve(x).numpy()], [wanted])
    assert list(loaded.signatures) == ["serve", "learn", "serving_default"]
    assert len(loaded.variables) == 6 and len(loaded.trainable_variables) == 4 and len(loaded.kernels) == 1
    loaded.learn(x)
    assert np.abs(loaded.serve(x).numpy() - wanted).max() > 1e-3, "batch statistics were learnt"
    # What was there is replaced as a whole.
    other = keras.export.ExportArchive()
    other.track_and_add_endpoint("call", model, spec)
    other.write_out(tmp_path / "saved", verbose=False)
    assert list(tf.saved_model.load(str(tmp_path / "saved")).signatures) == ["call", "serving_default"]
    assert sorted(os.listdir(tmp_path)) == ["saved"]


def test_archive_keeps_names_of_arguments(any_backend, tf, tmp_path):  # noqa: F811
    layer, x = layers.MultiHeadAttention(2, 2), f(3, 4, 2)
    wanted = ops.convert_to_numpy(layer(x, x))
    archive = keras.export.ExportArchive()
    spec = layers.InputSpec(shape=(None, 4, 2), dtype="float32")
    archive.track(layer)
    archive.add_endpoint("call", layer.call, [spec, spec])
    archive.write_out(tmp_path / "saved", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    close([loaded.call(query=x, value=x).numpy()], [wanted])


def test_models_saved_by_tensorflow_itself_can_be_served(tf, tmp_path):
    with backends.use_backend("tensorflow"):
        model, x = keras.Sequential([keras.Input((3,)), layers.Dense(2)]), f(4, 3)
        tf.saved_model.save(model, str(tmp_path / "saved"))
        layer = layers.TFSMLayer(tmp_path / "saved", call_endpoint="serving_default")
        (found,) = layer(x).values()
        close([ops.convert_to_numpy(found)], [model.predict(x, verbose=0)])
        assert len(layer.weights) == 2


def test_archive_of_a_called_function(tf, tmp_path):
    archive, table = keras.export.ExportArchive(), tf.Variable([1.0, 2.0])

    @tf.function
    def looked_up(i):
        return tf.gather(table, i)

    with pytest.raises(ValueError, match="needs an `input_signature`"):
        archive.add_endpoint("look", looked_up)
    looked_up(tf.constant([1]))
    archive.track(table)
    archive.add_endpoint("look", looked_up)
    archive.write_out(tmp_path / "saved", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_array_equal(loaded.look(tf.constant([1])), [2.0])


SPEC = [layers.InputSpec(shape=(None, 3), dtype="float32")]
MISTAKES = {
    "'saved_model', not 'zip'": lambda a: keras.export.ExportArchive(format="zip"),
    "No endpoints have been set": lambda a: a.write_out("nowhere"),
    "a layer, a model or a TensorFlow trackable, not 3": lambda a: a.track(3),
    "isn't built": lambda a: a.track_and_add_endpoint("f", layers.Dense(2), SPEC),
    "must be a list, tuple or set, not a int": lambda a: a.add_variable_collection("w", 3),
    "holds what is no variable: 3": lambda a: a.add_variable_collection("w", [3]),
    "is already taken": lambda a: [a.add_endpoint("f", ops.relu, SPEC) for _ in range(2)],
    "things with a shape and a dtype": lambda a: a.add_endpoint("f", ops.relu, ["float32"]),
    "unknown arguments \\['static'\\]": lambda a: a.add_endpoint("f", ops.relu, SPEC, static=True),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message, on_numpy, tf):  # noqa: F811
    with pytest.raises(ValueError, match=message):
        MISTAKES[message](keras.export.ExportArchive())


def test_bad_files_are_not_written(on_numpy, tf, tmp_path):  # noqa: F811
    model = mlp()
    for format, name, options, message in (
        ("litert", "m.lite", {}, "must end with '.tflite'"),
        ("litert", "m.tflite", {"foo": 1}, "has no option 'foo'"),
        ("torch", "m.pt", {}, "must end with '.pt2'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.export(tmp_path / name, format=format, **options)
    assert not list(tmp_path.iterdir())
