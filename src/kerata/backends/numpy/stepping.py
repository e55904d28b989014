"""What compiled calls ask of NumPy."""

from contextlib import contextmanager, nullcontext

import numpy as np

STEP = "planned"
# Whether dimensions are always Python integers.
INTEGER_DIMS = True
IN_PLACE = False
inference = no_grad = nullcontext


def is_concrete(x):
    return isinstance(x, np.ndarray)


# Slices along the first axis.
rows = list


def copy(x):
    return x.copy()


def swap(storage, value):
    return value


@contextmanager
def device_scope(name):
    if name.partition(":")[0].lower() != "cpu":
        raise ValueError(f"The NumPy backend computes on the CPU only, not on {name!r}.")
    yield
