"""`ProgbarLogger`: the progress bar of `fit`, `evaluate` and `predict`."""

from kerata.callbacks.callback import Callback
from kerata.callbacks.messages import say
from kerata.callbacks.progbar import Progbar

# A person reads no faster, and each drawing fetches the numbers from the device.
INTERVAL_SECONDS = 0.1


class ProgbarLogger(Callback):
    """Shows progress and what is measured, as `verbose` asks: 0 nothing, 1 a bar, 2 a line an epoch.

    It's added by `fit`, `evaluate` and `predict` themselves. It draws at most ten times a second and fetches
    numbers only to draw them.
    """

    def __init__(self):
        self.seen = 0
        self.progbar = None
        self.target = None
        self.verbose = 1
        self.epochs = 1
        self._in_fit = False

    def needs_batches(self, mode):
        return False

    def set_params(self, params):
        super().set_params(params)
        verbose = params.get("verbose", 1)
        self.verbose = 1 if verbose == "auto" else int(verbose)
        self.epochs = params.get("epochs", 1)
        self.target = params.get("steps")

    def on_train_begin(self, logs=None):
        self._in_fit = True

    def on_train_end(self, logs=None):
        self._in_fit = False

    def on_epoch_begin(self, epoch, logs=None):
        self._begin()
        if self.verbose and self.epochs > 1:
            say(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, batch, logs=None):
        self._update(batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self._finish(logs)

    def on_test_begin(self, logs=None):
        if not self._in_fit:
            self._begin()

    def on_test_batch_end(self, batch, logs=None):
        if not self._in_fit:
            self._update(batch, logs)

    def on_test_end(self, logs=None):
        if not self._in_fit:
            self._finish(logs)

    def on_predict_begin(self, logs=None):
        self._begin()

    def on_predict_batch_end(self, batch, logs=None):
        # The logs hold the outputs: nothing to show.
        self._update(batch, None)

    def on_predict_end(self, logs=None):
        self._finish(None)

    def _begin(self):
        self.seen = 0
        # The numbers are means over the epoch already.
        self.progbar = Progbar(self.target, verbose=self.verbose, interval=INTERVAL_SECONDS, stateless_metrics=[])

    def _update(self, batch, logs):
        if self.progbar is None:
            self._begin()
        # The last batches of an epoch may be counted as if there were more (`steps_per_execution`).
        self.seen = batch + 1 if self.target is None else min(batch + 1, self.target)
        if self.progbar.due():
            self.progbar.update(self.seen, list(logs.items()) if logs else None, finalize=False)
        else:
            self.progbar.advance(self.seen)

    def _finish(self, logs):
        if self.progbar is None:
            self._begin()
        if self.target is None:
            # Now it is known how many steps an epoch has.
            self.target = self.progbar.target = self.seen
        self.progbar.update(self.seen, list(logs.items()) if logs and self.verbose else None, finalize=True)
        self.progbar = None
