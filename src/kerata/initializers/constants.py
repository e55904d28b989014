"""Initializers without chance."""

import numpy as np

from kerata.core import dtypes, serialization
from kerata.initializers.initializer import Initializer


class Zeros(Initializer):
    """All zeros.

    >>> from kerata import initializers
    >>> initializers.Zeros()((2,))
    Array([0., 0.], dtype=float32)
    """

    def host(self, shape, dtype):
        return np.zeros(shape, dtypes.to_numpy_dtype(dtype))


class Ones(Initializer):
    """All ones.

    >>> from kerata import initializers
    >>> initializers.Ones()((2,))
    Array([1., 1.], dtype=float32)
    """

    def host(self, shape, dtype):
        return np.ones(shape, dtypes.to_numpy_dtype(dtype))


class Constant(Initializer):
    """One value everywhere, or a given array.

    Args:
        value: a number, or an array (nested lists too) that broadcasts to the weight's shape.

    >>> from kerata import initializers
    >>> initializers.Constant(0.5)((2,))
    Array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, value=0.0):
        self.value = value

    def get_config(self):
        value = self.value
        if isinstance(value, np.ndarray):
            # As NumPy, so that it keeps its dtype on every backend.
            return {"value": {"class_name": "__numpy__", "config": {"value": value.tolist(), "dtype": value.dtype.name}}}
        return {"value": serialization.serialize_keras_object(value)}

    def host(self, shape, dtype):
        value = np.asarray(self.value, dtypes.to_numpy_dtype(dtype))
        try:
            return np.broadcast_to(value, shape)
        except ValueError:
            raise ValueError(
                f"Constant: a value of shape {value.shape} doesn't broadcast to the weight's shape {shape}."
            ) from None


class Identity(Initializer):
    """The identity matrix times `gain`; rectangles get ones on the main diagonal.

    Args:
        gain: factor.

    Raises:
        ValueError: when the weight is no matrix.

    >>> from kerata import initializers
    >>> initializers.Identity(2.0)((2, 3))
    Array([[2., 0., 0.],
           [0., 2., 0.]], dtype=float32)
    """

    def __init__(self, gain=1.0):
        self.gain = gain

    def host(self, shape, dtype):
        if len(shape) != 2:
            raise ValueError(f"Identity: only a matrix has an identity, but the weight's shape is {shape}.")
        return self.gain * np.eye(*shape)
