"""Objects as plain data and back."""

import json

import numpy as np
import pytest

import kerata
from kerata.core import registry, serialization
from kerata.core.construct import Constructed
from kerata.core.serialization import (
    DeserializationError,
    deserialize_keras_object,
    in_safe_mode,
    serialize_keras_object,
)


class Thing(Constructed):
    """A user's class without `get_config`."""

    def __init__(self, a, b=2, *, c=3, **others):
        self.kept = (a, b, c, others)


class Told(Constructed):
    """A user's class that says its config itself."""

    def __init__(self, inner, dtype=None):
        self.inner = inner
        self.dtype = dtype

    def get_config(self):
        return {"inner": serialize_keras_object(self.inner), "dtype": self.dtype}


def double(x):
    return 2 * x


@pytest.fixture(autouse=True)
def known():
    with registry.CustomObjectScope({"Thing": Thing, "Told": Told, "double": double}):
        yield


def through_json(value):
    return deserialize_keras_object(json.loads(json.dumps(serialize_keras_object(value))))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        "text",
        b"\x00\xffbytes",
        ...,
        slice(1, None, 2),
        [1, [2]],
        {"a": {"b": None}},
        double,
    ],
)
def test_round_trip(value):
    assert through_json(value) == value


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -0.0])
def test_odd_floats(value):
    assert repr(through_json(value)) == repr(value)


def test_numpy_scalars_become_python_ones():
    assert serialize_keras_object([np.int64(3), np.float32(0.5), np.bool_(True), np.float64(1)]) == [
        3,
        0.5,
        True,
        1.0,
    ]
    assert type(serialize_keras_object(np.float64(1))) is float
    assert serialize_keras_object(np.dtype("int8")) == "int8"


def test_arrays():
    value = through_json(np.array([[1, 2]], "int16"))
    assert np.asarray(value).dtype == "int16"
    np.testing.assert_array_equal(value, [[1, 2]])
    assert serialize_keras_object(np.ones(1, "float32")) == {
        "class_name": "__numpy__",
        "config": {"value": [1.0], "dtype": "float32"},
    }


def test_shapes_and_dtypes_of_tensorflow():
    tf = pytest.importorskip("tensorflow")
    assert serialize_keras_object({"shape": tf.TensorShape([None, 2])}) == {"shape": [None, 2]}
    assert serialize_keras_object(tf.bfloat16) == "bfloat16"


def test_the_form_of_objects():
    assert serialize_keras_object(Thing(1)) == {
        "module": __name__,
        "class_name": "Thing",
        "config": {"a": 1},
        "registered_name": "Thing",
    }
    assert serialize_keras_object(double) == {
        "module": "builtins",
        "class_name": "function",
        "config": "double",
        "registered_name": "function",
    }


def test_recorded_arguments():
    thing = Thing(1, c=5, other=(6, Thing(7)))
    assert thing.get_config()["other"][1]["config"] == {"a": 7}
    again = through_json(thing)
    assert again.kept[:3] == (1, 2, 5)
    assert again.kept[3]["other"][0] == 6
    assert again.kept[3]["other"][1].kept == (7, 2, 3, {})


def test_a_class_that_says_its_config_gets_back_what_it_said():
    told = through_json(Told(Thing(1)))
    assert told.inner["class_name"] == "Thing"


def test_positional_arguments_without_names():
    class Variadic(Constructed):
        def __init__(self, *args):
            pass

    with pytest.raises(NotImplementedError, match=r"takes `\*args`"):
        Variadic(1).get_config()


def test_one_object_written_twice_is_read_as_one():
    thing = Thing(1)
    with serialization.sharing():
        data = serialize_keras_object({"x": Thing(thing), "y": [thing], "z": Thing(2)})
    data = json.loads(json.dumps(data))
    assert data["y"][0]["shared_object_id"] == data["x"]["config"]["a"]["shared_object_id"]
    assert "shared_object_id" not in data["z"]
    again = deserialize_keras_object(data)
    assert again["x"].kept[0] is again["y"][0]


# What is refused


@pytest.mark.parametrize("value", [{1, 2}, 1j, object(), range(3), Thing, print.__self__])
def test_what_is_no_data(value):
    with pytest.raises(TypeError, match=r"get_config|instances"):
        serialize_keras_object(value)


def an_object(module, name, config=None, registered=None):
    return {"module": module, "class_name": name, "config": config or {}, "registered_name": registered}


