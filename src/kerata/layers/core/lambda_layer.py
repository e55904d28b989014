"""`Lambda`: a function as a layer."""

import inspect
import types

from kerata import ops
from kerata.core import serialization
from kerata.layers.layer import Layer


class Lambda(Layer):
    """A function of tensors as a layer.

    Files hold a lambda's bytecode, which is loaded only with `safe_mode=False`: prefer a named function, or better a
    layer of your own.

    Args:
        function: function of the inputs, in `kerata.ops`.
        output_shape: shape without the batch, or function of the input's shape; found by tracing unless given.
        mask: the output's mask, or `mask(inputs, mask)` that makes it.
        arguments: keyword arguments for `function`.

    >>> import kerata
    >>> float(kerata.layers.Lambda(lambda x: x**2)(kerata.ops.convert_to_tensor(3.0)))
    9.0
    """

    # Its function may be anything, so it isn't traced as ops.
    _opaque = True

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        if not callable(function):
            raise ValueError(f"{self._where()}: `function` must be callable, but {function!r} was given.")
        self.function = function
        self.arguments = arguments or {}
        self.mask = mask
        self.supports_masking = mask is not None
        self._output_shape = output_shape

    def compute_output_shape(self, input_shape):
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        batch = input_shape[0] if isinstance(input_shape, tuple) else None
        return (batch, *self._output_shape)

    def compute_output_spec(self, inputs, mask=None, training=None):
        """By the shape that was given, else by tracing."""
        if self._output_shape is None:
            return super().compute_output_spec(inputs, mask=mask, training=training)
        return self._spec_from_shape({"inputs": inputs})

    def call(self, inputs, mask=None, training=None):
        arguments = dict(self.arguments)
        takes = inspect.signature(self.function).parameters if self._has_signature() else {}
        if "mask" in takes:
            arguments["mask"] = mask
        if "training" in takes:
            arguments["training"] = training
        return self.function(inputs, **arguments)

    def _has_signature(self):
        try:
            inspect.signature(self.function)
        except (TypeError, ValueError):
            return False
        return True

    def compute_mask(self, inputs, mask=None):
        """`mask` of the constructor, called if it is a function."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self):
        config = {**super().get_config(), "function": _serialized(self.function), "arguments": self.arguments}
        if self._output_shape is not None:
            config["output_shape"] = (
                _serialized(self._output_shape) if callable(self._output_shape) else self._output_shape
            )
        if self.mask is not None:
            mask = self.mask if callable(self.mask) else ops.convert_to_numpy(self.mask)
            config["mask"] = _serialized(mask)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """A layer from its config; one that holds bytecode is refused unless `safe_mode=False`."""
        safe = serialization.refuses_code(safe_mode)
        config = dict(config)
        for name in ("function", "output_shape", "mask"):
            if name in config:
                config[name] = _revived(config[name], safe, custom_objects)
        config["dtype"] = serialization.revive(config.get("dtype"))
        return cls(**config)


def _serialized(function):
    if isinstance(function, types.LambdaType) and function.__name__ == "<lambda>":
        return {
            "class_name": "__lambda__",
            "config": dict(zip(("code", "defaults", "closure"), serialization.function_code(function), strict=True)),
        }
    return serialization.serialize_keras_object(function)


def _revived(value, safe, custom_objects):
    if isinstance(value, dict) and "class_name" in value:
        if safe and value["class_name"] == "__lambda__":
            raise ValueError(
                "Lambda: the config holds a Python lambda, that is, code which the model would run (arbitrary code execution). "
                "If you trust it, load "
                "with `safe_mode=False`."
            )
        return serialization.deserialize_keras_object(value, custom_objects=custom_objects, safe_mode=safe)
    return value
