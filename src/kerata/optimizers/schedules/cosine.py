"""Decay along a cosine."""

import math

from kerata import ops
from kerata.optimizers.schedules.schedule import LearningRateSchedule, positive


class CosineDecay(LearningRateSchedule):
    """From the initial rate down to a share of it along half a cosine, after a linear warm-up if asked for.

    Source: Loshchilov & Hutter, 2017.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: number of steps of the decay, warm-up not counted.
        alpha: the last rate as a share of the highest.
        name: name.
        warmup_target: the rate at which the warm-up ends and the decay begins; `None`: no warm-up.
        warmup_steps: number of steps of the warm-up.

    >>> from kerata.optimizers import schedules
    >>> rate = schedules.CosineDecay(0.0, 10, warmup_target=1.0, warmup_steps=4)
    >>> [round(float(rate(step)), 4) for step in (2, 4, 9, 14)]
    [0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        alpha=0.0,
        name="CosineDecay",
        warmup_target=None,
        warmup_steps=0,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = positive(decay_steps, "decay_steps", "CosineDecay")
        self.alpha = alpha
        self.name = name
        self.warmup_target = warmup_target
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = ops.cast(step, "float32")
        if self.warmup_target is None:
            return self._decay(step, self.initial_learning_rate)
        after = self._decay(step - self.warmup_steps, self.warmup_target)
        if not self.warmup_steps:
            return after
        rise = (self.warmup_target - self.initial_learning_rate) * (step / self.warmup_steps)
        return ops.where(step < self.warmup_steps, rise + self.initial_learning_rate, after)

    def _decay(self, step, top):
        done = ops.clip(step / self.decay_steps, 0.0, 1.0)
        return top * ((1.0 - self.alpha) * _half_cosine(done) + self.alpha)


class CosineDecayRestarts(LearningRateSchedule):
    """Cosine decays in a row, each `t_mul` times as long and `m_mul` times as high as the one before.

    Source: Loshchilov & Hutter, 2017 (SGDR).

    Args:
        initial_learning_rate: the rate at step 0.
        first_decay_steps: number of steps of the first decay.
        t_mul: factor of the lengths, at least 1.
        m_mul: factor of the heights.
        alpha: the lowest rate as a share of the initial one.
        name: name.

    >>> from kerata.optimizers import schedules
    >>> rate = schedules.CosineDecayRestarts(1.0, 10)
    >>> [round(float(rate(step)), 4) for step in (0, 5, 10, 20)]
    [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name="SGDRDecay"):
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = positive(first_decay_steps, "first_decay_steps", "CosineDecayRestarts")
        self.t_mul = t_mul
        self.m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def __call__(self, step):
        done = ops.cast(step, "float32") / self.first_decay_steps
        if self.t_mul == 1:
            restarts = ops.floor(done)
            done = done - restarts
        else:
            # n decays take (1 - t_mul**n) / (1 - t_mul) times the first one's length.
            restarts = ops.floor(ops.log(1.0 - done * (1.0 - self.t_mul)) / math.log(self.t_mul))
            lengths = ops.power(float(self.t_mul), restarts)
            done = (done - (1.0 - lengths) / (1.0 - self.t_mul)) / lengths
        height = ops.power(float(self.m_mul), restarts) * _half_cosine(done)
        return self.initial_learning_rate * ((1.0 - self.alpha) * height + self.alpha)


def _half_cosine(done):
    """1 at 0, 0 at 1."""
    return 0.5 * (1.0 + ops.cos(math.pi * done))
