"""Follow the regularized leader."""

from kerata import ops
from kerata.initializers.constants import Constant
from kerata.optimizers.optimizer import Optimizer, build_by_var_list


class Ftrl(Optimizer):
    """Follow the regularized leader: makes large linear models sparse. Source: McMahan et al., 2013.

    Args:
        learning_rate: number, schedule or callable.
        learning_rate_power: how the rate falls with the sum of squares, at most 0; 0: not at all.
        initial_accumulator_value: where the sums of squares begin, not negative.
        l1_regularization_strength: L1 penalty, not negative.
        l2_regularization_strength: L2 penalty, not negative.
        l2_shrinkage_regularization_strength: L2 penalty on the gradient only, not negative.
        beta: the paper's beta.
        weight_decay, clipnorm, …: see `Optimizer`.

    Raises:
        ValueError: for an argument out of range.

    >>> import kerata
    >>> v = kerata.Variable([0.5])
    >>> kerata.optimizers.Ftrl(0.1, l1_regularization_strength=100.0).apply([kerata.ops.ones(1)], [v])
    >>> float(v[0])
    0.0
    """

    slots = ("accumulator", "linear")

    def __init__(
        self,
        learning_rate=0.001,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        l2_shrinkage_regularization_strength=0.0,
        beta=0.0,
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
        for argument, value in {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }.items():
            if not value >= 0:
                raise ValueError(f"Ftrl: `{argument}` needs to be positive or zero, but {value!r} was given.")
        if not learning_rate_power <= 0:
            raise ValueError(
                f"Ftrl: `learning_rate_power` needs to be negative or zero, but {learning_rate_power!r} was given."
            )
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self.beta = beta

    def make_slot(self, variable, name):
        start = Constant(self.initial_accumulator_value) if name == "accumulator" else "zeros"
        return self.add_variable_from_reference(variable, name, start)

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        accumulator, linear = slots
        total = accumulator + ops.square(gradient)
        before, after = (ops.power(a, -self.learning_rate_power) for a in (accumulator, total))
        shrunk = gradient + 2.0 * self.l2_shrinkage_regularization_strength * variable
        linear = linear + shrunk - (after - before) / learning_rate * variable
        curvature = after / learning_rate + 2.0 * self.l2_regularization_strength + self.beta / learning_rate
        l1 = self.l1_regularization_strength
        return (ops.clip(linear, -l1, l1) - linear) / curvature, (total, linear)
