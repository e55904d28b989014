"""Images whose size isn't known when a model is built, nor when its graph is."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops

RNG = np.random.default_rng(0)
KINDS = {
    "AdaptiveAveragePooling2D": {"output_size": (3, 4)},
    "AdaptiveMaxPooling2D": {"output_size": (3, 4)},
    **{
        f"UpSampling2D-{i}": {"size": (2, 3), "interpolation": i}
        for i in ("nearest", "bilinear", "bicubic", "lanczos3")
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_as_with_known_sizes(kind, backend):
    layer = getattr(layers, kind.split("-")[0])(**KINDS[kind])
    inputs = kerata.Input((None, None, 2))
    model = kerata.Model(inputs, layer(inputs))
    assert model.output_shape == (None, *KINDS[kind].get("output_size", (None, None)), 2)
    run = model
    if backend.NAME == "tensorflow":
        import tensorflow as tf

        run = tf.function(model, input_signature=[tf.TensorSpec((None, None, None, 2))])
    for height, width in ((7, 9), (8, 4)):
        x = RNG.random((2, height, width, 2)).astype("float32")
        got, wanted = (ops.convert_to_numpy(f(ops.convert_to_tensor(x))) for f in (run, layer))
        np.testing.assert_allclose(got, wanted, atol=1e-5)


@pytest.mark.skipif("onnxruntime" not in backends.installed(), reason="needs ONNX Runtime")
@pytest.mark.parametrize("kind", KINDS)
def test_in_onnx(kind, tmp_path):
    layer = getattr(layers, kind.split("-")[0])(**KINDS[kind])
    inputs = kerata.Input((None, None, 2))
    model, path = kerata.Model(inputs, layer(inputs)), str(tmp_path / "model.onnx")
    model.export(path, format="onnx", verbose=False)
    session = pytest.importorskip("onnxruntime").InferenceSession(path)
    for height, width in ((7, 9), (8, 4)):
        x = RNG.random((2, height, width, 2)).astype("float32")
        got = session.run(None, {session.get_inputs()[0].name: x})[0]
        np.testing.assert_allclose(got, ops.convert_to_numpy(layer(ops.convert_to_tensor(x))), atol=1e-5)
