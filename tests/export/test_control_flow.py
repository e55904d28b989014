"""Branches and loops as ONNX's own."""

import numpy as np
import pytest
from running import close, flat, kinds, ran, run, symbol, written

from kerata import Variable, backends, ops

X = np.arange(12, dtype="float32").reshape(4, 3)


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


def test_cond():
    def function(x, y):
        doubled = x * 2
        return ops.cond(ops.sum(x) > 10, lambda: (doubled + y, y), lambda: (doubled - y, y * 0))

    for x in (X, X * 0.01):
        close(ran(function, x, X[::-1].copy()), flat(function(x, X[::-1])))


def test_a_branch_within_a_branch():
    def function(x):
        total = ops.sum(x)
        inner = lambda: ops.cond(total > 100, lambda: x, lambda: -x)  # noqa: E731
        return ops.cond(total > 10, inner, lambda: x * 0)

    for x in (X, X * 9, X * 0):
        close(ran(function, x), flat(function(x)))


def test_switch():
    branches = [lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y]

    def function(i, x, y):
        return ops.switch(i, branches, x, y)

    model = written(function, [symbol(np.int32(0)), symbol(X), symbol(X)])
    for i in (-1, 0, 1, 2, 7):
        close(run(model, np.int32(i), X, X), flat(function(np.int32(i), X, X)))


def test_while_loop():
    weight = Variable(np.full(3, 0.5, "float32"))

    def function(x):
        limit = ops.max(x)
        return ops.while_loop(
            lambda i, v: ops.sum(v) < limit * 20,
            lambda i, v: (i + 1, v + x * weight),
            (ops.convert_to_tensor(0), x),
        )

    close(ran(function, X, dynamic=True), flat(function(X)))


def test_while_loop_that_stops_and_one_that_never_starts():
    x = np.int32(5)

    def stopped(x):
        return ops.while_loop(lambda v: v > 0, lambda v: (v - 1,), (x,), maximum_iterations=2)

    def never(x):
        return ops.while_loop(lambda v: v > 9, lambda v: (v - 1,), (x,))

    close(ran(stopped, x), [np.int32(3)])
    close(ran(never, x), [np.int32(5)])


def test_a_loop_within_a_loop():
    def function(x):
        def outer(i, v):
            return v + ops.fori_loop(0, i, lambda j, u: u + x * ops.cast(j, "float32"), ops.zeros_like(x))

        return ops.fori_loop(0, 4, outer, x)

    close(ran(function, X), flat(function(X)))


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("dynamic", (False, True))
def test_scan(reverse, dynamic):
    def function(x, y):
        def step(carry, row):
            return carry * 0.5 + row + y, (carry, row * 2)

        return ops.scan(step, ops.zeros((3,)), x, reverse=reverse)

    model = written(function, [symbol(X, dynamic), symbol(X[0])])
    assert "Scan" in kinds(model)
    for n in (1, 4):
        close(run(model, X[:n] if dynamic else X, X[1]), flat(function(X[:n] if dynamic else X, X[1])))


def test_scan_without_slices():
    def function(x):
        return ops.scan(lambda carry, _: (carry + x, carry), x, length=3)

    close(ran(function, X), flat(function(X)))


def test_map():
    close(ran(lambda x: ops.map(lambda row: ops.sum(row) * row, x), X), [X * X.sum(-1, keepdims=True)])
