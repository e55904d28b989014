"""`LearningRateScheduler`: the learning rate as a function of the epoch."""

import inspect

import numpy as np

from kerata.callbacks.callback import Callback
from kerata.callbacks.learning_rate import check_settable, get_rate
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
        check_settable(self.model, "LearningRateScheduler")
        rate = self.schedule(epoch, get_rate(self.model)) if self._takes_rate else self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)) and not getattr(rate, "shape", None) == ():
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate!r}")
        rate = float(rate)
        self.model.optimizer.learning_rate = rate
        if self.verbose > 0:
            say(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["learning_rate"] = get_rate(self.model)


def _takes_two(schedule):
    try:
        inspect.signature(schedule).bind(0, 0.0)
    except TypeError:
        return False
    except ValueError:  # built in: without a signature
        return True
    return True
