"""`SwapEMAWeights`: evaluate, and save, with the averaged weights."""

from kerata.callbacks.callback import Callback


class SwapEMAWeights(Callback):
    """Put the optimizer's moving averages in the weights' place for evaluation, and the weights back after it.

    Needs an optimizer with `use_ema=True`. Nothing else may change weights or averages in between.

    Args:
        swap_on_epoch: swap at the end of each epoch too and back at the next one's beginning, for callbacks that
            come after this one, such as `ModelCheckpoint`.

    ```python
    model.compile(kerata.optimizers.SGD(use_ema=True), "mse")
    model.fit(x, y, validation_split=0.1, callbacks=[kerata.callbacks.SwapEMAWeights()])
    ```
    """

    def __init__(self, swap_on_epoch=False):
        self.swap_on_epoch = swap_on_epoch
        self._ema_weights_in_model = False

    def _swap(self):
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        if not getattr(optimizer, "use_ema", False):
            raise ValueError(
                "SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. Received: use_ema="
                f"{getattr(optimizer, 'use_ema', None)}"
            )
        averages = optimizer._model_variables_moving_average
        for variable, average in zip(optimizer._trainable_variables, averages, strict=True):
            value = variable.numpy()
            variable.assign(average.numpy())
            average.assign(value)
        self._ema_weights_in_model = not self._ema_weights_in_model

    def _swap_in(self):
        if not self._ema_weights_in_model:
            self._swap()

    def _swap_out(self):
        if self._ema_weights_in_model:
            self._swap()

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
        # After `fit` the averages are where `swap_on_epoch` left them.
        if not self.swap_on_epoch:
            self._swap_out()
