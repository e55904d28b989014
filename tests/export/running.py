"""Graphs written as ONNX, checked, and run by ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime

from kerata.core import tree
from kerata.graph.onnx import emit, serialized, traced
from kerata.graph.tensor import KerasTensor


def symbol(array, dynamic=False):
    return KerasTensor(tuple(None if dynamic else d for d in array.shape), array.dtype.name)


def written(function, symbols, **options):
    """The model of a function of these symbols, accepted by ONNX's checker."""
    model = emit(traced(function, symbols, {}, graph=True), **options)
    onnx.checker.check_model(onnx.load_from_string(serialized(model)), full_check=True)
    return model


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    source = model if isinstance(model, (str, bytes)) else serialized(model)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def run(model, *arrays):
    """Outputs of a written model, or of an ONNX file."""
    s = session(model)
    names = [i.name for i in s.get_inputs()]
    return s.run(None, {n: np.asarray(a) for n, a in zip(names, arrays, strict=True)})


def ran(function, *arrays, dynamic=False, **options):
    """What a function of tensors gives, by way of ONNX."""
    return run(written(function, [symbol(a, dynamic) for a in arrays], **options), *arrays)


def kinds(model):
    return [call.kind for call in model.block.calls]


def flat(structure):
    return [np.asarray(t) for t in tree.flatten(structure)]


def close(found, wanted, rtol=1e-5, atol=1e-5):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        if a.dtype.kind == "f":
            a, b = a.astype("float64"), b.astype("float64")
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
