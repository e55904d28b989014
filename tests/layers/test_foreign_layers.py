"""Functions of JAX, modules of Flax and TensorFlow's saved models as layers: weights, state, training, files."""

import copy

import numpy as np
import pytest

import kerata
from kerata import backends, layers

jax = pytest.importorskip("jax")
jnp = jax.numpy
RNG = np.random.default_rng(5)
X = RNG.normal(size=(16, 3)).astype("float32")
Y = X @ RNG.normal(size=(3, 2)).astype("float32")
register = kerata.saving.register_keras_serializable(package="ForeignLayers")


@pytest.fixture(params=[name for name in ("jax", "tensorflow") if name in backends.installed()])
def host(request):
    """The backends that run JAX's functions."""
    with backends.use_backend(request.param) as b:
        yield b


@register
def linear_init(rng, inputs):
    params = {"w": jax.random.normal(rng, (inputs.shape[-1], 2)), "b": [jnp.zeros(2)]}
    return params, {"calls": jnp.zeros((), "int32"), "label": "kept", "nothing": None}


@register
def linear(params, state, rng, inputs, training):
    if training:
        inputs = inputs + 0.01 * jax.random.normal(rng, inputs.shape)
        state = {**state, "calls": state["calls"] + 1}
    return inputs @ params["w"] + params["b"][0], state


def model_of(layer):
    return kerata.Sequential([kerata.Input((3,)), layer])


def test_a_function_trains_keeps_state_and_goes_to_files(host, tmp_path):
    layer = layers.JaxLayer(linear, linear_init, seed=4)
    model = model_of(layer)
    assert model.output_shape == (None, 2)
    assert [(w.name, tuple(w.shape)) for w in layer.trainable_weights] == [("b_0", (2,)), ("w", (3, 2))]
    assert [w.name for w in layer.non_trainable_weights] == ["calls"] and layer.state["label"] == "kept"
    w, b = layer.params["w"].numpy(), layer.params["b"][0].numpy()
    np.testing.assert_allclose(model.predict(X, verbose=0), X @ w + b, rtol=1e-5)
    model.compile(kerata.optimizers.Adam(0.1), "mse")
    losses = model.fit(X, Y, batch_size=4, epochs=6, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]
    assert int(layer.state["calls"].numpy()) == 24
    model.save(tmp_path / "model.keras")
    again = kerata.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-6)
    assert int(again.layers[0].state["calls"].numpy()) == 24
    np.testing.assert_allclose(copy.deepcopy(model).predict(X, verbose=0), again.predict(X, verbose=0), rtol=1e-6)


def test_the_gradient_is_jax_s(host):
    layer = layers.JaxLayer(lambda params, inputs: jnp.tanh(inputs @ params), params=np.ones((3, 2), "float32"))
    layer.build((None, 3))
    loss = kerata.transforms.value_and_grad(lambda: kerata.ops.sum(layer(X) ** 2), layer.trainable_weights)
    value, (gradient,) = loss()
    expected = jax.value_and_grad(lambda w: (jnp.tanh(X @ w) ** 2).sum())(jnp.ones((3, 2)))
    np.testing.assert_allclose(kerata.ops.convert_to_numpy(value), expected[0], rtol=1e-5)
    np.testing.assert_allclose(kerata.ops.convert_to_numpy(gradient), expected[1], rtol=1e-4)


def test_structures_and_unknown_dimensions(host):
    def joined(inputs):
        return {"ab": jnp.concatenate([inputs["a"], inputs["b"]], 1), "mean": (inputs["a"].mean((1, 2)),)}

    inputs = {"b": kerata.Input((None, 2)), "a": kerata.Input((None, 2))}
    outputs = layers.JaxLayer(joined)(inputs)
    assert outputs["ab"].shape == (None, None, 2) and outputs["mean"][0].shape == (None,)
    a, b = np.ones((2, 3, 2), "float32"), np.zeros((2, 4, 2), "float32")
    got = kerata.Model(inputs, outputs)({"a": a, "b": b})
    np.testing.assert_array_equal(got["ab"], np.concatenate([a, b], 1))
    np.testing.assert_array_equal(got["mean"][0], np.ones(2))


def test_indices_reach_init_fn_as_indices(host, tmp_path):
    def init(inputs):
        assert inputs.dtype == jnp.int32
        return jnp.arange(6.0).reshape(3, 2)

    def rows(params, inputs):
        return params[inputs]

    objects = {"init": init, "rows": rows}
    model = kerata.Sequential([kerata.Input((2,), dtype="int32"), layers.JaxLayer(rows, init)])
    model.save(tmp_path / "rows.keras")
    again = kerata.saving.load_model(tmp_path / "rows.keras", custom_objects=objects)
    np.testing.assert_array_equal(again(np.array([[2, 0]], "int32")), [[[4, 5], [0, 1]]])


def test_mixed_precision(host):
    layer = layers.JaxLayer(lambda params, inputs: inputs * params, params=np.float32(2), dtype="mixed_bfloat16")
    assert layer(kerata.Input((3,))).dtype == "bfloat16"
    assert kerata.backend.standardize_dtype(layer(X).dtype) == "bfloat16" and layer.params.dtype == "float32"


