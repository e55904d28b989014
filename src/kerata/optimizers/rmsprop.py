"""RMSprop."""

from kerata import ops
from kerata.optimizers import arguments
from kerata.optimizers.optimizer import Optimizer, build_by_var_list


class RMSprop(Optimizer):
    """Steps by the gradient over the root of its squares' moving average. Source: Hinton, lecture 6e, 2012.

    With `v` that average: `w -= learning_rate * g / sqrt(v + epsilon)`; with momentum `m = momentum * m +
        (that)`, `w -= m`.

    Args:
        learning_rate: number, schedule or callable.
        rho: weight of the past in the average.
        momentum: in [0, 1].
        epsilon: keeps the division finite.
        centered: whether `v` is the variance, the gradient's squared average being taken away (Graves, 2013).
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.RMSprop(0.1, rho=0.0).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    fused = "rmsprop"

    def __init__(
        self,
        learning_rate=0.001,
        rho=0.9,
        momentum=0.0,
        epsilon=1e-7,
        centered=False,
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
        self.rho = rho
        self.momentum = arguments.number(momentum, "momentum", "RMSprop", low=0, high=1)
        self.epsilon = epsilon
        self.centered = centered
        self.slots = (
            ("velocity",),
            *((("momentum",),) if momentum else ()),
            *((("average_gradient",),) if centered else ()),
        )

    build = build_by_var_list

    @property
    def idle(self):
        return None if self.momentum else (self.rho,) * len(self.slots)

    def update(self, gradient, variable, slots, learning_rate, step):
        velocity = slots[0] + (ops.square(gradient) - slots[0]) * (1.0 - self.rho)
        kept, spread = [velocity], velocity
        if self.centered:
            average = slots[-1] + (gradient - slots[-1]) * (1.0 - self.rho)
            kept, spread = [velocity, average], velocity - ops.square(average)
        change = learning_rate * gradient * ops.rsqrt(spread + self.epsilon)
        if self.momentum:
            change = self.momentum * slots[1] + change
            kept.insert(1, change)
        return variable - change, tuple(kept)
