"""What initializers that draw at random have in common: the seed."""

import operator

import numpy as np

from kerata.core import dtypes
from kerata.initializers.initializer import Initializer


class SeededInitializer(Initializer):
    """An initializer with a `seed`.

    Args:
        seed: an int: every call gives the same values; a `SeedGenerator`: each call its own;
            `None`: a seed is drawn when the initializer is made.
    """

    def __init__(self, seed=None):
        self.seed = checked_seed(seed, type(self).__name__)
        self._drawn_seed = None

    def key(self):
        """The two words of the Threefry key that the next values are drawn with."""
        if hasattr(self.seed, "next"):
            return self._generators_key()
        if self.seed is not None:
            return key_of(self.seed)
        if self._drawn_seed is None:
            from kerata.random.seeds import make_default_seed

            self._drawn_seed = make_default_seed()
        return key_of(self._drawn_seed)

    def _generators_key(self):
        from kerata import ops

        return ops.convert_to_numpy(self.seed.next()).astype("uint32")

    def _draw(self, sampler, shape, dtype, *args):
        """`sampler(shape, key, *args, dtype)` of `core.threefry`; only floating dtypes can be drawn."""
        if not dtypes.is_float(dtype):
            raise ValueError(f"{type(self).__name__}: random values are floating, but the weight's dtype is {dtype}.")
        return sampler(shape, self.key(), *args, dtype=dtype)


def key_of(seed):
    """Threefry key of an int seed: its low 32 bits, then zero, which is what Keras makes of it on JAX."""
    return np.array([seed & 0xFFFFFFFF, 0], "uint32")


def checked_seed(seed, owner):
    if seed is None or hasattr(seed, "next"):
        return seed
    if isinstance(seed, dict):
        from kerata.core import serialization

        return serialization.deserialize_keras_object(seed)
    try:
        return operator.index(seed)
    except TypeError:
        raise ValueError(
            f"{owner}: `seed` must be an integer, a `keras.random.SeedGenerator` or None, but {seed!r} "
            f"({type(seed).__name__}) was given."
        ) from None
