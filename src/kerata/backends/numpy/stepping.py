"""What compiled calls ask of NumPy."""

from contextlib import contextmanager, nullcontext

import numpy as np

from kerata.backends.numpy.core import cast
from kerata.backends.shapes import with_unknown

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


def on_shapes(function, specs):
    """`(shape, dtype)` of each tensor that a function of a list gives, by running it on zeros."""

    def run(specs):
        tensors = [cast(np.zeros(shape), dtype) for shape, dtype in specs]
        return [(tuple(r.shape), r.dtype.name) for r in function(tensors)]

    return with_unknown(run, specs)


@contextmanager
def device_scope(name):
    if name.partition(":")[0].lower() != "cpu":
        raise ValueError(f"The NumPy backend computes on the CPU only, not on {name!r}.")
    yield
