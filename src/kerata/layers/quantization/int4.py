"""Weights of four bits: a scale and a zero for each block of a channel, or one scale a channel."""

import numpy as np

from kerata import ops
from kerata.layers.quantization.groups import dequantized, for_each, group_count, group_numbers, unpacked
from kerata.layers.quantization.int8 import integer_product, on_host
from kerata.layers.quantization.mode import Mode, compute, integer_variable, variable
from kerata.quantizers.configs import QuantizationConfig
from kerata.quantizers.nibbles import host_pack
from kerata.quantizers.quantizer import AbsMaxQuantizer
from kerata.quantizers.rounding import host_grouped


class Int4(Mode):
    """Two integers a byte. With blocks a weight is `(integer - zero) * scale`, without `integer / scale`."""

    name = "int4"

    def variables(self, weight):
        names = [f"{weight.name}_scale", f"{weight.name}_zero"]
        return [names[0], names[1], "g_idx"] if weight.owns_groups else names

    def build(self, layer, weight, config):
        block = config.block_size if config is not None else getattr(layer._own_policy(), "block_size", None)
        blocked = block not in (None, -1)
        if layer.inputs_quantizer is not None and not _has_channels(weight):
            raise ValueError(
                f"{layer._where()}: int4 with quantized inputs needs a kernel that begins with the dimensions that are "
                f"summed over, but the equation is {weight.equation!r}. Give activation_quantizer=None."
            )
        # Under these names Keras's own tests look for them.
        layer._int4_block_size = block if blocked or weight.flat_scale else None
        layer._orig_output_dim, layer._int4_unpacked_column_size = weight.shape[-1], weight.columns
        layer.original_kernel_shape = weight.shape
        kept = list(_kept(weight, weight.rows, weight.columns))
        kept[weight.packed] = -(-kept[weight.packed] // 2)
        integer_variable(layer, weight, tuple(kept))
        if not blocked:
            variable(layer, weight, "scale", (weight.columns,))
            return
        groups = _kept(weight, group_count(weight.rows, block), weight.columns)
        variable(layer, weight, "scale", groups)
        variable(layer, weight, "zero", groups, weight.zero_dtype, "zeros")
        if weight.owns_groups:
            numbers = group_numbers(weight.rows, block)
            layer.g_idx = layer.add_weight(
                name="g_idx",
                shape=numbers.shape,
                dtype="float32",
                initializer=lambda *_, **__: numbers,
                trainable=False,
            )

    def quantized(self, layer, weight, array):
        matrix = array.reshape(weight.rows, weight.columns) if weight.rows_first else weight.to_matrix(array)
        if _is_blocked(layer, weight):
            q, scale, zero = host_grouped(matrix, layer._int4_block_size)
            found = {"scale": _oriented(weight, scale), "zero": _oriented(weight, zero)}
        else:
            axis = 0 if weight.rows_first else -1
            quantizer = QuantizationConfig.weight_quantizer_or_default(
                layer.quantization_config, AbsMaxQuantizer(axis=axis, value_range=(-8, 7))
            )
            q, scale = on_host(quantizer, _oriented(weight, matrix))
            if scale.size != weight.columns:
                raise ValueError(
                    f"{layer._where()}: the weight quantizer must have a scale for each of {weight.columns} channels, but "
                    f"made the shape {scale.shape}. Give it axis={axis}."
                )
            q, found = _oriented(weight, q), {"scale": scale.reshape(-1)}
        packed = host_pack(np.ascontiguousarray(_oriented(weight, q).astype(np.int8)), weight.packed)
        return {weight.name: packed, **{f"{weight.name}_{suffix}": value for suffix, value in found.items()}}

    def set_inputs_quantizer(self, layer, config):
        layer.inputs_quantizer = QuantizationConfig.activation_quantizer_or_default(config, None)

    def _unpacked(self, layer, weight, packed=None):
        packed = layer._integers(weight) if packed is None else packed
        length = _kept(weight, weight.rows, weight.columns)[weight.packed]
        axis = weight.packed - 2
        return unpacked(packed, length, axis)

    def integers(self, layer, weight):
        return _in_shape(weight, self._unpacked(layer, weight))

    def floats(self, layer, weight):
        integers = self._unpacked(layer, weight)
        scale = getattr(layer, f"{weight.name}_scale")
        if _is_blocked(layer, weight):
            axis = 0 if weight.rows_first else 1
            zero = getattr(layer, f"{weight.name}_zero")
            matrix = dequantized(integers, scale, zero, layer.g_idx, axis, layer.compute_dtype)
        else:
            scale = compute(layer, scale)
            matrix = compute(layer, integers) / (scale if weight.rows_first else ops.expand_dims(scale, -1))
        return _in_shape(weight, matrix)

    def multiply(self, layer, weight, x, training):
        if layer.inputs_quantizer is None:
            return super().multiply(layer, weight, x, training)
        scale = compute(layer, getattr(layer, f"{weight.name}_scale"))
        scale = weight.to_output(weight.from_matrix(ops.expand_dims(scale, 0)))
        return integer_product(layer, weight, x, self.integers(layer, weight), scale)

    def take(self, layer, weight, indices):
        rows = self._unpacked(layer, weight, ops.take(layer._integers(weight), indices, axis=0))
        scale = ops.take(getattr(layer, f"{weight.name}_scale"), indices, axis=0)
        if not _is_blocked(layer, weight):
            return compute(layer, rows) / ops.expand_dims(compute(layer, scale), -1)
        zero = ops.take(getattr(layer, f"{weight.name}_zero"), indices, axis=0)
        shifted = compute(layer, rows) - for_each(compute(layer, zero), layer.g_idx, -1)
        return shifted * for_each(compute(layer, scale), layer.g_idx, -1)


def _has_channels(weight):
    """Whether a column of the kept matrix is a channel: Keras's layout is the weight reshaped, whatever its order."""
    return weight.summed == tuple(range(len(weight.summed))) or not weight.rows_first


def _in_shape(weight, matrix):
    """The kept matrix in the weight's shape. A table is kept as it is."""
    return ops.reshape(matrix, weight.shape)


def _is_blocked(layer, weight):
    return hasattr(layer, f"{weight.name}_zero")


def _kept(weight, rows, columns):
    return (rows, columns) if weight.rows_first else (columns, rows)


def _oriented(weight, matrix, xp=np):
    """From the matrix to how it's kept, and back."""
    return matrix if weight.rows_first else xp.transpose(matrix)
