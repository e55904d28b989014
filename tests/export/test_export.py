"""`model.export`: from each backend, before and after the first call, what ONNX Runtime and OpenVINO make of
it.
"""

import numpy as np
import onnx
import pytest
from running import close, run, session

import kerata as keras
from kerata import backends, layers, ops

RNG = np.random.default_rng(5)


def f(*shape):
    return RNG.normal(size=shape).astype("float32")


def mlp():
    hidden = layers.Dense(16, "gelu")
    return keras.Sequential([keras.Input((8,)), hidden, layers.Dropout(0.5), layers.Dense(3, "softmax")])


def convnet():
    x = keras.Input((16, 16, 3), name="image")
    h = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
    h = layers.BatchNormalization()(h)
    h = layers.MaxPooling2D()(h)
    h = layers.SeparableConv2D(8, 3)(h)
    h = layers.Activation(lambda t: ops.gelu(t, approximate=False))(h)
    h = layers.DepthwiseConv2D(3, padding="same", strides=2)(h)
    h = layers.AveragePooling2D(2, padding="same")(h)
    h = layers.Add()([h, layers.Conv2D(8, 1)(h)])
    h = layers.GlobalAveragePooling2D()(h)
    h = layers.LayerNormalization()(h)
    return keras.Model(x, layers.Dense(3, activation="softmax", name="probs")(h))


def recurrent():
    x = keras.Input((None, 4))
    h = layers.LSTM(6, return_sequences=True)(x)
    return keras.Model(x, layers.Dense(2)(layers.GRU(5)(h)))


def attention():
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    h = layers.Embedding(11, 8)(tokens)
    h = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(h, h) + h)
    return keras.Model(tokens, layers.Dense(2)(layers.GlobalAveragePooling1D()(h)))


def several():
    a, b = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(5, "relu")], name="inner")
    h = layers.Concatenate()([inner(a), inner(b)])
    return keras.Model(
        {"left": a, "right": b},
        {"sum": layers.Dense(2, name="sum")(h), "gate": layers.Dense(1, "sigmoid", name="gate")(h)},
    )


NETS = {
    "mlp": (mlp, lambda n: f(n, 8)),
    "convnet": (convnet, lambda n: f(n, 16, 16, 3)),
    "recurrent": (recurrent, lambda n: f(n, 5 + n, 4)),
    "attention": (attention, lambda n: RNG.integers(0, 11, (n, 4 + n)).astype("int32")),
    "several": (several, lambda n: {"left": f(n, 4), "right": f(n, 4)}),
}


@pytest.fixture(params=("numpy", *backends.TRAINING))
def any_backend(request):
    if request.param not in backends.installed():
        pytest.skip("not installed")
    with backends.use_backend(request.param) as b:
        yield b


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("called", (False, True), ids=("new", "called"))
def test_export(net, called, any_backend, tmp_path):
    make, data = NETS[net]
    model, path = make(), tmp_path / "m.onnx"
    if called:
        model(data(2))
    model.export(path, format="onnx", verbose=False)
    onnx.checker.check_model(str(path), full_check=True)
    s = session(str(path))
    for n in (1, 7):
        x = data(n)
        wanted = keras.tree.map_structure(ops.convert_to_numpy, model(x))
        if isinstance(x, dict):
            found = s.run(sorted(wanted), x)
            close(found, [wanted[k] for k in sorted(wanted)])
        else:
            close(s.run(None, {s.get_inputs()[0].name: x}), [wanted])


@pytest.fixture
def on_numpy():
    with backends.use_backend("numpy"):
        yield


def test_names_shapes_and_weights(on_numpy, tmp_path, capsys):
    model = convnet()
    model.export(tmp_path / "m.onnx", format="onnx")
    assert "image float32[batch, 16, 16, 3]" in capsys.readouterr().out
    proto = onnx.load(tmp_path / "m.onnx")
    assert [i.name for i in proto.graph.input] == ["image"]
    assert [o.name for o in proto.graph.output] == ["probs"]
    assert {"probs/kernel", "probs/bias"} <= {i.name for i in proto.graph.initializer}
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["batch", 16, 16, 3]
    # channels_first from the first convolution to the pooling at the end: one transpose, of the input.
    assert [n.op_type for n in proto.graph.node].count("Transpose") == 1
    assert proto.opset_import[0].version == 18
    model.export(tmp_path / "m.onnx", format="onnx", opset_version=20, verbose=False)
    assert onnx.load(tmp_path / "m.onnx").opset_import[0].version == 20


