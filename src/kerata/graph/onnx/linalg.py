"""Products of matrices and tensors. Decompositions have no ONNX form."""

from kerata.graph.onnx.table import emits
from kerata.ops import rules


@emits("matmul")
def _matmul(w, out, x1, x2):
    return w.arithmetic("MatMul", out.dtype, x1, x2)


@emits("det")
def _det(w, out, x):
    return w.op("Det", x)


@emits("tensordot")
def _tensordot(w, out, x1, x2, axes):
    ranks = len(x1.shape), len(x2.shape)
    if isinstance(axes, int):
        left, right = range(ranks[0] - axes, ranks[0]), range(axes)
    else:
        left, right = (rules.axes_in(a, r) for a, r in zip(axes, ranks))
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    first = [next(letters) for _ in range(ranks[0])]
    second = [next(letters) for _ in range(ranks[1])]
    for a, b in zip(left, right):
        second[b] = first[a]
    summed = {first[a] for a in left}
    output = [c for c in first + second if c not in summed]
    return _product(w, ["".join(first), "".join(second)], "".join(output), [x1, x2], out.dtype)


@emits("einsum")
def _einsum(w, out, subscripts, operands):
    terms, output = rules.parse_einsum(subscripts, [len(x.shape) for x in operands])
    return _product(w, terms, output, operands, out.dtype)


def _product(w, terms, output, operands, dtype):
    if len(operands) == 2:
        result = _as_matmul(w, terms, output, operands, lambda x, y: w.arithmetic("MatMul", dtype, x, y))
        if result is not None:
            return result
    return w.arithmetic("Einsum", dtype, *operands, equation=f"{','.join(terms)}->{output}")


@emits("integer_einsum")
def _integer_einsum(w, out, subscripts, x, kernel):
    terms, output = rules.parse_einsum(subscripts, [len(x.shape), len(kernel.shape)])
    result = _as_matmul(w, terms, output, [x, kernel], lambda x, y: w.op("MatMulInteger", x, y))
    return NotImplemented if result is None else result


def _as_matmul(w, terms, output, operands, multiply):
    """A product of two tensors as transposes around a `MatMul`, which runtimes do best; `None` where it isn't
    one.
    """
    (first, second), (a, b) = terms, operands
    batch = [c for c in first if c in second and c in output]
    summed = [c for c in first if c in second and c not in output]
    left = [c for c in first if c not in second]
    right = [c for c in second if c not in first]
    if len(set(first)) != len(first) or len(set(second)) != len(second) or not summed:
        return None
    if not {*left, *right} <= set(output) or (batch and len(left) != 1) or not (right or not batch):
        return None
    size = dict(zip(second, b.shape))
    size |= {c: d for c, d in zip(first, a.shape) if size.get(c) is None or d is not None and d != 1}
    if any(x.shape[t.index(c)] == 1 and size[c] != 1 for t, x in ((first, a), (second, b)) for c in t):
        return None
    inner, outer = _merged(size, summed), _merged(size, right)
    if (inner is None or outer is None) and (len(summed) > 1 or len(right) > 1):
        return None
    if len(right) > 1 and any(size[c] is None for c in right):
        return None
    kept = len(batch) + len(left)
    x = w.transpose(a, [first.index(c) for c in (*batch, *left, *summed)])
    if len(summed) > 1:
        x = w.reshape(x, [*[0] * kept, inner])
    y = w.transpose(b, [second.index(c) for c in (*batch, *summed, *right)])
    if len(summed) > 1 or len(right) > 1:
        y = w.reshape(y, [*[0] * len(batch), inner, *([outer] if right else [])])
    result = multiply(x, y)
    if len(right) > 1:
        result = w.reshape(result, [*[0] * kept, *(size[c] for c in right)])
    return w.transpose(result, [(*batch, *left, *right).index(c) for c in output])


def _merged(size, letters):
    total = 1
    for c in letters:
        if size[c] is None:
            return None
        total *= size[c]
    return total
