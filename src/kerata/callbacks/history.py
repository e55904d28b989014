"""`History`: what `fit` returns."""

from kerata.callbacks.callback import Callback


class History(Callback):
    """Keeps the logs of each epoch. Every `fit` has one, and returns it.

    Attributes:
        history: dict of lists, one number an epoch.
        epoch: list of the epochs' numbers.

    ```python
    history = model.fit(x, y, epochs=2)
    history.history["loss"]      # two numbers
    ```
    """

    def __init__(self):
        self.history = {}
        self.epoch = []

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        # The one of this run, where two fits share a model.
        if self.model is not None:
            self.model.history = self
