"""`jit`: compile a function that reads and assigns variables as if it ran eagerly."""

import functools

from kerata import backends
from kerata.core import tree
from kerata.core.scopes import StatelessScope, current_stateless
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import trace


def jit(fn=None, **options):
    """Compile a function of tensors, with the variables that it reads and assigns.

    On JAX the variables become arguments and results of a `jax.jit`ted function; on TensorFlow it's a `tf.function`; on
    PyTorch the function is traced to a plan of native calls, which `torch.compile` compiles if `mode` or other options
    are given.

    Args:
        fn: function of tensors or structures of them; other arguments are part of what is compiled.
        **options: for the framework's compiler.

    >>> import kerata
    >>> count = kerata.Variable(0.0)
    >>> @kerata.transforms.jit
    ... def step(x):
    ...     count.assign_add(1.0)
    ...     return x * count
    >>> float(step(2.0)), float(step(2.0)), float(count)
    (2.0, 4.0, 2.0)
    """
    if fn is None:
        return functools.partial(jit, **options)
    cache = {}

    @functools.wraps(fn)
    def compiled(*args, **kwargs):
        if current_stateless.get() is not None:
            # Part of something that is compiled or traced already.
            return fn(*args, **kwargs)
        b = backends.current()
        from kerata.ops.core import convert_to_tensor

        given = tree.map_structure(lambda a: convert_to_tensor(a) if _is_data(a) else a, [list(args), kwargs])
        flat = tree.flatten(given)
        tensors = [a for a in flat if b.is_tensor(a)]
        key = (b.NAME, repr(tree.map_structure(lambda a: _kind(a, b), given)))
        call = cache.get(key)
        if call is None:
            call = cache[key] = make(fn, given, b, options)
        return call(tensors)

    return compiled


def _is_data(a):
    return isinstance(a, (int, float)) and not isinstance(a, bool) or hasattr(a, "__array__")


def _kind(a, b):
    return (tuple(a.shape), b.dtype_of(a)) if b.is_tensor(a) else ("static", repr(a))


def make(fn, given, b, options):
    """The compiled form, for arguments of this structure: a function of the flat list of tensors."""

    def positional(tensors):
        rest = iter(tensors)
        args, kwargs = tree.map_structure(lambda a: next(rest) if b.is_tensor(a) else a, given)
        return fn(*args, **kwargs)

    if b.NAME == "tensorflow":
        function = b.compile(lambda *tensors: positional(tensors), **options)
        return lambda tensors: function(*tensors)
    tensors = [a for a in tree.flatten(given) if b.is_tensor(a)]
    if b.NAME == "torch":
        return _planned(positional, tensors, b, options)
    return _lifted(positional, tensors, b, options)


class Touched(StatelessScope):
    """Notes which variables a block reads and assigns."""

    def __init__(self):
        super().__init__(collect_losses=True)
        self.seen = {}

    def read(self, variable):
        self.seen[id(variable)] = variable
        return super().read(variable)


def _lifted(function, tensors, b, options):
    """For compilers of pure functions: variables go in and out."""
    scope = Touched()

    def discover(*tensors):
        with scope:
            return tree.flatten(function(tensors))

    b.abstract(discover, tensors)
    variables = list(scope.seen.values())
    variables += [v for v, _ in scope.updated() if id(v) not in scope.seen]
    box = {}

    def pure(values, tensors):
        with StatelessScope(list(zip(variables, values, strict=True)), collect_losses=True) as inner:
            result = function(tensors)
        box["result"] = result
        given = {id(v): value for v, value in zip(variables, values, strict=True)}
        updates = [(v, value) for v, value in inner.updated() if given.get(id(v)) is not value]
        box["updated"] = [v for v, _ in updates]
        return [r for r in tree.flatten(result) if b.is_tensor(r)], [value for _, value in updates]

    compiled = b.compile(pure, **options)

    def call(tensors):
        results, values = compiled([v.value for v in variables], tensors)
        for variable, value in zip(box["updated"], values, strict=True):
            variable.assign(value)
        results = iter(results)
        return tree.map_structure(lambda r: next(results) if b.is_tensor(r) else r, box["result"])

    return call


def _planned(function, tensors, b, options):
    from kerata.graph.plan import Plan

    symbols = [KerasTensor(tuple(t.shape), b.dtype_of(t)) for t in tensors]
    graph = trace(lambda *s: function(s), *symbols, expand=lambda op: not hasattr(b, op.native))
    plan = Plan(graph, b)
    if options:
        plan.function = b.compile(plan.function, **options)
    return lambda tensors: plan(*tensors)
