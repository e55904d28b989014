"""Declaring ops: primitives and composites, and the dispatch generated for them.

An op is declared once, by a function whose annotations say what its parameters are:

    @primitive(rule=rules.broadcast)
    def add(x1: Tensor, x2: Tensor):
        "docstring"

    @composite
    def softsign(x: Float):
        "docstring"
        return x / (1 + abs(x))

A *primitive* is implemented by every backend under the same name; its `rule` gives shape and dtype. A body, if there is
one, returns the canonical arguments (defaults filled in, integers made tuples). A *composite* has a body written in
other ops; a backend may have a native function of its name, which is then called instead.

The function that users get is generated. When all tensors are native to the current backend and need no promotion, it
is a check and the native call; anything else goes through `_slow`, which promotes, converts, or records.
"""

import warnings

import numpy as np

from kerata import backends
from kerata.core import config, dtypes
from kerata.core.dtypes import WEAK_FLOAT, WEAK_INT
from kerata.graph.tensor import KerasTensor, fresh, spec
from kerata.graph.trace import Node, Trace, current_trace
from kerata.ops import sparse_rules
from kerata.ops.planned import planned


class Role:
    """What a parameter is to dispatch.

    Args:
        name: shown in messages.
        many: a list of tensors.
        group: promoted together with the op's other tensors of a group.
        least: lattice node that takes part in the promotion: `WEAK_FLOAT` makes integers floating.
        wide: `{dtype: dtype}`: small integers that become what they are summed in.
        boolean: read as truth values.
        static: no tensor, but may hold some (a shape, an index).
        target: parameters of which the first that isn't `None` is, or has, the dtype that it is cast to.
    """

    def __init__(self, name, many=False, group=True, least=None, wide=None, boolean=False, static=False, target=()):
        self.name, self.many, self.group, self.least = name, many, group, least
        self.wide, self.boolean, self.static, self.target = wide, boolean, static, target
        self.floating = least is WEAK_FLOAT

    def __repr__(self):
        return self.name


Tensor = Role("Tensor")  # promoted together with the op's other tensors
Number = Role("Number", least=WEAK_INT)  # the same, and bool becomes int32
Float = Role("Float", least=WEAK_FLOAT)  # the same, and integers become floating
# The same, and integers below 32 bits get the dtype they are summed in.
Sum = Role("Sum", wide={"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"})
Product = Role("Product", wide={"int8": "int32"})  # the same for sums of products of int8
Tensors = Role("Tensors", many=True)  # a list or tuple of tensors, promoted together
Floats = Role("Floats", many=True, least=WEAK_FLOAT)
Index = Role("Index", group=False)  # a tensor that keeps its own dtype
# The same, but of numbers no digit is lost that `dtype`, or `x`, has room for.
Cast = Role("Cast", group=False, target=("dtype",))
Like = Role("Like", group=False, target=("dtype", "x"))
Bool = Role("Bool", group=False, boolean=True)  # a tensor read as truth values
Dims = Role("Dims", group=False, static=True)  # a shape: integers, or scalar tensors where not known
Key = Role("Key", group=False, static=True)  # an index as in `x[key]`: may hold tensors
Axis = Role("Axis", group=False, static=True)  # an axis or several: a list becomes a tuple

REGISTRY = {}
# Types of variables (a floor above): dispatch reads their values.
VARIABLES = set()
_SCALARS = frozenset({int, float, bool})
_SPARSE_KINDS = sparse_rules.KINDS
# Python numbers that natives take as they are, and the dtypes in which all of them then agree.
_NUMBERS = frozenset({int, float})
_WITH_NUMBERS = frozenset({"float32", "float64", "int32", "int64"})


