"""Functions with gradients of their own, and functions whose insides are computed twice rather than kept."""

import functools
from contextvars import copy_context

from kerata import backends
from kerata.backends import gradients
from kerata.core import tree
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace
from kerata.ops.control import _Control, _flat, _fresh, _node, _subgraph
from kerata.ops.core import convert_to_tensor
from kerata.ops.declare import _unwrap

_Control("with_gradient", None)
_Control("recomputed", None)


def custom_gradient(f):
    """Give a function its own gradient.

    Args:
        f: `f(*args)` returning `(output, grad_fn)`; `grad_fn(*args, upstream=gradient)` (or
            `grad_fn(upstream)`) returns the gradients of the arguments.

    Returns:
        The function of `*args` that computes `output` and is differentiated by `grad_fn`.

    >>> from kerata import ops
    >>> @ops.custom_gradient
    ... def double_but_flat(x):
    ...     return x * 2, lambda *args, upstream=None: ops.zeros_like(upstream)
    >>> float(double_but_flat(ops.convert_to_tensor(3.0)))
    6.0
    """

    @functools.wraps(f, updated=())
    def wrapped(*args, **kwargs):
        b = backends.current()
        args = [_unwrap(b, a) for a in args]
        if any(isinstance(a, KerasTensor) for a in tree.flatten([args, kwargs])):
            trace = current_trace.get()
            if trace is None or not trace.record:
                # Put together by hand, or for the shapes alone: the ops in it are what counts.
                return f(*args, **kwargs)[0]
            return _traced(functools.partial(f, **kwargs), args)
        return b.custom_gradient(_in_context(f))(*args, **kwargs)

    wrapped.__wrapped__ = f
    return wrapped


def _in_context(f):
    """`f`, whose gradient function runs in the scopes of the call, which may be left when the gradient is taken."""

    def kept(*args, **kwargs):
        output, grad_fn = f(*args, **kwargs)
        context = copy_context()

        @functools.wraps(grad_fn)
        def grad(*args, **kwargs):
            return context.copy().run(grad_fn, *args, **kwargs)

        return output, grad

    return kept


def _traced(f, args):
    """A node with two sub-graphs: the function, and the gradients as a function of arguments and upstream.

    What the gradient needs of the function's insides it computes anew.
    """
    at = [i for i, a in enumerate(args) if hasattr(a, "shape")]
    inputs = [convert_to_tensor(args[i]) for i in at]
    box = {}

    def call(fresh):
        given = list(args)
        for i, value in zip(at, fresh, strict=True):
            given[i] = value
        return given, f(*given)

    def forward(*fresh):
        box["output"] = call(fresh)[1][0]
        return _flat(box["output"])

    graph = _subgraph(forward, _fresh(inputs))
    structure = box["output"]

    def backward(*flat):
        given, (_, grad_fn) = call(flat[: len(inputs)])
        upstream = tree.pack_sequence_as(structure, list(flat[len(inputs) :]))
        found = gradients.call(grad_fn, given, upstream)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(found) == len(args):
            found = [found[i] for i in at]
        return [_or_zeros(g, x) for g, x in zip(found, flat, strict=False)]

    fresh = [*_fresh(inputs), *_fresh(graph.outputs)]
    back = _subgraph(backward, fresh)
    return _node("with_gradient", (graph, back, list(inputs)), graph.outputs, structure)


def _or_zeros(gradient, x):
    from kerata.ops.creation import zeros_like

    return zeros_like(x) if gradient is None else convert_to_tensor(gradient)


def recomputed(function, inputs):
    """`function(*inputs)`, whose insides aren't kept for the gradient but computed again when it is taken.

    Args:
        function: of tensors, returning a list of tensors. It must do nothing but compute: no variable is assigned in it.
            Gradients flow to the inputs (on TensorFlow to them alone).
        inputs: list of tensors.

    Returns:
        List of tensors.
    """
    inputs = [convert_to_tensor(x) for x in inputs]
    if any(isinstance(x, KerasTensor) for x in inputs):
        trace = current_trace.get()
        if trace is None or not trace.record:
            return function(*inputs)
        graph = _subgraph(lambda *flat: [convert_to_tensor(v) for v in function(*flat)], _fresh(inputs))
        return _node("recomputed", (graph, list(inputs)), graph.outputs, list(graph.outputs))
    # The second time may come when the scopes of the call are long left.
    context = copy_context()
    return backends.current().recomputed(lambda *flat: context.copy().run(function, *flat), inputs)
