"""Branches and loops, with their bodies as blocks."""

import numpy as np

from kerata.graph.onnx.model import Block, Info
from kerata.graph.onnx.table import emits


def _listed(result):
    return [result] if type(result) is str else result


@emits("cond")
def _cond(w, out, pred, true_graph, false_graph):
    branches = {"then_branch": w.block(true_graph), "else_branch": w.block(false_graph)}
    return _listed(w.op("If", pred, outputs=len(true_graph.outputs), **branches))


@emits("switch")
def _switch(w, out, index, graphs, operands):
    for graph in graphs:
        for inner, outer in zip(graph.inputs, operands):
            w.bind(inner, w.name(outer))
    return _one_of(w, w.cast(w.name(index), w.dtype(index), "int32"), graphs, 0)


def _one_of(w, at, graphs, first):
    """`If` for a branch, the rest in its other branch; numbers beyond the ends are those of the ends."""
    graph = graphs[first]
    if first == len(graphs) - 1:
        w.nodes(graph)
        return [w.name(t) for t in graph.outputs]
    with w.inside():
        w.nodes(graph)
        this = Block([], [w.output(t) for t in graph.outputs], w.calls)
    with w.inside():
        names = _one_of(w, at, graphs, first + 1)
        infos = [Info(w.op("Identity", n), w.dtype(t), t.shape) for n, t in zip(names, graph.outputs)]
        rest = Block([], infos, w.calls)
    chosen = w.op("LessOrEqual", at, w.name(first, "int32"))
    return _listed(w.op("If", chosen, outputs=len(graph.outputs), then_branch=this, else_branch=rest))


@emits("with_gradient")
def _with_gradient(w, out, graph, backward, inputs):
    return _inlined(w, graph, inputs)


@emits("recomputed")
def _recomputed(w, out, graph, inputs):
    return _inlined(w, graph, inputs)


def _inlined(w, graph, inputs):
    for inner, outer in zip(graph.inputs, inputs):
        w.bind(inner, w.name(outer))
    w.nodes(graph)
    return [w.name(t) for t in graph.outputs]


@emits("while_loop")
def _while_loop(w, out, cond_graph, body_graph, loop_vars, maximum_iterations):
    initial = [w.name(v) for v in loop_vars]
    # The condition is written twice: for the start here, and for going on inside the body.
    with w.inside():
        first = _condition(w, cond_graph, loop_vars)
        calls = w.calls
    w.calls.extend(calls)
    going = [Info(w.fresh("round"), "int64", ()), Info(w.fresh("going"), "bool", ())]
    body = w.block(
        body_graph, going, [lambda: w.output(_condition(w, cond_graph, body_graph.outputs, named=False))]
    )
    most = None if maximum_iterations is None else w.constant(np.asarray(int(maximum_iterations), np.int64))
    return _listed(w.op("Loop", most, first, *initial, outputs=len(initial), body=body))


def _condition(w, graph, values, named=True):
    for inner, value in zip(graph.inputs, values):
        w.bind(inner, w.name(value))
    w.nodes(graph)
    return w.name(graph.outputs) if named else graph.outputs


@emits("scan")
def _scan(w, out, graph, carries, slices, length, reverse, unroll):
    if length == 0:
        ys = graph.outputs[len(carries) :]
        return [
            *map(w.name, carries),
            *(w.op("Expand", w.name(0, w.dtype(y)), w.dims([0, *_known(y)])) for y in ys),
        ]
    xs, body = [w.name(x) for x in slices], w.block(graph)
    if not xs:
        # Something must be scanned over.
        body.inputs.append(Info(w.fresh("round"), "int32", ()))
        xs = [w.constant(np.arange(length, dtype=np.int32))]
    ys = len(graph.outputs) - len(carries)
    direction = int(bool(reverse))
    result = w.op(
        "Scan",
        *[w.name(c) for c in carries],
        *xs,
        outputs=len(graph.outputs),
        body=body,
        num_scan_inputs=len(xs),
        scan_input_directions=[direction] * len(xs),
        scan_output_directions=[direction] * ys if ys else None,
    )
    return _listed(result)


def _known(y):
    return [0 if d is None else d for d in y.shape]
