"""`SwapEMAWeights`: evaluate, and save, with the averaged weights."""

import numpy as np

from kerata.callbacks.callback import Callback


class SwapEMAWeights(Callback):
    """Put the optimizer's moving averages in the weights' place for evaluation, and the weights back after
    it.

    Needs an optimizer with `use_ema=True`. Nothing else may change the weights in between.

    Args:
        swap_on_epoch: swap at the end of each epoch too and back at the next one's beginning, for callbacks
            that come after this one, such as `ModelCheckpoint`.

    ```python
    model.compile(kerata.optimizers.SGD(use_ema=True), "mse")
    model.fit(x, y, validation_split=0.1, callbacks=[kerata.callbacks.SwapEMAWeights()])
    ```
    """

    def __init__(self, swap_on_epoch=False):
        self.swap_on_epoch = swap_on_epoch
        self._weights = None  # while the averages are in their place

    def _swap_in(self):
        if self._weights is not None:
            return
        optimizer = self._optimizer()
        variables = optimizer._trainable_variables
        averages = optimizer._model_variables_moving_average
        # Kept apart, not in the averages' place: training may end at any moment, and it ends with the
        # averages.
        # Copies: on torch `numpy()` gives the variable's own memory.
        self._weights = [np.array(variable.numpy()) for variable in variables]
        for variable, average in zip(variables, averages, strict=True):
            variable.assign(average.numpy())

    def _swap_out(self):
        if self._weights is None:
            return
        for variable, value in zip(self._optimizer()._trainable_variables, self._weights, strict=True):
            variable.assign(value)
        self._weights = None

    def _optimizer(self):
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        if not getattr(optimizer, "use_ema", False):
            raise ValueError(
                "SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. Received: "
                f"use_ema={getattr(optimizer, 'use_ema', None)}"
            )
        return optimizer

    def on_train_begin(self, logs=None):
        self._optimizer()
        self._weights = None

    def on_train_end(self, logs=None):
        self._weights = None

    def on_epoch_begin(self, epoch, logs=None):
        if self.swap_on_epoch:
            self._swap_out()

    def on_epoch_end(self, epoch, logs=None):
        if self.swap_on_epoch:
            self._swap_in()

    def on_test_begin(self, logs=None):
        self._swap_in()

    def on_test_end(self, logs=None):
        self._swap_out()

    def on_predict_begin(self, logs=None):
        self._swap_in()

    def on_predict_end(self, logs=None):
        self._swap_out()
