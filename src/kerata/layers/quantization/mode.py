"""`Mode`: how one kind of quantized weight is made, kept and multiplied."""

from kerata import ops
from kerata.core.errors import one_of
from kerata.dtype_policies.quantized import MODES, invalid_mode


class Mode:
    """Base of the modes. They have no state: the variables are the layer's.

    Attributes:
        name: the mode's name.
        keeps_floats: whether the weight stays a float variable.
        has_data: whether it needs data to calibrate with.
    """

    name = None
    keeps_floats = False
    has_data = False

    def variables(self, weight):
        """Names, in the order of files, of the variables besides the weight itself that there may be."""
        raise NotImplementedError

    def spec(self, weight, others):
        """Names of a layer's variables in the order of files: this weight's and the `others` that aren't quantized."""
        return [weight.name, *others, *self.variables(weight)]

    def build(self, layer, weight, config):
        """Make the variables."""
        raise NotImplementedError

    def quantized(self, layer, weight, array):
        """`{name: array}`: what the variables are for this float weight."""
        raise NotImplementedError

    def integers(self, layer, weight):
        """The weight as integers, in its own shape."""
        raise NotImplementedError

    def floats(self, layer, weight):
        """What the integers stand for: a tensor in the compute dtype and the weight's shape."""
        raise NotImplementedError

    def multiply(self, layer, weight, x, training):
        """The einsum of `x` with the weight."""
        return ops.einsum(weight.equation, x, self.floats(layer, weight))

    def take(self, layer, weight, indices):
        """Rows of a table."""
        return ops.take(self.floats(layer, weight), indices, axis=0)

    def set_inputs_quantizer(self, layer, config):
        """Remember how the layer's inputs are quantized."""


def variable(layer, weight, suffix, shape, dtype=None, initializer="ones", **options):
    """Make a variable that belongs to a weight: `kernel_scale`."""
    name = f"{weight.name}_{suffix}"
    made = layer.add_weight(name=name, shape=shape, dtype=dtype, initializer=initializer, trainable=False, **options)
    setattr(layer, name, made)
    return made


def integer_variable(layer, weight, shape, dtype="int8"):
    """The variable of the integers, in the place of the float weight."""
    made = layer.add_weight(name=weight.name, shape=shape, dtype=dtype, initializer="zeros", trainable=False)
    setattr(layer, layer._attribute_of(weight.name), made)


def compute(layer, x):
    """`x` in the dtype that the layer computes in."""
    return ops.cast(x, layer.compute_dtype)


def mode_named(name, supported=MODES, error=ValueError):
    """The mode of a name.

    Raises:
        `error`: none of those supported.
    """
    if name not in supported:
        raise (
            invalid_mode(name, error)
            if supported == MODES
            else error(f"Invalid quantization mode. Expected one of {supported}, but {name!r} was given.")
        )
    return _modes()[one_of(name, MODES, "mode", "quantization")]


def _modes():
    if not _MODES:
        from kerata.layers.quantization.calibrated import AWQ, GPTQ
        from kerata.layers.quantization.float8 import Float8
        from kerata.layers.quantization.int4 import Int4
        from kerata.layers.quantization.int8 import Int8

        _MODES.update({mode.name: mode() for mode in (Int8, Int4, Float8, GPTQ, AWQ)})
    return _MODES


_MODES = {}
