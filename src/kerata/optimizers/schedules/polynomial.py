"""Polynomial decay."""

from kerata import ops
from kerata.optimizers.schedules.schedule import LearningRateSchedule, positive


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another along a power: `(initial - end) * (1 - step / decay_steps) ** power + end`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: after so many steps the end is reached.
        end_learning_rate: the rate from there on.
        power: 1 is a straight line.
        cycle: whether `decay_steps` is doubled, tripled, … each time it is passed, so that the rate starts
            anew.
        name: name.

    >>> from kerata.optimizers import schedules
    >>> round(float(schedules.PolynomialDecay(1.0, 10, 0.0)(5)), 4)
    0.5
    """

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        end_learning_rate=0.0001,
        power=1.0,
        cycle=False,
        name="PolynomialDecay",
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = positive(decay_steps, "decay_steps", "PolynomialDecay")
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step):
        step = ops.cast(step, "float32")
        if self.cycle:
            # At step 0 the first cycle has begun, not ended.
            done = step / (self.decay_steps * ops.maximum(ops.ceil(step / self.decay_steps), 1.0))
        else:
            done = ops.minimum(step / self.decay_steps, 1.0)
        fall = self.initial_learning_rate - self.end_learning_rate
        return fall * ops.power(1.0 - done, float(self.power)) + self.end_learning_rate
