"""Dropout (Srivastava et al., 2014)."""

from kerata import random
from kerata.layers.layer import Layer


def checked_rate(rate, layer):
    """`rate`, a number from 0 to 1."""
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise ValueError(
            f"{layer._where()}: Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
            f"Received: rate={rate!r}"
        )
    return rate


class RandomLayer(Layer):
    """A layer that draws at random in training: it has a `seed`, and a generator unless it never draws."""

    def _set_seed(self, seed, draws):
        self.seed = seed
        if draws:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = True


class Dropout(RandomLayer):
    """In training, set elements to zero at random and scale the others up, so the mean stays.

    Args:
        rate: share of elements to drop, from 0 to 1.
        noise_shape: shape of the random mask, broadcast to the inputs; `None` entries: as long as the inputs.
            With `(batch, 1, features)` steps share their mask.
        seed: int; by default one is drawn.

    Call arguments:
        inputs: floating tensor.
        training: whether to drop at all.

    >>> import kerata
    >>> y = kerata.layers.Dropout(0.5, seed=1)(kerata.ops.ones((1000,)), training=True)
    >>> sorted(set(kerata.ops.convert_to_numpy(y).tolist()))
    [0.0, 2.0]
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = checked_rate(rate, self)
        self.noise_shape = _checked_noise_shape(noise_shape, self)
        self._set_seed(seed, self.rate > 0)

    def call(self, inputs, training=False):
        if not training or self.rate == 0:
            return inputs
        return random.dropout(inputs, self.rate, noise_shape=self._noise_shape(inputs), seed=self.seed_generator)

    def _noise_shape(self, inputs):
        return self.noise_shape


def _checked_noise_shape(noise_shape, layer):
    if noise_shape is None:
        return None
    if not isinstance(noise_shape, (list, tuple)) or any(
        d is not None and (isinstance(d, bool) or not isinstance(d, int) or d < 1) for d in noise_shape
    ):
        raise ValueError(
            f"{layer._where()}: `noise_shape` must be a tuple of positive integers and None, but {noise_shape!r} "
            "was given."
        )
    return tuple(noise_shape)
