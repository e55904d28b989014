"""Seeds."""

import random as python_random

import numpy as np

from kerata.core.construct import Constructed
from kerata.core.names import auto_name


def make_default_seed():
    """A seed drawn from Python's generator (so `set_random_seed` fixes it)."""
    return python_random.randint(1, 2**31 - 1)


class SeedGenerator(Constructed):
    _tracked_as = "seed"

    def __init__(self, seed=None, name=None, **kwargs):
        from kerata.state import Variable

        self.name = name or auto_name("seed_generator")
        self._initial_seed = make_default_seed() if seed is None else int(seed)
        self.state = Variable(
            np.array([self._initial_seed, 0], "uint32"), dtype="uint32", trainable=False, name="seed_generator_state"
        )
