"""A torch module as a layer: its parameters are the weights, its buffers are saved, its pickle isn't trusted."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers

torch = pytest.importorskip("torch")
X = np.ones((4, 2), "float32")


@pytest.fixture(autouse=True)
def on_torch():
    with backends.use_backend("torch"):
        yield


def module():
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


def test_parameters_are_the_weights():
    inner = module()
    layer = layers.TorchModuleWrapper(inner)
    assert len(layer.trainable_weights) == 4
    assert layer.weights[0].value is inner[0].weight
    layer.weights[0].assign(np.zeros((3, 2)))
    assert not inner[0].weight.any()
    assert [n for n, _ in layer.named_parameters()][0] == "module.0.weight"


def test_symbolic_shape_and_phase():
    layer = layers.TorchModuleWrapper(module())
    assert layer(kerata.Input((2,))).shape == (None, 3)
    layer(X, training=False)
    assert not layer.module.training
    layer(X, training=True)
    assert layer.module.training


def test_state_goes_to_files_and_code_is_refused():
    layer, other = layers.TorchModuleWrapper(module()), layers.TorchModuleWrapper(module())
    layer(X, training=True)
    store = {}
    layer.save_own_variables(store)
    assert "1.running_mean" in store
    other.load_own_variables({k: np.asarray(v) for k, v in store.items()})
    assert torch.equal(other(X, training=False), layer(X, training=False))
    with pytest.raises(ValueError, match="safe_mode=False"):
        layers.TorchModuleWrapper.from_config(layer.get_config())
    again = layers.TorchModuleWrapper.from_config(layer.get_config(), safe_mode=False)
    assert torch.equal(again(X, training=False), layer(X, training=False))


def test_only_on_torch():
    with backends.use_backend("numpy"), pytest.raises(ValueError, match="torch backend only"):
        layers.TorchModuleWrapper(module())
