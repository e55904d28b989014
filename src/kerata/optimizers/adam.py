"""Adam."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, approached, build_by_var_list


class Adam(Optimizer):
    """Steps by the ratio of a gradient's moving average to that of its square. Source: Kingma & Ba, 2014.

    With `m` and `v` the two averages: `w -= rate * m / (sqrt(v) + epsilon)`, where
    `rate = learning_rate * sqrt(1 - beta_2**step) / (1 - beta_1**step)`: this epsilon is the paper's
    "epsilon hat".

    Args:
        learning_rate: number, schedule or callable.
        beta_1: weight of the past in the gradient's average.
        beta_2: weight of the past in the squared gradient's average.
        epsilon: keeps the division finite.
        amsgrad: whether to divide by the greatest `v` so far (Reddi et al., 2018).
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Adam(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    slots = ("momentum", "velocity")
    fused = "adam"

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
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
        self.amsgrad = amsgrad
        if amsgrad:
            self.slots = (("momentum", "velocity"), ("velocity_hat",))

    def rate(self, learning_rate, step):
        correction = ops.sqrt(approached(self.beta_2, step)) / approached(self.beta_1, step)
        return learning_rate * correction

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        momentum, velocity, *greatest = slots
        momentum = momentum + (gradient - momentum) * (1.0 - self.beta_1)
        velocity = velocity + (ops.square(gradient) - velocity) * (1.0 - self.beta_2)
        scale, kept = velocity, (momentum, velocity)
        if greatest:
            scale = ops.maximum(greatest[0], velocity)
            kept = (momentum, velocity, scale)
        return variable - learning_rate * momentum / (ops.sqrt(scale) + self.epsilon), kept
