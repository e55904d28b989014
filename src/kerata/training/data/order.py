"""The order in which samples come, the same on every backend and machine."""

import numpy as np

_WORD = 2**64 - 1


def generator(seed, epoch):
    """The recipe: NumPy's Philox-4x64 with the key `(seed, epoch)`.

    Nothing is carried from one epoch to the next, so the order of any epoch can be had at once: that is
    what lets an interrupted run go on in the middle of one.
    """
    return np.random.Generator(np.random.Philox(key=np.array([seed & _WORD, epoch & _WORD], np.uint64)))


def permutation(seed, epoch, count):
    """The order of `count` samples (or batches) in one epoch."""
    return generator(seed, epoch).permutation(count)


def within_batches(seed, epoch, count, batch_size):
    """Batches in their place, samples shuffled inside each: for data that is read fast only in order."""
    full = count - count % batch_size
    rng = generator(seed, epoch)
    order = np.arange(count)
    order[:full] = rng.permuted(order[:full].reshape(-1, batch_size), axis=1).ravel()
    rng.shuffle(order[full:])
    return order
