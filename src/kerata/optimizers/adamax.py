"""Adamax."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, approached, build_by_var_list


class Adamax(Optimizer):
    """Adam with the infinity norm in place of the second moment. Source: Kingma & Ba, 2014, section 7.

    Args:
        learning_rate: number, schedule or callable.
        beta_1: weight of the past in the gradient's average.
        beta_2: decay of the norm.
        epsilon: keeps the division finite.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Adamax(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    slots = ("momentum", "norm")

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
        return learning_rate / approached(self.beta_1, step)

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        momentum, norm = slots
        momentum = momentum + (gradient - momentum) * (1.0 - self.beta_1)
        norm = ops.maximum(self.beta_2 * norm, ops.abs(gradient))
        return variable - learning_rate * momentum / (norm + self.epsilon), (momentum, norm)
