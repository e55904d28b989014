"""What is exported of models that are called in other ways than on one declared tensor, and of what their layers hold."""

import pytest
from running import close
from test_export import f, on_numpy  # noqa: F401

import kerata as keras
from kerata import backends, layers, ops

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")


class Sum(keras.Model):
    """`dense(first) + second`, of one argument or two."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)

    def added(self, a, b):
        return self.dense(a) + b


class OfTwo(Sum):
    def call(self, a, b=None, training=False):
        return self.added(a, b)


class OfNumbers(Sum):
    def call(self, a, n):
        return self.added(a, ops.cast(n, "float32"))


class OfList(Sum):
    def call(self, inputs):
        return self.added(*inputs)


class OfDict(Sum):
    def call(self, inputs):
        return self.added(inputs["a"], inputs["b"])


def called(model, *args, **kwargs):
    model(*args, **kwargs)
    return model


def built(model, *shapes):
    model.build(*shapes)
    return model


A, B = (layers.InputSpec(shape=(None, n), dtype="float32") for n in (3, 2))
X, Y = f(4, 3), f(4, 2)
N = Y.astype("int32")
# name: (model, arguments, `input_signature`, names of the inputs in the SavedModel's signature)
CALLS = {
    "two": (lambda: called(OfTwo(), X, Y), (X, Y), None, ["input_0", "input_1"]),
    "dtypes": (lambda: called(OfNumbers(), X, N), (X, N), None, ["input_0", "input_1"]),
    "two-by-name": (lambda: called(OfTwo(), X, b=Y), (X, Y), None, ["input_0", "input_1"]),
    "two-given": (OfTwo, (X, Y), [A, B], ["input_0", "input_1"]),
    "list": (lambda: called(OfList(), [X, Y]), ([X, Y],), None, ["input_0", "input_1"]),
    "list-given": (lambda: called(OfList(), [X, Y]), ([X, Y],), [A, B], ["input_0", "input_1"]),
    "list-as-argument": (OfList, ([X, Y],), [[A, B]], ["input_0", "input_1"]),
    "dict-built": (lambda: built(OfDict(), {"a": (None, 3), "b": (None, 2)}), ({"a": X, "b": Y},), None, ["a", "b"]),
    "dict-given": (OfDict, ({"a": X, "b": Y},), {"a": A, "b": B}, ["a", "b"]),
}


@pytest.mark.parametrize("call", CALLS)
def test_arguments(call, on_numpy, tmp_path):  # noqa: F811
    tf, torch = pytest.importorskip("tensorflow"), pytest.importorskip("torch")
    make, args, signature, names = CALLS[call]
    model = make()
    model.export(tmp_path / "m", verbose=False, input_signature=signature)
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    wanted = [ops.convert_to_numpy(model(*args))]
    close([loaded.serve(*args).numpy()], wanted)
    assert sorted(loaded.signatures["serving_default"].structured_input_signature[1]) == names
    if call.startswith("two"):
        close([loaded.serve(a=X, b=Y).numpy()], wanted)
    model.export(tmp_path / "m.pt2", format="torch", verbose=False, input_signature=signature)
    program = torch.export.load(tmp_path / "m.pt2").module()
    close([program(*keras.tree.map_structure(torch.from_numpy, args)).detach().numpy()], wanted)


def test_nested_outputs_and_names_that_tensorflow_has_not_got(on_numpy, tmp_path):  # noqa: F811
    tf = pytest.importorskip("tensorflow")
    x, y = keras.Input((3,), name="the x"), keras.Input((2,), name="y:1")
    h = layers.Dense(2, name="ä b:c")(x) + y
    model = keras.Model([x, y], {"top": [h, (h + 1.0, {"low": h - 1.0})], "x": x})
    model.export(tmp_path / "m", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    wanted = keras.tree.map_structure(ops.convert_to_numpy, model([X, Y]))
    close([t.numpy() for t in tf.nest.flatten(loaded.serve([X, Y]))], keras.tree.flatten(wanted))
    found = loaded.signatures["serving_default"](**{"the_x": tf.constant(X), "y_1": tf.constant(Y)})
    assert sorted(found) == ["top_0", "top_1_0", "top_1_1_low", "x"]
    close([found["top_1_1_low"].numpy()], [wanted["top"][1][1]["low"]])


class Looped(layers.Layer):
    def call(self, x):
        return ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), (ops.convert_to_tensor(0), x))[1]


HOLDING = {
    "boundaries": lambda: layers.Discretization([-1.0, 0.0, 1.0]),
    "codes": lambda: layers.Discretization([-1.0, 0.0], output_mode="multi_hot"),
    "loop": Looped,
    "loss": lambda: layers.ActivityRegularization(1.0),
}


@pytest.mark.parametrize("layer", HOLDING)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_programs_take_along_what_layers_hold_on_their_own_backend(layer, backend, tmp_path):
    torch = pytest.importorskip("torch")
    if backend not in backends.installed():
        pytest.skip("not installed")
    with backends.use_backend(backend):
        model = keras.Sequential([keras.Input((3,)), HOLDING[layer]()])
        model.export(tmp_path / "m.pt2", format="torch", verbose=False)
        found = torch.export.load(tmp_path / "m.pt2").module()(torch.from_numpy(X))
        close([found.numpy()], [ops.convert_to_numpy(model(X))])


class Counter(layers.Layer):
    def build(self, input_shape):
        self.count = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        self.count.assign_add(1.0)
        return x + self.count


def test_programs_and_saved_models_keep_state(on_numpy, tmp_path):  # noqa: F811
    tf, torch = pytest.importorskip("tensorflow"), pytest.importorskip("torch")
    model = keras.Sequential([keras.Input((1,)), Counter()])
    model.export(tmp_path / "m.pt2", format="torch", verbose=False)
    model.export(tmp_path / "m", verbose=False)
    program, loaded = torch.export.load(tmp_path / "m.pt2").module(), tf.saved_model.load(str(tmp_path / "m"))
    assert [float(program(torch.zeros(1, 1))) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert [float(loaded.serve(tf.zeros((1, 1)))[0, 0]) for _ in range(3)] == [1.0, 2.0, 3.0]


WRONG = {
    "tf_saved_model": ("file", NotADirectoryError, "a SavedModel is a folder, but .* is a file"),
    "litert": ("missing/m.tflite", FileNotFoundError, "there is no folder '.*missing'"),
    "torch": ("missing/m.pt2", FileNotFoundError, "there is no folder '.*missing'"),
}


@pytest.mark.parametrize("format", WRONG)
def test_paths_that_can_not_be(format, on_numpy, tmp_path):  # noqa: F811
    pytest.importorskip("tensorflow")
    pytest.importorskip("torch")
    name, kind, message = WRONG[format]
    (tmp_path / "file").write_text("kept")
    with pytest.raises(kind, match=message):
        called(OfList(), [X, Y]).export(tmp_path / name, format=format, verbose=False)
    assert [p.name for p in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "kept"


def test_signatures_of_unknown_rank(on_numpy):  # noqa: F811
    tf = pytest.importorskip("tensorflow")
    with pytest.raises(ValueError, match="things with a shape and a dtype, not TensorSpec"):
        called(OfList(), [X, Y]).export("nowhere", input_signature=[tf.TensorSpec(None, "float32")])
