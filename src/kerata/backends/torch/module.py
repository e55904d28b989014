"""Layers of this backend are `torch.nn.Module`s: the class, and keeping its registries in step with the layer's."""

import torch

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
        }
        found = _classes[cls] = type(cls)(cls.__name__, (cls, torch.nn.Module), namespace)
    return found


def begin_module(layer):
    """Set up the registries, before any attribute is set."""
    if isinstance(layer, torch.nn.Module):
        torch.nn.Module.__init__(layer)


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
    if isinstance(layer, torch.nn.Module) and isinstance(variable._storage, torch.nn.Parameter):
        if not any(p is variable._storage for p in layer._parameters.values()):
            layer._parameters[_free(layer._parameters, variable.name)] = variable._storage


def unregister(layer, name):
    """An attribute was deleted."""
    if isinstance(layer, torch.nn.Module):
        layer._modules.pop(name, None)
        layer._parameters.pop(name, None)


def unregister_child(layer, child):
    if isinstance(layer, torch.nn.Module):
        for key in [k for k, v in layer._modules.items() if v is child]:
            del layer._modules[key]
        storage = getattr(child, "_storage", None)
        for key in [k for k, v in layer._parameters.items() if v is storage and storage is not None]:
            del layer._parameters[key]


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


def set_trainable(storage, trainable):
    if isinstance(storage, torch.nn.Parameter):
        storage.requires_grad_(trainable)
