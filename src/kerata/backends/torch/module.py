"""Layers of this backend are `torch.nn.Module`s: the class, and keeping its registries in step with the layer's."""

import functools
import io

import torch

from kerata.backends.torch.core import _NAMES, DTYPES
from kerata.core.changes import changes
from kerata.core.names import to_snake_case

_HOOKS = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
)
_classes = {}


def module_class(cls):
    """The subclass of `cls` that is an `nn.Module` too (one for each class, of the same name)."""
    if issubclass(cls, torch.nn.Module):
        return cls
    found = _classes.get(cls)
    if found is None:
        namespace = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
            "_is_module_class": True,
            "torch_params": property(_parameters),
            "_apply": _apply,
            "_load_from_state_dict": _load_from_state_dict,
            **{name: _noticed(name) for name in _HOOKS},
        }
        found = _classes[cls] = type(cls)(cls.__name__, (cls, torch.nn.Module), namespace)
    return found


def _parameters(layer):
    """The tensor of each of the layer's variables, by path: what Keras calls `torch_params`."""
    return {variable.path: variable.storage for variable in layer.variables}


def _apply(layer, fn, *args, **kwargs):
    """`nn.Module`'s, by which `double()`, `half()` and `to()` go: what they make of the parameters' dtype is the layer's dtype."""
    torch.nn.Module._apply(layer, fn, *args, **kwargs)
    for name, variable in layer._parameters.variables.items():
        variable._dtype = _NAMES[layer._parameters[name].dtype]
    # Layers without parameters go along.
    dtype = _NAMES[fn(torch.empty(0, dtype=DTYPES[layer.variable_dtype])).dtype]
    if dtype != layer.variable_dtype:
        layer._take_dtype(dtype)
    changes.count += 1
    return layer


def _load_from_state_dict(layer, state_dict, prefix, *args):
    """`nn.Module`'s, which sees the state of another model of the kind under this one's names.

    Automatic names count through the process (`dense_3`), so the other's have other numbers, in the same order.
    """
    names = _renumbered(layer, state_dict, prefix)
    state_dict.update({names[told]: value for told, value in [(told, state_dict.pop(told)) for told in names]})
    torch.nn.Module._load_from_state_dict(layer, state_dict, prefix, *args)


def _renumbered(layer, state_dict, prefix):
    """`{key in the state: the layer's}` where automatic names differ in their numbers alone."""
    own = {name: to_snake_case(type(m).__name__) for name, m in layer._modules.items() if m is not None and _has_state(m)}
    own |= dict.fromkeys(layer._parameters, "variable")
    told = dict.fromkeys(key[len(prefix) :].partition(".")[0] for key in state_dict if key.startswith(prefix))
    names = {}
    for base in set(own.values()):
        number = functools.partial(_number, base=base)
        mine = sorted((n for n, b in own.items() if b == base and number(n) is not None), key=number)
        others = sorted((n for n in told if number(n) is not None), key=number)
        if mine != others and len(mine) == len(others):
            names |= dict(zip(others, mine, strict=True))
    renamed = {}
    for key in state_dict if names else ():
        first, dot, rest = key[len(prefix) :].partition(".")
        if key.startswith(prefix) and first in names:
            renamed[key] = f"{prefix}{names[first]}{dot}{rest}"
    return renamed


def _number(name, base):
    """That of an automatic name; `None` if it's no such name."""
    if name == base:
        return 0
    number = name.removeprefix(base + "_")
    return int(number) if number != name and number.isdecimal() else None


def _has_state(module):
    return next(iter(module.state_dict()), None) is not None


def _noticed(name):
    """`nn.Module`'s method, after which compiled calls of the layer don't hold any more."""
    register = getattr(torch.nn.Module, name)

    @functools.wraps(register)
    def registered(self, *args, **kwargs):
        changes.count += 1
        self.__dict__["_quick"] = None
        return register(self, *args, **kwargs)

    return registered


class Parameters(dict):
    """A layer's `_parameters`: what torch puts in the place of a variable's parameter is the variable's value.

    `functional_call` does so for the length of a call, with tensors; `load_state_dict(assign=True)` for good, with
    parameters.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.variables, self.away = {}, {}

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        variable = self.variables.get(name)
        if variable is None or value is None or value is variable._storage:
            return
        if not isinstance(value, torch.nn.Parameter):
            if name not in self.away:
                self.away[name] = variable._storage
                changes.swapped += 1
        else:
            home = self.away.pop(name, None)
            changes.swapped -= home is not None
            changes.count += home is not value
        variable._storage = value


def begin_module(layer):
    """Set up the registries, before any attribute is set."""
    if isinstance(layer, torch.nn.Module):
        torch.nn.Module.__init__(layer)
        layer.__dict__["_parameters"] = Parameters()


def takes_place(layer, name, value):
    """Whether an attribute that's set is a parameter for a variable to have from now on, as `load_state_dict` sets them."""
    if not isinstance(value, torch.nn.Parameter) or name not in layer._parameters.variables:
        return False
    layer._parameters[name] = value
    return True