class Op:
    """An op's declaration: what `function.op` holds and graphs refer to."""

    def __init__(self, declaration, rule, scalars=False, native=None, canonical=None, by_value=False):
        self.name = declaration.__name__
        self.canonical = canonical
        self.native = self.name if native is None else native
        self.rule = rule
        self.scalars = scalars
        code = declaration.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        self.parameters = code.co_varnames[:count]
        annotations = declaration.__annotations__
        self.roles = tuple(annotations.get(p) for p in self.parameters)
        self.tensor_at = tuple(i for i, r in enumerate(self.roles) if r is not None and not r.static)
        self.dims_at = tuple(i for i, r in enumerate(self.roles) if r is Dims or r is Key)
        self.axis_at = tuple(i for i, r in enumerate(self.roles) if r is Axis)
        self.group_at = tuple(i for i in self.tensor_at if self.roles[i].group)
        self.lone_at = tuple(i for i in self.tensor_at if not self.roles[i].group)
        # Several tensors that are promoted together, and nothing that must be looked through.
        self.takes_numbers = len(self.group_at) > 1 and not self.dims_at and not any(r.many for r in self.roles if r)
        self.least = tuple({self.roles[i].least for i in self.group_at} - {None})
        self.floating = any(self.roles[i].floating for i in self.group_at)
        self.wide = next((self.roles[i].wide for i in self.group_at if self.roles[i].wide), None)
        self.is_composite = rule is None
        self.by_value = by_value
        self.forms = {}  # of a composite: by backend, how it runs there
        self.inferred = {}  # by kind of call, the shapes and dtypes that come out
        self.body = None if _is_empty(declaration) else declaration
        self.function = None

    def __repr__(self):
        return f"<{'composite' if self.is_composite else 'primitive'} {self.name}>"

    def __reduce__(self):
        return _op_named, (self.name,)


def _op_named(name):
    return REGISTRY[name]


def _is_empty(function):
    return function.__code__.co_code == _nothing.__code__.co_code


def _nothing():
    """Its bytecode is that of any function with a docstring alone."""


def primitive(rule, scalars=False, native=None, canonical=None):
    """Declare a primitive.

    Args:
        rule: called with the op's (promoted, canonical) arguments, tensors being `KerasTensor`s;
            returns `spec(shape, dtype)` or a list or tuple of those.
        scalars: natives take Python numbers in place of all tensors but the first.
        native: name of the backends' functions, if it isn't the op's.
        canonical: source of a test (`_b` is the backend) under which the arguments are canonical already and no symbols
            stand in shapes, so that neither the body nor the search for symbols needs to run.
    """

    def declare(declaration):
        return _generate(declaration, Op(declaration, rule, scalars, native, canonical))

    return declare


def composite(declaration=None, *, native=None, by_value=False):
    """Declare a composite: the function's body is the op.

    Args:
        native: name of overrides, if it isn't the op's.
        by_value: whether the body looks at values, be it for the result's shape: it can't be compiled.
    """
    if declaration is None:
        return lambda declaration: composite(declaration, native=native, by_value=by_value)
    return _generate(declaration, Op(declaration, None, native=native, by_value=by_value))


def _generate(declaration, op):
    """The public function: fast path inline, slow path by call."""
    code, defaults = declaration.__code__, declaration.__defaults__ or ()
    kw_defaults = declaration.__kwdefaults__ or {}
    positional = code.co_varnames[: code.co_argcount]
    first_default = len(positional) - len(defaults)
    namespace = {
        "_selected": backends.selected.get,
        "_process": backends.process,
        "_slow": _slow,
        "_op": op,
        "_body": op.body,
        "_forms": op.forms,
        "_form": form,
        "_variables": VARIABLES,
        "_symbolic": holds_symbolic,
        "_integers": integers,
        "_alike": alike,
        "_numbers": _NUMBERS,
    }
    header = []
    for i, name in enumerate(positional):
        if i >= first_default:
            namespace[f"_d_{name}"] = defaults[i - first_default]
            header.append(f"{name}=_d_{name}")
        else:
            header.append(name)
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if keyword_only:
        header.append("*")
    for name in keyword_only:
        namespace[f"_d_{name}"] = kw_defaults.get(name)
        header.append(f"{name}=_d_{name}" if name in kw_defaults else name)
    optional = {*positional[first_default:], *keyword_only}
    names = ", ".join(op.parameters)
    condition = _fast_condition(op, optional)
    source = [f"def {op.name}({', '.join(header)}):"]
    if condition:
        call = ["        " + line for line in _native_call(op, names)]
        source += ["    _b = _selected() or _process.backend", "    _t = _b.TYPES", f"    if {condition}:", *call]
        source += [f"    if {_with_number(op)}:", *call] if op.scalars else []
        # Variables are read, then the same test again.
        for name in (op.parameters[i] for i in op.tensor_at if not op.roles[i].many):
            source += [f"    if type({name}) in _variables:", f"        {name} = {name}.value"]
        if "_alike" not in condition:
            source += [f"    if {condition}:", *call]
    source.append(f"    return _slow(_op, [{names}])")
    exec(compile("\n".join(source), f"<op {op.name}>", "exec"), namespace)
    function = namespace[op.name]
    function.__doc__ = declaration.__doc__
    function.__module__ = declaration.__module__
    function.__qualname__ = op.name
    function.op = op
    op.function = function
    REGISTRY[op.name] = op
    return function


