"""`CSVLogger`: a line an epoch in a CSV file."""

import csv
import os

import numpy as np

from kerata.callbacks.callback import Callback

MISSING = "NA"


class CSVLogger(Callback):
    """Write the logs of each epoch to a CSV file.

    Args:
        filename: the file.
        separator: what separates its columns.
        append: add to a file that is there, rather than begin a new one.

    ```python
    model.fit(x, y, callbacks=[kerata.callbacks.CSVLogger("training.csv")])
    ```
    """

    def __init__(self, filename, separator=",", append=False):
        self.filename = os.fspath(filename)
        self.sep = separator
        self.append = append
        self.keys = None
        self.append_header = True
        self.csv_file = None

    def on_train_begin(self, logs=None):
        if self.append and os.path.exists(self.filename):
            self.append_header = os.path.getsize(self.filename) == 0
        # Open over many calls, and closed in `on_train_end`.
        self.csv_file = open(  # noqa: SIM115
            self.filename, "a" if self.append else "w", newline="", encoding="utf-8"
        )
        self._writer = None

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self._writer is None:
            self._begin(logs)
        # A key that wasn't there in the first epoch has no column.
        row = {"epoch": epoch, **{key: _cell(logs[key]) if key in logs else MISSING for key in self.keys}}
        self._writer.writerow(row)
        self.csv_file.flush()

    def _begin(self, logs):
        if self.keys is None:
            self.keys = sorted(logs)
            if not any(key.startswith("val_") for key in self.keys):
                # Validation may come later (`validation_freq`), and a column can't be added then.
                self.keys += [f"val_{key}" for key in self.keys]
        self._writer = csv.DictWriter(
            self.csv_file,
            ["epoch", *self.keys],
            delimiter=self.sep,
            lineterminator="\n",
            extrasaction="ignore",
        )
        if self.append_header:
            self._writer.writeheader()

    def on_train_end(self, logs=None):
        if self.csv_file is not None:
            self.csv_file.close()
        self.csv_file = self._writer = None
        self.append_header = not self.append


def _cell(value):
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f'"[{", ".join(map(str, value))}]"'
    return value
