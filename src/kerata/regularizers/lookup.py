"""Regularizers by name and config."""

from kerata.core.family import Family

_family = Family("regularizer", "kerata.regularizers", "Regularizer")


def get(identifier):
    """A regularizer from its name (`"l2"`), config, class or callable; `None` stays `None`.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import regularizers
    >>> regularizers.get("l2").get_config()
    {'l2': 0.01}
    """
    return _family.get(identifier)


def serialize(regularizer):
    """Config of a regularizer."""
    return _family.serialize(regularizer)


def deserialize(config, custom_objects=None):
    """The regularizer that a config describes."""
    return _family.deserialize(config, custom_objects)
