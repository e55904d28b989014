"""`LambdaCallback`: hooks given as functions."""

from kerata.callbacks.callback import Callback


class LambdaCallback(Callback):
    """A callback made of functions.

    Args:
        on_epoch_begin, on_epoch_end: functions of `(epoch, logs)`.
        on_train_begin, on_train_end: functions of `(logs)`.
        on_train_batch_begin, on_train_batch_end: functions of `(batch, logs)`.
        **kwargs: functions for any other hook of `Callback`.

    ```python
    model.fit(x, y, callbacks=[LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs["loss"]))])
    ```
    """

    def __init__(
        self,
        on_epoch_begin=None,
        on_epoch_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_train_batch_begin=None,
        on_train_batch_end=None,
        **kwargs,
    ):
        hooks = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
        }
        self.__dict__.update(kwargs)
        self.__dict__.update({name: hook for name, hook in hooks.items() if hook is not None})
