"""Lion."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, build_by_var_list


class Lion(Optimizer):
    """Steps of one size in every coordinate, by the sign of a momentum. Source: Chen et al., 2023.

    Wants a learning rate 3 to 10 times smaller than Adam's, and a weight decay larger by as much.

    Args:
        learning_rate: number, schedule or callable.
        beta_1: weight of the momentum in the direction, in (0, 1].
        beta_2: weight of the past in the momentum.
        weight_decay, clipnorm, …: see `Optimizer`.

    Raises:
        ValueError: for `beta_1` out of range.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Lion(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    slots = ("momentum",)

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.99,
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
        if not 0 < beta_1 <= 1:
            raise ValueError(
                "Lion: Argument `beta_1` must be in the [0, 1] range, zero left out, as otherwise only the "
                "gradient's "
                f"sign counts; but {beta_1!r} was given."
            )
        self.beta_1 = beta_1
        self.beta_2 = beta_2

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        (momentum,) = slots
        direction = ops.sign(momentum * self.beta_1 + gradient * (1.0 - self.beta_1))
        momentum = momentum * self.beta_2 + gradient * (1.0 - self.beta_2)
        return variable - learning_rate * direction, (momentum,)
