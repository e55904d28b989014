"""Quick calls: eager calls of a layer without deciding anew what was decided for calls like them.

Most eager calls of a built layer get what they got the last time: native tensors of the same shapes and dtypes, without masks. A
layer of the library remembers its calls by these. If there's nothing to do around `call`, a call of a known kind goes straight
to it; and a kind that comes again and again becomes a plan: the layer, and those in it, as a straight line of native calls.
"""

from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType

from kerata import backends
from kerata.core import dtypes, tree
from kerata.core.changes import changes
from kerata.core.masks import get_mask
from kerata.core.scopes import current_autocast, current_stateless
from kerata.core.slots import Slot, mirror
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Trace, trace
from kerata.layers.call import current_call, signature_of
from kerata.ops.planned import where_to_plan

# Kinds remembered by one layer at a time, and after how many it's clear that they are too various for plans.
_MOST, _VARIOUS = 64, 256
# The call at which a kind is planned. Planning costs some dozen calls' worth of what it saves.
_PATIENCE = 16
# Arguments besides tensors that a kind is told by.
_PLAIN = frozenset({bool, int, float, str, type(None)})
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)

# Never set. Compilers of Python code read the mirror in its place, and are told by it that they do.
_compiled = Slot("compiled")
mirror.compiled = True
_selected, _autocast, _stateless = backends.selected.get, current_autocast.get, current_stateless.get
_context, _compiling = current_call.get, _compiled.get


class _Kind:
    """Calls with one kind of arguments.

    Attributes:
        direct: whether they may go straight to `call`.
        count: how many there were; `None`: they aren't to be planned.
        plan: the function that they became, or `None`.
        variables: whose values it takes after the inputs.
        changes: count of changes to layers at which it was made.
        structure: of the outputs, if they are more than a tensor.
        stored: whether it may be called with what's stored of the variables.
        bound: whether it has that already, as defaults of its parameters, or reads it: objects that stay the same.
    """

    __slots__ = ("bound", "changes", "count", "direct", "plan", "stored", "structure", "variables")

    def __init__(self, direct, count):
        self.direct, self.count, self.plan = direct, count, None

    def settle(self, plan, backend):
        """Go by this `Plan` from now on."""
        self.plan, self.variables, self.changes = plan.function, plan.variables, changes.count
        self.structure = None if type(plan.structure) is KerasTensor else plan.structure
        self.stored = self.structure is None and all(v._in_hand and v._backend is backend for v in plan.variables)
        self.bound = self.stored and backend.IN_PLACE
        if self.bound:
            self.plan.__defaults__ = tuple(v.storage for v in plan.variables)
        elif (
            hasattr(backend, "reading")
            and self.structure is None
            and all(v._backend is backend for v in plan.variables)
        ):
            self.plan = backend.reading(plan.function, len(plan.graph.inputs), [v.storage for v in plan.variables])
            self.bound = True


