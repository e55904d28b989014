"""`TerminateOnNaN`: end training once the loss is no number."""

import math
import time

from kerata.callbacks.callback import Callback
from kerata.callbacks.logs import as_number
from kerata.callbacks.messages import say

# Reading the loss waits for the device, so it isn't read after every batch: it stays NaN to the epoch's end
# anyway.
INTERVAL_SECONDS = 0.1


class TerminateOnNaN(Callback):
    """End training when the loss is NaN or infinite.

    The loss is looked at up to ten times a second, and at the end of each epoch before anything else is done
    with it.

    Args:
        raise_error: raise a `RuntimeError` instead of setting `model.stop_training`, so that `on_train_end`
            of other callbacks isn't called (`BackupAndRestore` then keeps its backup).
    """

    def __init__(self, raise_error=False):
        self.raise_error = raise_error
        self._looked = 0.0

    def needs_batches(self, mode):
        return False

    def on_train_begin(self, logs=None):
        self._looked = 0.0

    def on_batch_end(self, batch, logs=None):
        now = time.monotonic()
        steps = (self.params or {}).get("steps")
        is_last = steps is not None and batch + 1 >= steps
        if is_last or now - self._looked >= INTERVAL_SECONDS:
            self._look(f"batch {batch}", logs)
            self._looked = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        if not self.model.stop_training:
            self._look(f"the end of epoch {epoch}", logs)

    def _look(self, where, logs):
        loss = as_number((logs or {}).get("loss", 0.0))
        if not isinstance(loss, float) or math.isfinite(loss):
            return
        if self.raise_error:
            raise RuntimeError(f"NaN or Inf loss encountered at {where}.")
        say(f"{where[0].upper()}{where[1:]}: Invalid loss, terminating training")
        self.model.stop_training = True
