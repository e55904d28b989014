"""Quantized layers: the integers and outputs of Keras's own, from the same weights."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops, quantizers, transforms

BACKENDS = tuple(name for name in ("numpy", "jax", "torch", "tensorflow") if name in backends.installed())
RNG = np.random.default_rng(1)
EQUATIONS = {
    "ab,bcd->acd": ((4, 3), (None, 7)),
    "bnh,nhd->bd": ((5,), (None, 3, 4)),
    "abcde,afce->acdbf": ((2, 4, 8, 16), (1, 8, 2, 4, 32)),
    "btd,ndh->btnh": ((None, 2, 8), (None, 6, 4)),
    "btd,dnh->btnh": ((None, 2, 3), (None, 6, 8)),
}
MODES = {
    "int8": ("int8", lambda q: None),
    "int8, float inputs": ("int8", lambda q: q.Int8QuantizationConfig(activation_quantizer=None)),
    "int4": ("int4", lambda q: None),
    "int4 in blocks": ("int4", lambda q: q.Int4QuantizationConfig(block_size=4)),
    "int4 by channel": ("int4", lambda q: q.Int4QuantizationConfig(block_size=None)),
    "float8": ("float8", lambda q: None),
}


def _kinds():
    found = {
        "Dense": lambda L: (L.Dense(5, activation="relu", name="d"), (None, 7)),
        "Dense of sequences": lambda L: (L.Dense(5, use_bias=False, name="d"), (None, 4, 7)),
        "Embedding": lambda L: (L.Embedding(10, 7, name="m"), None),
        "ReversibleEmbedding": lambda L: (L.ReversibleEmbedding(10, 7, name="m"), None),
        "ReversibleEmbedding, two tables": lambda L: (L.ReversibleEmbedding(10, 7, tie_weights=False, name="m"), None),
    }
    for equation, (output_shape, shape) in EQUATIONS.items():
        found[equation] = lambda L, e=equation, o=output_shape, s=shape: (L.EinsumDense(e, o, name="e"), s)
    return found


KINDS = _kinds()


def built(kind, L):
    layer, shape = KINDS[kind](L)
    layer.build(shape) if shape else layer.build()
    return layer, shape


def inputs_for(shape):
    if shape is None:
        return RNG.integers(0, 10, (2, 3))
    return RNG.normal(size=[2 if d is None else d for d in shape]).astype("float32")


def host(x):
    return np.asarray(ops.convert_to_numpy(x))


# On the backends that compile each op, a few kinds have to do.
FEW = ("Dense", "btd,ndh->btnh", "ReversibleEmbedding, two tables")
CASES = [(b, k, m) for b in BACKENDS for k in KINDS for m in MODES if b in ("numpy", "torch") or k in FEW]


@pytest.mark.parametrize(("on", "kind", "mode"), CASES)
def test_as_keras(real_keras, on, kind, mode):
    with backends.use_backend(on):
        _compare(real_keras, kind, *MODES[mode])


def _compare(real_keras, kind, name, config):
    ours, shape = built(kind, layers)
    if name not in ours._modes:
        with pytest.raises(NotImplementedError, match=name):
            ours.quantize(name)
        return
    theirs, _ = built(kind, real_keras.layers)
    values = [RNG.normal(size=v.shape).astype("float32") for v in ours.weights]
    for layer, library in ((ours, quantizers), (theirs, real_keras.quantizers)):
        layer.set_weights(values)
        layer.quantize(name, config=config(library))
    store, wanted = {}, {}
    ours.save_own_variables(store), theirs.save_own_variables(wanted)
    assert store.keys() == wanted.keys()
    assert [v.path for v in ours.variables] == [v.path for v in theirs.variables]
    for key, want in wanted.items():
        got, want = np.asarray(store[key]), np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-6) if got.dtype.kind == "f" else np.testing.assert_array_equal(
            got, want
        )
    assert ours.dtype_policy.get_config() == theirs.dtype_policy.get_config()
    x = inputs_for(shape)
    # On NumPy Keras rounds to float8 in another way than elsewhere.
    tolerance = 0.02 if name == "float8" else 2e-5
    np.testing.assert_allclose(host(ours(x)), np.asarray(theirs(x)), rtol=1e-4, atol=tolerance)
    if "Reversible" in kind:
        v = RNG.normal(size=(3, 7)).astype("float32")
        np.testing.assert_allclose(
            host(ours(v, reverse=True)), np.asarray(theirs(v, reverse=True)), rtol=1e-4, atol=2e-5
        )
    again = type(ours).from_config(ours.get_config())
    again.build(shape) if shape else again.build()
    again.load_own_variables(store)
    np.testing.assert_array_equal(host(again(x)), host(ours(x)))


@pytest.mark.parametrize("mode", ["gptq/4/4", "gptq/8/-1", "awq/4/4"])
@pytest.mark.parametrize("kind", ["Dense", "btd,dnh->btnh"])  # (Of others Keras guesses what is summed over.)
def test_calibrated_layers_are_read_by_keras(backend, real_keras, kind, mode):
    def calibrated(library):
        layer, shape = KINDS[kind](library.layers)
        layer = type(layer).from_config({**layer.get_config(), "dtype": f"{mode}_from_float32"})
        layer.build(shape)
        return layer, shape

    (ours, shape), (theirs, _) = calibrated(kerata), calibrated(real_keras)
    assert [(v.path, tuple(v.shape), str(v.dtype)) for v in ours.variables] == [
        (v.path, tuple(v.shape), str(v.dtype)) for v in theirs.variables
    ]
    for v in ours.variables:
        if not v.path.endswith("g_idx"):
            v.assign(RNG.integers(0, 200, v.shape) if v.dtype == "uint8" else RNG.uniform(0.1, 1, v.shape))
    setattr(ours, f"is_{ours.quantization_mode}_calibrated", True)
    store, without_zeros = {}, {}
    ours.save_own_variables(store)
    theirs.load_own_variables(store)
    x = inputs_for(shape)
    np.testing.assert_allclose(host(ours(x)), np.asarray(theirs(x)), rtol=1e-4)
    # Keras leaves out the zeros, and doesn't read its own file either.
    theirs.save_own_variables(without_zeros)
    assert len(without_zeros) == len(store) - 1
    with pytest.raises(ValueError, match="leaves out the zeros"):
        ours.load_own_variables(without_zeros)


@pytest.mark.parametrize("equation", ["...x,xy->...y", "ab...,bc->ac...", "abc,dcb->ad", "ab,ab->a"])
@pytest.mark.parametrize("mode", ["int8", "int4", "gptq"])
def test_equations_that_keras_cant_quantize(backend, equation, mode):
    shape = (None, 3, 4)[: 2 if equation == "ab,ab->a" else 3]
    output_shape = {"...x,xy->...y": (None, 5), "ab...,bc->ac...": (5, None), "abc,dcb->ad": (5,), "ab,ab->a": ()}[
        equation
    ]
    layer = layers.EinsumDense(equation, output_shape)
    layer.build((2, 3) if equation == "ab,ab->a" else shape)
    x = RNG.normal(size=[2 if d is None else d for d in shape]).astype("float32")
    wanted = host(layer(x))
    layer.quantize(mode, config=quantizers.GPTQConfig(None, None) if mode == "gptq" else None)
    np.testing.assert_allclose(host(layer(x)), wanted, atol={"int8": 0.05, "int4": 0.4, "gptq": 1e-6}[mode])


def test_gradient_is_that_of_the_float_product(training_backend):
    for mode in ("int8", "int4"):
        layer = layers.Dense(4)
        layer.build((None, 6))
        layer.quantize(mode)
        x = ops.convert_to_tensor(RNG.normal(size=(3, 6)).astype("float32"))
        gradient = transforms.grad(lambda v, layer=layer: ops.sum(layer(v)))(x)
        from kerata.layers.quantization.mode import mode_named

        kernel = host(mode_named(mode).floats(layer, layer._weights[0]))
        np.testing.assert_allclose(host(gradient), np.tile(kernel.sum(axis=1), (3, 1)), rtol=1e-5, atol=1e-6)


def test_float8_follows_the_largest_values(training_backend):
    losses, x, y = [], RNG.normal(size=(64, 16)).astype("float32"), RNG.normal(size=(64, 4)).astype("float32")
    states = []
    for eagerly in (True, False):
        kerata.utils.set_random_seed(0)
        model = kerata.Sequential([kerata.Input((16,)), layers.Dense(8, activation="relu"), layers.Dense(4)])
        model.quantize("float8")
        model.compile("sgd", "mse", run_eagerly=eagerly)
        kernel = model.layers[0].kernel.numpy()
        losses.append(model.fit(x, y, epochs=3, batch_size=64, shuffle=False, verbose=0).history["loss"])
        first = model.layers[0]
        assert first.inputs_amax_history.numpy()[0] == np.abs(x).max()
        assert first.kernel_amax_history.numpy()[1:].max() >= np.abs(kernel).max()
        np.testing.assert_allclose(first.inputs_scale.numpy(), np.abs(x).max() / 448, rtol=1e-6)
        states.append([v.numpy() for v in model.variables])
    assert losses[0][-1] < losses[0][0]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    for a, b in zip(*states, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mode", ["int8", "int4"])
def test_lora_on_quantized_weights(training_backend, mode):
    x, y = RNG.normal(size=(32, 8)).astype("float32"), RNG.normal(size=(32, 6)).astype("float32")
    for first in (True, False):
        layer = layers.Dense(6)
        layer.build((None, 8))
        layer.enable_lora(2) if first else layer.quantize(mode)
        layer.quantize(mode) if first else layer.enable_lora(2)
        before = layer._kernel.numpy()
        model = kerata.Sequential([layer])
        model.compile("adam", "mse")
        losses = model.fit(x, y, epochs=5, verbose=0).history["loss"]
        assert losses[-1] < losses[0] and np.array_equal(layer._kernel.numpy(), before)
        store, merged = {}, layers.Dense(6, dtype=layer.dtype_policy, quantization_config=layer.quantization_config)
        layer.save_own_variables(store)
        merged.build((None, 8))
        merged.load_own_variables(store)
        # What LoRA added is rounded with the weight.
        np.testing.assert_allclose(host(merged(x)), host(layer(x)), atol=0.1 if mode == "int8" else 0.9)


def test_errors_say_what():
    layer = layers.Dense(2)
    with pytest.raises(ValueError, match="isn't yet built"):
        layer.quantize("int8")
    layer.build((None, 3))
    for arguments, error, words in (
        ({"mode": "int7"}, ValueError, "Invalid quantization mode"),
        ({}, ValueError, "mode"),
        ({"mode": "gptq"}, ValueError, "GPTQConfig"),
        ({"mode": "int8", "config": 3}, ValueError, "QuantizationConfig"),
        ({"mode": "int4", "config": quantizers.Int8QuantizationConfig()}, ValueError, "Contradictory"),
    ):
        with pytest.raises(error, match=words):
            layer.quantize(**arguments)
    layer.quantize("int8")
    with pytest.raises(ValueError, match="already quantized"):
        layer.quantize("int4")
    with pytest.raises(ValueError, match="float16"):
        layers.Dense(2, dtype="int8_from_float16")

    class Own(layers.Dense):
        pass

    own = Own(2)
    own.build((None, 3))
    with pytest.raises(NotImplementedError, match="type_check"):
        own.quantize("int8")
    own.quantize("int8", type_check=False)
    uncalibrated = layers.Dense(2)
    uncalibrated.build((None, 3))
    uncalibrated.quantize("gptq", config=quantizers.GPTQConfig(None, None))
    with pytest.raises(ValueError, match="not calibrated"):
        uncalibrated.save_own_variables({})
    misfit = layers.EinsumDense("btd,ndh->btnh", (None, 2, 8))
    misfit.build((None, 6, 4))
    own_inputs = quantizers.Int4QuantizationConfig(activation_quantizer=quantizers.AbsMaxQuantizer(), block_size=None)
    with pytest.raises(ValueError, match="quantized inputs"):
        misfit.quantize("int4", config=own_inputs)


def test_a_policy_map_reaches_the_layers_within(real_keras):
    def dtypes(k):
        policies = k.dtype_policies.DTypePolicyMap()
        policies["mha/query"], policies["mha/value"] = "int8_from_float32", "bfloat16"
        layer = k.layers.MultiHeadAttention(2, 4, dtype=policies, name="mha")
        layer.build((1, 3, 6), (1, 3, 6), (1, 3, 6))
        return layer.compute_dtype, {v.path: v.dtype for v in layer.variables}

    ours = dtypes(kerata)
    assert ours == dtypes(real_keras)
    assert ours[1]["mha/query/kernel"] == "int8"
