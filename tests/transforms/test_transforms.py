"""Gradients, compilation and vectorization that know about variables, on each training backend."""

import numpy as np
import pytest

import kerata
from kerata import ops
from kerata.transforms import grad, jit, value_and_grad, vmap


def test_gradient_by_variables_and_by_arguments(training_backend):
    v = kerata.Variable([1.0, 2.0])
    (value, aux), (g,) = value_and_grad(lambda x: (ops.sum(v * v * x), x + 1), [v], has_aux=True)(3.0)
    assert float(value) == 15.0 and float(aux) == 4.0
    np.testing.assert_allclose(ops.convert_to_numpy(g), [6.0, 12.0])
    g = grad(lambda p: ops.sum(p["a"] * p["b"]))({"a": np.float32(2.0), "b": np.float32(5.0)})
    assert float(g["a"]) == 5.0 and float(g["b"]) == 2.0


def test_variables_assigned_inside_get_their_values(training_backend):
    v, count = kerata.Variable(2.0), kerata.Variable(0.0, trainable=False)

    def loss():
        count.assign_add(1.0)
        return v * v

    value_and_grad(loss, [v])()
    assert float(count) == 1.0 and float(v) == 2.0


def test_numpy_says_where_to_train():
    with kerata.config.use_backend("numpy"), pytest.raises(ValueError, match="jax, torch, tensorflow"):
        grad(lambda x: x * x)(1.0)


def test_a_scalar_is_needed(training_backend):
    with pytest.raises(ValueError, match=r"scalar.*\(2,\)"):
        grad(lambda x: x * x)(np.ones(2, "float32"))


def test_jit_lifts_variables(training_backend):
    v, count = kerata.Variable([1.0, 2.0]), kerata.Variable(0, dtype="int32")
    calls = []

    @jit
    def step(x, scale=1.0):
        calls.append(1)
        count.assign_add(1)
        loss, (g,) = value_and_grad(lambda: ops.sum(v * x), [v])()
        v.assign_sub(0.1 * g)
        return {"loss": loss}

    losses = [float(step(np.ones(2, "float32"))["loss"]) for _ in range(3)]
    np.testing.assert_allclose(losses, [3.0, 2.8, 2.6], rtol=1e-5)
    assert int(count) == 3 and len(calls) <= 2, "compiled once"
    np.testing.assert_allclose(v.numpy(), [0.7, 1.7], rtol=1e-5)


def test_vmap(training_backend):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    rows = vmap(lambda a, b: {"dot": ops.sum(a * b)}, in_axes=(0, None))(x, np.ones(3, "float32"))
    np.testing.assert_allclose(ops.convert_to_numpy(rows["dot"]), x.sum(1))


class Portable(kerata.Model):
    """A training step written once."""

    def __init__(self):
        super().__init__()
        self.hidden = kerata.layers.Dense(8, activation="tanh")
        self.out = kerata.layers.Dense(1)
        self.tracker = kerata.metrics.Mean(name="loss")

    def call(self, x):
        return self.out(self.hidden(x))

    @property
    def metrics(self):
        return [self.tracker]

    def train_step(self, data):
        x, y = data
        loss, gradients = value_and_grad(lambda: ops.mean(ops.square(self(x) - y)), self.trainable_variables)()
        self.optimizer.apply(gradients, self.trainable_variables)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


def test_one_train_step_for_all(training_backend):
    kerata.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(128, 4)).astype("float32")
    model = Portable()
    model.compile(kerata.optimizers.Adam(0.01))
    history = model.fit(x, x.sum(1, keepdims=True), epochs=8, verbose=0).history["loss"]
    assert history[-1] < 0.7 * history[0]
    assert int(model.optimizer.iterations) == 32


def test_an_error_while_torch_traces_gradients_leaves_no_depth():
    torch = pytest.importorskip("torch")
    from kerata.backends.torch import core

    with pytest.raises(ZeroDivisionError):
        core._traced_gradients(lambda params: 1 / 0, [torch.ones(2)], ())
    assert core._depth == 0