def _fast_condition(op, optional):
    """Source of the test under which the native function gets the arguments as they are, or None."""
    if not op.tensor_at:
        return None
    if any(op.roles[i].many for i in op.tensor_at):
        # A list of them and nothing besides.
        only = op.parameters[op.tensor_at[0]]
        return f"_alike({only}, _t)" if len(op.tensor_at) == 1 and not (op.least or op.wide) else None
    tests, grouped = [], []
    for i in op.tensor_at:
        name, role = op.parameters[i], op.roles[i]
        # The usual type by identity: sets ask for hashes, which are slow where they are the framework's.
        test = f"(type({name}) is _b.TENSOR or type({name}) in _t)"
        if name in optional:
            test = f"({name} is None or {test})"
        elif role.group:
            grouped.append(name)
        tests.append(test)
        if role.boolean:
            tests.append(
                f"{name}.dtype is _b.BOOL" if name not in optional else f"({name} is None or {name}.dtype is _b.BOOL)"
            )
    grouped_optional = [op.parameters[i] for i in op.group_at if op.parameters[i] in optional]
    for other in grouped[1:]:
        tests.append(f"{grouped[0]}.dtype is {other}.dtype")
    for other in grouped_optional:
        tests.append(f"({other} is None or {grouped[0]}.dtype is {other}.dtype)" if grouped else f"{other} is None")
    if (op.floating or op.wide) and grouped:
        tests.append(f"({grouped[0]}.dtype is _b.FLOAT32 or {grouped[0]}.dtype in _b.FLOATS)")
    elif op.least and grouped:
        tests.append(f"{grouped[0]}.dtype is not _b.BOOL")
    tests += [f"type({op.parameters[i]}) is not list" for i in op.axis_at]
    return " and ".join(tests)


def _with_number(op):
    """Source of the test under which a Python number is left to the native: the tensors are floats of at least 32 bits."""
    first, *others = (op.parameters[i] for i in op.group_at)
    rest = [
        f"type({op.parameters[i]}) in _t and {op.parameters[i]}.dtype is _b.BOOL"
        for i in op.tensor_at
        if i not in op.group_at
    ]
    beside = [f"(type({o}) in _numbers or type({o}) in _t and {o}.dtype is {first}.dtype)" for o in others]
    return " and ".join([f"type({first}) in _t", f"{first}.dtype in _b.WIDE_FLOATS", *beside, *rest])


def _native_call(op, names):
    if op.is_composite:
        call = [
            f"return (_forms.get(_b.NAME) or _form(_op, _b))({names})",
        ]
    elif op.body is None:
        call = [f"return _b.{op.native}({names})"]
    else:
        call = [f"return _b.{op.native}(*_body({names}))"]
    if op.dims_at:
        symbolic = " or ".join(f"_symbolic({op.parameters[i]})" for i in op.dims_at)
        call = [f"if not ({symbolic}):", *("    " + line for line in call)]
    if not op.canonical:
        return call
    # What the native refuses is left to the body, which says in the library's words what is wrong with it.
    quick = ["try:", f"    return _b.{op.native}({names})", "except Exception:", "    pass"]
    return [f"if {op.canonical}:", *("    " + line for line in quick), *call]


