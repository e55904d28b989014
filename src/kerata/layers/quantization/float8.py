"""Training in float8: inputs, weight and the outputs' gradient are rounded, with scales that follow their largest values."""

from kerata import ops
from kerata.dtype_policies.quantized import amax_history_length
from kerata.layers.quantization.mode import Mode
from kerata.quantizers.eight_bit_floats import (
    compute_float8_amax_history,
    compute_float8_scale,
    quantize_and_dequantize,
)
from kerata.quantizers.rounding import largest

# Gradients need range, values precision (Micikevicius et al., 2022).
_VALUES, _GRADIENTS = "float8_e4m3fn", "float8_e5m2"


class Float8(Mode):
    """The weight stays a float variable. The new scale and history come as "gradients" of the old ones."""

    name = "float8"
    keeps_floats = True

    def variables(self, weight):
        return [f"{of}_{kind}" for of in _rounded(weight) for kind in ("scale", "amax_history")]

    def build(self, layer, weight, config):
        length = amax_history_length(layer._own_policy())
        for of in _rounded(weight):
            for kind, shape, initializer in (("scale", (), "ones"), ("amax_history", (length,), "zeros")):
                name = f"{of}_{kind}"
                made = layer.add_weight(
                    name=name, shape=shape, dtype="float32", initializer=initializer, autocast=False,
                    overwrite_with_gradient=True,
                )  # fmt: skip
                setattr(layer, name, made)

    def floats(self, layer, weight):
        return layer._integers(weight)

    def integers(self, layer, weight):
        return layer._integers(weight)

    def multiply(self, layer, weight, x, training):
        training = bool(training)
        inputs, kernel, outputs = _rounded(weight)
        x = _rounded_value(layer, inputs, x, training)
        w = _rounded_value(layer, kernel, layer._integers(weight), training)
        return _with_rounded_gradient(layer, outputs, ops.einsum(weight.equation, x, w), training)


def _rounded(weight):
    return "inputs", weight.name, "outputs_grad"


def _state(layer, of):
    return getattr(layer, f"{of}_scale"), getattr(layer, f"{of}_amax_history")


def _followed(x, scale, history, dtype):
    """The scale for the next step, and the history with this one in it."""
    return compute_float8_scale(ops.max(history), scale, largest(dtype)), compute_float8_amax_history(x, history)


def _rounded_value(layer, of, x, training):
    dtype = layer.compute_dtype

    @ops.custom_gradient
    def rounded(x, scale, history):
        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            new = _followed(x, scale, history, _VALUES) if training else (scale, history)
            return upstream, *new

        return quantize_and_dequantize(x, scale, _VALUES, dtype), grad

    return rounded(x, *_state(layer, of))


def _with_rounded_gradient(layer, of, y, training):
    dtype = layer.compute_dtype

    @ops.custom_gradient
    def identity(y, scale, history):
        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            new = _followed(upstream, scale, history, _GRADIENTS) if training else (scale, history)
            return quantize_and_dequantize(upstream, scale, _GRADIENTS, dtype), *new

        return y, grad

    return identity(y, *_state(layer, of))
