"""Low-rank adapters: the same outputs at first, fewer weights to train, files as if they had been trained in."""

import numpy as np
import pytest

from kerata import layers, ops

ADAPTABLE = {
    "Dense": (lambda: layers.Dense(4), np.ones((2, 3), "float32")),
    "EinsumDense": (lambda: layers.EinsumDense("ab,bcd->acd", (4, 2), bias_axes="cd"), np.ones((2, 3), "float32")),
    "Embedding": (lambda: layers.Embedding(5, 3), np.array([[1, 2]])),
    "Conv2D": (lambda: layers.Conv2D(4, 2), np.ones((1, 3, 3, 2), "float32")),
}


@pytest.mark.parametrize("kind", ADAPTABLE)
def test_adapters(kind, backend):
    make, x = ADAPTABLE[kind]
    layer = make()
    before = ops.convert_to_numpy(layer(x))
    layer.enable_lora(2)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x)), before, rtol=1e-6)
    assert len(layer.non_trainable_weights) == 1
    a, b = layer._adapters()
    b.assign(np.ones(b.shape, "float32"))
    adapted = ops.convert_to_numpy(layer(x))
    assert not np.allclose(adapted, before)
    # A file holds the merged weight: an unadapted layer computes the same from it.
    store = {}
    layer.save_own_variables(store)
    plain = make()
    plain(x)
    plain.load_own_variables(store)
    np.testing.assert_allclose(ops.convert_to_numpy(plain(x)), adapted, rtol=1e-5, atol=1e-6)
    layer.load_own_variables(store)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x)), adapted, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="already enabled"):
        layer.enable_lora(1)
