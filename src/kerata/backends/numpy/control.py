"""Control flow is Python's."""

import numpy as np


def cond(pred, true_fn, false_fn):
    return true_fn() if pred else false_fn()


def switch(index, branches, operands):
    return branches[int(np.clip(index, 0, len(branches) - 1))](*operands)


def while_loop(cond, body, loop_vars, maximum_iterations):
    count = 0
    while (maximum_iterations is None or count < maximum_iterations) and cond(*loop_vars):
        loop_vars = body(*loop_vars)
        count += 1
    return list(loop_vars)


def scan(f, init, xs, length, reverse, unroll):
    carry, rows = list(init), []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        carry, ys = f(carry, [x[i] for x in xs])
        rows.append(ys)
    if not rows:
        _, ys = f(carry, [np.zeros(x.shape[1:], x.dtype) for x in xs])
        return carry, [np.zeros((0, *y.shape), y.dtype) for y in ys]
    if reverse:
        rows.reverse()
    return list(carry), [np.stack(column) for column in zip(*rows, strict=True)]
