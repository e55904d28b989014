"""Models quantized as a whole: accuracy, size, files both ways with Keras, calibration, export."""

import os

import numpy as np
import pytest

import kerata
from kerata import layers, ops, quantizers
from kerata.quantizers.awq_rounding import Activations, awq_rounded
from kerata.quantizers.gptq_rounding import Hessian, gptq_rounded

RNG = np.random.default_rng(2)


@pytest.fixture(scope="module")
def digits():
    """Images, labels, and the weights of a model that knows them."""
    datasets = pytest.importorskip("sklearn.datasets")
    x, y = datasets.load_digits(return_X_y=True)
    x = (x / 16).astype("float32")
    from kerata import backends

    with backends.use_backend("jax" if "jax" in backends.installed() else backends.TRAINING[0]):
        kerata.utils.set_random_seed(1)
        model = _classifier()
        model.compile("adam", kerata.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(x[:1400], y[:1400], epochs=8, batch_size=64, verbose=0)
        return x[1400:], y[1400:], model.get_weights()


def _classifier():
    return kerata.Sequential(
        [
            kerata.Input((64,)),
            layers.Dense(128, activation="relu", name="a"),
            layers.Dense(128, activation="relu", name="b"),
            layers.Dense(10, name="c"),
        ]
    )


def _accuracy(model, x, y):
    return float((np.argmax(model.predict(x, verbose=0), axis=-1) == y).mean())


@pytest.mark.parametrize(("mode", "smaller", "lost"), [("int8", 3.5, 0.01), ("int4", 5.5, 0.03), ("float8", 0.7, 0.02)])
def test_small_and_as_good(backend, digits, real_keras, tmp_path, mode, smaller, lost):
    x, y, weights = digits
    model = _classifier()
    model.set_weights(weights)
    wanted, size = _accuracy(model, x, y), sum(w.nbytes for w in model.get_weights())
    model.quantize(mode)
    outputs = model.predict(x, verbose=0)
    assert _accuracy(model, x, y) > wanted - lost
    assert size / sum(w.nbytes for w in model.get_weights()) > smaller
    path = str(tmp_path / "model.keras")
    model.save(path)
    assert os.path.getsize(path) < size / smaller + 60_000
    np.testing.assert_array_equal(kerata.saving.load_model(path).predict(x, verbose=0), outputs)
    theirs = real_keras.saving.load_model(path)
    tolerance = 0.3 if mode == "float8" else 2e-4
    np.testing.assert_allclose(np.asarray(theirs(x)), outputs, atol=tolerance)
    theirs.save(path)
    np.testing.assert_allclose(kerata.saving.load_model(path).predict(x, verbose=0), outputs, atol=1e-5)


@pytest.mark.parametrize("mode", ["int8", "int4"])
def test_exported_as_integers(backend, digits, tmp_path, mode):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    x, _, weights = digits
    model = _classifier()
    model.set_weights(weights)
    model.quantize(mode)
    path = str(tmp_path / "model.onnx")
    model.export(path, format="onnx", verbose=False)
    session = runtime.InferenceSession(path)
    found = session.run(None, {session.get_inputs()[0].name: x})[0]
    np.testing.assert_allclose(found, model.predict(x, verbose=0), atol=1e-4)
    kinds = {node.op_type for node in onnx.load(path).graph.node}
    assert ("MatMulInteger" in kinds) == (mode == "int8")


def test_which_layers(backend):
    model = kerata.Sequential(
        [
            kerata.Input((6, 4)),
            layers.Dense(3, name="one"),
            layers.Conv1D(3, 1, name="conv"),
            layers.Dense(2, name="two"),
        ]
    )
    with pytest.warns(UserWarning, match="Conv1D 'conv'"):
        model.quantize("int8", filters=["one", "conv"])
    assert [layer.quantization_mode for layer in model.layers] == ["int8", None, None]
    model.quantize("int4", filters=lambda layer: layer.name == "two")
    assert [layer.quantization_mode for layer in model.layers] == ["int8", None, "int4"]
    with pytest.raises(ValueError, match="Unrecognized"):
        model.quantize("int8", depth=3)


def test_compiled_calls_notice(backend):
    model = _classifier()
    x = RNG.normal(size=(4, 64)).astype("float32")
    before = [model.predict(x, verbose=0), np.asarray(ops.convert_to_numpy(model(x)))]
    model.quantize("int4")
    after = [model.predict(x, verbose=0), np.asarray(ops.convert_to_numpy(model(x)))]
    assert np.abs(before[0] - after[0]).max() > 1e-3
    np.testing.assert_allclose(after[0], after[1], atol=1e-5)


# ------------------------------------------------------------------ calibration


@pytest.mark.parametrize(
    "options",
    [{"group_size": -1}, {"group_size": 8}, {"group_size": 8, "symmetric": True}, {"group_size": 8, "activation_order": True},
     {"group_size": -1, "per_channel": False}, {"group_size": 8, "weight_bits": 8}, {"group_size": 8, "weight_bits": 2}],
)  # fmt: skip
def test_gptq_loses_less_than_keras(real_keras, options):
    theirs = pytest.importorskip("keras.src.quantizers.gptq")
    weights = RNG.normal(size=(40, 24)).astype("float32")
    x = (RNG.normal(size=(200, 40)) @ RNG.normal(size=(40, 40)) * 0.3).astype("float32")
    layer = real_keras.layers.Dense(24, use_bias=False)
    layer.build((None, 40))
    layer.set_weights([weights])
    config = real_keras.quantizers.GPTQConfig(None, None, **options)
    layer.quantize("gptq", config=config)
    found = theirs.GPTQ(layer, config)
    found.update_hessian_with_batch(x)
    found.quantize_and_correct_layer()
    wanted = np.mean((np.asarray(layer(x)) - x @ weights) ** 2)
    hessian = Hessian(40)
    hessian.add(x[:50]), hessian.add(x[50:])
    np.testing.assert_allclose(hessian.matrix, 2 / len(x) * x.T.astype("float64") @ x, rtol=1e-5, atol=1e-6)
    q, scale, zero, numbers = gptq_rounded(weights.T, hessian, quantizers.GPTQConfig(None, None, **options))
    at = numbers.astype(int)
    ours = np.mean((x @ ((q - zero[:, at]) * scale[:, at]).T - x @ weights) ** 2)
    # Keras leaves out the Cholesky factor of the paper.
    assert ours < 0.75 * wanted
    if options == {"group_size": -1}:
        np.testing.assert_allclose(scale, layer.kernel_scale.numpy(), rtol=1e-5)


@pytest.mark.parametrize("group_size", [-1, 8])
def test_awq_loses_no_more_than_keras(real_keras, group_size):
    theirs = pytest.importorskip("keras.src.quantizers.awq")
    weights = RNG.normal(size=(16, 24)).astype("float32")
    x = (RNG.normal(size=(200, 16)) * np.exp(RNG.normal(size=16))).astype("float32")
    layer = real_keras.layers.Dense(24, use_bias=False)
    layer.build((None, 16))
    layer.set_weights([weights])
    config = real_keras.quantizers.AWQConfig(None, None, group_size=group_size)
    layer.quantize("awq", config=config)
    found = theirs.AWQ(layer, config)
    found.update_activation_magnitudes(x)
    found.quantize_layer()
    wanted = np.mean((np.asarray(layer(x)) - x @ weights) ** 2)
    activations = Activations(16)
    activations.add(x)
    q, scale, zero, strengths = awq_rounded(
        weights.T, activations, quantizers.AWQConfig(None, None, group_size=group_size)
    )
    at = np.arange(16) // (16 if group_size == -1 else group_size)
    ours = np.mean((x @ ((q - zero[:, at]) * scale[:, at] / strengths).T - x @ weights) ** 2)
    assert ours <= wanted * 1.0001


class Block(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.MultiHeadAttention(2, 8)
        self.dense = layers.Dense(16)

    def call(self, x):
        return self.dense(self.attention(x, x)) + x


@pytest.mark.parametrize("mode", ["gptq", "awq"])
def test_blocks_are_calibrated(backend, tmp_path, mode):
    kerata.utils.set_random_seed(0)
    embedding, blocks = layers.Embedding(30, 16), [Block(), Block()]
    model = kerata.Sequential([kerata.Input((12,), dtype="int32"), embedding, *blocks, layers.Dense(5)])
    tokens = RNG.integers(0, 30, (2, 12))
    wanted = model.predict(tokens, verbose=0)
    config = quantizers.GPTQConfig if mode == "gptq" else quantizers.AWQConfig
    config = config(
        ["some words to run it on " * 8],
        lambda text: [ord(c) % 30 for c in text],
        num_samples=6,
        sequence_length=12,
        group_size=8,
        quantization_layer_structure={"pre_block_layers": [embedding], "sequential_blocks": blocks},
    )
    model.quantize(mode, config=config)
    assert [layer.quantization_mode for layer in model.layers] == [None, None, None, None]
    assert blocks[1].dense.quantization_mode == mode and blocks[0].attention.query_dense.quantization_mode == mode
    assert not hasattr(blocks[0].dense, "_kernel") and blocks[0].dense.kernel.dtype is not None
    found = model.predict(tokens, verbose=0)
    assert 0 < np.abs(found - wanted).max() < 0.25 * np.abs(wanted).max()
    weights = str(tmp_path / "model.weights.h5")
    single = kerata.Sequential([kerata.Input((12, 16)), layers.Dense.from_config(blocks[0].dense.get_config())])
    x = RNG.normal(size=(2, 12, 16)).astype("float32")
    store = {}
    blocks[0].dense.save_own_variables(store)
    single.layers[0].load_own_variables(store)
    single.save_weights(weights)
    again = kerata.Sequential([kerata.Input((12, 16)), layers.Dense.from_config(blocks[0].dense.get_config())])
    again.load_weights(weights)
    np.testing.assert_allclose(
        again.predict(x, verbose=0), np.asarray(ops.convert_to_numpy(blocks[0].dense(x))), atol=1e-5
    )


@pytest.mark.parametrize("mode", ["gptq", "awq"])
def test_files_of_calibrated_models(backend, real_keras, tmp_path, mode):
    embedding = layers.Embedding(20, 8)
    block = kerata.Sequential(
        [layers.Dense(8, activation="relu"), layers.EinsumDense("abc,cd->abd", (None, 8), bias_axes="d")]
    )
    model = kerata.Sequential([kerata.Input((6,), dtype="int32"), embedding, block])
    config = (quantizers.GPTQConfig if mode == "gptq" else quantizers.AWQConfig)(
        [np.arange(20)], lambda x: x, group_size=4, num_samples=4, sequence_length=6,
        quantization_layer_structure={"pre_block_layers": [embedding], "sequential_blocks": [block]},
    )  # fmt: skip
    model.quantize(mode, config=config)
    tokens, path = np.arange(12).reshape(2, 6), str(tmp_path / "model.keras")
    outputs = model.predict(tokens, verbose=0)
    model.save(path)
    np.testing.assert_array_equal(kerata.saving.load_model(path).predict(tokens, verbose=0), outputs)
    np.testing.assert_allclose(real_keras.saving.load_model(path).predict(tokens, verbose=0), outputs, atol=1e-6)


def test_calibration_says_what_is_missing():
    model = _classifier()
    with pytest.raises(ValueError, match="structure"):
        model.quantize("gptq", config=quantizers.GPTQConfig(["a"], str.split))
    structure = {"pre_block_layers": [], "sequential_blocks": [model.layers[0]]}
    for dataset, error, words in (([], ValueError, "empty"), ("wiki", TypeError, "iterable")):
        from kerata.quantizers.calibration import windows

        with pytest.raises(error, match=words):
            windows(quantizers.GPTQConfig(dataset, str.split, quantization_layer_structure=structure))
