"""Gradients that have few rows: the same numbers as of the same gradient made dense, and rows that stay where they are."""

import numpy as np
import pytest

import kerata
from kerata import ops, optimizers
from kerata.optimizers.row_gradients import RowChange, row_gradient
from kerata.state import Variable

SHAPE = (6, 3, 2)
INDICES = np.array([4, 0, 2, 0], "int32")  # a row twice, out of order
STEPS = [np.random.default_rng(i).normal(size=(4, 3, 2)).astype("float32") for i in range(3)]
# optimizer, whether the variable and each of the slots are changed by rows alone
TABLE = {
    "sgd": (lambda: optimizers.SGD(0.1), True, []),
    "sgd, clipped": (lambda: optimizers.SGD(0.1, clipnorm=1.0), True, []),
    "sgd, averaged": (lambda: optimizers.SGD(0.1, use_ema=True), False, []),
    "sgd, momentum": (lambda: optimizers.SGD(0.1, 0.9), False, [False]),
    "sgd, decayed": (lambda: optimizers.SGD(0.1, weight_decay=0.1), False, []),
    "adagrad": (lambda: optimizers.Adagrad(0.1), True, [True]),
    "adadelta": (lambda: optimizers.Adadelta(0.1), True, [False, False]),
    "rmsprop": (lambda: optimizers.RMSprop(0.1, centered=True), True, [False, False]),
    "adam": (lambda: optimizers.Adam(0.1), False, [False, False]),
    "adam, in parts": (lambda: optimizers.Adam(0.1, gradient_accumulation_steps=2), False, [False] * 2),
    "scaled": (lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1)), True, []),
    "several": (lambda: optimizers.MultiOptimizer(lambda _: optimizers.SGD(0.1)), True, []),
}


def sparse(backend, values):
    if backend.NAME == "tensorflow":
        return backend.tf.IndexedSlices(ops.convert_to_tensor(values), tuple(INDICES.tolist()), SHAPE)
    if backend.NAME == "jax":
        from jax.experimental.sparse import BCOO

        return BCOO((values, INDICES[:, None]), shape=SHAPE)
    import torch

    return torch.sparse_coo_tensor(INDICES[None], values, SHAPE, check_invariants=True)


def dense(values):
    whole = np.zeros(SHAPE, "float32")
    np.add.at(whole, INDICES, values)
    return ops.convert_to_tensor(whole)


@pytest.mark.parametrize("name", TABLE)
def test_the_same_as_a_dense_gradient(training_backend, name):
    make, by_rows, slots_by_rows = TABLE[name]
    ours, theirs = Variable(np.ones(SHAPE, "float32")), Variable(np.ones(SHAPE, "float32"))
    optimizer, plain = make(), make()
    added = []
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    inner.assign_add, add = lambda v, x: added.append(v) or add(v, x), inner.assign_add
    for values in STEPS:
        optimizer.apply([sparse(training_backend, values)], [ours])
        plain.apply([dense(values)], [theirs])
    for mine, its in zip([ours, *optimizer.variables], [theirs, *plain.variables], strict=True):
        np.testing.assert_allclose(mine.numpy(), its.numpy(), rtol=1e-5, atol=1e-6)
    assert any(v is ours for v in added) == by_rows
    slots = [v for slots in getattr(inner, "_slots", ()) for v in slots.values()]
    assert [any(v is slot for v in added) for slot in slots] == slots_by_rows


def test_a_pure_step(training_backend):
    optimizer, v = optimizers.Adagrad(0.1), Variable(np.ones(SHAPE, "float32"))
    optimizer.build([v])
    state = [w.value for w in optimizer.variables]
    steps = [
        optimizer.stateless_apply(state, [g(STEPS[0])], [v.value])
        for g in (dense, lambda x: sparse(training_backend, x))
    ]
    for (one, *_), (other, *_) in zip(*steps, strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(other), ops.convert_to_numpy(one), rtol=1e-5)


@pytest.mark.parametrize("name", ["adagrad", "scaled"])
def test_a_compiled_step(training_backend, name):
    if training_backend.NAME == "torch":
        pytest.skip("torch.compile takes long, and steps of its models come as plans")
    optimizer, v = TABLE[name][0](), Variable(np.ones(SHAPE, "float32"))
    optimizer.build([v])
    state = [w.value for w in optimizer.variables]
    step = training_backend.compile(
        lambda state, values, param: optimizer.stateless_apply(state, [sparse(training_backend, values)], [param])
    )
    found = step(state, ops.convert_to_tensor(STEPS[0]), v.value)
    wanted = optimizer.stateless_apply(state, [dense(STEPS[0])], [v.value])
    for one, other in zip(*(params + state for params, state in (found, wanted)), strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(one), ops.convert_to_numpy(other), rtol=1e-5)


def test_rows_that_occur_several_times_are_summed_once(training_backend):
    rows = row_gradient(sparse(training_backend, STEPS[0]), SHAPE)
    assert ops.convert_to_numpy(rows.indices).tolist() == [0, 0, 2, 4]
    np.testing.assert_allclose(ops.convert_to_numpy(rows.values[0]), STEPS[0][1] + STEPS[0][3], rtol=1e-6)
    assert not ops.convert_to_numpy(rows.values[1]).any()
    whole = RowChange(ops.zeros(SHAPE), rows).applied()
    np.testing.assert_allclose(ops.convert_to_numpy(whole), ops.convert_to_numpy(dense(STEPS[0])), rtol=1e-6)


def test_an_update_of_a_users_own_gets_what_was_given(training_backend):
    class Last(optimizers.Optimizer):
        def update_step(self, gradient, variable, learning_rate):
            self.assign_sub(variable, gradient)

    v, kinds = Variable(np.ones(SHAPE, "float32")), []
    optimizer = Last(1.0)
    optimizer.assign_sub, sub = lambda v, g: kinds.append(type(g)) or sub(v, g), optimizer.assign_sub
    gradient = sparse(training_backend, STEPS[0])
    optimizer.apply([gradient], [v])
    assert kinds == [type(gradient)]
    np.testing.assert_allclose(v.numpy(), 1 - ops.convert_to_numpy(dense(STEPS[0])), rtol=1e-5, atol=1e-6)


def test_a_derived_update_is_whole():
    class Shrinking(optimizers.SGD):
        def update(self, gradient, variable, slots, learning_rate, step):
            return 0.5 * variable - learning_rate * gradient, ()

    assert optimizers.SGD().idle == () and Shrinking().idle is None


def test_embeddings_in_fit(training_backend):
    losses = {}
    for optimizer in ("sgd", "adagrad"):
        kerata.utils.set_random_seed(1)
        model = kerata.Sequential([kerata.layers.Embedding(50, 4), kerata.layers.GlobalAveragePooling1D()])
        model.compile(optimizer, "mse")
        x, y = np.arange(32, dtype="int32").reshape(8, 4) % 7, np.ones((8, 4), "float32")
        before = model(x) is not None and model.layers[0].embeddings.numpy()
        losses[optimizer] = model.fit(x, y, batch_size=4, epochs=2, verbose=0).history["loss"]
        after = model.layers[0].embeddings.numpy()
        changed = (before != after).any(1)
        assert changed[:7].all() and not changed[7:].any()
    assert losses["sgd"][1] < losses["sgd"][0]