def form(op, b):
    """How a composite runs on a backend: its native, what the backend makes of the body, or the body."""
    made = getattr(b, op.native, None)
    if made is None:
        made = op.body
        if not op.by_value:
            made = planned(made, b) if hasattr(b, "kind_of_call") else made
            made = b.whole(op, made) if hasattr(b, "whole") else made
    op.forms[b.NAME] = made
    return made


def forget_forms():
    """Make the forms of composites anew: settings may be constants in them, or a backend has got another function."""
    for op in REGISTRY.values():
        op.forms.clear()
        op.inferred.clear()


config.watchers.append(forget_forms)


# ------------------------------------------------------------------ the slow path


def _slow(op, args):
    """Unwrap, promote, convert, then call; or record, if a symbolic tensor is among the arguments."""
    # Whatever backend is in force, loaded or not: symbols need none.
    b = backends.selected.get() or backends.process.backend
    if op.takes_numbers and _with_numbers(op, args, b):
        return _run(op, args, b)
    kinds = set()
    for i in op.tensor_at:
        value = args[i]
        if value is None:
            continue
        if op.roles[i].many:
            value = args[i] = [_unwrap(b, v) for v in _listed(op, i, value)]
            kinds.update(map(type, value))
        else:
            value = args[i] = _unwrap(b, value)
            kinds.add(type(value))
    symbolic = KerasTensor in kinds
    for i in op.dims_at:
        symbolic = symbolic or holds_symbolic(args[i])
    for i in op.axis_at:
        if type(args[i]) is list:
            args[i] = tuple(args[i])
    if symbolic:
        return _record(op, args)
    b = backends.current()
    run = None if kinds.isdisjoint(_SPARSE_KINDS) else sparse_rules.taken(b, op, args)
    _convert(op, args, b)
    if run is not None:
        return run(args if op.is_composite or op.body is None else op.body(*args))
    return _run(op, args, b)


def _run(op, args, b):
    """The call of native arguments."""
    if op.is_composite:
        result = (op.forms.get(b.NAME) or form(op, b))(*args)
        return _narrowed(op, args, result, b) if b.NAME == "numpy" and not hasattr(b, op.native) else result
    if op.body is not None:
        args = op.body(*args)
    return getattr(b, op.native)(*args)


def _with_numbers(op, args, b):
    """Whether all is native but for Python numbers, which are made tensors, in place: the usual reason to be here.

    Beside a float of at least 32 bits a number has its dtype, and so has an int beside such an integer.
    """
    like, numbers = None, []
    for i in op.group_at:
        value = args[i]
        if type(value) in b.TYPES:
            if like is None:
                like = value.dtype
            elif value.dtype is not like:
                return False
        elif type(value) in _NUMBERS:
            numbers.append(i)
        elif value is not None:
            return False
    if like not in b.WIDE_FLOATS:
        if op.floating or like not in b.WIDE_INTEGERS:
            return False
        for i in numbers:
            if type(args[i]) is float:
                return False
    for i in op.lone_at:
        value = args[i]
        if value is not None and (type(value) not in b.TYPES or (op.roles[i].boolean and value.dtype is not b.BOOL)):
            return False
    for i in op.axis_at:
        if type(args[i]) is list:
            return False
    for i in numbers:
        if not op.scalars or i == op.group_at[0]:
            args[i] = b.number(args[i], like)
    return True


def _narrowed(op, args, result, b):
    """NumPy's operators make float32 of bfloat16 and a Python number: the result in the dtype that was meant."""
    if not any(type(a) in b.TYPES and b.dtype_of(a) == "bfloat16" for a in args):
        return result
    meant = infer(op, [_as_spec(op, i, a, None) for i, a in enumerate(args)])
    if isinstance(result, (tuple, list)):
        return type(result)(b.cast(r, m.dtype) for r, m in zip(result, meant, strict=True))
    return b.cast(result, meant.dtype)


