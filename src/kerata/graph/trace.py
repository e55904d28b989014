"""Nodes, and tracing a function of ops into a `Graph`."""

import itertools
import operator
from contextlib import contextmanager

from kerata.core import tree
from kerata.core.scopes import StatelessScope, current_autocast, current_stateless
from kerata.core.slots import Slot
from kerata.graph.tensor import KerasTensor, spec

# The `Trace` that ops record into; `None` while a Functional model is being put together by hand.
current_trace = Slot("trace")


_numbers = itertools.count()
_number = operator.attrgetter("number")


class Node:
    """One call: an op or a layer, its arguments with `KerasTensor`s in them, and what came out.

    Attributes:
        op: an `Op`, or a layer or other operation.
        args, kwargs: arguments as given.
        outputs: list of the `KerasTensor`s that it made.
    """

    __slots__ = ("args", "kwargs", "number", "op", "outputs", "structure")

    def __init__(self, op, args, kwargs, result):
        self.op = op
        self.args = args
        self.kwargs = kwargs
        self.number = next(_numbers)
        scope = current_trace.get()
        if scope is not None:
            scope.recorded[id(self)] = self
        if type(result) is KerasTensor:
            result.node = self
            self.outputs = (result,)
            self.structure = None
        else:
            self.structure = result
            self.outputs = tuple(t for t in tree.flatten(result) if isinstance(t, KerasTensor))
            for i, tensor in enumerate(self.outputs):
                tensor.node, tensor.index = self, i

    @property
    def inputs(self):
        """The `KerasTensor`s among the arguments, in order."""
        found = []
        _collect(self.args, found)
        if self.kwargs:
            _collect(self.kwargs.values(), found)
        return found

    def __repr__(self):
        return f"<Node {self.op.name}: {', '.join(str(t.shape) for t in self.outputs)}>"


