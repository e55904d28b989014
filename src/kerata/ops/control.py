"""Control flow: branches and loops, compiled as such where the framework can."""

from kerata import backends
from kerata.core import tree
from kerata.graph.tensor import KerasTensor, any_symbolic, spec
from kerata.graph.trace import Node, Trace, current_trace, subgraph
from kerata.ops.core import convert_to_tensor
from kerata.ops.declare import REGISTRY, Op


class _Control(Op):
    """An op whose arguments are functions: symbolically, sub-graphs."""

    def __init__(self, name, function):
        self.name = self.native = name
        self.function = function
        self.rule = None
        self.body = None
        self.is_composite = False
        self.parameters = ()
        self.forms, self.inferred = {}, {}
        REGISTRY[name] = self
        if function is not None:
            function.op = self


def _control(function):
    _Control(function.__name__, function)
    return function


def _tensors(structure):
    """A structure with every leaf a tensor, native or symbolic."""
    return tree.map_structure(convert_to_tensor, structure)


def _flat(structure):
    return [convert_to_tensor(v) for v in tree.flatten(structure)]


class _Body:
    """A function over structures as one over flat lists; remembers the structure of what it returned."""

    def __init__(self, function, *inputs):
        self.function = function
        self.inputs = inputs
        self.structure = None

    def __call__(self, *flat):
        arguments, at = [], 0
        for structure in self.inputs:
            n = len(tree.flatten(structure))
            arguments.append(tree.pack_sequence_as(structure, flat[at : at + n]))
            at += n
        result = self.function(*arguments)
        self.structure = result
        return _flat(result)


def _fresh(tensors, drop=0):
    return [spec(tuple(t.shape)[drop:], _dtype(t)) for t in tensors]


def _dtype(t):
    return t.dtype if isinstance(t, KerasTensor) else backends.current().dtype_of(t)


def _subgraph(function, inputs):
    if current_trace.get() is None:
        with Trace(record=True, dynamic=True):
            return subgraph(function, inputs)
    return subgraph(function, inputs)


def _closes_over_symbols(*functions):
    """Whether a function's closure holds a `KerasTensor` (then a call with native arguments is symbolic too)."""
    for function in functions:
        for cell in getattr(function, "__closure__", None) or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if any_symbolic([value]):
                return True
    return False


def _node(name, args, outputs, structure):
    """Record the node, give back the results in their structure."""
    results = [spec(t.shape, t.dtype) for t in outputs]
    Node(REGISTRY[name], tuple(args), None, results)
    return tree.pack_sequence_as(structure, results)


@_control
def cond(pred, true_fn, false_fn):
    """Call one of two functions, by a condition known only when the program runs.

    Args:
        pred: boolean scalar.
        true_fn: function of no arguments, called if `pred` holds.
        false_fn: function of no arguments, called otherwise; returns the same structure, shapes and dtypes.

    Returns:
        What the function returned.

    Raises:
        ValueError: the two branches return different structures.

    >>> from kerata import ops
    >>> float(ops.cond(ops.convert_to_tensor(True), lambda: ops.ones(()), lambda: ops.zeros(())))
    1.0
    """
    pred = convert_to_tensor(pred, "bool")
    if isinstance(pred, KerasTensor) or (current_trace.get() is not None and _closes_over_symbols(true_fn, false_fn)):
        return _symbolic_cond(pred, true_fn, false_fn)
    true, false = _Body(true_fn), _Body(false_fn)
    result = backends.current().cond(pred, true, false)
    return _as_returned(result, true, false)


def _as_returned(result, *bodies):
    structure = next(b.structure for b in bodies if b.structure is not None)
    return tree.pack_sequence_as(structure, list(result)) if structure is not None else None


def _symbolic_cond(pred, true_fn, false_fn):
    true, false = _Body(true_fn), _Body(false_fn)
    graphs = [_subgraph(true, []), _subgraph(false, [])]
    _same_results("cond", *graphs, *(b.structure for b in (true, false)))
    merged = [
        spec(tuple(a if a == b else None for a, b in zip(s.shape, t.shape, strict=True)), _dtype(s))
        for s, t in zip(graphs[0].outputs, graphs[1].outputs, strict=True)
    ]
    return _node("cond", (pred, *graphs), merged, true.structure)


def _same_results(owner, a, b, structure_a, structure_b):
    tree.assert_same_structure(structure_a, structure_b)
    for s, t in zip(a.outputs, b.outputs, strict=True):
        if len(s.shape) != len(t.shape) or _dtype(s) != _dtype(t):
            raise ValueError(
                f"{owner}: the branches must return the same shapes and dtypes, but returned {_dtype(s)} "
                f"{tuple(s.shape)} and {_dtype(t)} {tuple(t.shape)}."
            )


