"""`keras.backend`: what libraries on top of Keras ask of the backend."""

from contextlib import contextmanager

from kerata import backends, random
from kerata.backends import current_name as backend
from kerata.core.config import (
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from kerata.core.dtypes import is_float as is_float_dtype
from kerata.core.dtypes import is_int as is_int_dtype
from kerata.core.dtypes import result_type, standardize_dtype
from kerata.core.names import get_uid, reset_names
from kerata.graph.tensor import is_keras_tensor

__all__ = [
    "backend",
    "clear_session",
    "device",
    "epsilon",
    "floatx",
    "get_uid",
    "image_data_format",
    "is_float_dtype",
    "is_int_dtype",
    "is_keras_tensor",
    "random",
    "random_seed_dtype",
    "result_type",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "standardize_dtype",
]


def random_seed_dtype():
    """Dtype of the keys that random numbers are drawn with, on every backend.

    >>> from kerata import backend
    >>> backend.random_seed_dtype()
    'uint32'
    """
    return "uint32"


def clear_session(free_memory=True):
    """Begin automatic names and the global seed generator anew.

    Args:
        free_memory: collect garbage at once.
    """
    from kerata.random.seeds import reset_global_seed_generator

    reset_names()
    reset_global_seed_generator()
    if free_memory:
        import gc

        gc.collect()


@contextmanager
def device(device_name):
    """Within the block, tensors are made on this device.

    Args:
        device_name: `"cpu"`, `"gpu:0"`, …

    Raises:
        ValueError: the backend has no such device.
    """
    with backends.current().device_scope(device_name):
        yield device_name
