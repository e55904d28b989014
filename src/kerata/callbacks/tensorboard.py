"""`TensorBoard`: logs, weights and the architecture, for TensorBoard to show."""

import os
import time

import numpy as np

from kerata import ops
from kerata.callbacks import event_file
from kerata.callbacks.callback import Callback
from kerata.callbacks.event_file import EventFile
from kerata.callbacks.learning_rate import rated_optimizers, rates
from kerata.core.errors import positive_int


class TensorBoard(Callback):
    """Write event files for TensorBoard: metrics of epochs or batches, learning rates, weights, the architecture.

    Needs the `tensorboard` package, and no framework besides that of the model. `tensorboard --logdir logs` shows what it
    has written.

    Args:
        log_dir: directory; what belongs to training goes into `train` within, to validation into `validation`.
        histogram_freq: weights are written as histograms after every so many epochs; 0: never.
        write_graph: whether the architecture is written, if the model has a config.
        write_images: whether weights are written as images too, with the histograms.
        write_steps_per_second: whether to write how many steps were made in a second.
        update_freq: metrics are written after each `"epoch"`, each `"batch"`, or every so many batches as well.
        profile_batch: only 0. The frameworks' own profilers write for TensorBoard (`jax.profiler`, `tf.profiler`,
            `torch.profiler`).
        embeddings_freq: embeddings are written for the projector after every so many epochs; 0: never.
        embeddings_metadata: file that names the rows of the embeddings, or a dict of them by layer name.

    Raises:
        ValueError: for an argument out of range.
        ImportError: in training, when the package is missing.

    ```python
    model.fit(x, y, callbacks=[kerata.callbacks.TensorBoard("logs")])
    ```
    """

    def __init__(
        self,
        log_dir="logs",
        histogram_freq=0,
        write_graph=True,
        write_images=False,
        write_steps_per_second=False,
        update_freq="epoch",
        profile_batch=0,
        embeddings_freq=0,
        embeddings_metadata=None,
    ):
        if profile_batch:
            raise ValueError(
                f"TensorBoard: `profile_batch` must be 0, not {profile_batch!r}. Wrap training in the framework's own "
                "profiler, which writes for TensorBoard: `jax.profiler.trace`, `tf.profiler`, `torch.profiler`."
            )
        self.log_dir = os.fspath(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.write_steps_per_second = write_steps_per_second
        every = 1 if update_freq == "batch" else update_freq
        self.update_freq = every if every == "epoch" else positive_int(every, "update_freq", "TensorBoard")
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._train = EventFile(os.path.join(self.log_dir, "train"))
        self._validation = EventFile(os.path.join(self.log_dir, "validation"))
        self._step = 0  # of training, over all epochs

    def needs_batches(self, mode):
        return mode == "train" and self.update_freq != "epoch"

    def set_model(self, model):
        super().set_model(model)
        self._written_graph = False

    def on_train_begin(self, logs=None):
        optimizer = getattr(self.model, "optimizer", None)
        self._step = int(np.asarray(optimizer.iterations)) if optimizer is not None else 0
        if self.write_graph and not self._written_graph:
            self._write_graph()

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch_began = time.perf_counter()
        self._before_epoch = self._step
        self._last = self._epoch_began

    def on_train_batch_end(self, batch, logs=None):
        # Several batches may have been made since the last call, and be counted as if there were more at an epoch's end.
        before, steps = self._step, (self.params or {}).get("steps")
        self._step = self._before_epoch + (batch + 1 if steps is None else min(batch + 1, steps))
        if self.update_freq == "epoch" or before // self.update_freq == self._step // self.update_freq:
            return
        now = time.perf_counter()
        values = [event_file.scalar(f"batch_{name}", value) for name, value in _numbers(logs)]
        if self.write_steps_per_second:
            values.append(event_file.scalar("batch_steps_per_second", self.update_freq / (now - self._last)))
        self._last = now
        self._train.add(self._step, *values)

    def on_epoch_end(self, epoch, logs=None):
        seen = dict(_numbers(logs))
        trained = self._collect_learning_rate({name: v for name, v in seen.items() if not name.startswith("val_")})
        validated = {name.removeprefix("val_"): v for name, v in seen.items() if name.startswith("val_")}
        if self.write_steps_per_second:
            steps = self._step - self._before_epoch
            trained["steps_per_second"] = steps / (time.perf_counter() - self._epoch_began)
        for file, values in ((self._train, trained), (self._validation, validated)):
            if values:
                file.add(epoch, *(event_file.scalar(f"epoch_{name}", v) for name, v in values.items()))
        if _is_due(epoch, self.histogram_freq):
            self._write_weights(epoch)
        if _is_due(epoch, self.embeddings_freq):
            self._write_embeddings()
        self._train.flush()
        self._validation.flush()

    def on_test_end(self, logs=None):
        values = [event_file.scalar(f"evaluation_{name}_vs_iterations", v) for name, v in _numbers(logs)]
        if values:
            self._validation.add(self._step, *values)
            self._validation.flush()

    def on_train_end(self, logs=None):
        self._train.close()
        self._validation.close()

    def _collect_learning_rate(self, logs):
        """The logs, with the learning rate of each optimizer."""
        if self.model.optimizer is None:
            return logs
        return {**logs, **rates(rated_optimizers(self.model, "TensorBoard"))}

    def _write_graph(self):
        try:
            architecture = self.model.to_json()
        except NotImplementedError:  # a class of the user's without a config
            return
        self._train.add(0, event_file.keras_model("keras", architecture))
        self._written_graph = True

    def _write_weights(self, epoch):
        for layer in self.model.layers:
            for weight in layer.weights:
                values = np.asarray(weight.numpy(), "float64")
                self._train.add(epoch, event_file.histogram(f"{weight.path}/histogram", values))
                if self.write_images and values.size:
                    self._train.add(epoch, event_file.image(f"{weight.path}/image", values))

    def _write_embeddings(self):
        """The embeddings as tables, and the file that tells the projector of them."""
        embeddings = {layer.name: layer for layer in self.model.layers if hasattr(layer, "embeddings")}
        metadata = self.embeddings_metadata or {}
        if not isinstance(metadata, dict):
            metadata = dict.fromkeys(embeddings, os.fspath(metadata))
        unknown = sorted(set(metadata) - set(embeddings))
        if unknown:
            raise ValueError(
                f"TensorBoard: `embeddings_metadata` names {unknown}, but the layers with embeddings are {sorted(embeddings)}."
            )
        os.makedirs(self.log_dir, exist_ok=True)
        entries = []
        for name, layer in embeddings.items():
            # A variable, or with LoRA what it comes to.
            table = ops.convert_to_numpy(layer.embeddings)
            np.savetxt(os.path.join(self.log_dir, f"{name}.tsv"), table, delimiter="\t", fmt="%.9g")
            lines = [f'tensor_name: "{layer.path}/embeddings"', f'tensor_path: "{name}.tsv"']
            lines += [f'metadata_path: "{metadata[name]}"'] if name in metadata else []
            entries.append("embeddings {\n" + "".join(f"  {line}\n" for line in lines) + "}\n")
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write("".join(entries))


def _is_due(epoch, every):
    return bool(every) and epoch % every == 0


def _numbers(logs):
    """The logs that are single numbers."""
    return [(name, value) for name, value in (logs or {}).items() if np.ndim(value) == 0]