@_control
def while_loop(cond, body, loop_vars, maximum_iterations=None):
    """Repeat `body` while `cond` holds.

    Args:
        cond: function of the loop variables, returns a boolean scalar.
        body: function of the loop variables, returns their next values (same structure, shapes, dtypes).
        loop_vars: list or tuple of loop variables (or one).
        maximum_iterations: at most so many rounds.

    Returns:
        The last values of the loop variables.

    >>> from kerata import ops
    >>> int(ops.while_loop(lambda i: i < 5, lambda i: (i + 1,), (ops.convert_to_tensor(0),))[0])
    5
    """
    single = not isinstance(loop_vars, (tuple, list))
    structure = (loop_vars,) if single else tuple(loop_vars)
    structure = _tensors(structure)

    def step(*values):
        result = body(*values)
        result = (result,) if single or not isinstance(result, (tuple, list)) else tuple(result)
        return result

    run_cond, run_body = _Condition(cond, structure), _Loop(step, structure)
    flat = tree.flatten(structure)
    if any(isinstance(t, KerasTensor) for t in flat) or (current_trace.get() and _closes_over_symbols(cond, body)):
        graphs = [_subgraph(run_cond, _fresh(flat)), _subgraph(run_body, _fresh(flat))]
        result = _node("while_loop", (*graphs, list(flat), maximum_iterations), _fresh(flat), structure)
    else:
        flat = backends.current().while_loop(run_cond, run_body, flat, maximum_iterations)
        result = tree.pack_sequence_as(structure, list(flat))
    if single:
        return result[0]
    return list(result) if isinstance(loop_vars, list) else result


class _Loop:
    """A loop body over positional structures, as a function over their flat leaves."""

    def __init__(self, function, structure):
        self.function, self.structure = function, structure

    def __call__(self, *flat):
        values = tree.pack_sequence_as(self.structure, list(flat))
        result = self.function(*values)
        tree.assert_same_structure(self.structure, result)
        return [convert_to_tensor(v, _dtype(t)) for v, t in zip(tree.flatten(result), flat, strict=True)]


class _Condition(_Loop):
    def __call__(self, *flat):
        return convert_to_tensor(self.function(*tree.pack_sequence_as(self.structure, list(flat))), "bool")


@_control
def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """Run `f` along the first axis of `xs`, carrying a state.

    Args:
        f: `f(carry, x)` returning `(carry, y)`.
        init: first carry, any structure.
        xs: structure of tensors with one first dimension, or `None`.
        length: number of steps, needed without `xs`.
        reverse: from the last step to the first (outputs stay in place).
        unroll: number of steps to unroll in compiled code, or a bool.

    Returns:
        `(last carry, ys stacked along a new first axis)`. Source: the interface is that of `jax.lax.scan`.

    Raises:
        ValueError: no length, or first dimensions that differ.

    >>> from kerata import ops
    >>> last, sums = ops.scan(lambda c, x: (c + x, c + x), ops.convert_to_tensor(0), ops.arange(4))
    >>> int(last), ops.convert_to_numpy(sums).tolist()
    (6, [0, 1, 3, 6])
    """
    if not callable(f):
        raise TypeError(f"scan: `f` should be a callable. {f!r} isn't.")
    if not isinstance(unroll, (bool, int)) or (not isinstance(unroll, bool) and unroll < 1):
        raise ValueError(f"scan: `unroll` must be an positive integer or boolean. {unroll!r} was given.")
    init = _tensors(init)
    xs = None if xs is None else _tensors(xs)
    carries, slices = tree.flatten(init), [] if xs is None else tree.flatten(xs)
    length = _scan_length(slices, length)
    body = _ScanBody(f, init, xs)
    if any(isinstance(t, KerasTensor) for t in (*carries, *slices)) or (
        current_trace.get() and _closes_over_symbols(f)
    ):
        return _symbolic_scan(body, carries, slices, length, reverse, unroll)
    unroll = (length or 1) if unroll is True else 1 if unroll is False else unroll
    carries, ys = backends.current().scan(body, carries, slices, length, reverse, unroll)
    return body.packed(list(carries), list(ys))


