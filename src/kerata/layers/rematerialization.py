"""Rematerialization: what a layer computes on its way isn't kept for the gradient, but computed again (Chen et al., 2016)."""

import functools
import math
from contextvars import ContextVar

from kerata import backends
from kerata.core import tree
from kerata.core.errors import one_of
from kerata.core.scopes import StatelessScope, current_stateless
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Trace, current_trace
from kerata.ops.core import convert_to_tensor
from kerata.ops.differentiation import recomputed

_MODES = ("full", "activations", "larger_than", "list_of_layers", None)
# The innermost `RematScope` that's entered.
current_remat = ContextVar("kerata_remat", default=None)
# Whether what runs is computed twice already: doing so again within it would only cost time.
_within = ContextVar("kerata_within_remat", default=False)


class RematScope:
    """Layers that are made while it is entered keep less for the gradient, and compute more.

    The outermost layer made in the scope is what is computed again: of a block of layers its inputs alone are kept. Models
    aren't taken as one, since then nothing would be saved.

    Args:
        mode: `"full"`: every layer; `"activations"`: only the layers' activation functions; `"larger_than"`: layers whose
            output is larger than `output_size_threshold`; `"list_of_layers"`: those in `layer_names`; `None`: no layer.
        output_size_threshold: number of elements.
        layer_names: names of layers.

    Raises:
        ValueError: another mode.

    >>> import kerata
    >>> with kerata.RematScope("full"):
    ...     layer = kerata.layers.Dense(2, activation="relu")
    >>> tuple(layer(kerata.ops.ones((1, 3))).shape)
    (1, 2)
    """

    def __init__(self, mode="full", output_size_threshold=1024, layer_names=None):
        self.mode = one_of(mode, _MODES, "mode", "RematScope")
        self.output_size_threshold = output_size_threshold
        self.layer_names = list(layer_names or ())
        self._tokens = []

    def __enter__(self):
        self._tokens.append(current_remat.set(self))
        return self

    def __exit__(self, *exception):
        current_remat.reset(self._tokens.pop())


def remat(f):
    """A function (or layer) that keeps only its arguments for the gradient, and computes its insides again.

    Variables that it assigns (seeds, moving averages) are assigned once. On TensorFlow the variables that it reads are
    found by running it on symbols, so it has to be made of ops and layers.

    Args:
        f: function of tensors, or a layer.

    Returns:
        The function.

    >>> import kerata
    >>> @kerata.remat
    ... def squashed(x):
    ...     return kerata.ops.tanh(kerata.ops.tanh(x))
    >>> float(kerata.transforms.grad(squashed)(0.0))
    1.0
    """
    owner = f if hasattr(f, "trainable_variables") else getattr(f, "__self__", None)

    @functools.wraps(f, updated=())
    def rematerialized(*args, **kwargs):
        variables = getattr(owner, "variables", None)
        if variables is None:
            variables = _read_by(f, args, kwargs)
        return run_again(f, args, kwargs, variables)

    return rematerialized


def _read_by(f, args, kwargs):
    """The variables that a function reads, where that has to be known."""
    if not _needs_variables() or current_trace.get() is not None:
        return ()
    symbols = tree.map_structure(_symbol, [args, kwargs])
    with Trace(record=False, dynamic=True) as scope:
        f(*symbols[0], **symbols[1])
    return [variable for variable, _ in scope.placeholders.values()]


def _symbol(x):
    return KerasTensor(tuple(x.shape), backends.current().dtype_of(convert_to_tensor(x))) if hasattr(x, "shape") else x


def _needs_variables():
    return getattr(backends.current(), "RECOMPUTES_FROM_INPUTS_ALONE", False)


# ------------------------------------------------------------------ layers


def call_of(layer, bound):
    """How a layer that was made in a `RematScope` is called with these arguments."""
    scope = layer._remat
    if _within.get() or not _applies(scope, layer, bound):
        return layer.call
    if scope.mode == "activations":
        return functools.partial(_with_activation_again, layer)
    return lambda *args, **kwargs: run_again(layer.call, args, kwargs, layer.variables)


