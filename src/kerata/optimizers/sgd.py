"""Stochastic gradient descent."""

from kerata.optimizers import arguments
from kerata.optimizers.optimizer import Optimizer


class SGD(Optimizer):
    """Gradient descent, with momentum if asked for.

    Without momentum `w -= learning_rate * g`. With it `m = momentum * m - learning_rate * g` and `w += m`,
    or by Nesterov `w += momentum * m - learning_rate * g`. Source: Sutskever et al., 2013.

    Args:
        learning_rate: number, schedule or callable.
        momentum: in [0, 1].
        nesterov: whether to look ahead.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.SGD(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 6)
    0.9
    """

    fused = "sgd"

    def __init__(
        self,
        learning_rate=0.01,
        momentum=0.0,
        nesterov=False,
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
        self.momentum = arguments.number(momentum, "momentum", "SGD", low=0, high=1)
        self.nesterov = nesterov
        self.slots = ("momentum",) if momentum else ()

    @property
    def idle(self):
        return None if self.momentum else ()

    def update(self, gradient, variable, slots, learning_rate, step):
        change = learning_rate * gradient
        if not slots:
            return variable - change, ()
        momentum = self.momentum * slots[0] - change
        if self.nesterov:
            return variable + (self.momentum * momentum - change), (momentum,)
        return variable + momentum, (momentum,)
