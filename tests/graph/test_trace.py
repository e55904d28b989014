"""Tracing and plans: what runs from a graph equals what runs eagerly."""

import numpy as np
import pytest

import kerata
from kerata import ops
from kerata.graph.plan import Plan
from kerata.graph.trace import trace


def planned(b, function, *arrays, native=True):
    symbols = [kerata.KerasTensor(a.shape, a.dtype.name) for a in arrays]
    expand = (lambda op: not hasattr(b, op.native)) if native else (lambda op: True)
    return Plan(trace(function, *symbols, expand=expand), b)


X = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")


def branches(x):
    return ops.cond(ops.sum(x) > 100, lambda: x * 2, lambda: x - 1)


def loops(x):
    total, partial = ops.scan(lambda c, row: (c + row, c * row), ops.zeros((4,)), x)
    i, s = ops.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + ops.sum(x)), (0, 0.0))
    return {"total": total, "partial": partial, "s": s}


def switched(x):
    return ops.switch(1, [lambda y: y, lambda y: y * x], x)


def nested(x):
    return ops.cond(ops.any(x > 0), lambda: ops.scan(lambda c, r: (c + ops.max(x), r), 0.0, x)[0], lambda: ops.sum(x))


FUNCTIONS = [
    lambda x: ops.softmax(ops.relu(x) @ ops.transpose(x)),
    lambda x: [ops.gelu(x), (ops.mean(x, axis=0), ops.max(x))],
    lambda x: ops.split(ops.concatenate([x, x * 2], axis=0), 2),
    lambda x: x + np.float32(1.0) * np.arange(4, dtype="int32"),
    branches,
    loops,
    nested,
]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_plan_agrees_with_eager(backend, function, native):
    x = ops.convert_to_tensor(X)
    want, got = function(x), planned(backend, function, X, native=native)(x)
    kerata.tree.assert_same_structure(want, got)
    for a, b in zip(kerata.tree.flatten(want), kerata.tree.flatten(got), strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(a), ops.convert_to_numpy(b), rtol=1e-5, atol=1e-6)


def test_assignments_become_results(backend):
    v, count = kerata.Variable(np.ones(4, "float32")), kerata.Variable(0, dtype="int32")

    def function(x):
        v.assign(v + ops.sum(x, axis=0))
        count.assign_add(1)
        return v * 2

    plan = planned(backend, function, X)
    assert v.numpy().tolist() == [1.0] * 4, "tracing changes nothing"
    for n in (1, 2):
        np.testing.assert_allclose(
            ops.convert_to_numpy(plan(ops.convert_to_tensor(X))), 2 * (1 + n * X.sum(0)), rtol=1e-5
        )
        assert int(count) == n


def test_assigning_in_a_branch_is_refused():
    v = kerata.Variable(0.0)
    with pytest.raises(RuntimeError, match="inside a branch"):
        trace(lambda x: ops.cond(ops.sum(x) > 0, lambda: v.assign(1.0), lambda: v.value), kerata.KerasTensor((2,)))


def test_only_what_is_needed_runs(backend):
    plan = planned(backend, lambda x: (ops.exp(x), x + 1)[1], X)
    assert "exp" not in plan.source


def test_symbols_refuse_what_they_cannot_do():
    x = kerata.KerasTensor((None, 3), name="x")
    for action in (lambda: bool(x), lambda: float(x), lambda: list(x), lambda: np.asarray(x), lambda: len(x)):
        with pytest.raises((TypeError, ValueError), match="KerasTensor"):
            action()
    with pytest.raises(ValueError, match="inner dimensions 3 and 4 differ"):
        x @ kerata.KerasTensor((4, 2))


CONVOLUTIONS = [
    {},
    {"strides": 2},
    {"padding": "same"},
    {"padding": "same", "strides": 2},
    {"padding": "same", "dilation_rate": 2},
    {"dilation_rate": (2, 1)},
    {"data_format": "channels_first", "padding": "same"},
    {"groups": 2},
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_planned_convolutions(backend, options, bias):
    """A backend may make something of a convolution whose shapes and options are known."""
    groups, options = options.get("groups", 1), {k: v for k, v in options.items() if k != "groups"}
    layer = kerata.layers.Conv2D(4, 3, groups=groups, use_bias=bias, bias_initializer="ones", **options)
    shape = (2, 4, 7, 6) if options.get("data_format") == "channels_first" else (2, 7, 6, 4)
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    want = ops.convert_to_numpy(layer(ops.convert_to_tensor(x)))
    got = planned(backend, layer, x)(ops.convert_to_tensor(x))
    np.testing.assert_allclose(ops.convert_to_numpy(got), want, rtol=1e-4, atol=1e-5)
