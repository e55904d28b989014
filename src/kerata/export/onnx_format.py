"""Models as ONNX files."""

import os

from kerata.export.files import replacing_all
from kerata.export.signature import inference, input_names, output_names
from kerata.graph.onnx import emit, save, traced


def write(model, filepath, symbols, opset_version=None):
    """Write the file (and, beside one of 2 GiB or more, a second one with the weights); returns a
    description.
    """
    onnx = onnx_model(model, symbols, opset_version)
    with replacing_all(filepath) as path:
        save(onnx, path)
    return described(onnx)


def onnx_model(model, symbols, opset_version=None):
    """The model's inference as a `graph.onnx.Model`."""
    graph = traced(inference(model, symbols), symbols, {}, graph=True)
    options = {} if opset_version is None else {"opset": opset_version}
    return emit(
        graph,
        input_names(model, symbols),
        output_names(model, graph.outputs),
        name=model.name,
        batch="batch",
        **options,
    )


def described(onnx):
    """Inputs and outputs, one a line."""
    lines = [
        f"  {kind} {info!r}" for kind, infos in (("input", onnx.inputs), ("output", onnx.outputs)) for info in infos
    ]
    return "\n".join(line.replace("'", "") for line in lines)


def file_name(path, suffix):
    """The path with this suffix, unless it has it already."""
    path = os.fspath(path)
    return path if path.endswith(suffix) else path + suffix
