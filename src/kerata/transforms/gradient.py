"""Gradients with respect to variables, on every training backend, eagerly, compiled and while a graph is traced."""

import functools

from kerata import backends
from kerata.core import tree
from kerata.core.scopes import StatelessScope, current_stateless
from kerata.graph.tensor import KerasTensor, spec
from kerata.graph.trace import Node, current_trace, subgraph
from kerata.ops.control import _Control
from kerata.ops.core import convert_to_tensor, stop_gradient

_Control("gradients", None)


def value_and_grad(fn, variables=None, has_aux=False):
    """A function that computes `fn` and its gradient with respect to variables.

    Variables that `fn` assigns (moving averages, metrics, seeds) get their new values, wherever it runs: eagerly, in a
    `StatelessScope`, in `transforms.jit`, in `fit`.

    Args:
        fn: function returning a scalar, or `(scalar, aux)` with `has_aux`.
        variables: list of `Variable`s to differentiate by, or one. `None`: by `fn`'s first argument (a structure of
            tensors) instead.
        has_aux: whether `fn` returns something besides the scalar.

    Returns:
        Function of `fn`'s arguments returning `(value, gradients)`, gradients in the structure of `variables`.
        With `has_aux`, the value is `(scalar, aux)`.

    Raises:
        ValueError: the backend has no gradients (NumPy, OpenVINO, ONNX Runtime), or `fn` returns no scalar.

    >>> import kerata
    >>> v = kerata.Variable(3.0)
    >>> value, g = kerata.transforms.value_and_grad(lambda: v * v, v)()
    >>> float(value), float(g)
    (9.0, 6.0)
    """

    @functools.wraps(fn)
    def differentiated(*args, **kwargs):
        if variables is None:
            if not args:
                raise ValueError("value_and_grad: without `variables`, `fn` needs an argument to differentiate by.")
            point = tree.map_structure(convert_to_tensor, args[0])
            rest = args[1:]
            return _differentiate(lambda p: fn(p, *rest, **kwargs), point, (), has_aux)
        return _differentiate(lambda _: fn(*args, **kwargs), variables, tree.flatten(variables), has_aux)

    return differentiated


def sparse_value_and_grad(fn, variables):
    """`value_and_grad` with an auxiliary result, for an optimizer: on TensorFlow gradients of lookups may have few rows (not public)."""
    return lambda: _differentiate(lambda _: fn(), variables, tree.flatten(variables), True, sparse=True)


def grad(fn, variables=None, has_aux=False):
    """Like `value_and_grad`, but the function returns the gradients alone (with `has_aux`: `(gradients, aux)`).

    >>> import kerata
    >>> float(kerata.transforms.grad(lambda x: x * x)(3.0))
    6.0
    """
    both = value_and_grad(fn, variables, has_aux)

    @functools.wraps(fn)
    def differentiated(*args, **kwargs):
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return differentiated


def _differentiate(function, by, variables, has_aux, sparse=False):
    """Common part: `by` is a structure of variables, or of tensors (then `variables` is empty)."""
    b = backends.current()
    if b.NAME not in backends.TRAINING:
        raise ValueError(
            f"The backend {b.NAME!r} computes no gradients. Train on {', '.join(backends.TRAINING)}: "
            'kerata.config.set_backend("jax").'
        )
    params = [v.value for v in variables] if variables else tree.flatten(by)
    # (With nothing to differentiate by, as when all is frozen, a trace still wants the loss as a node.)
    if current_trace.get() is not None and (not params or any(isinstance(p, KerasTensor) for p in params)):
        loss, aux, gradients = _symbolic(function, by, variables, params, has_aux)
    else:
        loss, aux, gradients = _native(b, function, by, variables, params, has_aux, sparse)
    gradients = tree.pack_sequence_as(by, gradients)
    return ((loss, aux), gradients) if has_aux else (loss, gradients)


def _native(b, function, by, variables, params, has_aux, sparse):
    touched, outer = [], current_stateless.get()

    def pure(params):
        mapping = list(zip(variables, params, strict=True)) if variables else []
        with StatelessScope(mapping, collect_losses=True) as scope:
            result = function(None if variables else tree.pack_sequence_as(by, params))
        loss, aux = result if has_aux else (result, None)
        loss = _scalar(loss)
        given = {id(v): value for v, value in mapping}
        updates = [(v, value) for v, value in scope.updated() if given.get(id(v)) is not value]
        touched[:] = [v for v, _ in updates]
        # Losses noted inside belong to the scope outside, if that keeps them.
        return loss, (aux, [b.stop_gradient(value) for _, value in updates])

    value_and_grad = getattr(b, "sparse_value_and_grad", b.value_and_grad) if sparse else b.value_and_grad
    (loss, (aux, values)), gradients = value_and_grad(pure)(params)
    for variable, value in zip(touched, values, strict=True):
        if outer is not None:
            outer.add_update((variable, value))
        else:
            variable.assign(value)
    return loss, aux, list(gradients)


def _symbolic(function, by, variables, params, has_aux):
    inputs = [spec(tuple(p.shape), p.dtype) for p in params]
    box = {}

    def body(*fresh):
        result = function(None if variables else tree.pack_sequence_as(by, list(fresh)))
        loss, aux = result if has_aux else (result, None)
        box["aux"] = aux
        return [_scalar(loss), *[t for t in tree.flatten(aux) if _is_tensor(t)]]

    graph = subgraph(body, inputs, state_mapping=list(zip(variables, inputs, strict=True)))
    # `add_loss` values are part of the loss already; they aren't results of their own.
    graph.losses = []
    outputs = [
        spec(tuple(r.shape), r.dtype) if isinstance(r, KerasTensor) else _constant_spec(r) for r in graph.results
    ]
    n_aux = len(graph.outputs) - 1
    results = [*outputs, *(spec(tuple(p.shape), p.dtype) for p in params)]
    from kerata.ops.declare import REGISTRY

    Node(REGISTRY["gradients"], (graph, list(params)), None, results)
    scope = current_trace.get()
    for (variable, _), value in zip(graph.updates, outputs[1 + n_aux :], strict=True):
        scope.add_update((variable, stop_gradient(value)))
    flat_aux = iter(outputs[1 : 1 + n_aux])
    aux = tree.map_structure(lambda t: next(flat_aux) if _is_tensor(t) else t, box["aux"])
    return outputs[0], aux, results[len(outputs) :]


def _is_tensor(t):
    return isinstance(t, KerasTensor) or backends.current().is_tensor(t)


def _constant_spec(value):
    b = backends.current()
    return spec(tuple(value.shape), b.dtype_of(value))


def _scalar(loss):
    loss = loss if hasattr(loss, "shape") else convert_to_tensor(loss)
    if type(loss).__name__ == "Variable":
        loss = loss.value
    if len(loss.shape):
        raise ValueError(
            f"value_and_grad: the function must return a scalar, but returned the shape {tuple(loss.shape)}."
        )
    return loss
