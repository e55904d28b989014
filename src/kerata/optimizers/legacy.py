"""Keras 2's old optimizers. They are gone; asking for one says what to use."""

NAMES = ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop", "SGD")


def __getattr__(name):
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def gone(*args, **kwargs):
        raise ImportError(f"`keras.optimizers.legacy.{name}` is Keras 2's. Use `keras.optimizers.{name}`.")

    return type(name, (), {"__new__": gone, "__doc__": f"Keras 2's {name}, which is gone."})


def __dir__():
    return list(NAMES)
