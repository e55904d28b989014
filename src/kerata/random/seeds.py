"""Seeds: generators of keys, the global one, and setting everything that is random."""

import random as python_random
import sys

import numpy as np

from kerata import backends, ops
from kerata.core import dtypes, names
from kerata.core.construct import Constructed
from kerata.core.scopes import current_stateless
from kerata.ops.draws import random_fold, random_next
from kerata.state import Variable


def make_default_seed():
    """A seed drawn from Python's generator, so that `set_random_seed` fixes it too.

    >>> from kerata.random.seeds import make_default_seed
    >>> 0 < make_default_seed() <= 10**9
    True
    """
    return python_random.randint(1, 10**9)


def key_words(seed):
    """The two words of the key that an int seed stands for: its low 32 bits, and 0."""
    return np.array([seed & 0xFFFFFFFF, 0], np.uint32)


class SeedGenerator(Constructed):
    """A source of keys: each draw with it gets another one.

    Drawing functions are pure: with an int seed they give the same values whenever they are called. To get
    new values at each call, give them a `SeedGenerator`. Its state is a variable, so it is saved with the
    layer that holds it and works in compiled and stateless code. One seed gives the same numbers on every
    backend.

    Args:
        seed: int; by default one is drawn from Python's `random`.
        name: name.

    Raises:
        ValueError: the seed is no integer.

    >>> import kerata
    >>> generator = kerata.random.SeedGenerator(7)
    >>> first = kerata.random.randint((3,), 0, 10**6, seed=generator)
    >>> second = kerata.random.randint((3,), 0, 10**6, seed=generator)
    >>> bool(kerata.ops.all(first == second))
    False
    """

    _tracked_as = "seed"

    def __init__(self, seed=None, name=None, **kwargs):
        if kwargs:
            raise ValueError(f"SeedGenerator: Unrecognized keyword arguments: {', '.join(kwargs)}.")
        self.name = name or names.auto_name("seed_generator")
        self.seed = None if seed is None else checked_seed(seed, "SeedGenerator")
        words = key_words(make_default_seed() if seed is None else self.seed)
        with names.name_scope(self.name):
            self.state = Variable(words, dtype="uint32", trainable=False, autocast=False, name="seed_generator_state")

    def next(self, ordered=True):
        """The next key, uint32[2].

        Args:
            ordered: `True`: keys count up from the seed. `False`: the generator jumps to an unrelated key.

        >>> import kerata
        >>> generator = kerata.random.SeedGenerator(7)
        >>> [kerata.ops.convert_to_numpy(generator.next()).tolist() for _ in range(2)]
        [[7, 0], [7, 1]]
        """
        key, state = random_next(self.state)
        self.state.assign(state if ordered else random_fold(key, 1))
        return key

    def get_config(self):
        """`{"seed": …, "name": …}`."""
        return {"seed": self.seed, "name": self.name}


def checked_seed(seed, owner, others=""):
    """An int seed, or a `ValueError` that says what was given."""
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        return int(seed)
    expected = f"either an integer{others}" if others else "an integer"
    raise ValueError(f"{owner}: Argument `seed` must be {expected}, but {seed!r} ({type(seed).__name__}) was given.")


def draw_seed(seed, owner="draw_seed"):
    """The key to draw with, a tensor uint32[2].

    Args:
        seed: int: its key; `SeedGenerator`: the next of its keys; `None`: of the global generator's; a key
            (an integer tensor of shape (2,), as `jax.random.PRNGKey` makes): that.
        owner: the function named in messages.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(seed, SeedGenerator):
        return seed.next()
    if seed is None:
        return _next_of_global()
    if hasattr(seed, "dtype") and tuple(seed.shape) == (2,) and dtypes.is_int(seed.dtype):
        return ops.cast(seed, "uint32")
    return ops.convert_to_tensor(key_words(checked_seed(seed, owner, ", a SeedGenerator, a key or None")))


_global_generator = None


def global_seed_generator():
    """The generator of draws without a seed; made when first needed, moved to the current backend."""
    global _global_generator
    if _global_generator is None:
        _global_generator = SeedGenerator(name="global_seed_generator")
    elif current_stateless.get() is None:
        _global_generator.state.to_backend(backends.current())
    return _global_generator


def _next_of_global():
    made = _global_generator is None
    try:
        return global_seed_generator().next()
    except ValueError:
        if made:  # in a function that JAX traces: its state is of no use outside
            reset_global_seed_generator()
        raise


def reset_global_seed_generator():
    """Forget the global generator: the next one is seeded anew from Python's `random`."""
    global _global_generator
    _global_generator = None


def set_random_seed(seed):
    """Seed all that is random: Python, NumPy, the frameworks that are imported, and the global generator.

    Weights made and numbers drawn afterwards are then the same from run to run, and on every backend.

    Args:
        seed: int from 0 to 2**32 - 1.

    Raises:
        ValueError: the seed is no such integer.

    >>> import kerata
    >>> kerata.utils.set_random_seed(1)
    >>> a = kerata.random.normal((2,))
    >>> kerata.utils.set_random_seed(1)
    >>> bool(kerata.ops.all(a == kerata.random.normal((2,))))
    True
    """
    seed = checked_seed(seed, "set_random_seed")
    if not 0 <= seed < 2**32:
        raise ValueError(f"set_random_seed: `seed` must be from 0 to 2**32 - 1, but {seed} was given.")
    python_random.seed(seed)
    np.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(seed)
    reset_global_seed_generator()
