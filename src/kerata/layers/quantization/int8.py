"""Weights of eight bits with a scale a channel; inputs of eight bits too, with a scale a row."""

from kerata import ops
from kerata.layers.quantization.mode import Mode, compute, integer_variable, variable
from kerata.ops.core import convert_to_numpy, convert_to_tensor
from kerata.ops.quantized import integer_einsum
from kerata.quantizers.configs import QuantizationConfig
from kerata.quantizers.quantizer import AbsMaxQuantizer


class Int8(Mode):
    """`round(weight * scale)`, the scale 127 / the largest of a channel."""

    name = "int8"

    def variables(self, weight):
        return [f"{weight.name}_scale"]

    def build(self, layer, weight, config):
        integer_variable(layer, weight, weight.shape)
        variable(layer, weight, "scale", _scale_shape(weight))

    def quantized(self, layer, weight, array):
        quantizer = QuantizationConfig.weight_quantizer_or_default(
            layer.quantization_config, AbsMaxQuantizer(axis=weight.summed)
        )
        q, scale = on_host(quantizer, array)
        if scale.shape != weight.scale_shape:
            raise ValueError(
                f"{layer._where()}: the weight quantizer must have a scale for each of {weight.scale_shape} (shape of "
                f"{weight.name!r}: {weight.shape}), but made the shape {scale.shape}. Give it axis={weight.summed}."
            )
        return {weight.name: q, f"{weight.name}_scale": weight.to_output(scale, _numpy())}

    def set_inputs_quantizer(self, layer, config):
        layer.inputs_quantizer = QuantizationConfig.activation_quantizer_or_default(config, AbsMaxQuantizer())

    def integers(self, layer, weight):
        return layer._integers(weight)

    def floats(self, layer, weight):
        scale = weight.from_output(compute(layer, getattr(layer, f"{weight.name}_scale")))
        return compute(layer, layer._integers(weight)) / scale

    def multiply(self, layer, weight, x, training):
        scale = compute(layer, getattr(layer, f"{weight.name}_scale"))
        return integer_product(layer, weight, x, layer._integers(weight), scale)

    def take(self, layer, weight, indices):
        rows = compute(layer, ops.take(layer._integers(weight), indices, axis=0))
        scale = ops.take(getattr(layer, f"{weight.name}_scale"), indices, axis=0)
        return rows / ops.expand_dims(compute(layer, scale), -1)


def _scale_shape(weight):
    np = _numpy()
    return weight.to_output(np.empty(weight.scale_shape, np.int8), np).shape


def _numpy():
    import numpy

    return numpy


def on_host(quantizer, array):
    """`(integers, scale)` of an array, as arrays, from any quantizer."""
    if isinstance(quantizer, AbsMaxQuantizer):
        return quantizer.on_host(array)
    q, scale = quantizer(convert_to_tensor(array))
    return convert_to_numpy(q), convert_to_numpy(scale)


def integer_product(layer, weight, x, integers, scale):
    """The product with integers whose scale is laid out as the outputs are; of integers, if the layer quantizes its inputs.

    Rounding has no gradient; what flows back is that of the product with the weight that the integers stand for.
    """
    quantizer = layer.inputs_quantizer
    if quantizer is None:
        return ops.einsum(weight.equation, x, compute(layer, integers)) / scale
    integers, scale = convert_to_tensor(integers), convert_to_tensor(scale)

    @ops.custom_gradient
    def product(x):
        q, x_scale = quantizer(x, axis=weight.input_axes)
        x_scale = weight.input_scale_to_output(ops.cast(x_scale, layer.compute_dtype))
        y = compute(layer, integer_einsum(weight.equation, q, integers)) / (x_scale * scale)

        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            kernel = ops.cast(integers, ops.dtype(upstream)) / weight.from_output(scale)
            return ops.einsum(weight.backwards, upstream, kernel)

        return y, grad

    return product(x)
