"""Every layer on every backend keeps the contract."""

import pathlib
import sys

import pytest

from kerata import backends, layers

sys.path.insert(0, str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite("contract")
import contract
from layer_samples import SAMPLES

# Keras says so of layers that mask nothing; ours are asked the same.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

every_sample = pytest.mark.parametrize("index", range(len(SAMPLES)), ids=map(str, SAMPLES))


@every_sample
def test_same_as_keras(index, backend, real_keras):
    contract.same_as_keras(SAMPLES[index], contract.reference(index, real_keras))


# Masks are attributes of tensors, but NumPy's arrays have none.
@pytest.mark.parametrize("name", ("numpy", "torch"))
@pytest.mark.parametrize(
    "index", [i for i, s in enumerate(SAMPLES) if contract.takes_mask(s)], ids=lambda i: str(SAMPLES[i])
)
def test_masks(index, name, real_keras):
    with backends.use_backend(name):
        contract.masks_as_keras(SAMPLES[index], contract.reference(index, real_keras))


@every_sample
def test_config(index, real_keras):
    with backends.use_backend("numpy"):
        contract.config_round_trip(SAMPLES[index], contract.reference(index, real_keras))


@every_sample
@pytest.mark.parametrize("batch", (None, 2))
def test_symbolic_is_eager(index, batch):
    with backends.use_backend("numpy"):
        contract.symbolic_is_eager(SAMPLES[index], batch)


@pytest.mark.parametrize(("policy", "name"), (("mixed_bfloat16", "torch"), ("mixed_float16", "numpy")))
@pytest.mark.parametrize("index", [i for i, s in enumerate(SAMPLES) if not s.wraps], ids=lambda i: str(SAMPLES[i]))
def test_half_precision(index, policy, name, real_keras):
    with backends.use_backend(name):
        contract.half_precision(SAMPLES[index], contract.reference(index, real_keras), policy)


@every_sample
def test_gradients_agree(index, real_keras):
    sample, ref = SAMPLES[index], contract.reference(index, real_keras)
    found = {}
    for name in backends.TRAINING:
        if name in backends.installed():
            with backends.use_backend(name):
                found[name] = contract.gradients(sample, ref)
    first, *others = found.values()
    for other in others:
        contract.close(other, first, contract.GRADIENT_TOLERANCE, " ".join(found))


def test_every_layer_has_a_sample():
    sampled = {getattr(layers, s.name) for s in SAMPLES}
    # Bases, and layers that are inside others or have tests of their own.
    elsewhere = {"Layer", "Wrapper", "InputLayer", "InputSpec", "Lambda", "TorchModuleWrapper", "GRUCell", "LSTMCell"}
    elsewhere |= {"SimpleRNNCell", "StackedRNNCells", "FlaxLayer", "JaxLayer", "TFSMLayer"}
    # In `preprocessing/`: what the contract's Keras, on NumPy, takes no text for, or what returns no encodings of its dtype.
    elsewhere |= {"Discretization", "HashedCrossing", "IntegerLookup", "StringLookup", "TextVectorization"}
    missing = [n for n in layers.__all__ if n[0].isupper() and n not in elsewhere | {"Input"}]
    assert not [n for n in missing if getattr(layers, n) not in sampled]
