"""Control flow on PyTorch: Python's when eager, PyTorch's own operators while compiling."""

import torch

# True in `torch.export` too.
_compiling = torch.compiler.is_compiling


def cond(pred, true_fn, false_fn):
    if _compiling() and isinstance(pred, torch.Tensor):
        return torch.cond(pred, true_fn, false_fn)
    return true_fn() if pred else false_fn()


def switch(index, branches, operands):
    if _compiling() and isinstance(index, torch.Tensor):
        return _switch(index, branches, operands)
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def _switch(index, branches, operands):
    first, *rest = branches
    if not rest:
        return first(*operands)
    return torch.cond(index <= 0, lambda: first(*operands), lambda: _switch(index - 1, rest, operands))


def while_loop(cond, body, loop_vars, maximum_iterations):
    if _compiling():
        return _compiled_while(cond, body, loop_vars, maximum_iterations)
    count = 0
    while (maximum_iterations is None or count < maximum_iterations) and cond(*loop_vars):
        loop_vars = body(*loop_vars)
        count += 1
    return list(loop_vars)


def _compiled_while(cond, body, loop_vars, maximum_iterations):
    from torch._higher_order_ops.while_loop import while_loop as operator

    if maximum_iterations is None:
        return list(operator(cond, lambda *v: tuple(body(*v)), tuple(loop_vars)))
    count = torch.zeros((), dtype=torch.int64)
    result = operator(
        lambda n, *v: (n < maximum_iterations) & cond(*v), lambda n, *v: (n + 1, *body(*v)), (count, *loop_vars)
    )
    return list(result[1:])


def scan(f, init, xs, length, reverse, unroll):
    carry, rows = list(init), []
    columns = [x.unbind(0) for x in xs]
    for i in range(length - 1, -1, -1) if reverse else range(length):
        carry, ys = f(carry, [c[i] for c in columns])
        rows.append(ys)
    if not rows:
        _, ys = f(carry, [x.new_zeros(x.shape[1:]) for x in xs])
        return carry, [y.new_zeros((0, *y.shape)) for y in ys]
    if reverse:
        rows.reverse()
    return list(carry), [torch.stack(column) for column in zip(*rows, strict=True)]
