"""Shapes asked of the framework: for layers of the user's own whose `call` uses its functions, which refuse symbols."""

from kerata import backends
from kerata.core import tree
from kerata.core.scopes import StatelessScope, current_stateless
from kerata.graph.tensor import KerasTensor, spec
from kerata.graph.trace import current_trace


def native_spec(function, arguments, error):
    """The `KerasTensor`s that a function gives, found by calling it on the framework's tensors without data.

    What it does to variables is dropped. (NumPy has only tensors with data.)

    Args:
        function: function of the arguments, with native tensors in place of the `KerasTensor`s.
        arguments: structure with `KerasTensor`s in it.
        error: what came of calling it on these. It's raised again if the framework's tensors fare no better, unless
            it only says that they are symbols.
    """
    b = backends.current()
    # (Backends that only run whole graphs have no such tensors.)
    if not hasattr(b, "on_shapes"):
        raise error
    box = {}

    def flat(tensors):
        rest = iter(tensors)
        box["outputs"] = outputs = function(
            tree.map_structure(lambda t: next(rest) if isinstance(t, KerasTensor) else t, arguments)
        )
        return [t for t in tree.flatten(outputs) if _is_array(t)]

    symbols = [t for t in tree.flatten(arguments) if isinstance(t, KerasTensor)]
    # The symbols' trace has nothing to do with it: variables are read as they are.
    tracing, outer = current_trace.set(None), current_stateless.set(None)
    try:
        with StatelessScope(collect_losses=True):
            found = iter(b.on_shapes(flat, [(tuple(t.shape), t.dtype) for t in symbols]))
    except Exception as native_error:
        raise (native_error if "KerasTensor" in str(error) else error) from None
    finally:
        current_stateless.reset(outer)
        current_trace.reset(tracing)
    return tree.map_structure(lambda t: spec(*next(found)) if _is_array(t) else t, box["outputs"])


def _is_array(t):
    return hasattr(t, "shape") and hasattr(t, "dtype")
