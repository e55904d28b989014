"""Compiling ONNX models with ONNX Runtime.

The environment variable `KERATA_ONNXRUNTIME_PROVIDERS` names the execution providers to use, separated by
commas and the most wanted first (`CUDAExecutionProvider,CPUExecutionProvider`); by default the CPU's.
"""

import os

NAME = "onnxruntime"
# The backend whose natives compute single ops, and whose arrays variables hold.
EAGER = "numpy"
STEP = "compiled_graph"


def _providers():
    import onnxruntime

    wanted = [
        p.strip() for p in os.environ.get("KERATA_ONNXRUNTIME_PROVIDERS", "CPUExecutionProvider").split(",")
    ]
    missing = [p for p in wanted if p not in onnxruntime.get_available_providers()]
    if missing:
        raise ValueError(
            f"KERATA_ONNXRUNTIME_PROVIDERS names {', '.join(missing)}, but this ONNX Runtime has "
            f"{', '.join(onnxruntime.get_available_providers())}."
        )
    return wanted


def compile_onnx(model, names):
    """A function of NumPy arrays that runs an ONNX model.

    Args:
        model: the model's bytes, or the path of its file.
        names: names of the model's inputs.

    Returns:
        Function of one array for each input, returning the list of outputs.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Warnings are about the graph as it was before it was optimized; errors are raised.
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=_providers())
    outputs = [o.name for o in session.get_outputs()]
    run = session.run
    if len(names) == 1:
        name = names[0]
        return lambda array: run(outputs, {name: array})
    return lambda *arrays: run(outputs, dict(zip(names, arrays)))


def version():
    import onnxruntime

    return onnxruntime.__version__


def device_name():
    return os.environ.get("KERATA_ONNXRUNTIME_PROVIDERS", "CPUExecutionProvider").split(",")[0]
