"""Creation natives on NumPy."""

import numpy as np

zeros = np.zeros
ones = np.ones
full = np.full
eye = np.eye
arange = np.arange


def linspace(start, stop, num, endpoint, dtype, axis):
    return np.linspace(start, stop, num, endpoint=endpoint, dtype=np.dtype(dtype), axis=axis)
