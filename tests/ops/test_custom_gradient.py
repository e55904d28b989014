"""`custom_gradient`, run eagerly and traced into a plan, whose backward part is called when the plan is long done."""

import numpy as np

import kerata
from kerata import ops, transforms
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import trace

X = np.array([1.3, 2.6], "float32")


@ops.custom_gradient
def rounded(x, w):
    def grad(*args, upstream=None):
        return upstream * args[1] * 10, upstream * args[0] + 7

    return ops.round(x) * w, grad


def _step(x, w):
    h = x * 2
    return transforms.value_and_grad(lambda: ops.sum(rounded(h, w) * h), [w])()


def test_same_traced(training_backend):
    w = kerata.Variable(np.array([2.0, 3.0], "float32"))
    wanted = [X * 2 * X * 2 + 7]
    np.testing.assert_allclose(ops.convert_to_numpy(_step(ops.convert_to_tensor(X), w)[1][0]), wanted[0], rtol=1e-6)
    graph = trace(
        lambda x: _step(x, w), KerasTensor((2,), "float32"), expand=lambda op: not hasattr(training_backend, op.native)
    )
    found = Plan(graph, training_backend)(ops.convert_to_tensor(X))
    np.testing.assert_allclose(ops.convert_to_numpy(found[1][0]), wanted[0], rtol=1e-6)


def test_later():
    import pytest

    torch = pytest.importorskip("torch")
    from kerata import backends

    with backends.use_backend("torch") as b:
        graph = trace(
            lambda x: rounded(x * 2, x * 3) + 1,
            KerasTensor((2,), "float32"),
            expand=lambda op: not hasattr(b, op.native),
        )
        x = torch.tensor(X, requires_grad=True)
        y = Plan(graph, b)(x)
    # In another backend's scope, or none.
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 3 * X * 10 + 3 * (2 * X + 7), rtol=1e-6)
