"""`BackupAndRestore`: training that goes on where it was interrupted."""

import json
import os
import shutil
import warnings

from kerata.callbacks.callback import Callback
from kerata.callbacks.checkpoint import BatchCounter, check_frequency

# The state of training lies in the weights' file itself, so that the two can never be of different moments.
STATE = "kerata_training_state"


class BackupAndRestore(Callback):
    """Back up the training now and then; if it is interrupted, the next `fit` goes on from there.

    What is kept: weights, optimizer, seeds, the order of the samples, the position in the epoch. A run that
    was interrupted and started again, with the same arguments, ends with the same weights as one that wasn't.
    When training is complete the backup is deleted.

    Args:
        backup_dir: folder for the backup, used for nothing else.
        save_freq: `"epoch"`, or a number of batches.
        double_checkpoint: keep the backup before the last too, for the case that the last can't be read.
        delete_checkpoint: delete the backup once training is complete.

    ```python
    model.fit(x, y, epochs=100, callbacks=[kerata.callbacks.BackupAndRestore("backup")])
    ```
    """

    def __init__(self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True):
        if not backup_dir:
            raise ValueError("Empty `backup_dir` argument passed to BackupAndRestore. Give a folder for the backup.")
        self.backup_dir = os.fspath(backup_dir)
        # False is what Keras has for "by other means"; here it means never.
        if save_freq is not False:
            check_frequency(save_freq, "BackupAndRestore: Invalid value for argument `save_freq`")
        self.save_freq = save_freq
        self.double_checkpoint = double_checkpoint
        self.delete_checkpoint = delete_checkpoint
        self._current_epoch = 0
        self._last_batch_seen = 0
        self._batches = BatchCounter()
        self._weights_path = os.path.join(self.backup_dir, "latest.weights.h5")
        self._training_metadata_path = os.path.join(self.backup_dir, "training_metadata.json")
        self._prev_weights_path = f"{self._weights_path}.bkp"
        self._prev_training_metadata_path = f"{self._training_metadata_path}.bkp"

    def needs_batches(self, mode):
        return mode == "train" and isinstance(self.save_freq, int) and self.save_freq is not False

    def on_train_begin(self, logs=None):
        state = self._load()
        self._batches = BatchCounter(0 if state is None else state.get("step", 0))
        if state is None:
            return
        self._current_epoch = state["epoch"]
        self.model._initial_epoch = state["epoch"]
        # Taken by the loop: the step to begin with, and the data source's own state.
        self.model._resume = {
            "epoch": state["epoch"],
            "step": state.get("step", 0),
            "data": state.get("data"),
        }

    def on_train_batch_end(self, batch, logs=None):
        self._last_batch_seen = batch
        if self.needs_batches("train") and self._batches.reached(batch, self.save_freq):
            steps = (self.params or {}).get("steps")
            if steps is not None and batch + 1 >= steps:
                self._save(self._current_epoch + 1, 0)
            else:
                self._save(self._current_epoch, batch + 1)

    def on_epoch_end(self, epoch, logs=None):
        self._current_epoch = epoch + 1
        self._last_batch_seen = 0
        if self.save_freq == "epoch":
            self._save(epoch + 1, 0)

    def on_train_end(self, logs=None):
        if self.delete_checkpoint and os.path.exists(self.backup_dir):
            shutil.rmtree(self.backup_dir)

    def _save(self, epoch, step):
        os.makedirs(self.backup_dir, exist_ok=True)
        source = getattr(self.model, "_source", None)
        state = {"epoch": epoch, "step": step, "data": None if source is None else source.state()}
        fresh = os.path.join(self.backup_dir, "fresh.weights.h5")
        self.model.save_weights(fresh, overwrite=True)
        _write_state(fresh, state)
        if self.double_checkpoint and os.path.exists(self._weights_path):
            os.replace(self._weights_path, self._prev_weights_path)
            if os.path.exists(self._training_metadata_path):
                os.replace(self._training_metadata_path, self._prev_training_metadata_path)
        os.replace(fresh, self._weights_path)
        # For people, and for Keras.
        with open(self._training_metadata_path, "w", encoding="utf-8") as file:
            json.dump({"epoch": epoch, "batch": max(step - 1, 0)}, file)

    def _load(self):
        """Restore the weights; returns the state that belongs to them, or `None` if there is no backup."""
        paths = [(self._weights_path, self._training_metadata_path)]
        if self.double_checkpoint:
            paths.append((self._prev_weights_path, self._prev_training_metadata_path))
        paths = [pair for pair in paths if os.path.exists(pair[0])]
        for last, (weights, metadata) in enumerate(paths, 1 - len(paths)):
            try:
                return self._load_from(weights, metadata)
            except (OSError, ValueError, KeyError) as error:
                if last == 0:
                    raise ValueError(
                        f"BackupAndRestore: the backup {weights} can't be restored: {error}. Delete the "
                        f"folder {self.backup_dir} to start anew."
                    ) from error
                warnings.warn(
                    f"BackupAndRestore: the backup {weights} can't be restored ({error}); taking the one before.",
                    stacklevel=3,
                )
        return None

    def _load_from(self, weights, metadata):
        state = _read_state(weights)
        if state is None:
            # Written by Keras: it starts the epoch again.
            with open(metadata, encoding="utf-8") as file:
                state = {"epoch": json.load(file)["epoch"], "step": 0}
        named = weights
        if not weights.endswith(".weights.h5"):
            named = os.path.join(self.backup_dir, "previous.weights.h5")
            shutil.copyfile(weights, named)
        self.model.load_weights(named)
        if named != weights:
            os.remove(named)
        return state


def _write_state(path, state):
    import h5py

    with h5py.File(path, "r+") as file:
        file.attrs[STATE] = json.dumps(state)


def _read_state(path):
    import h5py

    with h5py.File(path, "r") as file:
        text = file.attrs.get(STATE)
    return None if text is None else json.loads(text)