def no_inputs(params):
    return params


def unknown(inputs, mode):
    return inputs


def parametric(params, inputs):
    return inputs


@pytest.mark.parametrize(
    "call_fn, init_fn, message",
    [
        (no_inputs, None, "`call_fn` has no argument `inputs`"),
        (unknown, None, "`call_fn` has an argument `mode`"),
        (parametric, no_inputs, "`init_fn` has no argument `inputs`"),
        (parametric, None, "give `params` or `state`, or an `init_fn`"),
    ],
)
def test_functions_that_do_not_fit(call_fn, init_fn, message):
    with backends.use_backend("jax"), pytest.raises(ValueError, match=message):
        layers.JaxLayer(call_fn, init_fn)


def test_a_state_that_changes_its_form(host):
    layer = layers.JaxLayer(lambda state, inputs: (inputs, [state]), state={"n": 1.0})
    with pytest.raises(ValueError, match="nests unlike the state"):
        layer(X)


def test_only_where_jax_runs():
    with backends.use_backend("numpy"), pytest.raises(ValueError, match="jax and tensorflow backends"):
        layers.JaxLayer(parametric, params={})
    with backends.use_backend("numpy"), pytest.raises(ValueError, match="tensorflow backend only"):
        layers.TFSMLayer("somewhere")


def test_a_flax_module(host, tmp_path):
    linen = pytest.importorskip("flax.linen")

    class Net(linen.Module):
        @linen.compact
        def forward(self, inputs, training):
            x = linen.Dense(2)(inputs)
            x = linen.BatchNorm(use_running_average=not training)(x)
            return linen.Dropout(0.1, deterministic=not training)(x)

        def get_config(self):
            return {}

        @classmethod
        def from_config(cls, config):
            return cls(**config)

    layer = layers.FlaxLayer(Net(), method="forward", seed=1)
    model = model_of(layer)
    assert len(layer.trainable_weights) == 4 and len(layer.non_trainable_weights) == 2
    assert layer.params["params"]["Dense_0"]["kernel"].name == "params_Dense_0_kernel"
    model.compile(kerata.optimizers.Adam(0.05), "mse")
    losses = model.fit(X, Y, batch_size=8, epochs=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0] and np.abs(layer.state["batch_stats"]["BatchNorm_0"]["mean"].numpy()).max() > 0
    variables = {
        **jax.tree_util.tree_map(lambda v: v.numpy(), layer.params),
        **jax.tree_util.tree_map(lambda v: v.numpy(), layer.state),
    }
    own = Net().apply(variables, X, False, method="forward")
    np.testing.assert_allclose(model.predict(X, verbose=0), own, rtol=1e-4, atol=1e-5)
    model.save(tmp_path / "flax.keras")
    again = kerata.saving.load_model(tmp_path / "flax.keras", custom_objects={"Net": Net})
    np.testing.assert_allclose(again.predict(X, verbose=0), own, rtol=1e-4, atol=1e-5)


def saved_module(folder):
    tf = pytest.importorskip("tensorflow")

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(np.ones((3, 2), "float32"), name="w")
            self.count = tf.Variable(0.0, trainable=False, name="count")

        @tf.function(input_signature=[tf.TensorSpec((None, 3))])
        def serve(self, x):
            return x @ self.w

        @tf.function(input_signature=[tf.TensorSpec((None, 3))])
        def train(self, x):
            self.count.assign_add(1.0)
            return 2 * x @ self.w

    module = Module()
    tf.saved_model.save(module, str(folder), signatures=module.serve)
    return module


def test_a_saved_model(tmp_path):
    with backends.use_backend("tensorflow"):
        saved_module(tmp_path / "saved")
        layer = layers.TFSMLayer(tmp_path / "saved", call_training_endpoint="train")
        assert [w.name for w in layer.trainable_weights] == ["w"] and len(layer.non_trainable_weights) == 1
        np.testing.assert_allclose(layer(X), X.sum(1, keepdims=True).repeat(2, 1), rtol=1e-5)
        np.testing.assert_allclose(layer(X, training=True), 2 * layer(X).numpy(), rtol=1e-5)
        assert layer.non_trainable_weights[0].numpy() == 1
        model = model_of(layer)
        assert model.output_shape == (None, 2)
        model.compile(kerata.optimizers.SGD(0.05), "mse")
        losses = model.fit(X, Y, batch_size=16, epochs=5, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
        model.save(tmp_path / "model.keras")
        with pytest.raises(ValueError, match="arbitrary code execution.*safe_mode=False"):
            kerata.saving.load_model(tmp_path / "model.keras")
        again = kerata.saving.load_model(tmp_path / "model.keras", safe_mode=False)
        np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-5)
        signature = layers.TFSMLayer(tmp_path / "saved", call_endpoint="serving_default", trainable=False)
        assert list(signature(X)) == ["output_0"] and not signature.trainable_weights
        with pytest.raises(ValueError, match="The endpoint 'wrong'.*'serve', 'serving_default', 'train'"):
            layers.TFSMLayer(tmp_path / "saved", call_endpoint="wrong")
