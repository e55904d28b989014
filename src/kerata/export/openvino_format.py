"""Models as OpenVINO's own files (IR): by way of ONNX."""

import os
import tempfile

from kerata import backends
from kerata.export.files import replacing_all
from kerata.export.onnx_format import described, file_name, onnx_model
from kerata.graph.onnx import save


def write(model, filepath, symbols):
    """Write the `.xml` and the `.bin` beside it; returns a description."""
    backends.check_installed("openvino")
    import openvino

    onnx = onnx_model(model, symbols)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        save(onnx, path)
        converted = openvino.Core().read_model(path)
        with replacing_all(file_name(filepath, ".xml")) as path:
            openvino.save_model(converted, path, compress_to_fp16=False)
    return described(onnx)
