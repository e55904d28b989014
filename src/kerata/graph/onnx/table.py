"""The table of emitters: how each primitive, and some composites, is written in ONNX operators."""

import functools

EMITTERS = {}
# The same for nodes that take or give complex tensors.
COMPLEX = {}


class NoOnnxForm(ValueError):
    """An op that ONNX can't express."""


def emits(*names):
    """Register the emitter of ops: `emitter(w, out, *args)`.

    `w` is the `Writer`, `out` the (first) `KerasTensor` that the node makes, `args` are the node's own:
    natives' canonical arguments. It returns the name of the result, or a list of names. A composite's may
    return `NotImplemented`: then the body is written instead.
    """

    def register(function):
        for name in names:
            EMITTERS[name] = function
        return function

    return register


def emits_complex(*names):
    """Register the emitter of ops on complex tensors."""

    def register(function):
        COMPLEX.update(dict.fromkeys(names, function))
        return function

    return register


def emits_each(kinds):
    """Register a family: `{op: ONNX operator}`; the emitter is called as `emitter(kind, w, out, *args)`."""

    def register(function):
        for name, kind in kinds.items():
            EMITTERS[name] = functools.partial(function, kind)
        return function

    return register


def lowers(*names):
    """Register ops that are written in other ops: a function of the natives' arguments, traced where it is
    needed.
    """

    def register(function):
        for name in names:
            EMITTERS[name] = functools.partial(_inlined, function)
        return function

    return register


def _inlined(function, w, out, *args):
    return w.inline(function, args)


_ROOMS = (
    "elementwise", "reduction", "shape", "indexing", "creation", "linalg", "fourier", "nn", "recurrent",
    "control",
)  # fmt: skip


@functools.cache
def complete():
    """The whole table, its rooms imported."""
    import importlib

    for room in _ROOMS:
        importlib.import_module(f"kerata.graph.onnx.{room}")
    return EMITTERS
