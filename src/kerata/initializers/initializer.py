"""The base of all initializers."""

import numpy as np

from kerata.core import dtypes
from kerata.core.construct import Constructed


class Initializer(Constructed):
    """Makes the first value of a weight.

    A subclass gives `host(shape, dtype)`, which returns a NumPy array: values are made on the host, once,
    so that building a model compiles nothing and gives the same bits on every backend. A subclass may
    instead override `__call__(shape, dtype=None)` and return a tensor, as in Keras.

    >>> import kerata, numpy as np
    >>> class Ramp(kerata.initializers.Initializer):
    ...     def host(self, shape, dtype):
    ...         return np.arange(np.prod(shape)).reshape(shape)
    >>> Ramp()((2, 2), "float32")
    Array([[0., 1.],
           [2., 3.]], dtype=float32)
    """

    def host(self, shape, dtype):
        """The values as a NumPy array.

        Args:
            shape: tuple of ints.
            dtype: name of the dtype that the weight will have. An array of another dtype is cast.
        """
        if type(self).__call__ is Initializer.__call__:
            raise NotImplementedError(
                f"{type(self).__name__} must define `host(shape, dtype)` or override `__call__(shape, dtype=None)`."
            )
        from kerata import ops

        return ops.convert_to_numpy(self(shape, dtype=dtype))

    def __call__(self, shape, dtype=None):
        """The values as a tensor of the current backend.

        Args:
            shape: tuple of ints.
            dtype: dtype of the result; `None`: `keras.config.floatx()`.
        """
        from kerata import ops

        dtype = dtypes.standardize_dtype(dtype)
        values = np.asarray(self.host(static_shape(shape, type(self).__name__), dtype))
        return ops.convert_to_tensor(values, dtype=dtype)

    def clone(self):
        """A new initializer with the same config (unseeded ones draw a seed of their own)."""
        return type(self).from_config(self.get_config())


def static_shape(shape, owner):
    """`shape` as a tuple of ints, or a `ValueError`."""
    try:
        dims = tuple(int(d) for d in shape)
    except TypeError:
        raise ValueError(f"{owner}: a weight's shape must be known, not {shape!r}.") from None
    if any(d < 0 for d in dims):
        raise ValueError(f"{owner}: a shape has no negative dimensions, but {shape!r} was given.")
    return dims
