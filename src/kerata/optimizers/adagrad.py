"""Adagrad."""

from kerata import ops
from kerata.initializers.constants import Constant
from kerata.optimizers import arguments
from kerata.optimizers.optimizer import Optimizer, build_by_var_list


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of its squares so far. Source: Duchi et al., 2011.

    Args:
        learning_rate: number, schedule or callable.
        initial_accumulator_value: where the sums begin, not negative.
        epsilon: keeps the division finite.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Adagrad(0.1, initial_accumulator_value=0.0).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    slots = ("accumulator",)
    idle = (1.0,)

    def __init__(
        self,
        learning_rate=0.001,
        initial_accumulator_value=0.1,
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
        self.initial_accumulator_value = arguments.number(
            initial_accumulator_value, "initial_accumulator_value", "Adagrad", low=0
        )
        self.epsilon = epsilon

    def make_slot(self, variable, name):
        return self.add_variable_from_reference(variable, name, Constant(self.initial_accumulator_value))

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        total = slots[0] + ops.square(gradient)
        return variable - learning_rate * gradient * ops.rsqrt(total + self.epsilon), (total,)
