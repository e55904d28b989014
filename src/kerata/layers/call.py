"""How a layer's `call` is called: its parameters, and what is known about the call in progress."""

import inspect
from contextlib import contextmanager

from kerata.core.slots import Slot

# `CallContext` of the outermost layer call in progress.
current_call = Slot("call")


class CallContext:
    """What every layer within one outermost call shares.

    Attributes:
        entry: the outermost layer.
        training: the phase that was asked for, or `None`.
    """

    __slots__ = ("entry", "training")

    def __init__(self, entry, training):
        self.entry = entry
        self.training = training


@contextmanager
def outside_call():
    """Within the block a layer's call is an outermost one."""
    token = current_call.set(None)
    try:
        yield
    finally:
        current_call.reset(token)


class CallSignature:
    """Parameters of a `call` method: which take training, masks, tensors."""

    def __init__(self, function):
        parameters = list(inspect.signature(function).parameters.values())
        kinds = inspect.Parameter
        # The first is the layer itself, whatever it's called.
        if parameters and parameters[0].kind is not kinds.VAR_POSITIONAL:
            parameters = parameters[1:]
        self.names = [p.name for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
        self.keywords = {p.name for p in parameters if p.kind is kinds.KEYWORD_ONLY}
        self.variadic = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
        self.any_keyword = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
        self.required = [p.name for p in parameters if p.default is p.empty and p.name in self.names]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        known = {*self.names, *self.keywords}
        self.takes_training = "training" in known
        self.training_default = self.defaults.get("training")
        self.takes_mask = "mask" in known
        self.mask_names = {n: f"{n}_mask" for n in self.names if f"{n}_mask" in known}
        self.first = self.names[0] if self.names else None

    def accepts(self, name):
        return self.any_keyword or name in self.keywords or name in self.names

    def bind(self, args, kwargs, owner):
        """`{parameter: value}` of what was given, in the parameters' order; extra positionals under `None`."""
        if len(args) > len(self.names) and not self.variadic:
            raise TypeError(
                f"{owner}: call() takes {len(self.names)} argument(s) ({', '.join(self.names)}), but {len(args)} were given."
            )
        bound = dict(zip(self.names, args, strict=False))
        for name, value in kwargs.items():
            if name in bound:
                raise TypeError(f"{owner}: call() got the argument `{name}` twice.")
            if not self.accepts(name):
                raise TypeError(
                    f"{owner}: call() has no argument `{name}`; it has {', '.join([*self.names, *self.keywords])}."
                )
            bound[name] = value
        missing = [n for n in self.required if n not in bound]
        if missing:
            raise TypeError(f"{owner}: call() needs the argument(s) {', '.join(f'`{m}`' for m in missing)}.")
        return bound


_signatures = {}


def signature_of(function):
    """The (cached) signature of a class's `call`."""
    function = getattr(function, "__func__", function)
    found = _signatures.get(function)
    if found is None:
        found = _signatures[function] = CallSignature(function)
    return found
