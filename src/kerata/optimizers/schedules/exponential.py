"""Exponential decay."""

from kerata import ops
from kerata.optimizers.schedules.schedule import LearningRateSchedule, positive


class ExponentialDecay(LearningRateSchedule):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: number of steps in which the rate is multiplied by `decay_rate`.
        decay_rate: that factor.
        staircase: whether the exponent is rounded down: the rate falls in jumps.
        name: name.

    >>> from kerata.optimizers import schedules
    >>> round(float(schedules.ExponentialDecay(0.1, 10, 0.5)(20)), 4)
    0.025
    """

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="ExponentialDecay"):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = positive(decay_steps, "decay_steps", "ExponentialDecay")
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step):
        done = ops.cast(step, "float32") / self.decay_steps
        if self.staircase:
            done = ops.floor(done)
        return self.initial_learning_rate * ops.power(float(self.decay_rate), done)
