"""Calls that go straight to `call`, and calls that were planned, do all that the ordinary ones do."""

import copy
import pickle

import numpy as np
import pytest

import kerata
from kerata import layers, ops
from kerata.backends import repeated
from kerata.core.masks import get_mask, set_mask

ENOUGH = 20
X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.fixture(autouse=True)
def impatience(monkeypatch):
    """Plans are called in one, where the backend does that, before `ENOUGH` calls."""
    monkeypatch.setattr(repeated, "PATIENCE", 2)


@pytest.fixture(params=["direct", "planned"])
def dense(backend, request):
    layer, x = layers.Dense(2, kernel_initializer="ones"), ops.convert_to_tensor(X)
    for _ in range(2 if request.param == "direct" else ENOUGH):
        layer(x)
    (kind,) = layer._quick.kinds.values()
    assert kind.direct and (kind.plan is not None) == (request.param == "planned")
    return layer


def planned(layer, *inputs, **options):
    """The layer after so many calls that the next ones of this kind are planned."""
    for _ in range(ENOUGH):
        layer(*inputs, **options)
    assert any(kind.plan is not None for kind in layer._quick.kinds.values())
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


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_layers_with_layers_in_them(backend, policy):
    x = ops.convert_to_tensor(np.random.default_rng(0).standard_normal((2, 5, 6)).astype("float32"))
    layer = layers.MultiHeadAttention(2, 4, dtype=policy)
    expected = numbers(layer(x, x, use_causal_mask=True))
    planned(layer, x, x, use_causal_mask=True)
    y = layer(x, x, use_causal_mask=True)
    assert kerata.backend.standardize_dtype(y.dtype) == layer.compute_dtype
    np.testing.assert_allclose(numbers(y), expected, atol=1e-6)
    assert np.abs(numbers(layer(x, x)) - expected).max() > 1e-3, "another argument is another kind"
    # What happens to the layers inside is noticed.
    layer.output_dense.activation = kerata.activations.relu
    assert numbers(layer(x, x, use_causal_mask=True)).min() == 0


def test_weights_assigned_afterwards_count(dense):
    x = ops.convert_to_tensor(X)
    dense.set_weights([np.zeros((3, 2), "float32"), np.ones(2, "float32")])
    np.testing.assert_allclose(numbers(dense(x)), 1)
    values = [ops.ones((3, 2)), ops.zeros(2)]
    outputs, _ = dense.stateless_call(values, [], x)
    np.testing.assert_allclose(numbers(outputs)[:, 0], X.sum(1))
    if kerata.backend.backend() in ("jax", "torch", "tensorflow"):
        gradient = kerata.transforms.grad(lambda: ops.sum(dense(x)), dense.trainable_variables)()
        np.testing.assert_allclose(numbers(gradient[0]), np.stack([X.sum(0)] * 2, 1))


def test_tapes_see_the_variables_of_planned_layers():
    tf = pytest.importorskip("tensorflow")
    with kerata.config.use_backend("tensorflow"):
        x = ops.convert_to_tensor(X)
        layer = planned(layers.Dense(2, kernel_initializer="ones"), x)
        with tf.GradientTape() as tape:
            loss = ops.sum(layer(x))
        np.testing.assert_allclose(tape.gradient(loss, layer.kernel.storage), np.stack([X.sum(0)] * 2, 1))
        calls = tf.function(lambda x: layer(x))
        np.testing.assert_allclose(calls(x), layer(x))
        layer.kernel.storage.assign(tf.zeros((3, 2)))
        np.testing.assert_allclose(numbers(layer(x)), 0)
        np.testing.assert_allclose(calls(x), 0)


@pytest.mark.parametrize("model", [False, True])
def test_plans_made_for_inference_can_be_trained(model):
    torch = pytest.importorskip("torch")
    with kerata.config.use_backend("torch"):
        x = ops.convert_to_tensor(X) - 2
        layer = layers.ReLU(negative_slope=0.1, threshold=0.5)
        called = kerata.Sequential([layers.Input((3,)), layer]) if model else layer
        with torch.inference_mode():
            for _ in range(ENOUGH):
                called(x)
        x.requires_grad_()
        called(x).sum().backward()
        np.testing.assert_allclose(numbers(x.grad), np.where(X - 2 > 0.5, 1, 0.1), rtol=1e-6)
        assert model or next(iter(layer._quick.kinds.values())).plan is not None


def test_layers_built_for_inference_can_be_trained():
    torch = pytest.importorskip("torch")
    with kerata.config.use_backend("torch"):
        x, layer = ops.convert_to_tensor(X), layers.Dense(2)
        with torch.inference_mode():
            layer(x)
        layer(x).sum().backward()
        np.testing.assert_allclose(numbers(layer.kernel.storage.grad), np.stack([X.sum(0)] * 2, 1))


def test_random_and_counting_layers_are_not_planned(backend):
    x = ops.ones((4, 3))
    dropout, norm = layers.Dropout(0.5, seed=1), layers.BatchNormalization(momentum=0.5)
    drawn = [numbers(dropout(x, training=True)) for _ in range(ENOUGH)]
    assert any((a != b).any() for a, b in zip(drawn[-5:], drawn[-4:], strict=False))
    for _ in range(ENOUGH):
        norm(x, training=True)
    np.testing.assert_allclose(numbers(norm.moving_mean), 1 - 0.5**ENOUGH, rtol=1e-5)


def test_functions_of_the_users_own_run_each_time(backend):
    seen = []

    def activation(x):
        seen.append(1)
        return x

    layer, x = layers.Dense(2, activation=activation), ops.ones((2, 3))
    for _ in range(ENOUGH):
        layer(x)
    assert len(seen) >= ENOUGH


def test_fit_moves_the_weights_of_planned_layers():
    pytest.importorskip("torch")
    with kerata.config.use_backend("torch"):
        x = ops.convert_to_tensor(X)
        layer = planned(layers.Dense(2), x)
        before = numbers(layer(x))
        model = kerata.Sequential([layer])
        model.compile(kerata.optimizers.SGD(1.0), "mse")
        seen = []
        note = kerata.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(numbers(layer(x))))
        model.fit(X, np.zeros((2, 2)), epochs=2, verbose=0, callbacks=[note])
        assert all((a != b).all() for a, b in zip([before, *seen], seen, strict=False))
        np.testing.assert_array_equal(numbers(layer(x)), seen[-1])


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
