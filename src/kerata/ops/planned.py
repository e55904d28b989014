"""Composites called again and again, where ops are called one by one: a straight line of native calls takes the body's place."""

import functools
from contextlib import nullcontext

from kerata.backends.repeated import LATER, of_tensors, repeated
from kerata.core import tree
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace, trace


def planned(body, backend):
    """A composite's body, whose eager calls of a kind that comes again and again are planned."""
    return repeated(body, backend.kind_of_call, functools.partial(_plan, backend), backend.is_traced)


def where_to_plan(backend, tensors):
    """The context that a plan of an eager call with these tensors is made in; `None` where it can't be, or only for there."""
    if current_trace.get() is not None or not all(map(backend.is_concrete, tensors)):
        return None
    return backend.where_to_plan(tensors) if hasattr(backend, "where_to_plan") else nullcontext()


def _plan(backend, body, args):
    """`call(tensors)`, `None` if the call can't be planned, or `LATER`."""
    tensors, alone = [x for x in args if type(x) in backend.TYPES], getattr(backend, "VALUES_ALONE", ())
    place = where_to_plan(backend, tensors)
    if place is None:
        return LATER

    def expand(op):
        if op.name in alone:
            raise ValueError(f"{op.name} looks at values.")
        return not hasattr(backend, op.native)

    symbols = [KerasTensor(tuple(x.shape), backend.dtype_of(x)) for x in tensors]
    try:
        with place:
            graph = trace(of_tensors(body, args, backend.TYPES), *symbols, expand=expand)
            plan = Plan(graph, backend, bare=type(graph.outputs) is KerasTensor)
    except Exception:
        # It needs values.
        return None
    if not all(type(t) is KerasTensor for t in tree.flatten(graph.outputs)):
        return None
    return _caller(plan.function, None if type(graph.outputs) is KerasTensor else graph.outputs)


def _caller(function, structure):
    if structure is None:
        return lambda tensors: function(*tensors)
    return lambda tensors: tree.pack_sequence_as(structure, function(*tensors))
