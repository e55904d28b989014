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
        self._weights = []
        for optimizer in self._optimizers():
            averages = optimizer._model_variables_moving_average
            for variable, average in zip(optimizer._trainable_variables, averages, strict=True):
                # Kept apart, not in the averages' place: training may end at any moment, and it ends with the
                # averages.
                # Copies: on torch `numpy()` gives the variable's own memory.
                self._weights.append((variable, np.array(variable.numpy())))
                variable.assign(average.numpy())

    def _swap_out(self):
        for variable, value in self._weights or ():
            variable.assign(value)
        self._weights = None

    def _optimizers(self):
        """The optimizers that keep averages: the model's, or those of a `MultiOptimizer`."""
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        candidates = getattr(optimizer, "optimizers", None) or [optimizer]
        found = [one for one in candidates if getattr(one, "use_ema", False)]
        if not found:
            raise ValueError(
                "SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. Received: "
                f"use_ema={getattr(optimizer, 'use_ema', None)}"
            )
        return found

    def on_train_begin(self, logs=None):
        self._optimizers()
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
