"""What callbacks share that save the model from time to time."""

from kerata.callbacks.messages import say
from kerata.callbacks.monitor import MonitorCallback


class CheckpointCallback(MonitorCallback):
    """Base of callbacks that save after so many batches or each epoch, perhaps only what is better than before.

    Subclasses write `_save_model(epoch, batch, logs)`, in which `_is_wanted` says whether to.
    """

    def __init__(
        self, monitor, verbose, save_best_only, save_weights_only, mode, save_freq, initial_value_threshold=None
    ):
        super().__init__(monitor, mode, initial_value_threshold)
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = check_frequency(save_freq, f"{type(self).__name__}: Unrecognized save_freq")
        self._current_epoch = 0
        self._batches = BatchCounter()

    def needs_batches(self, mode):
        return mode == "train" and self.save_freq != "epoch"

    def on_epoch_begin(self, epoch, logs=None):
        self._current_epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq != "epoch" and self._batches.reached(batch, self.save_freq):
            self._save_model(self._current_epoch, batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor_op is None and self.save_best_only:
            # Also when the number isn't there: a name that means nothing is told at once.
            self._set_monitor_op()
        if self.save_freq == "epoch":
            self._save_model(epoch, None, logs)

    def _save_model(self, epoch, batch, logs):
        raise NotImplementedError(f"{type(self).__name__} doesn't say how it saves: write `_save_model`.")

    def _is_wanted(self, epoch, path, logs):
        if not self.save_best_only:
            return self._said(f"saving model to {path}", epoch)
        current = self._monitored(logs, "can save best model only with that, so this one is saved")
        if current is None:
            return True
        if not self._is_improvement(current, self.best):
            self._said(f"{self.monitor} did not improve from {_shown(self.best)}", epoch)
            return False
        before, self.best = self.best, current
        return self._said(
            f"{self.monitor} improved from {_shown(before)} to {_shown(current)}, saving model to {path}",
            epoch,
        )

    def _said(self, message, epoch):
        if self.verbose > 0:
            say(f"\nEpoch {epoch + 1}: {message}")
        return True


class BatchCounter:
    """Tells when a number of batches have gone by since it last did; batches are counted anew each epoch."""

    def __init__(self, batches_done=0):
        self.last_batch = max(batches_done - 1, 0)
        self._since = 0

    def reached(self, batch, number):
        self._since += batch + 1 if batch <= self.last_batch else batch - self.last_batch
        self.last_batch = batch
        if self._since < number:
            return False
        self._since = 0
        return True


def check_frequency(save_freq, message):
    """`"epoch"` or a positive integer."""
    is_number = isinstance(save_freq, int) and not isinstance(save_freq, bool) and save_freq > 0
    if save_freq != "epoch" and not is_number:
        raise ValueError(f"{message}: {save_freq!r}. Expected save_freq are 'epoch' or a positive integer.")
    return save_freq


def _shown(value):
    return "None" if value is None else f"{value:.5f}"
