"""Schedules by config."""

from kerata.core.family import Family

_family = Family("learning rate schedule", "kerata.optimizers.schedules", "LearningRateSchedule")


def serialize(learning_rate_schedule):
    """Config of a schedule."""
    return _family.serialize(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """The schedule that a config describes.

    >>> from kerata.optimizers import schedules
    >>> schedules.deserialize(schedules.serialize(schedules.CosineDecay(0.1, 10))).decay_steps
    10
    """
    return _family.deserialize(config, custom_objects)
