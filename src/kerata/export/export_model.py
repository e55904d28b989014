"""`export_model`: a model as a file for another runtime."""

import importlib

from kerata import backends
from kerata.core.errors import nearest
from kerata.export.signature import inference, input_symbols

# Modules of this package that write a format: `write(model, filepath, symbols, **options)` says what it
# wrote.
FORMATS = {
    "tf_saved_model": "saved_model_format",
    "onnx": "onnx_format",
    "openvino": "openvino_format",
    "litert": "litert_format",
    "torch": "torch_format",
}


def export_model(model, filepath, format, verbose=None, input_signature=None, **kwargs):
    """Write what a model computes at inference, with its weights, into a file that another runtime loads.

    Args:
        model: the model, on any backend.
        filepath: path of the file (`model.onnx`; `model.tflite`; for OpenVINO `model.xml`, beside which a `.bin` is put), for a
            SavedModel of the folder.
        format: `"tf_saved_model"`, `"onnx"`, `"openvino"`, `"litert"` or `"torch"` (a program of `torch.export`). The model's
            backend needn't be the format's, but SavedModels and LiteRT files need TensorFlow, programs PyTorch.
        verbose: whether to print what was written; `None`: yes.
        input_signature: for a model that doesn't declare its inputs and wasn't called yet: a structure of
            `KerasTensor`, `InputSpec` or anything else with shape and dtype. Batch sizes may be `None`.
        **kwargs: options of the format. For ONNX: `opset_version` (18 to 23, by default 18). For LiteRT: attributes of
            `tf.lite.TFLiteConverter`, such as `optimizations`, and `enable_select_tf_ops`: whether ops that LiteRT hasn't got may
            be TensorFlow's (by default where it can't be without). For PyTorch: those of `torch.export.export`.

    Raises:
        ValueError: a format or inputs that aren't known, or an op that the format can't express.
    """
    if format not in FORMATS:
        raise ValueError(
            f"export: Unrecognized format={format!r}.{nearest(format, FORMATS)} "
            f"Formats: {', '.join(repr(f) for f in FORMATS)}."
        )
    writer = importlib.import_module(f"kerata.export.{FORMATS[format]}")
    with backends.use_backend(model._backend):
        written = writer.write(model, filepath, input_symbols(model, input_signature), **kwargs)
    if verbose or verbose is None:
        print(f"Exported {model.name!r} to {str(filepath)!r} ({format}).\n{written}")


def serving_call(model):
    """`(function of the inputs, their symbols, one an argument)` of a model's inference; `None` if its inputs aren't known."""
    try:
        symbols = input_symbols(model)
    except ValueError:
        return None
    return inference(model, symbols), symbols