class QuickCalls:
    """The kinds of calls of one layer.

    Attributes:
        kinds: `{key: _Kind}`.
        direct, planned: whether calls may go straight to `call`, and whether they may be planned.
        dtype: the layer's compute dtype.
        autocast: what its variables are read as: that dtype, which they have anyway, or `None`.
        straight: `straight(layer, args, kwargs)`: the call, which is first compared with the kind planned that came last.
    """

    __slots__ = (
        "autocast", "direct", "dtype", "kinds", "noted", "phased", "planned", "straight", "takes_training", "training",
    )  # fmt: skip

    def __init__(self, layer, direct, planned):
        signature = signature_of(type(layer).call)
        self.kinds, self.noted = {}, 0
        self.direct, self.planned = direct, planned
        self.dtype = layer.compute_dtype
        self.autocast = self.dtype if layer.autocast else None
        self.takes_training, self.training = signature.takes_training, signature.training_default
        self.phased = self.takes_training or bool(layer._layers)
        self.straight = self.by_key

    def by_key(self, layer, args, kwargs):
        """The outputs, or `NotImplemented` when the call must go the ordinary way."""
        backend = _selected() or backends.process.backend
        if len(args) == 1 and not kwargs:
            x = args[0]
            if type(x) not in backend.TYPES or get_mask(x) is not None:
                return NotImplemented
            key = (x.shape, x.dtype, self.phase() if self.phased else None)
        else:
            key = self.key(backend.TYPES, args, kwargs)
        kind = self.kinds.get(key)
        if kind is None:
            return NotImplemented
        try:
            plan = kind.plan
            if plan is None or _compiling():
                return self.unplanned(kind, layer, backend, key, args, kwargs)
            if kind.changes == changes.count and not kwargs and _stateless() is None:
                if kind.bound and not (changes.lent or changes.swapped):
                    self.straight = _straight(self, kind, backend, args, key[-1])
                    return plan(*args)
                if kind.stored:
                    values = [v._storage if v._lender is None else v._native() for v in kind.variables]
                    return plan(*args, *values)
            return self.run(kind, backend, args, kwargs)
        except Exception:
            # The ordinary way fails again, and says what about.
            kind.plan = kind.count = None
            return NotImplemented

    def phase(self):
        context = _context()
        training = None if context is None else context.training
        return self.training if training is None else training

    def key(self, types, args, kwargs):
        """What a call's kind is known by; `None` if it has none."""
        key = []
        for x in args:
            if type(x) not in types or get_mask(x) is not None:
                return None
            key += x.shape, x.dtype
        training = self.phase() if self.phased else None
        for name, value in kwargs.items():
            if name == "training":
                training = training if value is None else value
            elif type(value) in _PLAIN:
                key += name, value
            elif type(value) in types and get_mask(value) is None:
                key += name, value.shape, value.dtype
            else:
                return None
        return (*key, training)

    def call(self, layer, x, training):
        """Straight to the layer's `call`."""
        autocast = _autocast()
        if autocast is not None and autocast != self.autocast:
            return NotImplemented
        return layer.call(x, training=training) if self.takes_training else layer.call(x)

    def unplanned(self, kind, layer, backend, key, args, kwargs):
        """A call of a kind without a plan, which may get one by it."""
        if kind.count is not None and not _compiling():
            self.count(kind, layer, backend, key, args, kwargs)
            if kind.plan is not None:
                return self.run(kind, backend, args, kwargs)
        return self.call(layer, args[0], key[-1]) if kind.direct else NotImplemented

    def run(self, kind, backend, args, kwargs):
        """A planned call, wherever it is made."""
        if kind.changes != changes.count:
            # A layer in it may be another now.
            kind.plan, kind.count = None, 0
            return NotImplemented
        scope = _stateless()
        if isinstance(scope, Trace):
            return NotImplemented
        if kwargs:
            args = (*args, *[v for v in kwargs.values() if type(v) in backend.TYPES])
        outputs = kind.plan(*args, *[_read(v, scope) for v in kind.variables])
        return outputs if kind.structure is None else tree.pack_sequence_as(kind.structure, outputs)

    # ------------------------------------------------------------- learning

    def note(self, args, kwargs):
        """A call has come through the ordinary way: remember its kind."""
        if _compiling():
            return
        backend = _selected() or backends.process.backend
        key = self.key(backend.TYPES, args, kwargs)
        if key is None or key in self.kinds:
            return
        if len(self.kinds) >= _MOST:
            self.kinds.clear()
        self.noted += 1
        direct = self.direct and len(args) == 1 and not set(kwargs) - {"training"}
        direct = direct and not _is_cast(backend.dtype_of(args[0]), self.dtype)
        planned = self.planned and self.noted <= _VARIOUS
        if direct or planned:
            self.kinds[key] = _Kind(direct, 0 if planned else None)

    def count(self, kind, layer, backend, key, args, kwargs):
        """One more call of a kind; the last of a few plans it."""
        kind.count += 1
        if kind.count < _PATIENCE or _stateless() is not None:
            return
        tensors = [*args, *[v for v in kwargs.values() if type(v) in backend.TYPES]]
        place = where_to_plan(backend, tensors)
        if place is None:
            return
        kind.count = None
        try:
            with place:
                plan = _planned(layer, backend, tensors, len(args), kwargs, key[-1])
        except Exception:
            # Not everything that runs can be traced.
            return
        if plan is not None:
            kind.settle(plan, backend)


