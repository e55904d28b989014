"""Keras 2's old optimizers. They are gone; making one says what to use."""


class Gone:
    """An optimizer of Keras 2, which can't be made any more."""

    def __init__(self, *args, **kwargs):
        raise ImportError(
            "`keras.optimizers.legacy` is Keras 2's. Use the optimizer of that name in `keras.optimizers`."
        )


Adagrad = Adam = Ftrl = Optimizer = RMSprop = SGD = Gone
