"""The backends that predict: OpenVINO and ONNX Runtime."""

import copy
import threading

import numpy as np
import pytest

import kerata as keras
from kerata import backends, layers, ops

INFERENCE = [name for name in ("openvino", "onnxruntime") if name in backends.installed()]
RNG = np.random.default_rng(3)


@pytest.fixture(params=INFERENCE)
def backend(request):
    with backends.use_backend(request.param) as b:
        yield b


@pytest.fixture
def compilations(backend, monkeypatch):
    """The models compiled during a test."""
    found, compile_onnx = [], backend.compile_onnx
    monkeypatch.setattr(backend, "compile_onnx", lambda *a: found.append(a) or compile_onnx(*a))
    return found


def f(*shape):
    return RNG.normal(size=shape).astype("float32")


def dense():
    return keras.Sequential([keras.Input((8,)), layers.Dense(16, "gelu"), layers.Dense(2)])


def numpy_says(model, x):
    """What the same layers give in NumPy."""
    model.run_eagerly = True
    try:
        return model.predict(x, verbose=0)
    finally:
        model.run_eagerly = False


def nets():
    yield dense(), f(7, 8)
    image = keras.Input((12, 12, 3))
    h = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(4, 3)(image)))
    yield (
        keras.Model(image, layers.Dense(2)(layers.Flatten()(layers.AveragePooling2D(2)(h)))),
        f(7, 12, 12, 3),
    )
    yield (
        keras.Sequential([keras.Input((6, 4)), layers.LSTM(6, return_sequences=True), layers.GRU(5)]),
        f(7, 6, 4),
    )
    x = keras.Input((9, 8))
    h = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(x, x) + x)
    yield keras.Model(x, layers.Dense(2)(layers.GlobalAveragePooling1D()(h))), f(7, 9, 8)


