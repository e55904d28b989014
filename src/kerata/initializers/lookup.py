"""Initializers by name and config."""

import numpy as np

from kerata.core.family import Family

_family = Family(
    "initializer",
    "kerata.initializers",
    "Initializer",
    aliases={
        "uniform": "RandomUniform",
        "normal": "RandomNormal",
        "zero": "Zeros",
        "one": "Ones",
    },
)


def get(identifier):
    """An initializer from its name (`"he_normal"`, `"HeNormal"`), config, class, array or callable.

    Args:
        identifier: what names it. An array becomes the weight's value; a callable takes `(shape, dtype)`.

    Returns:
        An `Initializer`, the callable, or `None` for `None`.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import initializers
    >>> type(initializers.get("zeros")).__name__
    'Zeros'
    """
    if isinstance(identifier, np.ndarray) or (hasattr(identifier, "shape") and not callable(identifier)):
        from kerata import ops
        from kerata.initializers.constants import Constant

        return Constant(np.asarray(ops.convert_to_numpy(identifier)))
    return _family.get(identifier)


def serialize(initializer):
    """Config of an initializer."""
    return _family.serialize(initializer)


def deserialize(config, custom_objects=None):
    """The initializer that a config describes."""
    return _family.deserialize(config, custom_objects)
