"""What all tests share: the backends, one after the other, each entered for the test."""

import os

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
