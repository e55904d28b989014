"""Functional, Sequential and subclassed models: what users do with them."""

import copy
import pickle

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops


def two_towers():
    a, b = kerata.Input((4,), name="a"), kerata.Input((4,), name="b")
    shared = layers.Dense(3, name="shared")
    merged = layers.Concatenate()([shared(a), ops.relu(shared(b) * 2.0)])
    head = layers.Dense(2, name="head")(merged)
    return kerata.Model({"a": a, "b": b}, {"head": head, "sum": ops.sum(merged, axis=-1)}, name="towers")


DATA = {k: np.random.default_rng(i).normal(size=(5, 4)).astype("float32") for i, k in enumerate("ab")}


def as_numpy(outputs):
    return kerata.tree.map_structure(ops.convert_to_numpy, outputs)


def assert_same(a, b, rtol=1e-5):
    for x, y in zip(kerata.tree.flatten(as_numpy(a)), kerata.tree.flatten(as_numpy(b)), strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-5)


def test_structures_shared_layers_and_ops(backend):
    model = two_towers()
    got = as_numpy(model(DATA))
    kernel, bias = model.get_layer("shared").get_weights()
    merged = np.concatenate([DATA["a"] @ kernel + bias, np.maximum(2 * (DATA["b"] @ kernel + bias), 0)], -1)
    head = model.get_layer("head").get_weights()
    np.testing.assert_allclose(got["head"], merged @ head[0] + head[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got["sum"], merged.sum(-1), rtol=1e-4, atol=1e-5)
    assert [layer.name for layer in model.layers] == ["a", "b", "shared", "concatenate", "head"]
    assert len(model.weights) == 4 and model.output_shape == {"head": (None, 2), "sum": (None,)}
    assert_same(model.predict(DATA, verbose=0), got)


def test_config_round_trip(backend):
    model = two_towers()
    again = type(model).from_config(model.get_config())
    again.set_weights(model.get_weights())
    assert_same(model(DATA), again(DATA))
    clone = kerata.models.clone_model(model)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    text = kerata.models.model_from_json(model.to_json())
    text.set_weights(model.get_weights())
    assert_same(model(DATA), text(DATA))


def test_missing_input_is_named():
    a, b = kerata.Input((4,), name="a"), kerata.Input((4,), name="other")
    with pytest.raises(ValueError, match="also need 'other'"):
        kerata.Model(a, layers.Add()([a, b]))
    with pytest.raises(ValueError, match=r"input\(s\) 'b' are missing"):
        two_towers()({"a": DATA["a"]})
    with pytest.raises(ValueError, match=r"expected to have the shape \(None, 4\), but has \(5, 3\)"):
        two_towers()({"a": DATA["a"], "b": DATA["b"][:, :3]})


def test_a_sequential_model_leaves_sizes_to_its_layers(backend):
    model = kerata.Sequential([layers.Conv1D(2, 2, use_bias=False, kernel_initializer="ones")])
    for length in (5, 7, 3):
        assert_same(model(np.ones((2, length, 3))), np.full((2, length - 1, 2), 6.0))
        assert_same(model.predict(np.ones((2, length, 3)), verbose=0), np.full((2, length - 1, 2), 6.0))
    assert model.input_shape == (None, 5, 3)
    with pytest.raises(ValueError, match="axis -1 to have size 3, found 4"):
        model(np.ones((2, 5, 4)))


def test_nested_models(backend):
    inner = kerata.Sequential([kerata.Input((4,)), layers.Dense(3, "relu")], name="inner")
    x = kerata.Input((4,))
    outer = kerata.Model(x, layers.Dense(1)(inner(x) + inner(x * 2)))
    assert outer(DATA["a"]).shape == (5, 1) and len(outer.weights) == 4
    again = type(outer).from_config(outer.get_config())
    again.set_weights(outer.get_weights())
    assert_same(outer(DATA["a"]), again(DATA["a"]))


class Block(kerata.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.stack = [layers.Dense(units), layers.LayerNormalization()]

    def call(self, x, training=False):
        for layer in self.stack:
            x = layer(x)
        return x * 2 if training else x


class Net(kerata.Model):
    def __init__(self):
        super().__init__()
        self.block = Block(6)
        self.drop = layers.Dropout(0.5)
        self.out = layers.Dense(1)

    def call(self, inputs, training=False):
        return self.out(self.drop(self.block(inputs), training=training))


def test_subclassed_model(backend):
    model = Net()
    y = model(DATA["a"])
    assert y.shape == (5, 1) and len(model.weights) == 6 and len(model.non_trainable_variables) == 1
    assert [w.path for w in model.weights][0] == "net/block/dense/kernel"
    assert_same(y, model(DATA["a"])), "dropout is off by default"
    assert len(model.layers) == 3
    assert_same(model.predict(DATA["a"], verbose=0), y)


def test_training_reaches_nested_layers(backend):
    model = Net()
    model(DATA["a"])
    eager, trained = as_numpy(model.block(DATA["a"])), as_numpy(model.block(DATA["a"], training=True))
    np.testing.assert_allclose(trained, 2 * eager, rtol=1e-5)


def test_trainable(backend):
    model = two_towers()
    model.get_layer("shared").trainable = False
    assert [w.name for w in model.trainable_weights] == ["kernel", "bias"] and len(model.non_trainable_weights) == 2
    model.trainable = False
    assert not model.trainable_weights


def test_copies(backend):
    model = two_towers()
    want = as_numpy(model(DATA))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same(other(DATA), want)
        other.set_weights([np.zeros_like(w) for w in other.get_weights()])
    assert_same(model(DATA), want)


@pytest.mark.parametrize("target", ["numpy", "jax", "torch", "tensorflow"])
def test_to_backend(training_backend, target):
    model = two_towers()
    model.compile("adam", {"head": "mse"})
    model.fit(DATA, {"head": np.ones((5, 2), "float32")}, verbose=0)
    other = model.to_backend(target)
    assert other.backend == target and model.backend == training_backend.NAME
    assert_same(other.predict(DATA, verbose=0), model.predict(DATA, verbose=0))
    assert int(other.optimizer.iterations) == 1
    if target != "numpy":
        other.fit(DATA, {"head": np.ones((5, 2), "float32")}, verbose=0)
        assert int(other.optimizer.iterations) == 2 and int(model.optimizer.iterations) == 1


def test_models_remember_their_backend():
    with backends.use_backend("torch"):
        model = two_towers()
    with backends.use_backend("jax"):
        assert type(model(DATA)["head"]).__module__.startswith("torch")


def test_a_torch_layer_is_a_module():
    import torch

    with backends.use_backend("torch"):
        model = Net()
        model(DATA["a"])
        assert isinstance(model, torch.nn.Module) and isinstance(model.block, torch.nn.Module)
        assert isinstance(model, Net) and type(model).__name__ == "Net"
        assert len(list(model.parameters())) == 6
        state = {k: v.clone() for k, v in model.state_dict().items()}
        before = as_numpy(model(DATA["a"]))
        for p in model.parameters():
            p.data.zero_()
        model.load_state_dict(state)
        assert_same(model(DATA["a"]), before)
        seen = []
        model.out.register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
        model(DATA["a"])
        assert seen == [(5, 1)]


def test_summary(backend):
    lines = []
    two_towers().summary(print_fn=lines.append)
    text = "\n".join(lines)
    for part in ("towers", "shared (Dense)", "(None, 3)", "15", "Total params: 29"):
        assert part in text


def test_sequential_grows_and_shrinks(backend):
    model = kerata.Sequential([layers.Flatten()])
    model.add(layers.Dense(4, "relu"))
    assert not model.built
    assert model(np.ones((2, 3, 2), "float32")).shape == (2, 4)
    model.pop()
    model.add(layers.Dense(2, name="head"))
    assert model(np.ones((2, 3, 2), "float32")).shape == (2, 2) and model.input_shape == (None, 3, 2)
    with pytest.raises(ValueError, match="head"):
        model.add(layers.Dense(2, name="head"))
    with pytest.raises(ValueError, match="only layers"):
        model.add("dense")


def test_a_subclass_may_be_functional(backend):
    class Mine(kerata.Model):
        def __init__(self):
            x = kerata.Input((4,))
            super().__init__(x, layers.Dense(2)(x), name="mine")

    model = Mine()
    assert model(DATA["a"]).shape == (5, 2) and isinstance(model, Mine) and model.output_shape == (None, 2)


def test_same_forward_compiled_and_layer_by_layer(backend):
    model = two_towers()
    x = kerata.Input((4,))
    single = kerata.Model(x, layers.Dense(3)(layers.LayerNormalization()(layers.Dense(4, "gelu")(x))))
    tensor = ops.convert_to_tensor(DATA["a"])
    results = [as_numpy(single(tensor)) for _ in range(4)]
    for other in results[1:]:
        np.testing.assert_allclose(results[0], other, rtol=1e-5, atol=1e-6)
    single.set_weights([w * 0 for w in single.get_weights()])
    assert not np.any(as_numpy(single(tensor))), "compiled calls see new weights"
    del model


def test_dropout_acts_in_every_kind_of_model(backend):
    x = np.ones((4, 50), "float32")
    inputs = kerata.Input((50,))
    functional = kerata.Model(inputs, layers.Dropout(0.5, seed=1)(inputs))
    for model in (kerata.Sequential([kerata.Input((50,)), layers.Dropout(0.5)]), functional):
        dropped = as_numpy(model(x, training=True))
        assert 0.2 < np.mean(dropped == 0) < 0.8 and not np.array_equal(dropped, as_numpy(model(x, training=True)))
        np.testing.assert_array_equal(as_numpy(model(x)), x)
    always = kerata.Model(inputs, layers.Dropout(0.5)(inputs, training=True))
    assert np.any(as_numpy(always(x)) == 0), "said at the call, it holds"


def test_compiled_calls_notice_changes(backend):
    model = kerata.Sequential([kerata.Input((4,)), layers.Dense(3, "relu"), layers.Dropout(0.5)])
    x = ops.convert_to_tensor(DATA["a"])
    for _ in range(3):
        model(x)
    model.layers[0].activation = kerata.activations.get("linear")
    kernel, bias = model.layers[0].get_weights()
    np.testing.assert_allclose(as_numpy(model(x)), DATA["a"] @ kernel + bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.predict(DATA["a"], verbose=0), DATA["a"] @ kernel + bias, rtol=1e-4, atol=1e-5)


def test_torch_hooks_of_compiled_models_run():
    with backends.use_backend("torch"):
        model = kerata.Sequential([kerata.Input((4,)), layers.Dense(3)])
        model(DATA["a"])
        seen = []
        handle = model.layers[0].register_forward_hook(lambda module, inputs, output: seen.append(1))
        model(DATA["a"])
        handle.remove()
        model(DATA["a"])
        assert seen == [1]


def test_a_layer_built_inside_jit_has_real_weights():
    import jax

    with backends.use_backend("jax"):
        layer = layers.Dense(2)
        y = jax.jit(lambda x: layer(x))(DATA["a"])
        np.testing.assert_allclose(y, DATA["a"] @ layer.get_weights()[0], rtol=1e-4, atol=1e-5)


def test_a_layer_twice_in_a_sequential(backend):
    dense = layers.Dense(4)
    model = kerata.Sequential([dense, layers.Activation("tanh"), dense])
    x = np.ones((2, 4), "float32")
    want = ops.convert_to_numpy(dense(np.tanh(ops.convert_to_numpy(dense(x)))))
    np.testing.assert_allclose(model.predict(x, verbose=0), want, rtol=1e-5)
    assert len(model.layers) == 3 and len(model.weights) == 2
    model.pop()
    assert len(model.weights) == 2
