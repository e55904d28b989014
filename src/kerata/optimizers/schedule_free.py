"""Schedule-free AdamW."""

from kerata import ops
from kerata.optimizers import arguments
from kerata.optimizers.optimizer import Optimizer, approached, build_by_var_list


class ScheduleFreeAdamW(Optimizer):
    """AdamW without a falling learning rate: it averages instead. Source: Defazio et al., 2024.

    `z` goes Adam's way without momentum, `x` is the mean of all `z`, and the variable is `y = beta_1 * x +
    (1 - beta_1) * z`. The slot "momentum" holds `z`.

    Args:
        learning_rate: number, schedule or callable.
        beta_1: share of the average in `y`, in (0, 1].
        beta_2: weight of the past in the squared gradient's average.
        epsilon: keeps the division finite.
        warmup_steps: number of steps in which the learning rate rises from 0.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.ScheduleFreeAdamW(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    slots = ("momentum", "velocity")

    def __init__(
        self,
        learning_rate=0.0025,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        warmup_steps=0,
        weight_decay=None,
        clipnorm=None,
        clipvalue=None,
        global_clipnorm=None,
        use_ema=False,
        ema_momentum=0.99,
        ema_overwrite_frequency=None,
        loss_scale_factor=None,
        gradient_accumulation_steps=None,
        name=None,
        **kwargs,
    ):
        super().__init__(
            learning_rate,
            weight_decay,
            clipnorm,
            clipvalue,
            global_clipnorm,
            use_ema,
            ema_momentum,
            ema_overwrite_frequency,
            loss_scale_factor,
            gradient_accumulation_steps,
            name,
            **kwargs,
        )
        arguments.number(beta_1, "beta_1", "ScheduleFreeAdamW", low=0, high=1)
        if not beta_1:
            raise ValueError("ScheduleFreeAdamW: with `beta_1=0` the variable would hold nothing of the average.")
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.warmup_steps = warmup_steps

    def make_slot(self, variable, name):
        start = (lambda shape, dtype=None: variable.value) if name == "momentum" else "zeros"
        return self.add_variable_from_reference(variable, name, start)

    def rate(self, learning_rate, step):
        if self.warmup_steps:
            learning_rate = learning_rate * ops.minimum(step / self.warmup_steps, 1.0)
        return learning_rate, 1.0 / step, 1.0 / approached(self.beta_2, step)

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        z, velocity = slots
        rate, news, correction = learning_rate
        average = (variable - (1.0 - self.beta_1) * z) / self.beta_1
        velocity = velocity + (ops.square(gradient) - velocity) * (1.0 - self.beta_2)
        z = z - rate * gradient / (ops.sqrt(velocity * correction) + self.epsilon)
        average = average + (z - average) * news
        return self.beta_1 * average + (1.0 - self.beta_1) * z, (z, velocity)
