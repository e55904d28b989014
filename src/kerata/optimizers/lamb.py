"""LAMB."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, approached, build_by_var_list


class Lamb(Optimizer):
    """Adam's step, scaled to the norm of each variable: for very large batches. Source: You et al., 2019.

    Args:
        learning_rate: number, schedule or callable.
        beta_1: weight of the past in the gradient's average.
        beta_2: weight of the past in the squared gradient's average.
        epsilon: keeps the division finite.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Lamb(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    slots = ("momentum", "velocity")

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
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
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    def rate(self, learning_rate, step):
        corrections = (1.0 / approached(beta, step) for beta in (self.beta_1, self.beta_2))
        return (learning_rate, *corrections)

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        momentum, velocity = slots
        rate, first, second = learning_rate
        momentum = momentum + (gradient - momentum) * (1.0 - self.beta_1)
        velocity = velocity + (ops.square(gradient) - velocity) * (1.0 - self.beta_2)
        change = momentum * first / (ops.sqrt(velocity * second) + self.epsilon)
        size, step_size = (ops.sqrt(ops.sum(ops.square(x))) for x in (variable, change))
        usable = ops.logical_and(size > 0, step_size > 0)
        # The inner `where` keeps the division finite where its result isn't used.
        trust = ops.where(usable, size / ops.where(usable, step_size, ops.ones_like(step_size)), ops.ones_like(size))
        return variable - rate * trust * change, (momentum, velocity)
