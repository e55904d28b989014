"""Losses that are a function with parameters."""

import functools
import inspect

from kerata.core import serialization
from kerata.losses.loss import Loss


class FunctionLoss(Loss):
    """A loss whose `call` is the class's `function`; its parameters are attributes of the same names.

    A subclass gives `function = staticmethod(...)`, which takes `(y_true, y_pred, **parameters)`, and a
    constructor.
    """

    function = None

    def __init__(self, name, reduction, dtype=None, **parameters):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.__dict__.update(parameters)

    def call(self, y_true, y_pred):
        given = {name: getattr(self, name) for name in _parameters(self.function) if hasattr(self, name)}
        return self.function(y_true, y_pred, **given)


@functools.cache
def _parameters(function):
    """Names of the parameters after targets and predictions."""
    return tuple(inspect.signature(function).parameters)[2:]


class LossFunctionWrapper(Loss):
    """Any function of targets and predictions as a loss.

    Args:
        fn: function `(y_true, y_pred, **kwargs)` that returns the loss of each sample.
        reduction, name, dtype: see `Loss`.
        **kwargs: what else the function is called with.

    >>> from kerata.losses.function_loss import LossFunctionWrapper
    >>> float(LossFunctionWrapper(lambda t, p: abs(t - p))([1.0, 2.0], [2.0, 4.0]))
    1.5
    """

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        super().__init__(name=name or getattr(fn, "__name__", None), reduction=reduction, dtype=dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        kwargs = {name: serialization.serialize_keras_object(v) for name, v in self._fn_kwargs.items()}
        return {**super().get_config(), "fn": serialization.serialize_keras_object(self.fn), **kwargs}

    @classmethod
    def from_config(cls, config):
        return cls(**serialization.deserialize_keras_object(config) if "fn" in config else config)

    def __repr__(self):
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._fn_kwargs})>"
