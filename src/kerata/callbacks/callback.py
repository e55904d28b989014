"""`Callback`: the moments of `fit`, `evaluate` and `predict` that user code can hook into."""

MODES = ("train", "test", "predict")


class Callback:
    """Base of all callbacks: override the hooks you need, and pass an instance to `fit`, `evaluate` or
    `predict`.

    Attributes:
        params: dict of `verbose`, `epochs` and `steps` of the run.
        model: the model that is run. Set `model.stop_training = True` to end training.

    The `logs` that hooks get are dicts of what was measured: in batch hooks the means so far in the epoch, in
    `on_epoch_end` those of the epoch, with the validation's under `val_` names. Numbers stay on the device
    until someone reads them, so a hook that doesn't look costs no waiting. A callback without batch hooks
    lets the loop run several batches at once.

    ```python
    class Announce(kerata.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            print("epoch", epoch, "ended with a loss of", logs["loss"])

    model.fit(x, y, callbacks=[Announce()])
    ```
    """

    params = None
    _model = None

    @property
    def model(self):
        """The model that is run."""
        return self._model

    def set_params(self, params):
        """Called before anything else with what `params` shall be."""
        self.params = params

    def set_model(self, model):
        """Called before anything else with the model."""
        self._model = model

    def needs_batches(self, mode):
        """Whether the batch hooks of a mode want each single batch: by default, whether they are overridden.

        Override it to return False in a callback whose batch hooks are content with being called now and
        then, after several batches at once.

        Args:
            mode: `"train"`, `"test"` or `"predict"`.
        """
        return any(overrides(self, name) for name in batch_hooks(mode))

    def on_train_begin(self, logs=None):
        """Called at the beginning of `fit`."""

    def on_train_end(self, logs=None):
        """Called at the end of `fit`, with the logs of the last epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        """Called before each epoch, counted from 0."""

    def on_epoch_end(self, epoch, logs=None):
        """Called after each epoch, and after its validation."""

    def on_batch_begin(self, batch, logs=None):
        """Called before each batch of `fit`; another name of `on_train_batch_begin`."""

    def on_batch_end(self, batch, logs=None):
        """Called after each batch of `fit`; another name of `on_train_batch_end`."""

    def on_train_batch_begin(self, batch, logs=None):
        """Called before each batch of `fit`, counted from 0 in each epoch."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """Called after each batch of `fit`, with the means of the epoch so far."""
        self.on_batch_end(batch, logs=logs)

    def on_test_begin(self, logs=None):
        """Called at the beginning of `evaluate`, and of validation in `fit`."""

    def on_test_end(self, logs=None):
        """Called at the end of `evaluate`, and of validation in `fit`."""

    def on_test_batch_begin(self, batch, logs=None):
        """Called before each batch of `evaluate` or validation."""

    def on_test_batch_end(self, batch, logs=None):
        """Called after each batch of `evaluate` or validation."""

    def on_predict_begin(self, logs=None):
        """Called at the beginning of `predict`."""

    def on_predict_end(self, logs=None):
        """Called at the end of `predict`."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Called before each batch of `predict`."""

    def on_predict_batch_end(self, batch, logs=None):
        """Called after each batch of `predict`, with the `outputs` in the logs."""


def batch_hooks(mode):
    """Names of the hooks that belong to batches of a mode."""
    names = (f"on_{mode}_batch_begin", f"on_{mode}_batch_end")
    return (*names, "on_batch_begin", "on_batch_end") if mode == "train" else names


def overrides(callback, name):
    """Whether a callback, by its class or on the object itself, has its own `name` hook."""
    hook = getattr(callback, name, None)
    return hook is not None and getattr(hook, "__func__", hook) is not getattr(Callback, name)
