"""`ModelCheckpoint`: save the model, or its weights, while it trains."""

import os

from kerata.callbacks.checkpoint import CheckpointCallback
from kerata.callbacks.messages import say


class ModelCheckpoint(CheckpointCallback):
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
        super().__init__(monitor, verbose, save_best_only, save_weights_only, mode, save_freq, initial_value_threshold)
        self.filepath = _checked_path(filepath, save_weights_only)

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
