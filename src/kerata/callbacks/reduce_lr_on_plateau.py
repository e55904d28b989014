"""`ReduceLROnPlateau`: smaller steps when learning stagnates."""

import numpy as np

from kerata.callbacks.learning_rate import get_rate, rated_optimizers, rates
from kerata.callbacks.messages import say
from kerata.callbacks.monitor import MonitorCallback


class ReduceLROnPlateau(MonitorCallback):
    """Multiply the learning rate by a factor when a number has stopped getting better.

    Args:
        monitor: name of the number in the logs.
        factor: what the rate is multiplied by, below 1.
        patience: epochs without getting better after which that is done.
        verbose: 1 to say what is done.
        mode: `"min"`, `"max"`, or `"auto"` for the metric's own direction.
        min_delta: change below which it doesn't count as better.
        cooldown: epochs to wait after a reduction before watching again.
        min_lr: rate below which it isn't reduced.

    ```python
    model.fit(x, y, validation_split=0.2, callbacks=[kerata.callbacks.ReduceLROnPlateau(factor=0.2,
    patience=5)]) ```
    """

    def __init__(
        self,
        monitor="val_loss",
        factor=0.1,
        patience=10,
        verbose=0,
        mode="auto",
        min_delta=0.0001,
        cooldown=0,
        min_lr=0.0,
        **kwargs,
    ):
        # `epsilon` is what `min_delta` was once called.
        min_delta = kwargs.pop("epsilon", min_delta)
        if kwargs:
            raise TypeError(f"ReduceLROnPlateau: unknown arguments {', '.join(map(repr, kwargs))}.")
        super().__init__(monitor, mode, min_delta=min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self._reset()

    def _reset(self):
        self.best = None
        self.cooldown_counter = 0
        self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        optimizers = rated_optimizers(self.model, "ReduceLROnPlateau")
        logs.update(rates(optimizers))
        if self.monitor_op is None:
            self._set_monitor_op()
        current = self._monitored(logs, "the learning rate stays as it is")
        if current is None:
            return
        rested = self.in_cooldown()
        self.cooldown_counter -= rested
        better = self._is_improvement(current, self.best)
        if better:
            self.best = current
        if better or rested:
            self.wait = 0
        if better or self.in_cooldown():
            return
        self.wait += 1
        if self.wait >= self.patience:
            self._reduce(epoch, optimizers)

    def _reduce(self, epoch, optimizers):
        # Optimizers keep it in float32, hence compared there.
        high = [o for o in optimizers if np.float32(get_rate(o)) > np.float32(self.min_lr)]
        for optimizer in high:
            rate = max(get_rate(optimizer) * self.factor, self.min_lr)
            optimizer.learning_rate = rate
            if self.verbose > 0:
                of = f" of {optimizer.name}" if len(optimizers) > 1 else ""
                say(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate{of} to {rate}.")
        if high:
            self.cooldown_counter = self.cooldown
            self.wait = 0

    def in_cooldown(self):
        """Whether it waits after a reduction."""
        return self.cooldown_counter > 0
