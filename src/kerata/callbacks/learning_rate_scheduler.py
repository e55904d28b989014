"""`LearningRateScheduler`: the learning rate as a function of the epoch."""

import inspect

import numpy as np

from kerata.callbacks.callback import Callback
from kerata.callbacks.learning_rate import get_rate, rated_optimizers, rates
from kerata.callbacks.messages import say


class LearningRateScheduler(Callback):
    """Set the learning rate at the beginning of each epoch.

    Args:
        schedule: function of the epoch (from 0) and, if it takes a second argument, the present rate; returns
            the new rate, a float.
        verbose: 1 to say what is done.

    ```python
    model.fit(x, y, epochs=20, callbacks=[
        kerata.callbacks.LearningRateScheduler(lambda epoch, rate: rate if epoch < 10 else rate * 0.9)])
    ```
    """

    def __init__(self, schedule, verbose=0):
        self.schedule = schedule
        self.verbose = verbose
        self._takes_rate = _takes_two(schedule)

    def on_epoch_begin(self, epoch, logs=None):
        optimizers = rated_optimizers(self.model, "LearningRateScheduler")
        for optimizer in optimizers:
            rate = self._scheduled(epoch, optimizer)
            optimizer.learning_rate = rate
            if self.verbose > 0:
                of = f" of {optimizer.name}" if len(optimizers) > 1 else ""
                say(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate{of} to {rate}.")

    def _scheduled(self, epoch, optimizer):
        rate = self.schedule(epoch, get_rate(optimizer)) if self._takes_rate else self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)) and not getattr(rate, "shape", None) == ():
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate!r}")
        return float(rate)

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs.update(rates(rated_optimizers(self.model, "LearningRateScheduler")))


def _takes_two(schedule):
    try:
        inspect.signature(schedule).bind(0, 0.0)
    except TypeError:
        return False
    except ValueError:  # built in: without a signature
        return True
    return True
