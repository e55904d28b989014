"""Optimizers by name and config."""

from kerata.core.family import Family
from kerata.optimizers.optimizer import Optimizer

_family = Family("optimizer", "kerata.optimizers", "Optimizer")


def get(identifier):
    """An optimizer from its name (`"adam"`), config or instance; `None` stays `None`.

    Raises:
        ValueError: for an unknown name, or a framework's own optimizer.

    >>> from kerata import optimizers
    >>> type(optimizers.get("adamw")).__name__
    'AdamW'
    """
    if callable(identifier) and not isinstance(identifier, type) or _foreign(identifier):
        raise ValueError(
            f"Could not interpret optimizer identifier: {identifier!r}. Give a name, a config or an instance "
            "of a class "
            "in keras.optimizers; an optimizer of the framework itself goes into a loop of your own."
        )
    return identifier if isinstance(identifier, Optimizer) else _family.get(identifier)


def serialize(optimizer):
    """Config of an optimizer."""
    return _family.serialize(optimizer)


def deserialize(config, custom_objects=None):
    """The optimizer that a config describes."""
    return _family.deserialize(config, custom_objects)


def _foreign(identifier):
    return not isinstance(identifier, (Optimizer, str, dict, type, type(None)))
