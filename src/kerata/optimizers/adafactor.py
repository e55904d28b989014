"""Adafactor."""

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, build_by_var_list


class Adafactor(Optimizer):
    """Adam-like steps with second moments kept by rows and columns only. Source: Shazeer & Stern, 2018.

    Args:
        learning_rate: number, schedule or callable; an upper bound: the rate is at most `1 / sqrt(step)`.
        beta_2_decay: exponent with which the weight of the past grows to 1.
        epsilon_1: added to squared gradients.
        epsilon_2: least scale of a variable.
        clip_threshold: greatest root mean square of a step.
        relative_step: kept for configs; it changes nothing, as in Keras.
        weight_decay, clipnorm, …: see `Optimizer`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.Adafactor(0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.9
    """

    # Keras's files have all three for every variable; a vector's `r` and `c` are unused scalars.
    slots = ("r", "c", "velocity")

    def __init__(
        self,
        learning_rate=0.001,
        beta_2_decay=-0.8,
        epsilon_1=1e-30,
        epsilon_2=1e-3,
        clip_threshold=1.0,
        relative_step=True,
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
        self.beta_2_decay = beta_2_decay
        self.epsilon_1 = epsilon_1
        self.epsilon_2 = epsilon_2
        self.clip_threshold = clip_threshold
        self.relative_step = relative_step

    def make_slot(self, variable, name):
        if name == "velocity":
            return self.add_variable_from_reference(variable, name)
        base = variable.path.replace("/", "_")
        if len(variable.shape) < 2:
            return self.add_variable((), dtype="int32", name=f"{base}_{name}")
        shape = variable.shape[:-1] if name == "r" else (*variable.shape[:-2], variable.shape[-1])
        return self.add_variable(shape, dtype=variable.dtype, name=f"{base}_{name}")

    def rate(self, learning_rate, step):
        # As in Keras, where `relative_step` makes no difference.
        return ops.minimum(learning_rate, ops.rsqrt(step)), ops.power(step, self.beta_2_decay)

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        rows, columns, velocity = slots
        rate, news = learning_rate
        rate = rate * ops.maximum(_root_mean_square(variable), self.epsilon_2)
        squares = ops.square(gradient) + self.epsilon_1
        if len(variable.shape) >= 2:
            rows = rows + (ops.mean(squares, axis=-1) - rows) * news
            columns = columns + (ops.mean(squares, axis=-2) - columns) * news
            shares = rows / ops.mean(rows, axis=-1, keepdims=True)
            velocity = ops.expand_dims(shares, -1) * ops.expand_dims(columns, -2)
        else:
            velocity = velocity + (squares - velocity) * news
        change = gradient * ops.rsqrt(velocity)
        change = change / ops.maximum(_root_mean_square(change) / self.clip_threshold, 1.0)
        return variable - rate * change, (rows, columns, velocity)


def _root_mean_square(x):
    return ops.sqrt(ops.mean(ops.square(x)))
