"""Compiling ONNX models with OpenVINO.

Two environment variables say how, read when a model is compiled:

- `KERATA_OPENVINO_PRECISION`: precision of the computation, by default `f32`. With `bf16` or `f16` OpenVINO
  computes in half precision where the device does so faster; with `auto` it chooses, which is half precision
  on many processors.
- `KERATA_OPENVINO_DEVICE`: device, by default `CPU`.
"""

import functools
import os
import threading

NAME = "openvino"
# The backend whose natives compute single ops, and whose arrays variables hold.
EAGER = "numpy"
STEP = "compiled_graph"
PRECISIONS = ("f32", "bf16", "f16", "auto")


@functools.cache
def _core():
    import openvino

    return openvino.Core()


def _options():
    precision = os.environ.get("KERATA_OPENVINO_PRECISION", "f32")
    if precision not in PRECISIONS:
        raise ValueError(
            f"KERATA_OPENVINO_PRECISION must be one of {', '.join(PRECISIONS)}, but it's {precision!r}."
        )
    options = {"PERFORMANCE_HINT": "LATENCY"}
    return options if precision == "auto" else options | {"INFERENCE_PRECISION_HINT": precision}


def compile_onnx(model, names):
    """A function of NumPy arrays that runs an ONNX model.

    Args:
        model: the model's bytes, or the path of its file.
        names: names of the model's inputs.

    Returns:
        Function of one array for each input, returning the list of outputs.
    """
    device = os.environ.get("KERATA_OPENVINO_DEVICE", "CPU")
    network = _core().read_model(model)
    # Inputs that nothing depends on are dropped.
    kept = [names.index(t.get_any_name()) for t in network.inputs]
    return _Compiled(_core().compile_model(network, device, _options()), kept)


class _Compiled:
    """Calls of a compiled model: a request of its own for each thread, inputs given without copying them."""

    def __init__(self, compiled, kept):
        from openvino import Tensor

        self.tensor = Tensor
        self.compiled, self.kept = compiled, list(enumerate(kept))
        self.count = len(compiled.outputs)
        self.local = threading.local()

    def __call__(self, *arrays):
        request = getattr(self.local, "request", None)
        if request is None:
            request = self.local.request = self.compiled.create_infer_request()
        for i, n in self.kept:
            array = arrays[n]
            request.set_input_tensor(i, self.tensor(array, shared_memory=bool(array.size)))
        request.start_async()
        request.wait()
        return [request.get_output_tensor(i).data.copy() for i in range(self.count)]


def version():
    import openvino

    return openvino.__version__


def device_name():
    return os.environ.get("KERATA_OPENVINO_DEVICE", "CPU").lower()
