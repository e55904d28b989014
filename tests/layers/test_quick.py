"""Calls that go straight to `call` do all that the ordinary ones do."""

import copy
import pickle

import numpy as np
import pytest

import kerata
from kerata import layers, ops
from kerata.core.masks import get_mask, set_mask

X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.fixture
def dense(backend):
    layer = layers.Dense(2, kernel_initializer="ones")
    layer(ops.convert_to_tensor(X))
    layer(ops.convert_to_tensor(X))
    assert layer._quick.seen, "the second call is a quick one"
    return layer


def numbers(x):
    return ops.convert_to_numpy(x)


def test_attributes_set_afterwards_count(dense):
    x = ops.convert_to_tensor(-X)
    dense.activation = kerata.activations.relu
    assert numbers(dense(x)).max() == 0
    dense.activity_regularizer = kerata.regularizers.L1(1.0)
    dense.activation = kerata.activations.linear
    dense(x)
    dense(x)
    assert len(dense.losses) == 1


def test_other_shapes_are_checked(dense):
    with pytest.raises(ValueError, match="dense"):
        dense(ops.ones((2, 4)))
    np.testing.assert_allclose(numbers(dense(ops.ones((5, 3)))), 3)


def test_masks_go_on(dense):
    x = ops.convert_to_tensor(X) + 0
    set_mask(x, ops.convert_to_tensor([True, False]))
    assert get_mask(dense(x)) is not None


def test_other_dtypes_are_cast(dense):
    for dtype in ("float16", "int32", "float16"):
        assert kerata.backend.standardize_dtype(dense(ops.ones((2, 3), dtype=dtype)).dtype) == "float32"


def test_an_outer_policy_does_not_reach_in(backend):
    class Outer(layers.Layer):
        def __init__(self):
            super().__init__(dtype="mixed_float16")
            self.inner = layers.Dense(2, dtype="float32")
            self.half = layers.Dense(2, dtype="mixed_float16")

        def call(self, x):
            return self.inner(x), self.half(x)

    outer = Outer()
    for _ in range(3):
        outputs = outer(ops.ones((2, 3)))
    assert [kerata.backend.standardize_dtype(y.dtype) for y in outputs] == ["float32", "float16"]


def test_the_phase_comes_from_outside(backend):
    class Outer(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dropout = layers.Dropout(0.9, seed=1)

        def call(self, x):
            return self.dropout(x)

    outer, x = Outer(), ops.ones((50, 50))
    for _ in range(3):
        assert numbers(outer(x, training=True)).max() > 5
        assert numbers(outer(x)).max() == 1


def test_copies_and_pickles(dense):
    x = ops.convert_to_tensor(X)
    for other in (copy.deepcopy(dense), pickle.loads(pickle.dumps(dense))):
        np.testing.assert_allclose(numbers(other(x)), numbers(dense(x)))
        other.activation = kerata.activations.relu
        assert dense.activation is kerata.activations.linear
        assert numbers(other(-x)).max() == 0 > numbers(dense(-x)).min()


def test_hooks_of_torch():
    pytest.importorskip("torch")
    with kerata.config.use_backend("torch"):
        layer, x, seen = layers.Dense(2), ops.ones((2, 3)), []
        layer(x)
        layer(x)
        layer.register_forward_hook(lambda *_: seen.append(1))
        layer(x)
        layer(x)
    assert seen == [1, 1]
