"""`CallbackList`: the callbacks of one run, called together."""

from kerata.callbacks.callback import MODES, Callback, batch_hooks, overrides

_BATCH_HOOKS = tuple(name for mode in MODES for name in batch_hooks(mode)[:2])


class CallbackList(Callback):
    """Calls the hooks of several callbacks, in order.

    The batch hooks of callbacks that override none aren't called at all.

    Args:
        callbacks: list of callbacks, or one.
        add_history: add a `History` unless there is one.
        add_progbar: add a `ProgbarLogger` unless there is one.
        model: the model that is run.
        **params: what the callbacks' `params` shall be.
    """

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        self.callbacks = _flat(callbacks)
        self._add_defaults(add_history, add_progbar)
        self._collect()
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)

    def _add_defaults(self, add_history, add_progbar):
        from kerata.callbacks.history import History
        from kerata.callbacks.progbar_logger import ProgbarLogger

        self._history = self._last_of(History, add_history)
        self._progbar = self._last_of(ProgbarLogger, add_progbar)

    def _last_of(self, kind, wanted):
        """The last callback of a kind; if there is none and one is wanted, a new one."""
        found = [callback for callback in self.callbacks if isinstance(callback, kind)]
        if not found and wanted:
            found = [kind()]
            self.callbacks += found
        return found[-1] if found else None

    def _collect(self):
        """Note who has batch hooks. Again at each beginning, for they may be set on an object at any time."""
        self._hooks = {
            name: tuple(getattr(c, name) for c in self.callbacks if _has_hook(c, name)) for name in _BATCH_HOOKS
        }

    @property
    def history(self):
        """The `History` among them, or `None`."""
        return self._history

    def append(self, callback):
        """Add a callback at the end."""
        self.callbacks.append(callback)
        self._collect()

    def set_params(self, params):
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        super().set_model(model)
        if self._history is not None:
            model.history = self._history
        for callback in self.callbacks:
            callback.set_model(model)

    def batch_hooks(self, mode="train"):
        """Whether some callback wants each single batch, so that batches can't be run several at once."""
        return any(callback.needs_batches(mode) for callback in self.callbacks)

    needs_batches = batch_hooks

    def wants_progress(self, mode="train"):
        """Whether any batch hook of a mode is overridden, also by those content with some of the batches."""
        return bool(self._hooks[f"on_{mode}_batch_begin"] or self._hooks[f"on_{mode}_batch_end"])

    def on_train_batch_begin(self, batch, logs=None):
        self._batch("on_train_batch_begin", batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self._batch("on_train_batch_end", batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        self._batch("on_test_batch_begin", batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        self._batch("on_test_batch_end", batch, logs)

    def on_predict_batch_begin(self, batch, logs=None):
        self._batch("on_predict_batch_begin", batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self._batch("on_predict_batch_end", batch, logs)

    on_batch_begin = on_train_batch_begin
    on_batch_end = on_train_batch_end

    def _batch(self, name, batch, logs):
        hooks = self._hooks[name]
        if hooks:
            logs = {} if logs is None else logs
            for hook in hooks:
                hook(batch, logs=logs)

    def on_epoch_begin(self, epoch, logs=None):
        self._collect()
        self._all("on_epoch_begin", logs, epoch)

    def on_epoch_end(self, epoch, logs=None):
        self._all("on_epoch_end", logs, epoch)

    def on_train_begin(self, logs=None):
        self._begin("on_train_begin", logs)

    def on_train_end(self, logs=None):
        self._all("on_train_end", logs)

    def on_test_begin(self, logs=None):
        self._begin("on_test_begin", logs)

    def on_test_end(self, logs=None):
        self._all("on_test_end", logs)

    def on_predict_begin(self, logs=None):
        self._begin("on_predict_begin", logs)

    def on_predict_end(self, logs=None):
        self._all("on_predict_end", logs)

    def _begin(self, name, logs):
        self._collect()
        self._all(name, logs)

    def _all(self, name, logs, *position):
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            getattr(callback, name)(*position, logs)


def _has_hook(callback, name):
    if overrides(callback, name):
        return True
    # The default hooks of training pass on to `on_batch_begin` and `on_batch_end`.
    return name.startswith("on_train") and overrides(callback, name.replace("_train", ""))


def _flat(callbacks):
    if callbacks is None:
        return []
    if not isinstance(callbacks, (list, tuple)):
        callbacks = [callbacks]
    flat = []
    for callback in callbacks:
        if isinstance(callback, (list, tuple)):
            flat += _flat(callback)
        elif isinstance(callback, type) or not hasattr(callback, "on_epoch_end"):
            hint = f" Write `{callback.__name__}(...)`." if isinstance(callback, type) else ""
            raise ValueError(f"`callbacks` must hold `Callback` objects, but {callback!r} was given.{hint}")
        else:
            flat.append(callback)
    return flat
