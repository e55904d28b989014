"""Normal, truncated normal and uniform values."""

from kerata.core import threefry
from kerata.initializers.seeded import SeededInitializer


class RandomNormal(SeededInitializer):
    """Normal values.

    Args:
        mean: mean.
        stddev: standard deviation.
        seed: int, `SeedGenerator` or `None`.

    >>> from kerata import initializers
    >>> initializers.RandomNormal(stddev=0.1, seed=1)((2, 3)).shape
    (2, 3)
    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def host(self, shape, dtype):
        return self._draw(threefry.host_normal, shape, dtype, self.mean, self.stddev)


class TruncatedNormal(SeededInitializer):
    """Normal values; those further than two standard deviations from the mean are drawn again.

    Args:
        mean: mean before the cut.
        stddev: standard deviation before the cut.
        seed: int, `SeedGenerator` or `None`.

    >>> from kerata import initializers
    >>> initializers.TruncatedNormal(seed=1)((2, 3)).shape
    (2, 3)
    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def host(self, shape, dtype):
        return self._draw(threefry.host_truncated_normal, shape, dtype, self.mean, self.stddev)


class RandomUniform(SeededInitializer):
    """Values uniform in `[minval, maxval)`.

    Args:
        minval: lower end.
        maxval: upper end, itself left out.
        seed: int, `SeedGenerator` or `None`.

    >>> from kerata import initializers
    >>> float(initializers.RandomUniform(0, 1, seed=1)((100,)).min()) >= 0
    True
    """

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(seed)
        self.minval = minval
        self.maxval = maxval

    def host(self, shape, dtype):
        return self._draw(threefry.host_uniform, shape, dtype, self.minval, self.maxval)