@pytest.mark.filterwarnings("ignore:os.fork")  # on its import OpenVINO starts a process
def test_openvino(on_numpy, tmp_path):
    pytest.importorskip("openvino")
    from kerata.backends.openvino import compile_onnx

    model, x = convnet(), f(7, 16, 16, 3)
    model.export(tmp_path / "m.xml", format="openvino", verbose=False)
    assert {p.name for p in tmp_path.iterdir()} == {"m.xml", "m.bin"}
    compiled = compile_onnx(str(tmp_path / "m.xml"), ["image"])
    for n in (1, 7):
        close(compiled(x[:n]), [model.predict(x[:n], verbose=0)])


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(7, 4)
        self.dense = layers.Dense(2)

    def call(self, tokens, training=False):
        return self.dense(ops.sum(self.embedding(tokens), axis=1))


def test_subclassed(any_backend, tmp_path):
    model, path = Own(), tmp_path / "own.onnx"
    with pytest.raises(ValueError, match="aren't known: call it on data first, or give `input_signature`"):
        model.export(path, format="onnx")
    tokens = RNG.integers(0, 7, (3, 5)).astype("int32")
    wanted = ops.convert_to_numpy(model(tokens))
    model.export(path, format="onnx", verbose=False)
    assert session(str(path)).get_inputs()[0].type == "tensor(int32)"
    close(run(str(path), tokens), [wanted])
    signature = [layers.InputSpec(shape=(None, None), dtype="int32", name="tokens")]
    model.export(path, format="onnx", input_signature=signature, verbose=False)
    s = session(str(path))
    assert s.get_inputs()[0].name == "tokens"
    close(s.run(None, {"tokens": tokens[:, :2]}), [ops.convert_to_numpy(model(tokens[:, :2]))])


@pytest.mark.parametrize("policy", ("mixed_float16", "mixed_bfloat16"))
def test_half_precision(policy, on_numpy, tmp_path):
    """bfloat16, which ONNX Runtime hardly computes in, is written as float32."""
    x = f(3, 8)
    model = keras.Sequential([keras.Input((8,)), layers.Dense(5, "relu", dtype=policy), layers.Dense(2, dtype=policy)])
    model.export(tmp_path / "m.onnx", format="onnx", verbose=False)
    found = run(str(tmp_path / "m.onnx"), x)[0]
    assert found.dtype == ("float16" if policy == "mixed_float16" else "float32")
    np.testing.assert_allclose(found.astype("float32"), model.predict(x, verbose=0).astype("float32"), atol=0.05)


def test_an_op_without_onnx_form_names_the_layer(on_numpy, tmp_path):
    class Whitening(layers.Layer):
        def call(self, x):
            return ops.svd(x, compute_uv=False)

    model = keras.Sequential([keras.Input((3, 3)), Whitening(name="whiten")], name="net")
    with pytest.raises(ValueError, match=r"'svd' has no ONNX form \(used in Whitening \"whiten\""):
        model.export(tmp_path / "m.onnx", format="onnx")
    assert not list(tmp_path.iterdir())


def test_state_is_refused(on_numpy, tmp_path):
    model = keras.Sequential([keras.Input((4, 3), batch_size=2), layers.LSTM(2, stateful=True)])
    with pytest.raises(ValueError, match="keep no state"):
        model.export(tmp_path / "m.onnx", format="onnx")


def test_formats(on_numpy, tmp_path):
    with pytest.raises(ValueError, match="Unrecognized format='onx'. Did you mean 'onnx'.*Formats: 'tf_saved_model', 'onnx'"):
        mlp().export(tmp_path / "m", format="onx")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        mlp().export(tmp_path / "nowhere" / "m.onnx", format="onnx")


def test_large_weights_stand_beside_the_file(on_numpy, tmp_path, monkeypatch):
    from kerata.graph.onnx import proto

    monkeypatch.setattr(proto, "MOST_INLINE", 100)
    model, x = keras.Sequential([keras.Input((64,)), layers.Dense(32)]), f(2, 64)
    model.export(tmp_path / "m.onnx", format="onnx", verbose=False)
    assert {p.name for p in tmp_path.iterdir()} == {"m.onnx", "m.onnx.data"}
    close(run(str(tmp_path / "m.onnx"), x), [model.predict(x, verbose=0)])