def alike(values, types):
    """Whether these are native tensors of one dtype, one at least, in a list or tuple."""
    if type(values) is not list and type(values) is not tuple:
        return False
    dtype = None
    for v in values:
        if type(v) not in types:
            return False
        if dtype is None:
            dtype = v.dtype
        elif v.dtype is not dtype:
            return False
    return dtype is not None


def integers(shape):
    """Whether a shape is a tuple of Python integers: nothing to resolve in it."""
    if type(shape) is not tuple:
        return False
    for d in shape:  # noqa: SIM110 - a generator would take twice as long
        if type(d) is not int:
            return False
    return True


def holds_symbolic(value):
    """Whether a `KerasTensor` stands in a shape or an index."""
    kind = type(value)
    if kind is tuple or kind is list:
        return any(map(holds_symbolic, value))
    if kind is slice:
        return holds_symbolic((value.start, value.stop, value.step))
    return kind is KerasTensor


def _listed(op, i, value):
    if isinstance(value, (list, tuple)):
        if not value:
            raise ValueError(f"{op.name}: `{op.parameters[i]}` is empty; give one tensor at least.")
        return value
    if hasattr(value, "shape") and len(value.shape):
        # A tensor stands for the list of its slices.
        from kerata.ops.movement import unstack

        return unstack(value) if not isinstance(value, np.ndarray) else list(value)
    raise ValueError(f"{op.name}: `{op.parameters[i]}` must be a list or tuple of tensors, not {value!r}.")


def _unwrap(b, x):
    """What dispatch goes on with: a native tensor, a KerasTensor, a Python scalar or something to convert."""
    kind = type(x)
    if kind in b.TYPES or kind is KerasTensor or kind in _SCALARS:
        return x
    if hasattr(kind, "_is_kerata_variable"):
        return x.value
    if b.is_tensor(x):
        if b.is_tracer_type(kind):
            b.TYPES.add(kind)
        return x
    if isinstance(x, KerasTensor):
        return x
    if kind in (list, tuple) and _holds_tensors(b, x):
        from kerata.ops.movement import stack

        return stack([_unwrap(b, v) for v in x])
    sparse_rules.met(b, x)
    return x


def _holds_tensors(b, x):
    for v in x:
        kind = type(v)
        if kind in (list, tuple):
            if _holds_tensors(b, v):
                return True
        elif kind is KerasTensor or hasattr(kind, "_is_kerata_variable") or b.is_tensor(v):
            return kind not in b.NUMPY_TYPES if hasattr(b, "NUMPY_TYPES") else True
    return False


def _group(op, args):
    """The tensors that are promoted together, flat."""
    found = []
    for i in op.group_at:
        value = args[i]
        if value is not None:
            found.extend(value) if op.roles[i].many else found.append(value)
    return found


def _node(b, x):
    """Lattice node of an operand: weak for Python scalars and lists of them."""
    kind = type(x)
    if kind in _SCALARS:
        return dtypes.lattice_node(kind)
    if kind in b.TYPES:
        return b.dtype_of(x)
    if kind is KerasTensor:
        return x.dtype
    if kind in (list, tuple):
        return _listed_dtype(x)
    if b.is_tensor(x):
        return b.dtype_of(x)
    if hasattr(x, "dtype"):
        return dtypes.standardize_dtype(x.dtype)
    raise ValueError(f"{x!r} (of type {kind.__name__}) can't be made a tensor.")


def _listed_dtype(values):
    """Dtype of a nested list of Python numbers: floatx, int32 or bool."""
    array = np.asarray(values)
    if array.dtype == object or array.dtype.kind in "US":
        raise ValueError(f"{values!r} can't be made a tensor: it isn't a regular nest of numbers.")
    if array.size and all(type(v) in _SCALARS for v in _scalars(values)):
        return {"f": config.floatx(), "i": "int32", "b": "bool"}.get(array.dtype.kind, array.dtype.name)
    return config.floatx() if not array.size else array.dtype.name


