"""Noise in training: Gaussian, added or multiplied, and dropout for self-normalizing nets."""

from kerata import ops, random
from kerata.layers.regularization.dropout import RandomLayer, _checked_noise_shape, checked_rate
from kerata.ops.nn import SELU_ALPHA, SELU_SCALE


class GaussianNoise(RandomLayer):
    """In training, add normal noise of mean zero.

    Args:
        stddev: its standard deviation.
        seed: int; by default one is drawn.

    Input: floating. Output: the same shape.

    >>> import kerata
    >>> layer = kerata.layers.GaussianNoise(0.1)
    >>> float(layer(kerata.ops.ones(1), training=False)[0])
    1.0
    """

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(**kwargs)
        if isinstance(stddev, bool) or not isinstance(stddev, (int, float)) or stddev < 0:
            raise ValueError(f"{self._where()}: `stddev` must be a number of at least 0, but {stddev!r} was given.")
        self.stddev = stddev
        self._set_seed(seed, stddev > 0)

    def call(self, inputs, training=False):
        if not training or self.stddev == 0:
            return inputs
        return inputs + random.normal(
            ops.shape(inputs), 0.0, self.stddev, dtype=self.compute_dtype, seed=self.seed_generator
        )


class GaussianDropout(RandomLayer):
    """In training, multiply by normal noise of mean one (Srivastava et al., 2014).

    Args:
        rate: from 0 to 1, without 1; the noise has the variance `rate / (1 - rate)`, that of dropout at this rate.
        seed: int; by default one is drawn.

    Input: floating. Output: the same shape.

    >>> import kerata
    >>> layer = kerata.layers.GaussianDropout(0.1)
    >>> float(layer(kerata.ops.ones(1), training=False)[0])
    1.0
    """

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = checked_rate(rate, self)
        self._set_seed(seed, self.rate > 0)

    def call(self, inputs, training=False):
        if not training or self.rate == 0:
            return inputs
        stddev = (self.rate / (1.0 - self.rate)) ** 0.5
        return inputs * random.normal(
            ops.shape(inputs), 1.0, stddev, dtype=self.compute_dtype, seed=self.seed_generator
        )


class AlphaDropout(RandomLayer):
    """Dropout that keeps mean and variance, for nets with SELU (Klambauer et al., 2017).

    Args:
        rate: share of elements to set to the value at which SELU saturates.
        noise_shape: shape of the random mask, broadcast to the inputs.
        seed: int; by default one is drawn.

    Input: floating. Output: the same shape.

    >>> import kerata
    >>> layer = kerata.layers.AlphaDropout(0.1)
    >>> float(layer(kerata.ops.ones(1), training=False)[0])
    1.0
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = checked_rate(rate, self)
        self.noise_shape = _checked_noise_shape(noise_shape, self)
        self._set_seed(seed, self.rate > 0)

    def call(self, inputs, training=False):
        if not training or self.rate == 0:
            return inputs
        saturated = -SELU_ALPHA * SELU_SCALE
        kept = 1.0 - self.rate
        # Scale and shift that bring mean and variance back to 0 and 1.
        a = (kept * (1.0 + self.rate * saturated**2)) ** -0.5
        b = -a * saturated * self.rate
        shape = ops.shape(inputs)
        if self.noise_shape is not None:
            shape = tuple(s if n is None else n for n, s in zip(self.noise_shape, shape, strict=True))
        keep = random.uniform(shape, seed=self.seed_generator) >= self.rate
        return a * ops.where(keep, inputs, ops.full_like(inputs, saturated)) + b