@pytest.mark.parametrize(
    "config",
    [
        an_object("os", "system"),
        an_object("subprocess", "Popen", {"args": "true"}),
        an_object("builtins", "eval"),
        an_object("kerata.core.registry", "CustomObjectScope"),
        an_object("kerata.saving", "load_model", {"filepath": "x"}),
        an_object("keras.utils", "get_file", {"origin": "http://example.com"}),
        an_object("keras.config", "enable_unsafe_deserialization"),
        an_object(__name__, "Hidden"),
        an_object(__name__, "Hidden", registered="pkg>Hidden"),
        an_object("keras.layers", "NoSuchLayer"),
        an_object("keras.layers", ["Dense"]),
    ],
)
def test_unknown_classes(config):
    with pytest.raises(DeserializationError, match="neither Kerata's own"):
        deserialize_keras_object(config)


@pytest.mark.parametrize("module", ["builtins", "os", "keras.utils", "keras.saving", "keras.config"])
@pytest.mark.parametrize("name", ["system", "get_file", "load_model", "get", "deserialize", "__import__", "eval"])
def test_unknown_functions(module, name):
    config = {"module": module, "class_name": "function", "config": name, "registered_name": "function"}
    with pytest.raises(DeserializationError, match="neither Kerata's own"):
        deserialize_keras_object(config)


@pytest.mark.parametrize("name", [3, None, ["relu"]])
def test_a_function_is_named(name):
    with pytest.raises(DeserializationError, match="Expected 'config' to be a non-null str"):
        deserialize_keras_object({"module": "builtins", "class_name": "function", "config": name})


@pytest.mark.parametrize("registered", ["builtins.eval", "pkg>Dense"])
def test_nothing_registered_is_taken_for_the_library_s_own(registered):
    config = an_object("keras.layers", "Dense", {"units": 1}, registered)
    with pytest.raises(DeserializationError, match="resolved to a Keras built-in"):
        deserialize_keras_object(config)
    config = {"module": "builtins", "class_name": "function", "config": "relu", "registered_name": registered}
    with pytest.raises(DeserializationError, match="resolved to a Keras built-in"):
        deserialize_keras_object(config)


def test_layers_made_while_a_file_is_read_have_numbers_of_their_own(tmp_path):
    # A layer that copies another by its config must not meet the file's shared objects in it.
    inputs = kerata.Input((3, 2))
    model = kerata.Model(inputs, kerata.layers.Bidirectional(kerata.layers.LSTM(2))(inputs))
    model.save(tmp_path / "model.keras")
    again = kerata.saving.load_model(tmp_path / "model.keras")
    assert again.layers[1].forward_layer.cell.kernel_initializer.__class__.__name__ == "GlorotUniform"


class WithoutInit(kerata.Model):
    pass


def test_a_functional_model_of_a_class_without_a_constructor():
    inputs = kerata.Input((2,))
    model = WithoutInit(inputs, kerata.layers.Dense(1)(inputs))
    config = json.loads(json.dumps(serialize_keras_object(model)))
    again = deserialize_keras_object(config, custom_objects={"WithoutInit": WithoutInit})
    assert isinstance(again, WithoutInit) and [w.shape for w in again.weights] == [(2, 1), (1,)]


def test_a_typing_error_gets_a_suggestion():
    with pytest.raises(DeserializationError, match="Did you mean 'HeUniform'"):
        deserialize_keras_object(an_object("keras.initializers", "HeUnifrom"))


def test_lambdas():
    with pytest.warns(UserWarning, match="is a lambda"):
        data = serialize_keras_object(lambda x, y=(2, 3): (x, y))
    data = json.loads(json.dumps(data))
    with pytest.raises(DeserializationError, match="safe_mode=False"):
        deserialize_keras_object(data)
    assert deserialize_keras_object(data, safe_mode=False)(1) == (1, (2, 3))


def test_a_lambda_with_a_closure():
    offset = 5
    with pytest.warns(UserWarning, match="is a lambda"):
        data = serialize_keras_object(lambda x: x + offset)
    assert deserialize_keras_object(data, safe_mode=False)(1) == 6


def test_a_lambda_of_another_python():
    data = {"class_name": "__lambda__", "config": {"value": ["bm9uc2Vuc2U=\n", None, None]}}
    with pytest.raises(DeserializationError, match="another version of Python"):
        deserialize_keras_object(data, safe_mode=False)


