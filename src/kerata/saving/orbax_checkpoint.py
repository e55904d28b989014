"""`OrbaxCheckpoint`: checkpoints in Orbax's format while a model trains."""

import os
import warnings

from kerata import backends
from kerata.callbacks.checkpoint import CheckpointCallback
from kerata.saving import orbax


class OrbaxCheckpoint(CheckpointCallback):
    """Save checkpoints in Orbax's format while training, by default in the background.

    Of each, `directory` gets a folder: named by the epoch, or, where batches are counted, by the optimizer's iterations. Those that aren't
    kept are removed. `kerata.saving.load_model(directory)` and `model.load_weights(directory)` read the one written last, on
    any backend; Keras reads them too, of a folder the one of the largest number. Needs the package `orbax-checkpoint`, which brings
    JAX along.

    Args:
        directory: folder for the checkpoints; it is made if need be.
        monitor: name of the number that says what is best.
        verbose: 1 to say what is done.
        save_best_only: save only when that number is better than at any time before.
        mode: `"min"`, `"max"`, or `"auto"` for the metric's own direction.
        save_freq: `"epoch"`, or a number of batches.
        initial_value_threshold: value that must be bettered for the first save, with `save_best_only`.
        max_to_keep: how many checkpoints are kept, the last ones; `None`: all.
        save_on_background: write while training goes on; the end of training waits for it.
        save_weights_only: leave out the optimizer's state, the config and assets.

    Raises:
        ValueError: another `save_freq`, or a `max_to_keep` below 1.
        ImportError: when it first saves, if the package is missing.

    ```python
    model.fit(x, y, epochs=10, callbacks=[kerata.callbacks.OrbaxCheckpoint("checkpoints", max_to_keep=3)])
    again = kerata.saving.load_model("checkpoints")
    ```
    """

    def __init__(
        self,
        directory,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        mode="auto",
        save_freq="epoch",
        initial_value_threshold=None,
        max_to_keep=1,
        save_on_background=True,
        save_weights_only=False,
    ):
        super().__init__(monitor, verbose, save_best_only, save_weights_only, mode, save_freq, initial_value_threshold)
        if max_to_keep is not None and (isinstance(max_to_keep, bool) or max_to_keep < 1):
            raise ValueError(
                f"OrbaxCheckpoint: `max_to_keep` must be at least 1, or None for all, not {max_to_keep!r}."
            )
        self.directory = os.fspath(directory)
        self.max_to_keep = max_to_keep
        self.save_on_background = save_on_background
        self._checkpointer = None
        self._pending = None
        self._has_saved = False

    @property
    def checkpointer(self):
        """Orbax's own `Checkpointer` on the folder."""
        if self._checkpointer is None:
            training = orbax.library("OrbaxCheckpoint").training
            self._checkpointer = training.Checkpointer(
                os.path.abspath(self.directory),
                preservation_policy=training.preservation_policies.LatestN(self.max_to_keep),
            )
        return self._checkpointer

    def is_multihost_enabled(self):
        """Whether several processes train together, each of which writes its part (JAX)."""
        return _processes("process_count", 1) > 1

    def is_primary_host(self):
        """Whether this process is the first, or the only one."""
        return _processes("process_index", 0) == 0

    def on_train_begin(self, logs=None):
        # At once, so that a folder that can't be written isn't met with after hours.
        os.makedirs(self.directory, exist_ok=True)
        self._has_saved = False

    def on_train_end(self, logs=None):
        self.wait_until_finished()

    def wait_until_finished(self):
        """Wait until what is being written is on disk; an error met there is raised here."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()
        if self._checkpointer is not None:
            self._checkpointer.wait()

    def _save_model(self, epoch, batch, logs):
        step = epoch if batch is None else int(self.model.optimizer.iterations)
        if self._is_wanted(epoch, os.path.join(self.directory, str(step)), logs):
            self._save_checkpoint(step)

    def _save_checkpoint(self, step):
        self.wait_until_finished()
        if not self._has_saved:
            self._has_saved = True
            self._mention_later_ones(step)
        parts = orbax.contents(self.model, self.save_weights_only)
        how = {"force": True, "overwrite": True}
        if self.save_on_background:
            self._pending = self.checkpointer.save_checkpointables_async(step, parts, **how)
        else:
            self.checkpointer.save_checkpointables(step, parts, **how)

    def _mention_later_ones(self, step):
        later = [n for n in orbax.steps_in(self.directory) if n > step] if os.path.isdir(self.directory) else []
        if later:
            shown = ", ".join(map(str, later[:5])) + (", …" if len(later) > 5 else "")
            kept = "for good" if self.max_to_keep is None else f"until {self.max_to_keep} others are written"
            warnings.warn(
                f"OrbaxCheckpoint: {self.directory!r} has later steps ({shown}) than the first that this run saves ({step}), from "
                f"another run. They stay {kept}. Kerata loads from a folder what was written last; Keras and Orbax load the "
                "largest number, the other run's. Give each run a folder, or go on with `initial_epoch`.",
                stacklevel=3,
            )


def _processes(what, otherwise):
    """What JAX says of the processes that it runs in; other backends have one."""
    ask = getattr(backends.current(), what, None)
    return otherwise if ask is None else ask()
