"""Constraints by name and config."""

from kerata.core.family import Family

_family = Family("constraint", "kerata.constraints", "Constraint")


def get(identifier):
    """A constraint from its name (`"max_norm"`), config, class or callable; `None` stays `None`.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import constraints
    >>> constraints.get("max_norm").get_config()
    {'max_value': 2, 'axis': 0}
    """
    return _family.get(identifier)


def serialize(constraint):
    """Config of a constraint."""
    return _family.serialize(constraint)


def deserialize(config, custom_objects=None):
    """The constraint that a config describes."""
    return _family.deserialize(config, custom_objects)
