"""Muon."""

import re

from kerata import ops
from kerata.optimizers.optimizer import Optimizer, approached, build_by_var_list


class Muon(Optimizer):
    """Momentum made orthogonal before the step; AdamW for what is no matrix. Source: Jordan, 2024.

    Matrices are orthogonalized by a few Newton-Schulz iterations `X <- a X + b X X' X + c (X X')² X`.
    Embeddings, vectors and excluded layers get AdamW.

    Args:
        learning_rate: number, schedule or callable.
        adam_beta_1, adam_beta_2: Adam's two weights of the past.
        adam_weight_decay: weight decay of what Adam changes.
        epsilon: Adam's.
        weight_decay: weight decay of what Muon changes.
        clipnorm, …: see `Optimizer`.
        exclude_layers: regular expressions; variables whose path has one of them in it get AdamW.
        exclude_embeddings: whether embeddings get AdamW.
        muon_a, muon_b, muon_c: coefficients of the iteration.
        adam_lr_ratio: Adam's learning rate over Muon's.
        momentum: weight of the past in the momentum.
        ns_steps: number of iterations.
        nesterov: whether to look ahead.
        rms_rate: steps are scaled by it and the root of the matrix's longer side, to match Adam's size (Liu
            et al., 2025);
            `None`: not scaled.

    >>> import kerata
    >>> v = kerata.Variable([[1.0, 0.0], [0.0, 1.0]])
    >>> kerata.optimizers.Muon(0.1, weight_decay=0.0).apply([kerata.ops.eye(2)], [v])
    >>> 0.95 < float(v[0, 0]) < 1
    True
    """

    slots = ("momentum", "velocity")

    def __init__(
        self,
        learning_rate=0.001,
        adam_beta_1=0.9,
        adam_beta_2=0.999,
        adam_weight_decay=0.004,
        epsilon=1e-7,
        weight_decay=0.004,
        clipnorm=None,
        clipvalue=None,
        global_clipnorm=None,
        use_ema=False,
        ema_momentum=0.99,
        ema_overwrite_frequency=None,
        loss_scale_factor=None,
        gradient_accumulation_steps=None,
        name=None,
        exclude_layers=None,
        exclude_embeddings=True,
        muon_a=3.4445,
        muon_b=-4.775,
        muon_c=2.0315,
        adam_lr_ratio=1,
        momentum=0.95,
        ns_steps=5,
        nesterov=True,
        rms_rate=0.2,
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
        self.adam_beta_1 = adam_beta_1
        self.adam_beta_2 = adam_beta_2
        self.adam_weight_decay = adam_weight_decay
        self.epsilon = epsilon
        self.exclude_layers = exclude_layers or []
        self.exclude_embeddings = exclude_embeddings
        self.muon_a = muon_a
        self.muon_b = muon_b
        self.muon_c = muon_c
        self.adam_lr_ratio = adam_lr_ratio
        self.momentum = momentum
        self.ns_steps = ns_steps
        self.nesterov = nesterov
        self.rms_rate = rms_rate

    def slots_of(self, variable):
        return self.slots if self._should_use_adamw(variable) else ("momentum",)

    def decay_of(self, variable):
        return self.adam_weight_decay if self._should_use_adamw(variable) else self.weight_decay

    def rate(self, learning_rate, step):
        correction = ops.sqrt(approached(self.adam_beta_2, step)) / approached(self.adam_beta_1, step)
        return learning_rate, learning_rate * (self.adam_lr_ratio * correction)

    build = build_by_var_list

    def update(self, gradient, variable, slots, learning_rate, step):
        rate, adam_rate = learning_rate
        if len(slots) == 2:
            return self._adam(gradient, variable, slots, adam_rate)
        momentum = self.momentum * slots[0] + gradient
        direction = gradient + self.momentum * momentum if self.nesterov else momentum
        change = self.lr_adjust(self.zeropower_via_newtonschulz5(direction, self.ns_steps))
        return variable - rate * change, (momentum,)

    def _adam(self, gradient, variable, slots, rate):
        momentum, velocity = slots
        momentum = momentum + (gradient - momentum) * (1.0 - self.adam_beta_1)
        velocity = velocity + (ops.square(gradient) - velocity) * (1.0 - self.adam_beta_2)
        return variable - rate * momentum / (ops.sqrt(velocity) + self.epsilon), (momentum, velocity)

    def zeropower_via_newtonschulz5(self, x, steps):
        """`x` with its singular values all made about 1."""
        tall = x.shape[-2] > x.shape[-1]
        x = self.transpose_last_axis(x) if tall else x
        x = x / (ops.sqrt(ops.sum(ops.square(x), axis=(-2, -1), keepdims=True)) + 1e-7)
        for _ in range(steps):
            square = ops.matmul(x, self.transpose_last_axis(x))
            x = self.muon_a * x + ops.matmul(self.muon_b * square + self.muon_c * ops.matmul(square, square), x)
        return self.transpose_last_axis(x) if tall else x

    def lr_adjust(self, x):
        """A step, scaled to the size of Adam's."""
        return x if self.rms_rate is None else x * (self.rms_rate * max(x.shape[-2:]) ** 0.5)

    def transpose_last_axis(self, X):  # noqa: N803 - Keras's name
        """Last two axes swapped."""
        return ops.swapaxes(X, -1, -2)

    def _should_use_adamw(self, variable):
        if len(variable.shape) != 2:
            return True
        if self.exclude_embeddings and "embedding" in variable.path.lower():
            return True
        return any(re.search(pattern, variable.path) for pattern in self.exclude_layers)
