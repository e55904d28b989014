"""Adam with decoupled weight decay."""

from kerata.optimizers.adam import Adam


class AdamW(Adam):
    """Adam with weight decay that doesn't pass through the averages. Source: Loshchilov & Hutter, 2019.

    Args:
        learning_rate: number, schedule or callable.
        weight_decay: share of each variable that is taken away a step, times the learning rate.
        beta_1, beta_2, epsilon, amsgrad: see `Adam`.
        clipnorm, …: see `Optimizer`.

    Raises:
        ValueError: when `weight_decay` is `None`.

    >>> import kerata
    >>> v = kerata.Variable([1.0])
    >>> kerata.optimizers.AdamW(0.1, weight_decay=0.1).apply([kerata.ops.ones(1)], [v])
    >>> round(float(v[0]), 5)
    0.89
    """

    def __init__(
        self,
        learning_rate=0.001,
        weight_decay=0.004,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
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
        if weight_decay is None:
            raise ValueError(
                "AdamW: Argument `weight_decay` must be a float. Received: weight_decay=None. Without it: `Adam`."
            )
        super().__init__(
            learning_rate,
            beta_1,
            beta_2,
            epsilon,
            amsgrad,
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
