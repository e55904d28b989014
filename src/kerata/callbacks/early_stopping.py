"""`EarlyStopping`: end training when it no longer helps."""

from kerata.callbacks.messages import say
from kerata.callbacks.monitor import MonitorCallback


class EarlyStopping(MonitorCallback):
    """End training when a number has stopped getting better.

    Args:
        monitor: name of the number in the logs.
        min_delta: change below which it doesn't count as better.
        patience: epochs without getting better after which training ends.
        verbose: 1 to say what is done.
        mode: `"min"`, `"max"`, or `"auto"` for the metric's own direction.
        baseline: value that must be reached for the patience to begin anew.
        restore_best_weights: at the end, take the weights of the best epoch (also if it didn't reach the
        baseline).
        start_from_epoch: epochs to wait before watching.

    ```python
    model.fit(x, y, validation_split=0.2, epochs=100,
              callbacks=[kerata.callbacks.EarlyStopping(patience=3, restore_best_weights=True)])
    ```
    """

    def __init__(
        self,
        monitor="val_loss",
        min_delta=0,
        patience=0,
        verbose=0,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
        start_from_epoch=0,
    ):
        super().__init__(monitor, mode, min_delta=min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self._forget()

    def _forget(self):
        self.best = self.best_weights = None
        self.wait = self.best_epoch = self.stopped_epoch = 0

    def on_train_begin(self, logs=None):
        self._forget()

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor_op is None:
            self._set_monitor_op()
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            # If nothing ever improves, the first epoch is the best there is.
            self._keep_weights(epoch)
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best = current
            self._keep_weights(epoch)
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def _keep_weights(self, epoch):
        self.best_epoch = epoch
        if self.restore_best_weights:
            self.best_weights = self.model.get_weights()

    def on_train_end(self, logs=None):
        if self.stopped_epoch:
            self._say(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.best_weights is not None:
            self._say(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)

    def _say(self, message):
        if self.verbose > 0:
            say(message)

    def get_monitor_value(self, logs):
        """The watched number, or `None` with a warning if the logs lack it."""
        return self._monitored(logs, "it can't tell whether to stop")
