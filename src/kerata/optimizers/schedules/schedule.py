"""The base of all schedules."""

from kerata.core.construct import Constructed


class LearningRateSchedule(Constructed):
    """A learning rate as a function of the step. A subclass gives `__call__(step)`, written in `keras.ops`.

    >>> import kerata
    >>> class Halved(kerata.optimizers.schedules.LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.1 * kerata.ops.power(0.5, kerata.ops.cast(step, "float32"))
    >>> optimizer = kerata.optimizers.SGD(Halved())
    >>> round(float(optimizer.learning_rate), 3)
    0.1
    """

    def __call__(self, step):
        """The learning rate after `step` steps (an integer scalar, maybe traced), a float32 scalar tensor."""
        raise NotImplementedError(f"{type(self).__name__} must define `__call__(step)`.")


def positive(value, name, owner):
    """A positive number, as it was given."""
    if not value > 0:
        raise ValueError(f"{owner}: Argument `{name}` must be > 0, but {value!r} was given.")
    return value
