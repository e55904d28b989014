"""From a function of ops to a `Model`."""

import sys

from kerata.core import tree
from kerata.graph.onnx.model import Block, Info, Model
from kerata.graph.onnx.simplify import simplify
from kerata.graph.onnx.table import COMPLEX, EMITTERS, NoOnnxForm, complete
from kerata.graph.onnx.writer import Writer
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Graph, Trace

# The oldest operator set with everything that is written here: reductions over computed axes, scatter by max
# and min.
OPSET = 18
NEWEST = 23
# Runtimes have next to no kernels for it; float32 holds all of its values.
WIDENED = {"bfloat16": "float32"}


class _Located(dict):
    """Recorded nodes; notes in which layer's call each was made."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def __setitem__(self, key, node):
        super().__setitem__(key, node)
        layer = _calling_layer()
        if layer is not None:
            self.layers[key] = layer


def _calling_layer():
    """How errors name the layer whose call is innermost on the stack."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "_run":
            where = getattr(frame.f_locals.get("self"), "_where", None)
            if where is not None:
                return where()
        frame = frame.f_back
    return None


def traced(function, inputs, layers=None, graph=False):
    """What `function` gives for symbolic `inputs`, composites that have no emitter recorded as their parts.

    Args:
        function: a callable made of ops, layers and variables.
        inputs: its arguments.
        layers: dict to note in, by `id` of the node, the layer in whose call it was made.
        graph: return the `Graph` rather than the outputs alone.
    """
    complete()
    scope = Trace(lambda op: op.name not in EMITTERS and op.name not in COMPLEX, dynamic=True)
    if layers is not None:
        scope.recorded = _Located(layers)
    with scope:
        outputs = function(*inputs)
    if not graph:
        return outputs
    flat = [t for t in tree.flatten(list(inputs)) if isinstance(t, KerasTensor)]
    found = Graph(flat, outputs, scope.placeholders.values(), scope.updated(), scope.losses)
    found.layers = layers or {}
    return found


def emit(
    graph,
    input_names=None,
    output_names=None,
    opset=OPSET,
    name="kerata",
    batch=None,
    widened=WIDENED,
    stateful=False,
):
    """The ONNX model of a graph (from `traced(..., graph=True)`), with the variables' present values in it.

    Args:
        graph: the graph.
        input_names, output_names: names, one for each tensor; made up by default.
        opset: version of the operator set.
        name: name of the ONNX graph.
        batch: name of the first dimension of inputs and outputs where it isn't known.
        widened: `{dtype: dtype}`: dtypes that are computed, and given back, as wider ones.
        stateful: variables that the graph assigns become inputs after its own, their new values outputs.

    Raises:
        NoOnnxForm: an op that ONNX can't express, or a variable that is assigned (unless `stateful`).
        ValueError: an operator set that is too old or too new.
    """
    if not OPSET <= opset <= NEWEST:
        raise ValueError(f"ONNX: `opset_version` must be from {OPSET} to {NEWEST}, not {opset}.")
    complete()
    w = Writer(opset, widened)
    w.layers = getattr(graph, "layers", {})
    assigned = {id(v): v for v, _ in graph.updates}
    if assigned and not stateful:
        paths = ", ".join(repr(v.path) for v in assigned.values())
        raise NoOnnxForm(f"ONNX models keep no state, but a call of this one assigns {paths}.")
    names = input_names or [f"input_{i}" for i in range(len(graph.inputs))]
    inputs = [_input(w, t, n, batch) for t, n in zip(graph.inputs, names, strict=True)]
    constants = []
    for variable, t in graph.variables:
        if id(variable) in assigned:
            continue
        array = variable.numpy()
        w.bind(t, w.constant(array.astype(w.widened.get(array.dtype.name, array.dtype)), variable.path))
        constants.append(variable)
    read = {id(v): t for v, t in graph.variables}
    for v in assigned.values():
        t = read[id(v)] if id(v) in read else KerasTensor(v.shape, v.dtype)
        inputs.append(_input(w, t, v.path, None))
    for node in graph.nodes:
        w.node(node)
    results = [*tree.flatten(graph.outputs), *(v for _, v in graph.updates)]
    names = [*(output_names or []), *(f"output_{i}" for i in range(len(output_names or []), len(results)))]
    outputs = []
    for r, wanted in zip(results, names, strict=True):
        _must_be_real(r)
        info = w.output(r)
        info.name = w.calls[-1].outputs[0] = w.fresh(wanted)
        if info.shape and info.shape[0] is None and batch:
            info.shape = (batch, *info.shape[1:])
        outputs.append(info)
    model = Model(Block(inputs, outputs, w.calls), w.constants, constants, opset, name)
    return simplify(model)


def _input(w, t, name, batch):
    _must_be_real(t)
    w.bind(t, w.fresh(name))
    return Info(w.names[id(t)], w.dtype(t), _named_shape(t, name, batch))


def _named_shape(t, name, batch):
    return tuple(
        d if d is not None else batch if i == 0 and batch else f"{name}_{i}" for i, d in enumerate(t.shape)
    )


def _must_be_real(t):
    if str(t.dtype).startswith("complex"):
        raise NoOnnxForm("ONNX: inputs and outputs can't be complex; take `ops.real` and `ops.imag` of them.")
