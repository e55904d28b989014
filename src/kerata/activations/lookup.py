"""Activations by name and config."""

import inspect

from kerata.core.family import Family

_family = Family(
    "activation",
    "kerata.activations",
    base="Layer",
    instances_only=False,
)


def get(identifier):
    """An activation function from its name, config or callable; `None` is `linear`.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import activations
    >>> activations.get("swish").__name__
    'silu'
    """
    if identifier is None:
        from kerata.activations.functions import linear

        return linear
    return _family.get(identifier)


def serialize(activation):
    """Name of an activation of this package, or config of any other callable."""
    name = getattr(activation, "__name__", None)
    if inspect.isroutine(activation) and name in _family._spellings() and _family.named(name) is activation:
        return name
    return _family.serialize(activation)


def deserialize(config, custom_objects=None):
    """The activation that a name or config describes."""
    return _family.deserialize(config, custom_objects)