def test_predict_is_that_of_numpy(backend, compilations):
    for number, (model, x) in enumerate(nets(), 1):
        wanted = numpy_says(model, x)
        for n in (7, 1, 3):
            np.testing.assert_allclose(model.predict(x[:n], verbose=0), wanted[:n], rtol=1e-5, atol=1e-5)
        # Batches of two, the last of one, from the loop.
        np.testing.assert_allclose(model.predict(x, batch_size=2, verbose=0), wanted, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(model.predict_on_batch(x), wanted, rtol=1e-5, atol=1e-5)
        # One compilation for all batch sizes.
        assert len(compilations) == number


def test_any_length(backend, compilations):
    x = keras.Input((None, 4))
    model = keras.Model(x, layers.GRU(3)(layers.LSTM(6, return_sequences=True)(x)))
    for length in (1, 5, 9):
        batch = f(2, length, 4)
        np.testing.assert_allclose(
            model.predict(batch, verbose=0), numpy_says(model, batch), rtol=1e-5, atol=1e-5
        )
    assert len(compilations) == 1


def test_several_inputs_and_outputs(backend):
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b", dtype="int32")
    h = layers.Concatenate()([a, layers.Flatten()(layers.Embedding(5, 2)(b))])
    model = keras.Model({"a": a, "b": b}, {"y": layers.Dense(2)(h), "z": [layers.Dense(1)(h), a]})
    data = {"a": f(5, 3), "b": RNG.integers(0, 5, (5, 4))}
    found, wanted = model.predict(data, verbose=0), numpy_says(model, data)
    assert keras.tree.map_structure(np.shape, found) == {"y": (5, 2), "z": [(5, 1), (5, 3)]}
    keras.tree.map_structure(
        lambda p, q: np.testing.assert_allclose(p, q, rtol=1e-5, atol=1e-6), found, wanted
    )


def test_new_weights_are_seen(backend, compilations):
    model, x = dense(), f(3, 8)
    before = model.predict(x, verbose=0)
    model.set_weights([w + 0.1 for w in model.get_weights()])
    after = model.predict(x, verbose=0)
    assert np.abs(after - before).max() > 0.01
    np.testing.assert_allclose(after, numpy_says(model, x), rtol=1e-5, atol=1e-5)
    model.predict(x, verbose=0)
    assert len(compilations) == 2


def test_calls_run_compiled_from_the_second_on(backend, compilations):
    model, x = dense(), f(3, 8)
    first = model(x)
    assert type(first) is np.ndarray
    assert not compilations
    np.testing.assert_allclose(model(x), first, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model(x[:1], training=False), first[:1], rtol=1e-5, atol=1e-5)
    assert len(compilations) == 1


def test_training_calls_run_in_numpy(backend, compilations):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dropout = layers.Dropout(0.5)

        def call(self, x, training=False):
            return self.dropout(x, training=training)

    model, x = Net(), np.ones((4, 50), "float32")
    for _ in range(3):
        assert (model(x, training=True) == 0).any()
        assert (model(x) == 1).all()
    assert (model.predict(x, verbose=0) == 1).all()
    assert len(compilations) == 1


def test_state_is_kept(backend, compilations):
    model = keras.Sequential([keras.Input((1, 3), batch_size=2), layers.LSTM(4, stateful=True)])
    layer, x = model.layers[0], f(2, 1, 3)
    first, second = model.predict(x, verbose=0), model.predict(x, verbose=0)
    assert np.abs(first - second).max() > 1e-3
    layer.reset_state()
    np.testing.assert_allclose(model.predict(x, verbose=0), first, rtol=1e-5, atol=1e-6)
    assert len(compilations) == 1


def test_evaluate(backend):
    model, x, y = dense(), f(20, 8), f(20, 2)
    model.compile(loss="mse", metrics=["mae"])
    result = model.evaluate(x, y, batch_size=8, verbose=0, return_dict=True)
    predicted = model.predict(x, verbose=0)
    assert abs(result["loss"] - np.mean((predicted - y) ** 2)) < 1e-4
    assert abs(result["mae"] - np.mean(np.abs(predicted - y))) < 1e-4


def test_fit_names_the_backends_that_train(backend):
    assert not hasattr(backend, "value_and_grad")
    model = dense()
    model.compile("sgd", "mse")
    weights = model.get_weights()
    with pytest.raises(
        ValueError, match=f"'{backend.NAME}' computes no gradients. Train on jax, torch, tensorflow"
    ):
        model.fit(f(4, 8), f(4, 2), verbose=0)
    assert all(map(np.array_equal, model.get_weights(), weights))


def test_an_op_without_onnx_form(backend):
    class Values(layers.Layer):
        def call(self, x):
            return ops.svd(x, compute_uv=False)

    model, x = keras.Sequential([keras.Input((3, 3)), Values(name="values")]), f(2, 3, 3)
    with pytest.raises(ValueError, match="'svd' has no ONNX form .used in Values \"values\""):
        model.predict(x, verbose=0)
    # Called, it runs in NumPy.
    wanted = np.linalg.svd(x, compute_uv=False)
    for _ in range(3):
        np.testing.assert_allclose(model(x), wanted, rtol=1e-5)
    np.testing.assert_allclose(numpy_says(model, x), wanted, rtol=1e-5)


def test_own_predict_step(backend):
    class Doubling(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)

        def call(self, x):
            return self.dense(x)

        def predict_step(self, data):
            return 2 * super().predict_step(data)

    model, x = Doubling(), f(5, 3)
    np.testing.assert_allclose(model.predict(x, batch_size=2, verbose=0), 2 * model(x), rtol=1e-5, atol=1e-5)


def test_copies_and_threads(backend):
    model, x = dense(), f(6, 8)
    wanted = model.predict(x, verbose=0)
    np.testing.assert_array_equal(copy.deepcopy(model).predict(x, verbose=0), wanted)
    found = [None] * 6

    def work(i):
        for _ in range(20):
            found[i] = model.predict(x[i : i + 1], verbose=0)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    np.testing.assert_allclose(np.concatenate(found), wanted, rtol=1e-5, atol=1e-6)


def test_moved_from_another_backend(backend):
    with backends.use_backend("numpy"):
        model, x = dense(), f(3, 8)
        wanted = model.predict(x, verbose=0)
    moved = model.to_backend(backend.NAME)
    np.testing.assert_allclose(moved.predict(x, verbose=0), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif("openvino" not in INFERENCE, reason="OpenVINO isn't installed")
def test_openvino_precision(monkeypatch):
    """float32 unless another precision is asked for."""
    from kerata.backends.openvino import core

    with backends.use_backend("openvino"):
        assert core._options()["INFERENCE_PRECISION_HINT"] == "f32"
        monkeypatch.setenv("KERATA_OPENVINO_PRECISION", "bf16")
        assert core._options()["INFERENCE_PRECISION_HINT"] == "bf16"
        monkeypatch.setenv("KERATA_OPENVINO_PRECISION", "int3")
        with pytest.raises(ValueError, match="must be one of f32, bf16, f16, auto"):
            dense().predict(f(1, 8), verbose=0)


@pytest.mark.skipif("onnxruntime" not in INFERENCE, reason="ONNX Runtime isn't installed")
def test_onnxruntime_providers(monkeypatch):
    monkeypatch.setenv("KERATA_ONNXRUNTIME_PROVIDERS", "AbacusExecutionProvider")
    with (
        backends.use_backend("onnxruntime"),
        pytest.raises(ValueError, match="names AbacusExecutionProvider, but"),
    ):
        dense().predict(f(1, 8), verbose=0)


def test_code_that_cannot_be_traced(backend):
    class Doubtful(layers.Layer):
        def call(self, x):
            return x if float(ops.sum(x)) > 0 else -x

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.doubtful = Doubtful()

        def call(self, x):
            return self.doubtful(x)

    model, x = Net(), -np.ones((2, 3), "float32")
    for _ in range(3):
        assert (model(x) == 1).all()
    with pytest.raises(TypeError, match="symbolic") as error:
        model.predict(x, verbose=0)
    assert "run_eagerly" in error.value.__notes__[-1]
    assert (numpy_says(model, x) == 1).all()


@pytest.mark.parametrize("policy", ("mixed_float16", "mixed_bfloat16"))
def test_half_precision(backend, policy):
    model = keras.Sequential(
        [keras.Input((8,)), layers.Dense(16, "gelu", dtype=policy), layers.Dense(2, dtype=policy)]
    )
    x = f(3, 8)
    found, wanted = model.predict(x, verbose=0), numpy_says(model, x)
    assert found.dtype == wanted.dtype == policy.removeprefix("mixed_")
    np.testing.assert_allclose(found.astype("float32"), wanted.astype("float32"), atol=0.05)