def _scalars(values):
    for v in values:
        if type(v) in (list, tuple):
            yield from _scalars(v)
        else:
            yield v


def _target(op, nodes):
    target = dtypes.promote((*nodes, *op.least), config.floatx())
    # An int8 product is wide if both factors are.
    return op.wide.get(target, target) if op.wide and set(nodes) == {target} else target


def _convert(op, args, b):
    """Bring every tensor argument to native form and the op's dtype, in place."""
    operands = _group(op, args)
    target = _target(op, [_node(b, x) for x in operands]) if operands else None
    # One tensor at least must stay a tensor, and weak promotion is only sure for the common dtypes.
    scalars = op.scalars and target in _WITH_NUMBERS and any(type(x) not in _SCALARS for x in operands)
    for i in op.tensor_at:
        value, role = args[i], op.roles[i]
        if value is None:
            continue
        if role.many:
            args[i] = [to_native(b, v, target) for v in value]
        elif role.group:
            if not (scalars and i != op.group_at[0] and type(value) in _NUMBERS):
                args[i] = to_native(b, value, target)
        else:
            args[i] = to_native(b, value, _own_dtype(op, i, args))


def _own_dtype(op, i, args):
    """What an argument outside of the group becomes; `None`: what it is, or numbers' default."""
    role = op.roles[i]
    if not role.target or type(args[i]) not in _NESTS:
        return "bool" if role.boolean else None
    given = (args[op.parameters.index(name)] for name in role.target)
    dtype = next((v for v in given if v is not None), None)
    return _held_in(args[i], dtypes.standardize_dtype(getattr(dtype, "dtype", dtype)))


_NESTS = frozenset({int, float, bool, list, tuple})
_MORE = frozenset({"float64", "complex128", "int64", "uint64", "uint32"})


def _held_in(x, dtype):
    """Dtype for numbers that are going to have `dtype`, if it holds more of them than their default; else `None`."""
    if dtype not in _MORE:
        return None
    array = np.asarray(x)
    if dtype in ("float64", "complex128"):
        return "float64" if array.dtype.kind in "iuf" else None
    if array.dtype.kind not in "iu" or not array.size:
        return None
    info = np.iinfo(dtype)
    return dtype if info.min <= array.min() and array.max() <= info.max else None


def _cast_values(x, dtype):
    from kerata.ops.elementwise import cast

    return cast(x, dtype)


def to_native(b, x, dtype=None):
    """A native tensor of `dtype` (`None`: its own) from anything that has values."""
    if type(x) in b.TYPES or b.is_tensor(x):
        return x if dtype is None or b.dtype_of(x) == dtype else b.cast(x, dtype)
    if type(x) in _SPARSE_KINDS:
        return x if dtype is None or b.dtype_of(x) == dtype else _cast_values(x, dtype)
    if dtype is None:
        kind = type(x)
        if kind in _SCALARS:
            dtype = dtypes.promote((dtypes.lattice_node(kind),), config.floatx())
        elif kind in (list, tuple):
            dtype = _listed_dtype(x)
    if type(x) in _SCALARS or type(x) in (list, tuple) or isinstance(x, (np.ndarray, np.generic)):
        return b.convert(x, dtype)
    # A framework's own variables are read by it, so that its tapes see it.
    return b.convert(x if isinstance(x, getattr(b, "VARIABLES", ())) else _host(x), dtype)


def _host(x):
    """NumPy array of another framework's tensor or of anything array-like."""
    module = type(x).__module__.split(".")[0]
    name = {"jaxlib": "jax", "torch": "torch", "tensorflow": "tensorflow", "jax": "jax"}.get(module)
    if name in backends._loaded:
        other = backends._loaded[name]
        if other.is_tensor(x):
            return other.to_numpy(x)
    if name == "torch":
        x = x.detach().cpu()
    array = np.asarray(x)
    if array.dtype == object:
        raise ValueError(f"{x!r} (of type {type(x).__name__}) can't be made a tensor.")
    return array


