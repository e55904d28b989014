"""A graph of ops as an ONNX model: one emitter for each primitive, composites by their parts.

`emit` writes a traced graph into a `Model` (plain Python objects), `simplify` takes out what is superfluous,
`proto` makes ONNX's own messages of it; only the last needs the package `onnx`.
"""

from kerata.core import lazy

_NAMES = {
    "emission": ["emit", "traced"],
    "model": ["Model"],
    "table": ["EMITTERS", "NoOnnxForm"],
    "proto": ["save", "serialized"],
}

__getattr__, __dir__, __all__ = lazy.attach(__name__, _NAMES)
