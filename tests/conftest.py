"""What all tests share: the backends, one after the other, each entered for the test."""

import gc
import itertools
import os
import sys

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# A `keras.json` of the machine must not decide what is tested.
os.environ.setdefault("KERAS_BACKEND", "numpy")

import pytest

from kerata import backends

BACKENDS = tuple(name for name in ("numpy", "jax", "torch", "tensorflow") if name in backends.installed())
TRAINING = tuple(name for name in BACKENDS if name in backends.TRAINING)


def _entered(request):
    with backends.use_backend(request.param) as b:
        yield b


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Each installed full backend, in force for the test."""
    yield from _entered(request)


@pytest.fixture(params=TRAINING)
def training_backend(request):
    """Each installed backend that computes gradients, in force for the test."""
    yield from _entered(request)


@pytest.fixture(scope="session")
def real_keras():
    """Keras itself, on NumPy: an oracle to run beside."""
    named = os.environ.get("KERAS_BACKEND")
    os.environ["KERAS_BACKEND"] = "numpy"
    try:
        import keras
    finally:
        if named is not None:
            os.environ["KERAS_BACKEND"] = named
    return keras


@pytest.fixture(autouse=True)
def fresh_names():
    """Automatic names count from zero in each test."""
    from kerata.core.names import reset_names

    reset_names()


# Compiled functions of so many tests at most are kept: together they'd take gigabytes.
TESTS_BETWEEN_SWEEPS = 400
_tests = itertools.count(1)


@pytest.fixture(autouse=True)
def emptied_caches():
    """JAX's compiled functions are let go of from time to time."""
    yield
    if next(_tests) % TESTS_BETWEEN_SWEEPS == 0 and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
        gc.collect()