# ------------------------------------------------------------------ recording


def _record(op, args):
    """Make the node, and the symbolic result, of a call with a `KerasTensor` in it."""
    scope = current_trace.get()
    shapes_alone = scope is not None and scope.dynamic and not scope.record
    try:
        key = _kind(args) if shapes_alone or scope is None else None
        # A composite that returns constants does so only where nothing is recorded.
        key = (key, shapes_alone) if key is not None and op.is_composite else key
    except TypeError:
        key = None
    kept = op.inferred.get(key)
    if kept is not None:
        result = _anew(*kept)
        if not shapes_alone:
            Node(op, tuple(args), None, result)
        return result
    said = _said[0]
    result = _recorded(op, args, scope)
    flags = sparse_rules.flags_of(op, args)
    if any(flags) or op.name in sparse_rules.MADE:
        sparse_rules.mark(op, args, flags, result)
    elif key is not None and _said[0] == said:
        _keep(op, key, result)
    return result


# How many warnings there were of symbolic calls: such a call isn't kept, so that it warns again.
_said = [0]
# What is written into a kind of call as it is.
_PLAIN = frozenset({int, float, bool, str, type(None), type(...)})
_MOST_KEPT = 512


def warn(message):
    """Warn the caller of an op about its symbolic call."""
    _said[0] += 1
    warnings.warn(message, stacklevel=2)


def _kind(values):
    """What the shapes that come out of a symbolic call hang on; a `TypeError` if it's more than shapes, dtypes and plain values."""
    kind = []
    for value in values:
        what = type(value)
        if what is KerasTensor:
            if value.sparse or value.ragged:
                raise TypeError
            kind += value.shape, value.dtype
        elif what in _PLAIN:
            # 1, 1.0 and True are equal, and not the same.
            kind += what, value
        elif what is tuple or what is list:
            kind += what, _kind(value)
        elif what is slice:
            kind += what, _kind((value.start, value.stop, value.step))
        else:
            raise TypeError
    return tuple(kind)


def _keep(op, key, result):
    """Remember what came out of a kind of call, if it is a tensor or several."""
    single = type(result) is KerasTensor
    parts = (result,) if single else result
    if single or (isinstance(result, (tuple, list)) and all(type(t) is KerasTensor for t in result)):
        if len(op.inferred) >= _MOST_KEPT:
            op.inferred.clear()
        how = None if single else getattr(type(result), "_make", type(result))
        op.inferred[key] = how, tuple((t.shape, t.dtype) for t in parts)


def _anew(how, parts):
    """Fresh symbols of these shapes and dtypes."""
    if how is None:
        return spec(*parts[0])
    return how([spec(*part) for part in parts])


def _recorded(op, args, scope):
    b = backends.selected.get() or backends.process.backend
    operands = _group(op, args)
    target = _target(op, [_node(b, x) for x in operands]) if operands else None
    if scope is None:
        # Put together by hand: the call is kept as it was written, only the rule sees promoted operands.
        result = infer(op, [_promoted(op, i, a, target, b) for i, a in enumerate(args)])
        Node(op, tuple(args), None, result)
        return result
    if not scope.record and not op.is_composite:
        # Shapes alone are wanted: no constant need be made.
        args = [_promoted(op, i, a, target, b) for i, a in enumerate(args)]
        return infer(op, args if op.body is None else op.body(*args), canonical=True)
    args = [_settled(op, i, args, target, b) for i in range(len(args))]
    if op.is_composite and scope.expand(op):
        return op.body(*args)
    if op.body is not None and not op.is_composite:
        args = op.body(*args)
    result = infer(op, args, canonical=True)
    if scope.record:
        Node(op, tuple(args), None, result)
    return result


# Traces that keep nothing, and that nobody is in at the moment.
_idle = []


