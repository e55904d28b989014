"""`keras.models`."""

from kerata.core.lazy import attach

__getattr__, __dir__, _loaded = attach(
    __name__,
    {
        "model": ["Model"],
        "sequential": ["Sequential"],
        "functional": ["Functional"],
        "function": ["Function"],
        "cloning": ["clone_model"],
        "kerata.saving": ["load_model", "save_model"],
        "reading": ["model_from_json"],
    },
)
__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]
