"""Functions of one backend as plans of another."""

from kerata import backends
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Graph, topological, trace


def plan_for(b, function, symbols):
    """The plan, for the backend `b`, of what a function of symbols does on the current backend. Losses are left out."""
    graph = trace(function, *symbols, expand=lambda op: not hasattr(b, op.native), dynamic=True)
    graph.losses = []
    source = backends.current()
    if source is not b:
        _constants_to_host(graph, source)
    return Plan(graph, b)


def _constants_to_host(graph, source):
    """Tensors that the function took as they are become arrays, which a plan makes into constants of its own backend."""
    graph.outputs = _on_host(graph.outputs, source)
    graph.updates = [(variable, _on_host(value, source)) for variable, value in graph.updates]
    ends = [t for t in graph.results if isinstance(t, KerasTensor)]
    for node in topological(ends, stop=[*graph.inputs, *graph.captures]):
        node.args = _on_host(node.args, source)
        if node.kwargs:
            node.kwargs = _on_host(node.kwargs, source)


def _on_host(value, source):
    if isinstance(value, KerasTensor):
        return value
    if isinstance(value, Graph):
        _constants_to_host(value, source)
        return value
    if type(value) in (list, tuple):
        return type(value)(_on_host(v, source) for v in value)
    if type(value) is dict:
        return {k: _on_host(v, source) for k, v in value.items()}
    return source.to_numpy(value) if source.is_concrete(value) else value