def _for_shapes(body, args):
    """A body run for the shapes alone."""
    scope = _idle.pop() if _idle else Trace(record=False, dynamic=True)
    with scope:
        result = body(*args)
    if not scope.placeholders:
        _idle.append(scope)
    return result


def infer(op, args, canonical=False):
    """Symbolic result of an op from promoted arguments: by its rule, or by running its body for the shapes alone."""
    if op.is_composite:
        return _detached(_for_shapes(op.body, args))
    if op.body is not None and not canonical:
        args = _for_shapes(op.body, args)
    dtype = _dtype_kept(op, args)
    try:
        return op.rule(*[_as_spec(op, i, a, dtype) for i, a in enumerate(args)])
    except ValueError as error:
        # Rules are shared, so most of them don't know for whom they speak.
        if str(error).startswith(f"{op.name}"):
            raise
        raise ValueError(f"{op.name}: {error}") from None


def _dtype_kept(op, args):
    """The dtype that the op's group was promoted to, which Python numbers in it stand for."""
    if op.scalars:
        for i in op.group_at:
            if args[i] is not None and type(args[i]) not in _SCALARS:
                return dtypes.standardize_dtype(args[i].dtype)
    return None


def _detached(result):
    from kerata.core import tree

    return _bare(result) if type(result) is KerasTensor else tree.map_structure(_bare, result)


def _bare(t):
    # A body may also return a constant: its result doesn't hang on the arguments' values, only on their shapes.
    if type(t) is KerasTensor:
        return fresh(t)
    return spec(tuple(t.shape), dtypes.standardize_dtype(t.dtype)) if hasattr(t, "shape") else t


def _as_spec(op, i, value, dtype):
    """Constants among an op's tensors as the rule sees them: by shape and dtype."""
    role = op.roles[i]
    if role is None or role.static or value is None:
        return value
    if role.many:
        return [_one_spec(v, dtype) for v in value]
    return _one_spec(value, dtype)


def _one_spec(x, dtype=None):
    if type(x) is KerasTensor:
        return x
    if type(x) in _SCALARS:
        return spec((), dtype or dtypes.promote((dtypes.lattice_node(type(x)),), config.floatx()))
    return spec(tuple(x.shape), dtypes.standardize_dtype(x.dtype))


def _promoted(op, i, value, target, b):
    """The argument as the rule must see it, without recording casts."""
    role = op.roles[i]
    if role is None or role.static or value is None:
        return value
    if role.many:
        return [_spec_of(v, target, b) for v in value]
    dtype = target if role.group else "bool" if role.boolean else None
    return _spec_of(value, dtype, b)


def _spec_of(x, dtype, b):
    if type(x) is KerasTensor:
        return x if dtype is None or x.dtype == dtype else spec(x.shape, dtype)
    shape = () if type(x) in _SCALARS else tuple(x.shape) if hasattr(x, "shape") else np.shape(x)
    return spec(shape, dtype or dtypes.promote((_node(b, x),), config.floatx()))


def _settled(op, i, args, target, b):
    """The argument as a traced graph keeps it: casts recorded, constants as arrays of the right dtype."""
    role, value = op.roles[i], args[i]
    if role is None or role.static or value is None:
        return value
    if role.many:
        return [_settled_one(v, target, b) for v in value]
    if role.group and op.scalars and i != op.group_at[0] and type(value) in _NUMBERS and target in _WITH_NUMBERS:
        return value
    return _settled_one(value, target if role.group else _own_dtype(op, i, args), b)


def _settled_one(x, dtype, b):
    if type(x) is KerasTensor:
        if dtype is None or x.dtype == dtype:
            return x
        from kerata.ops.elementwise import cast

        return cast(x, dtype)
    dtype = dtype or dtypes.promote((_node(b, x),), config.floatx())
    if type(x) in _SCALARS or isinstance(x, (list, tuple, np.ndarray, np.generic)):
        return np.asarray(x, dtypes.to_numpy_dtype(dtype))
    return to_native(backends.current(), x, dtype)