def _collect(values, found):
    for value in values:
        if isinstance(value, KerasTensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            _collect(value, found)
        elif isinstance(value, dict):
            _collect([value[k] for k in sorted(value, key=str)], found)
        elif isinstance(value, Graph):
            found.extend(value.captures)
        elif isinstance(value, slice):
            _collect((value.start, value.stop, value.step), found)


class Trace(StatelessScope):
    """Records the ops of a block; variables read as placeholders, assignments become outputs.

    Args:
        expand: `expand(op) -> bool`: whether a composite is recorded as the ops in it.
        record: `False`: only shapes and dtypes are wanted, nothing is kept.
        dynamic: dimensions not known are read by `ops.shape` as scalars computed when the graph
            runs; `False`: reading one raises `NeedsShape`.
        parent: for a sub-graph, the trace that variables are read from.
        state_mapping: for a sub-graph that may assign variables: their values on entry.
        in_place: nodes may change variables' values in place (an optimizer's fused kernel).
    """

    def __init__(
        self, expand=lambda op: True, record=True, dynamic=False, parent=None, state_mapping=None, in_place=False
    ):
        self.parent, self.local = parent, state_mapping is not None
        super().__init__(state_mapping, collect_losses=True)
        self.expand = expand
        self.record = record
        self.dynamic = dynamic
        self.in_place = in_place
        self.placeholders = {}
        self.recorded = {}
        self._trace_tokens = []

    def read(self, variable):
        value = self._values.get(id(variable))
        if value is None and self.parent is not None:
            return self.parent.read(variable)
        if value is None:
            entry = self.placeholders.get(id(variable))
            if entry is None:
                entry = (variable, spec(tuple(variable.shape), variable.dtype))
                self.placeholders[id(variable)] = entry
            value = entry[1]
        return value

    def get_current_value(self, variable):
        return self.read(variable)

    def add_update(self, update):
        if self.parent is not None and not self.local:
            raise RuntimeError(
                f"Variable {update[0].path!r} is assigned inside a branch or loop body while a graph is traced. "
                "Return the new value from the branch and assign it outside."
            )
        super().add_update(update)

    def __enter__(self):
        self._trace_tokens.append(current_trace.set(self))
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        current_trace.reset(self._trace_tokens.pop())


class NeedsShape(Exception):
    """A traced function asked for a dimension that isn't known."""


class Graph:
    """A traced function.

    Attributes:
        inputs: list of `KerasTensor`s, in call order.
        outputs: nested structure of `KerasTensor`s and constants.
        variables: `[(Variable, KerasTensor), …]` that it reads.
        updates: `[(Variable, KerasTensor or constant), …]` that it assigns.
        losses: what `add_loss` got.
        captures: for a sub-graph, the outer tensors that it uses.
    """

    def __init__(self, inputs, outputs, variables=(), updates=(), losses=()):
        self.inputs = list(inputs)
        self.outputs = outputs
        self.variables = list(variables)
        self.updates = list(updates)
        self.losses = list(losses)
        self.captures = []

    @property
    def results(self):
        """Flat list of everything computed: outputs, updated values, losses."""
        return [*tree.flatten(self.outputs), *(v for _, v in self.updates), *self.losses]

    @property
    def nodes(self):
        """The nodes that the results need, each after those it depends on."""
        return topological([r for r in self.results if isinstance(r, KerasTensor)], stop=self.inputs)


def topological(outputs, stop=()):
    """Nodes that lead to `outputs`, in the order in which they were made: one in which they can run."""
    done = {id(t.node) for t in stop if t.node is not None}
    found = []
    todo = [t.node for t in outputs if t.node is not None]
    while todo:
        node = todo.pop()
        if id(node) not in done:
            done.add(id(node))
            found.append(node)
            todo.extend(t.node for t in node.inputs if t.node is not None)
    found.sort(key=_number)
    return found


def trace(function, *inputs, expand=lambda op: True, dynamic=False, in_place=False, autocast=None, **kwargs):
    """Run `function` on symbolic inputs and return the `Graph` of what it did.

    Args:
        function: a callable made of ops, layers and variables.
        *inputs: nested structures with `KerasTensor`s as the tensors.
        expand: which composites are recorded as their parts; by default all.
        dynamic, in_place: see `Trace`.
        autocast: dtype that floating variables are read as, or `None`.
    """
    with Trace(expand, dynamic=dynamic, in_place=in_place) as scope:
        token = current_autocast.set(autocast)
        try:
            outputs = function(*inputs, **kwargs)
        finally:
            current_autocast.reset(token)
    flat = [t for t in tree.flatten(list(inputs)) if isinstance(t, KerasTensor)]
    return Graph(flat, outputs, scope.placeholders.values(), scope.updated(), scope.losses)


def subgraph(function, inputs, state_mapping=None):
    """Trace a branch or loop body as part of the trace in force; outer tensors that it uses are its captures.

    With a `state_mapping` the body may assign variables: `updates` of the graph.
    """
    outer = current_trace.get()
    scope = Trace(outer.expand, record=outer.record, dynamic=outer.dynamic, parent=outer, state_mapping=state_mapping)
    with scope:
        outputs = function(*inputs)
    given = {id(v): value for v, value in state_mapping or ()}
    updates = [(v, value) for v, value in scope.updated() if given.get(id(v)) is not value]
    graph = Graph(inputs, outputs, updates=updates, losses=scope.losses)
    graph.captures = _captures(graph, scope.recorded)
    return graph


def _captures(graph, recorded):
    """Tensors from outside that a sub-graph uses: neither its inputs nor made by a node recorded in it."""
    own = {id(t) for t in graph.inputs}
    found, seen = {}, set()
    todo = [t for t in graph.results if isinstance(t, KerasTensor)]
    while todo:
        tensor = todo.pop()
        if id(tensor) in own or id(tensor) in seen:
            continue
        seen.add(id(tensor))
        if tensor.node is None or id(tensor.node) not in recorded:
            found[id(tensor)] = tensor
        else:
            todo.extend(tensor.node.inputs)
    return list(found.values())


@contextmanager
def untraced():
    """Within the block no trace, scope of variables or autocast is in force: for building models inside a traced call."""
    tokens = current_trace.set(None), current_stateless.set(None), current_autocast.set(None)
    try:
        yield
    finally:
        current_trace.reset(tokens[0])
        current_stateless.reset(tokens[1])
        current_autocast.reset(tokens[2])