class _ScanBody:
    def __init__(self, f, init, xs):
        self.f, self.init, self.xs = f, init, xs
        self.y = None

    def __call__(self, carries, slices):
        x = None if self.xs is None else tree.pack_sequence_as(self.xs, list(slices))
        carry, y = self.f(tree.pack_sequence_as(self.init, list(carries)), x)
        tree.assert_same_structure(self.init, carry)
        self.y = y
        carry = [convert_to_tensor(v, _dtype(t)) for v, t in zip(tree.flatten(carry), carries, strict=True)]
        return carry, [] if y is None else _flat(y)

    def packed(self, carries, ys):
        return (
            tree.pack_sequence_as(self.init, carries),
            None if self.y is None else tree.pack_sequence_as(self.y, ys),
        )


def _scan_length(slices, length):
    lengths = {t.shape[0] for t in slices if t.shape[0] is not None}
    if length is not None:
        lengths.add(int(length))
    if len(lengths) > 1:
        raise ValueError(f"scan: the first dimensions of `xs` (and `length`) must agree, but are {sorted(lengths)}.")
    if not lengths and not slices:
        raise ValueError("scan: give `xs` to scan over and, or, a `length`.")
    return lengths.pop() if lengths else None


def _symbolic_scan(body, carries, slices, length, reverse, unroll):
    inputs = [*_fresh(carries), *_fresh(slices, drop=1)]
    n = len(carries)

    def flat_body(*flat):
        carry, ys = body(list(flat[:n]), list(flat[n:]))
        return [*carry, *ys]

    graph = _subgraph(flat_body, inputs)
    outputs = [spec(t.shape, _dtype(t)) for t in carries]
    outputs += [spec((length, *y.shape), _dtype(y)) for y in graph.outputs[n:]]
    args = (graph, list(carries), list(slices), length, reverse, unroll)
    Node(REGISTRY["scan"], args, None, (outputs[:n], outputs[n:]))
    return body.packed(outputs[:n], outputs[n:])


@_control
def switch(index, branches, *operands):
    """Call the branch with this number.

    Args:
        index: integer scalar, clamped to the branches there are.
        branches: list of functions of `*operands`, all returning the same structure.
        *operands: arguments.

    >>> from kerata import ops
    >>> int(ops.switch(1, [lambda x: x, lambda x: x * 10], ops.convert_to_tensor(2)))
    20
    """
    index = convert_to_tensor(index, "int32")
    operands = _tensors(operands)
    bodies = [_Body(f, *operands) for f in branches]
    flat = tree.flatten(operands)
    if any(isinstance(t, KerasTensor) for t in (index, *flat)):
        graphs = [_subgraph(body, _fresh(flat)) for body in bodies]
        for other, body in zip(graphs[1:], bodies[1:], strict=True):
            _same_results("switch", graphs[0], other, bodies[0].structure, body.structure)
        return _node("switch", (index, list(graphs), list(flat)), graphs[0].outputs, bodies[0].structure)
    return _as_returned(backends.current().switch(index, bodies, flat), *bodies)


def fori_loop(lower, upper, body_fun, init_val):
    """Run `value = body_fun(i, value)` for `i` from `lower` to `upper - 1`.

    Args:
        lower, upper: integer bounds.
        body_fun: function of the counter and the value.
        init_val: first value, any structure.

    >>> from kerata import ops
    >>> int(ops.fori_loop(0, 4, lambda i, v: v + i, ops.convert_to_tensor(0)))
    6
    """
    lower, upper = convert_to_tensor(lower, "int32"), convert_to_tensor(upper, "int32")
    return while_loop(lambda i, v: i < upper, lambda i, v: (i + 1, body_fun(i, v)), (lower, init_val))[1]


def map(f, xs):
    """`f` applied to each slice along the first axis, one after another, and the results stacked.

    Args:
        f: function of a slice (or of a structure of slices).
        xs: tensor or structure of tensors with one first dimension.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.map(lambda x: x * x, ops.arange(3))).tolist()
    [0, 1, 4]
    """
    return scan(lambda carry, x: (carry, f(x)), (), xs)[1]


def vectorized_map(function, elements):
    """`function` applied to all slices along the first axis at once (`vmap`).

    Args:
        function: function of a slice (or of a structure of slices).
        elements: tensor or structure of tensors with one first dimension.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.vectorized_map(lambda x: x * x, ops.arange(3))).tolist()
    [0, 1, 4]
    """
    elements = _tensors(elements)
    flat = tree.flatten(elements)
    if any(isinstance(t, KerasTensor) for t in flat):
        return map(function, elements)
    body = _Body(function, elements)
    return _as_returned(backends.current().vmap(lambda *at: tuple(body(*at)), 0, 0)(*flat), body)