_STRAIGHT = """
def straight(layer, args, kwargs):
    if not kwargs and len(args) == {count} and not compiling():
        {names}, = args
        if (
            {tests}
            and changes.count == count
            and not (changes.lent or changes.swapped)
            and (selected() or process.backend) is backend
            and stateless() is None
            and (phase is None or phase() is training)
        ):
            try:
                return plan({names})
            except Exception:
                quick.straight = by_key
    return by_key(layer, args, kwargs)
"""


@lru_cache
def _straight_code(count):
    names = [f"x{i}" for i in range(count)]
    test = "type({0}) is type_{0} and {0}.dtype is dtype_{0} and {0}.shape == shape_{0} and mask({0}, '_keras_mask', None) is None"
    source = _STRAIGHT.format(count=count, names=", ".join(names), tests=" and ".join(test.format(n) for n in names))
    return compile(source, "<quick call>", "exec")


def _straight(quick, kind, backend, inputs, training):
    """Calls of one kind without a key: everything that tells it stands in the function. Any other goes by its key."""
    namespace = {
        "quick": quick, "by_key": quick.by_key, "plan": kind.plan, "count": kind.changes, "changes": changes,
        "backend": backend, "process": backends.process, "selected": _selected, "stateless": _stateless, "mask": getattr,
        "compiling": _compiling, "phase": quick.phase if quick.phased else None, "training": training,
    }  # fmt: skip
    for i, x in enumerate(inputs):
        namespace |= {f"type_x{i}": type(x), f"dtype_x{i}": x.dtype, f"shape_x{i}": x.shape}
    exec(_straight_code(len(inputs)), namespace)
    return namespace["straight"]


def _planned(layer, backend, tensors, positional, kwargs, training):
    """The `Plan` of a call with such arguments, or `None` if it does more than compute tensors."""
    names = [name for name, value in kwargs.items() if type(value) in backend.TYPES]
    options = {name: value for name, value in kwargs.items() if name not in names and name != "training"}
    if training is not None:
        options["training"] = training

    def call(*symbols):
        return layer._call(symbols[:positional], dict(zip(names, symbols[positional:], strict=True)) | options)

    symbols = [KerasTensor(tuple(x.shape), backend.dtype_of(x)) for x in tensors]
    graph = trace(call, *symbols, expand=lambda op: not hasattr(backend, op.native))
    outputs = tree.flatten(graph.outputs)
    if graph.updates or graph.losses or not all(type(t) is KerasTensor and get_mask(t) is None for t in outputs):
        return None
    return Plan(graph, backend, bare=type(graph.outputs) is KerasTensor)


def _read(variable, scope):
    value = None if scope is None else scope.read(variable)
    return variable._native() if value is None else value


def quick_calls(layer):
    """A `QuickCalls` for a layer that has been called, or `False` if all its calls must go the ordinary way."""
    if not layer._called or not _is_plain(layer):
        return False
    direct = _is_direct(layer)
    planned = hasattr(backends.current(), "is_concrete") and all(map(_is_known, layer._flatten_layers()))
    return QuickCalls(layer, direct, planned) if direct or planned else False


def _is_plain(layer):
    """The library's own, converting its inputs, without losses or hooks."""
    return (
        layer._counts_changes
        and layer._remat is None
        and layer._convert_input_args
        and not (layer._losses or layer.activity_regularizer)
        and not (layer._module is not None and layer._hooked())
    )


def _is_direct(layer):
    """Without layers in it, masks or losses made by it, parameters but one, or a policy that casts variables."""
    signature = signature_of(type(layer).call)
    variables = [*layer._trainable_variables, *layer._non_trainable_variables] if layer.autocast else []
    return (
        len(signature.required) == 1
        and not (layer._layers or layer._makes_masks)
        and "add_loss" not in type(layer).call.__code__.co_names
        and not any(v._autocast and _is_cast(v._dtype, layer.compute_dtype) for v in variables)
    )


def _is_known(layer):
    """Whether a call does nothing but the library's own ops: there's no function of the user's in it."""
    return (
        _is_plain(layer)
        and layer._is_pure()
        and not any(isinstance(v, _FUNCTIONS) and not _is_own(v) for v in vars(layer).values())
    )


def _is_own(function):
    return (function.__module__ or "").startswith("kerata.")


def _is_cast(dtype, compute_dtype):
    return dtype != compute_dtype and dtypes.is_float(dtype)
