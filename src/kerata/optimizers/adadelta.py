"""Adadelta."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, build_by_var_list, update_step_by_grad


class Adadelta(Optimizer):
    """Steps in the variable's own units: root mean square of past steps over that of gradients. Zeiler, 2012.

    Args:
        learning_rate: number, schedule or callable; the paper has none, that is 1.0.
        rho: weight of the past in both averages.
        epsilon: keeps the division finite, and gets the first step going.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Adadelta(1.0, rho=0.0, epsilon=1.0).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 4)
    0.2929
    """

    slots = ("accumulated_grad", "accumulated_delta_var")

    def __init__(
        self,
        learning_rate=0.001,
        rho=0.95,
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
        self.rho = rho
        self.epsilon = epsilon

    @property
    def idle(self):
        return self.rho, self.rho

    build = build_by_var_list

    update_step = update_step_by_grad

    def update(self, gradient, variable, slots, learning_rate, step):
        gradients, changes = slots
        gradients = self.rho * gradients + (1.0 - self.rho) * ops.square(gradient)
        change = ops.sqrt(changes + self.epsilon) * ops.rsqrt(gradients + self.epsilon) * gradient
        changes = self.rho * changes + (1.0 - self.rho) * ops.square(change)
        return variable - learning_rate * change, (gradients, changes)