def test_an_outer_call_decides_about_safety():
    seen = []

    class Nested(Constructed):
        @classmethod
        def from_config(cls, config):
            seen.append(in_safe_mode())
            if config:
                deserialize_keras_object(config["inner"], safe_mode=not config["safe"])
            return cls()

    inner = an_object("m", "Nested", registered="Nested")
    for safe in (True, False):
        outer = an_object("m", "Nested", {"inner": inner, "safe": safe}, "Nested")
        deserialize_keras_object(outer, {"Nested": Nested}, safe_mode=safe)
    assert seen == [True, True, False, False]
    assert not in_safe_mode()


@pytest.mark.parametrize("config", [{"nonsense": 1}, {"a": 1, "b": 2, "c": 3, "d": 4, "kept": 3}])
def test_a_config_that_does_not_fit(config):
    class Picky(Constructed):
        def __init__(self, size):
            pass

    with pytest.raises(DeserializationError, match="Picky can't be made from its config"):
        deserialize_keras_object(an_object(None, "Picky", config, "Picky"), {"Picky": Picky})


def test_special_forms_that_are_damaged():
    for name in ("tensor", "numpy", "keras_tensor", "slice", "bytes"):
        with pytest.raises(DeserializationError, match=f"__{name}__"):
            deserialize_keras_object({"class_name": f"__{name}__", "config": {"shape": 3}})


def test_arrays_of_objects():
    with pytest.raises(DeserializationError):
        deserialize_keras_object({"class_name": "__numpy__", "config": {"value": [1], "dtype": "object"}})


# Registration


def test_registration():
    @registry.register_keras_serializable("pkg", "Other")
    class Registered(Thing):
        pass

    try:
        assert registry.get_registered_name(Registered) == "pkg>Other"
        assert registry.get_registered_object("pkg>Other") is Registered
        assert serialize_keras_object(Registered(1))["registered_name"] == "pkg>Other"
        assert type(through_json(Registered(1))) is Registered
        with registry.CustomObjectScope({"pkg>Other": Thing}):
            assert type(through_json(Registered(1))) is Thing
    finally:
        del registry.get_custom_objects()["pkg>Other"]


def test_a_class_without_a_config_can_not_be_registered():
    class Bare:
        pass

    with pytest.raises(ValueError, match="does not have a get_config.*Bare"):
        registry.register_keras_serializable()(Bare)


def test_scopes_end():
    with registry.CustomObjectScope({"a": 1}), registry.CustomObjectScope({"b": 2}):
        assert registry.get_registered_object("a") == 1
        assert registry.get_registered_object("b") == 2
    assert registry.get_registered_object("a") is None
    assert registry.get_registered_object("a", custom_objects={"a": 3}) == 3
    assert registry.get_registered_object("a", module_objects={"a": 4}) == 4


# The library's own names


@pytest.mark.parametrize(
    "module",
    [
        "keras.initializers",
        "kerata.initializers",
        "keras.src.initializers.random_initializers",
        "keras.initializers.random_initializers",
        "tf_keras.initializers",
        None,
    ],
)
def test_modules_that_mean_the_same(module):
    from kerata import initializers

    found = deserialize_keras_object(an_object(module, "HeUniform", {"seed": 3}))
    assert type(found) is initializers.HeUniform
    assert found.seed == 3


def test_the_name_written_is_keras_own():
    from kerata import initializers

    assert serialize_keras_object(initializers.HeUniform(seed=3)) == {
        "module": "keras.initializers",
        "class_name": "HeUniform",
        "config": {"seed": 3, "input_axes": None, "output_axes": None},
        "registered_name": None,
    }


def test_a_public_class_is_not_replaced_by_one_of_equal_name():
    from kerata import initializers

    config = an_object("keras.initializers", "Zeros")
    assert type(deserialize_keras_object(config, {"Zeros": Thing})) is initializers.Zeros
    config["registered_name"] = "Zeros"
    assert type(deserialize_keras_object(config, {"Zeros": lambda: None})) is initializers.Zeros


def test_a_value_that_a_constructor_refuses(real_keras):
    for keras in (kerata, real_keras):
        with pytest.raises(
            TypeError, match=r"Embedding[\s\S]*'output_dim': 8[\s\S]*`input_dim` must be a positive integer"
        ):
            keras.layers.Embedding.from_config({"input_dim": 3.7, "output_dim": 8})
