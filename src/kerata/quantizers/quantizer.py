"""Objects that quantize."""

from kerata.core import dtypes
from kerata.core.construct import Constructed
from kerata.quantizers.rounding import abs_max_quantize, host_abs_max


class Quantizer(Constructed):
    """Base of what makes integers of floats. A subclass defines `__call__(x)` and returns `(integers, scale)`.

    Args:
        output_dtype: dtype of the integers.
    """

    def __init__(self, output_dtype="int8"):
        self.output_dtype = dtypes.standardize_dtype(output_dtype)

    def __call__(self, x):
        """Quantize `x`."""
        return x

    @classmethod
    def from_config(cls, config):
        """The quantizer that `get_config` described."""
        return super().from_config(config)

    def get_config(self):
        """The constructor's arguments, by name."""
        raise NotImplementedError(f"{type(self).__name__} defines no `get_config`: return the constructor's arguments.")


class AbsMaxQuantizer(Quantizer):
    """Integers by the largest absolute value; see `abs_max_quantize`.

    Args:
        axis: int or tuple: dimensions that share a scale; `None`: given at each call (-1 if not).
        value_range: smallest and largest integer.
        epsilon: added to the largest value, so that zeros can be divided by.
        output_dtype: dtype of the integers.

    Raises:
        ValueError: a range of other than two integers, or one beyond the dtype's.

    >>> from kerata import ops, quantizers
    >>> q, scale = quantizers.AbsMaxQuantizer(axis=-1)(ops.convert_to_tensor([[1.0, -2.0]]))
    >>> ops.convert_to_numpy(q).tolist(), float(scale[0, 0])
    ([[64, -127]], 63.5)
    """

    def __init__(self, axis=None, value_range=(-127, 127), epsilon=1e-07, output_dtype="int8"):
        super().__init__(output_dtype)
        self.axis = tuple(axis) if isinstance(axis, (tuple, list)) else None if axis is None else (axis,)
        self.value_range = value_range
        self.epsilon = epsilon
        least, most = (-128, 127) if output_dtype == "int8" else (-float("inf"), float("inf"))
        if len(value_range) != 2 or value_range[0] < least or value_range[1] > most:
            raise ValueError(
                f"AbsMaxQuantizer: with output_dtype={output_dtype!r}, `value_range` must be two numbers within "
                f"[{least}, {most}], not {value_range!r}."
            )

    def __call__(self, x, axis=None, to_numpy=False):
        """`(integers, scale)` of a tensor.

        Args:
            x: floating tensor.
            axis: dimensions that share a scale; `None`: the constructor's, or -1.
            to_numpy: compute on the host.
        """
        axis = self.axis if axis is None else axis
        return abs_max_quantize(
            x, -1 if axis is None else axis, self.value_range, self.output_dtype, self.epsilon, to_numpy
        )

    def on_host(self, array, axis=None):
        """The same for an array, as arrays."""
        axis = self.axis if axis is None else axis
        return host_abs_max(array, -1 if axis is None else axis, self.value_range, self.output_dtype, self.epsilon)

    def get_config(self):
        config = {"value_range": self.value_range, "epsilon": self.epsilon, "output_dtype": self.output_dtype}
        return config if self.axis is None else {**config, "axis": self.axis}
