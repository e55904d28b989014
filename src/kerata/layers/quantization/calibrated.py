"""GPTQ and AWQ: weights rounded with data in view, a scale and a zero for each group of a channel."""

import numpy as np

from kerata import ops
from kerata.layers.quantization.groups import dequantized, group_count, group_numbers, unpacked
from kerata.layers.quantization.mode import Mode
from kerata.ops.core import convert_to_numpy
from kerata.quantizers.nibbles import host_pack, host_unpack


class _Calibrated(Mode):
    """Until it's calibrated the layer computes with the float weight."""

    has_data = True
    keeps_floats = True

    def variables(self, weight):
        return [f"quantized_{weight.name}", f"{weight.name}_scale", f"{weight.name}_zero", "g_idx"]

    def spec(self, weight, others):
        return [*others, *self.variables(weight)]

    def flag(self):
        return f"is_{self.name}_calibrated"

    def _is_ready(self, layer, weight):
        # A layer that was made quantized has no float weight: its integers are in a file.
        return getattr(layer, self.flag(), False) or not hasattr(layer, layer._attribute_of(weight.name))

    def build(self, layer, weight, config):
        source = config if config is not None else layer._own_policy()
        layer._calibrated_bits, size = source.weight_bits, source.group_size
        setattr(layer, self.flag(), False)
        columns = -(-weight.columns // 2) if layer._calibrated_bits == 4 else weight.columns
        groups = (weight.columns, group_count(weight.rows, size))
        self._add(layer, f"quantized_{weight.name}", (columns, weight.rows), "uint8", "zeros", name=weight.name)
        self._add(layer, f"{weight.name}_scale", groups)
        self._add(layer, f"{weight.name}_zero", groups, "uint8", "zeros", name=weight.calibrated_zero)
        self.build_more(layer, weight)
        numbers = group_numbers(weight.rows, size)
        self._add(layer, "g_idx", numbers.shape, "float32", lambda *_, **__: numbers)
        if hasattr(layer, "gptq_unpacked_column_size"):
            layer.gptq_unpacked_column_size = weight.columns

    def build_more(self, layer, weight):
        """Make the variables that only one of the two has."""

    @staticmethod
    def _add(layer, attribute, shape, dtype=None, initializer="ones", name=None):
        made = layer.add_weight(
            name=name or attribute, shape=shape, dtype=dtype, initializer=initializer, trainable=False
        )
        setattr(layer, attribute, made)

    def _unpacked(self, layer, weight):
        packed = getattr(layer, f"quantized_{weight.name}")
        if layer._calibrated_bits != 4:
            return packed
        return unpacked(packed, weight.columns, 0, "uint8")

    def integers(self, layer, weight):
        if not self._is_ready(layer, weight):
            return layer._integers(weight)
        return weight.from_matrix(ops.transpose(self._unpacked(layer, weight)))

    def floats(self, layer, weight):
        if not self._is_ready(layer, weight):
            return layer._integers(weight)
        scale, zero = (getattr(layer, f"{weight.name}_{kind}") for kind in ("scale", "zero"))
        found = dequantized(self._unpacked(layer, weight), scale, zero, layer.g_idx, 1, layer.compute_dtype)
        return weight.from_matrix(ops.transpose(self._of_inputs(layer, found)))

    def _of_inputs(self, layer, matrix):
        return matrix

    def adopt(self, layer, weight, integers, **arrays):
        """Set the variables from what calibration found, and let go of the float weight.

        Args:
            integers: `(columns, rows)` array of uint8.
            **arrays: `scale`, `zero`, `g_idx` and the like.
        """
        packed = host_pack(np.ascontiguousarray(integers), 0) if layer._calibrated_bits == 4 else integers
        getattr(layer, f"quantized_{weight.name}").assign(packed)
        for name, array in arrays.items():
            full = f"{weight.name}_{name}" if name in ("scale", "zero") else name
            getattr(layer, full).assign(array)
        self.calibrated(layer, weight)

    def calibrated(self, layer, weight):
        """The integers count from now on."""
        setattr(layer, self.flag(), True)
        layer._forget_floats(weight)

    def quantized(self, layer, weight, array):
        """With the scales there are: what a weight becomes that was changed afterwards (by LoRA)."""
        scale, zero, numbers = (
            convert_to_numpy(getattr(layer, name)).astype(np.float32)
            for name in (f"{weight.name}_scale", f"{weight.name}_zero", "g_idx")
        )
        at = numbers.astype(int)
        matrix = self._to_inputs(layer, weight.to_matrix(array).T)
        q = np.round(matrix / scale[:, at]) + zero[:, at]
        q = np.clip(q, 0, 2**layer._calibrated_bits - 1).astype(np.uint8)
        return {f"quantized_{weight.name}": host_pack(q, 0) if layer._calibrated_bits == 4 else q}

    def _to_inputs(self, layer, matrix):
        return matrix

    def host_integers(self, layer, weight):
        """`(columns, rows)` integers, as an array."""
        packed = getattr(layer, f"quantized_{weight.name}").numpy()
        return packed if layer._calibrated_bits != 4 else host_unpack(packed, weight.columns, 0, signed=False)


class GPTQ(_Calibrated):
    name = "gptq"


class AWQ(_Calibrated):
    """Rows were multiplied by `awq_scales` before rounding, so what's read is divided by them."""

    name = "awq"

    def variables(self, weight):
        return [f"quantized_{weight.name}", f"{weight.name}_scale", f"{weight.name}_zero", "awq_scales", "g_idx"]

    def build_more(self, layer, weight):
        self._add(layer, "awq_scales", (weight.rows,))

    def _of_inputs(self, layer, matrix):
        return matrix / ops.cast(layer.awq_scales, layer.compute_dtype)

    def _to_inputs(self, layer, matrix):
        return matrix * layer.awq_scales.numpy()
