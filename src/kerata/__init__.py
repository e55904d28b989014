"""Kerata: Keras 3's API on JAX, PyTorch and TensorFlow, and on OpenVINO and ONNX Runtime for inference.

    import kerata as keras
"""

from kerata.core.lazy import attach
from kerata.version import __version__, version

_SUBMODULES = (
    "activations",
    "backend",
    "callbacks",
    "config",
    "constraints",
    "distillation",
    "dtype_policies",
    "export",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "ops",
    "optimizers",
    "quantizers",
    "random",
    "regularizers",
    "saving",
    "transforms",
    "tree",
    "utils",
)

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "core.names": ["name_scope"],
        "core.scopes": ["StatelessScope"],
        "dtype_policies": ["DTypePolicy", "FloatDTypePolicy"],
        "graph.symbolic_scope": ["SymbolicScope"],
        "graph.tensor": ["KerasTensor"],
        "initializers": ["Initializer"],
        "layers": ["Input", "InputSpec", "Layer"],
        "layers.operation": ["Operation"],
        "layers.rematerialization": ["RematScope", "remat"],
        "losses": ["Loss"],
        "metrics": ["Metric"],
        "models": ["Function", "Model", "Sequential"],
        "optimizers": ["Optimizer"],
        "quantizers": ["Quantizer"],
        "regularizers": ["Regularizer"],
        "backend": ["device"],
        "state.variable": ["Variable"],
    },
    _SUBMODULES,
)
__all__ = [*__all__, "__version__", "version"]