def bare_state(layer, state):
    """A layer's attributes without the parameters of its variables, which are kept with these."""
    if "_parameters" in state:
        own = state["_parameters"]
        state["_parameters"] = {name: p for name, p in own.items() if name not in own.variables}
    return state


def restore_module(layer, variables):
    """The registry anew, after `bare_state`'s attributes were set."""
    if isinstance(layer, torch.nn.Module):
        layer.__dict__["_parameters"] = Parameters(layer.__dict__["_parameters"])
        for variable in variables:
            register_variable(layer, variable)


def register(layer, name, value):
    """An attribute was set: note modules and parameters under its name."""
    if not isinstance(layer, torch.nn.Module):
        return
    if isinstance(value, torch.nn.Module):
        for key in [k for k, v in layer._modules.items() if v is value]:
            del layer._modules[key]
        layer._modules[name] = value
    elif isinstance(value, torch.nn.Parameter):
        layer._parameters[name] = value


def register_child(layer, child):
    """A sub-layer was tracked without an attribute of its own (in a list, say)."""
    if isinstance(layer, torch.nn.Module) and isinstance(child, torch.nn.Module):
        if not any(v is child for v in layer._modules.values()):
            layer._modules[_free(layer._modules, child.name)] = child


def register_variable(layer, variable):
    """A weight was made: its parameter goes by the weight's name."""
    if isinstance(layer, torch.nn.Module):
        if not isinstance(variable._storage, torch.nn.Parameter):
            # Integers (of quantized layers) go where the layer goes, too.
            variable._storage = torch.nn.Parameter(variable._storage, requires_grad=False)
        parameters = layer._parameters
        if not any(p is variable._storage for p in parameters.values()):
            name = _free(parameters, variable.name)
            parameters[name] = variable._storage
            parameters.variables[name] = variable


def unregister(layer, name):
    """An attribute was deleted."""
    if isinstance(layer, torch.nn.Module):
        layer._modules.pop(name, None)
        layer._parameters.pop(name, None)
        layer._parameters.variables.pop(name, None)


def unregister_child(layer, child):
    if isinstance(layer, torch.nn.Module):
        for key in [k for k, v in layer._modules.items() if v is child]:
            del layer._modules[key]
        storage = getattr(child, "_storage", None)
        for key in [k for k, v in layer._parameters.items() if v is storage and storage is not None]:
            del layer._parameters[key]
            layer._parameters.variables.pop(key, None)


def _free(registry, name):
    # torch takes a dot for a path.
    name = name.replace(".", "_")
    key, number = name, 0
    while key in registry:
        number += 1
        key = f"{name}_{number}"
    return key


def call_with_hooks(layer, args, kwargs):
    """The call through `nn.Module`, which runs the hooks and comes back by `forward`."""
    return torch.nn.Module.__call__(layer, *args, **kwargs)


def is_frozen(storage):
    """Whether the user has said `requires_grad_(False)`."""
    return not storage.requires_grad and isinstance(storage, torch.nn.Parameter) and storage.is_floating_point()


def set_trainable(storage, trainable):
    if isinstance(storage, torch.nn.Parameter):
        storage.requires_grad_(trainable)


# ------------------------------------------------------------------ modules inside layers


def is_module(x):
    return isinstance(x, torch.nn.Module)


def module_to_bytes(module):
    """A module, pickled as `torch.save` does it."""
    buffer = io.BytesIO()
    torch.save(module, buffer)
    return buffer.getvalue()


def module_from_bytes(data):
    """The module in a pickle. Runs what is in it: never for data that isn't trusted."""
    return torch.load(io.BytesIO(data), weights_only=False)


def module_outputs(module, args, kwargs):
    """What a module returns for `(shape, dtype)` pairs in place of tensors, computed without data.

    Unknown dimensions are tried with two lengths: an output dimension that differs is unknown too.

    Returns:
        Nested structure of `(shape, dtype name)`.
    """
    results = [_meta_call(module, args, kwargs, length) for length in (2, 3)]
    leaves, structure = zip(*map(torch.utils._pytree.tree_flatten, results), strict=True)
    specs = []
    for a, b in zip(*leaves, strict=True):
        shape = tuple(int(m) if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
        specs.append((shape, _NAMES[a.dtype]))
    return torch.utils._pytree.tree_unflatten(specs, structure[0])


def _meta_call(module, args, kwargs, unknown):
    def tensor(x):
        if isinstance(x, _Spec):
            shape = [unknown if d is None else d for d in x.shape]
            return torch.empty(shape, dtype=DTYPES[x.dtype], device="meta")
        return x

    args, kwargs = torch.utils._pytree.tree_map(tensor, (args, kwargs))
    state = {k: v.to("meta") for k, v in module.state_dict(keep_vars=True).items()}
    with torch.no_grad():
        return torch.func.functional_call(module, state, args, kwargs)


class _Spec:
    """Shape and dtype in place of a tensor."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


module_spec = _Spec
