"""`ModelCheckpoint`: save the model, or its weights, while it trains."""

import os
import warnings

from kerata.callbacks.messages import say
from kerata.callbacks.monitor import MonitorCallback


class ModelCheckpoint(MonitorCallback):
    """Save the model or its weights from time to time.

    Files are replaced in one step: one that is there is never left half written.

    Args:
        filepath: where to save. It may hold `{epoch}` and names from the logs, as in
            `"{epoch:02d}-{val_loss:.2f}.keras"`, also `{batch}`. Ends with `.keras` (or `.h5`), or with
            `.weights.h5` if `save_weights_only`.
        monitor: name of the number that says what is best.
        verbose: 1 to say what is done.
        save_best_only: save only when that number is better than at any time before.
        save_weights_only: save weights (and the optimizer's state) instead of the whole model.
        mode: `"min"`, `"max"`, or `"auto"` for the metric's own direction.
        save_freq: `"epoch"`, or a number of batches.
        initial_value_threshold: value that must be bettered for the first save, with `save_best_only`.

    ```python
    model.fit(x, y, validation_split=0.2, epochs=10,
              callbacks=[kerata.callbacks.ModelCheckpoint("best.keras", save_best_only=True)])
    best = kerata.saving.load_model("best.keras")
    ```
    """

    def __init__(
        self,
        filepath,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        save_weights_only=False,
        mode="auto",
        save_freq="epoch",
        initial_value_threshold=None,
    ):
        super().__init__(monitor, mode, initial_value_threshold)
        self.filepath = _checked_path(filepath, save_weights_only)
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = check_frequency(save_freq, "ModelCheckpoint: Unrecognized save_freq")
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
        logs = logs or {}
        path = self._get_file_path(epoch, batch, logs)
        if self._is_wanted(epoch, path, logs):
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            if self.save_weights_only:
                self.model.save_weights(path, overwrite=True)
            else:
                self.model.save(path, overwrite=True)
            if self.verbose > 0:
                say(f"\nEpoch {epoch + 1}: finished saving model to {path}")

    def _is_wanted(self, epoch, path, logs):
        if not self.save_best_only:
            return self._said(f"saving model to {path}", epoch)
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(
                f"Can save best model only with {self.monitor} available, which it isn't; saving this one. "
                f"Available are: {', '.join(logs)}.",
                stacklevel=4,
            )
            return True
        if getattr(current, "ndim", 0) > 0:
            warnings.warn(
                f"Can save best model only when `{self.monitor}` is a single number; saving this one.",
                stacklevel=4,
            )
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

    def _get_file_path(self, epoch, batch, logs):
        """The path with the names in it filled in; epochs and batches count from 1 there."""
        names = {} if batch is None else {"batch": batch + 1}
        try:
            return (
                self.filepath.format_map({**logs, "epoch": epoch + 1, **names})
                if "{" in self.filepath
                else self.filepath
            )
        except KeyError as error:
            known = ", ".join(["epoch", *names, *logs])
            raise KeyError(
                f'Failed to format this callback filepath: "{self.filepath}". There is no {error}; there are: {known}.'
            ) from None


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


def _checked_path(filepath, save_weights_only):
    path = os.fspath(filepath)
    if save_weights_only:
        if not path.endswith(".weights.h5"):
            raise ValueError(
                "When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end in "
                f"`.weights.h5` (Keras weights format). Received: filepath={path}"
            )
    elif not path.endswith((".keras", ".h5")):
        raise ValueError(
            "The filepath provided must end in `.keras` (Keras model format), or in `.weights.h5` with "
            f"`save_weights_only=True`. Received: filepath={path}"
        )
    return path


def _shown(value):
    return "None" if value is None else f"{value:.5f}"
