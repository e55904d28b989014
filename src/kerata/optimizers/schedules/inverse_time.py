"""Decay by one over the time."""

from kerata import ops
from kerata.optimizers.schedules.schedule import LearningRateSchedule, positive


class InverseTimeDecay(LearningRateSchedule):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: number of steps that make one unit of time.
        decay_rate: how much the divisor grows in it.
        staircase: whether time is rounded down: the rate falls in jumps.
        name: name.

    >>> from kerata.optimizers import schedules
    >>> round(float(schedules.InverseTimeDecay(0.1, 10, 0.5)(20)), 4)
    0.05
    """

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="InverseTimeDecay"):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = positive(decay_steps, "decay_steps", "InverseTimeDecay")
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step):
        done = ops.cast(step, "float32") / self.decay_steps
        if self.staircase:
            done = ops.floor(done)
        return self.initial_learning_rate / (1.0 + self.decay_rate * done)
