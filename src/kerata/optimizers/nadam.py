"""Adam with Nesterov momentum."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, approached, build_by_var_list

# The momentum schedule of the paper: u(t) = beta_1 * (1 - 0.96**t / 2).
SCHEDULE_DECAY = 0.96


class Nadam(Optimizer):
    """Adam with Nesterov momentum. Source: Dozat, 2015.

    Args:
        learning_rate: number, schedule or callable.
        beta_1: weight of the past in the gradient's average.
        beta_2: weight of the past in the squared gradient's average.
        epsilon: keeps the division finite.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Nadam(0.1).apply([kerata.ops.ones(1)], [v])
    >>> 0.8 < float(v[0]) < 0.9
    True
    """

    slots = ("momentum", "velocity")
    shared = ("u_product",)

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

    def make_shared(self, name):
        return self.add_variable((), initializer="ones", name=name)

    def update_shared(self, shared, step):
        return (shared[0] * ops.cast(self._momentum_at(step), shared[0].dtype),)

    def rate(self, learning_rate, step):
        velocity = 1.0 / approached(self.beta_2, step)
        return learning_rate, self._momentum_at(step), self._momentum_at(step + 1.0), velocity

    def _momentum_at(self, step):
        return self.beta_1 * (1.0 - 0.5 * ops.power(SCHEDULE_DECAY, step))

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        momentum, velocity, product = slots
        rate, now, after, correction = learning_rate
        product = ops.cast(product, gradient.dtype)
        momentum = momentum + (gradient - momentum) * (1.0 - self.beta_1)
        velocity = velocity + (ops.square(gradient) - velocity) * (1.0 - self.beta_2)
        ahead = after * momentum / (1.0 - product * after) + (1.0 - now) * gradient / (1.0 - product)
        return variable - rate * ahead / (ops.sqrt(velocity * correction) + self.epsilon), (
            momentum,
            velocity,
        )