def _applies(scope, layer, bound):
    # Models are no unit: see `RematScope`. (They are a floor above; what trains is one.)
    if hasattr(layer, "train_step"):
        return False
    if scope.mode == "list_of_layers":
        return layer.name in scope.layer_names
    if scope.mode == "activations":
        return callable(getattr(layer, "activation", None)) and "activation" in layer.__dict__
    if scope.mode == "larger_than":
        return _output_size(layer, bound) > scope.output_size_threshold
    return scope.mode == "full"


def _output_size(layer, bound):
    symbols = {k: tree.map_structure(_symbol_of, v) for k, v in bound.items()}
    with Trace(record=False, dynamic=True):
        outputs = layer.call(**symbols)
    return sum(math.prod(d for d in t.shape if d is not None) for t in tree.flatten(outputs) if hasattr(t, "shape"))


def _symbol_of(x):
    return x if isinstance(x, KerasTensor) else _symbol(x)


def _with_activation_again(layer, *args, **kwargs):
    activation = layer.activation
    layer.__dict__["activation"] = remat(activation)
    try:
        return layer.call(*args, **kwargs)
    finally:
        layer.__dict__["activation"] = activation


# ------------------------------------------------------------------ the mechanism


def run_again(function, args, kwargs, variables=()):
    """`function(*args, **kwargs)`, whose insides are computed again when the gradient is taken.

    What it assigns to variables and adds to losses comes out as results, so that it does so once.
    """
    backend = backends.current()
    variables = [v for v in variables if v.trainable] if _needs_variables() else []
    leaves = tree.flatten([args, kwargs])
    at = [i for i, leaf in enumerate(leaves) if hasattr(leaf, "shape")]
    held, box = {}, {}

    def body(*flat):
        values, tensors = flat[: len(variables)], iter(flat[len(variables) :])
        given = [next(tensors) if i in at else leaf for i, leaf in enumerate(leaves)]
        args_again, kwargs_again = tree.pack_sequence_as([args, kwargs], given)
        token = _within.set(True)
        try:
            with _Remembering(held, list(zip(variables, values, strict=True))) as scope:
                outputs = function(*args_again, **kwargs_again)
        finally:
            _within.reset(token)
        started = {id(v): value for v, value in zip(variables, values, strict=True)}
        updated = [(v, value) for v, value in scope.updated() if started.get(id(v)) is not value]
        box.update(outputs=outputs, updated=[v for v, _ in updated], losses=len(scope.losses))
        return [*map(convert_to_tensor, tree.flatten(outputs)), *(value for _, value in updated), *scope.losses]

    results = list(recomputed(body, [*(v.value for v in variables), *(leaves[i] for i in at)]))
    count = len(tree.flatten(box["outputs"]))
    for variable, value in zip(box["updated"], results[count:], strict=False):
        if id(variable) in held and getattr(backend, "IN_PLACE", False) and current_stateless.get() is None:
            # The second time has to start from where the first did.
            held[id(variable)] = backend.copy(held[id(variable)])
        variable.assign(value)
    losses = results[len(results) - box["losses"] :] if box["losses"] else []
    if losses:
        owner = getattr(function, "__self__", function)
        owner.add_loss(losses)
    return tree.pack_sequence_as(box["outputs"], results[:count])


class _Remembering(StatelessScope):
    """Variables keep the values with which they were read first, the second time too."""

    def __init__(self, held, state_mapping):
        super().__init__(state_mapping, collect_losses=True)
        self.held = held

    def read(self, variable):
        value = self._values.get(id(variable))
        if value is None:
            value = self.held.get(id(variable))
        if value is None:
            value = self._outer.read(variable) if self._outer is not None else None
            if value is None:
                value = variable._native()
            self.held[id(variable)] = value
        return value
