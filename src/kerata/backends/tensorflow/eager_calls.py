"""Many of TensorFlow's operations called as one, in eager calls on little data.

An operation called eagerly takes some 15 µs, whatever it computes; a function 60, however many operations are in it. So a
function of many that is called again and again with arguments of one kind is traced, and then called whole. Its operations are left as
they are (no rewriting), so that the numbers stay the same to the last bit.
"""

import functools
import math
from contextvars import ContextVar

from tensorflow.core.protobuf.config_pb2 import ConfigProto
from tensorflow.python.eager import context
from tensorflow.python.eager.execute import execute

from kerata.backends.tensorflow.core import EAGER_ALONE, VALUES_ALONE, tf, watched

# The call of a kind at which it is traced, which takes as long as what some fifty calls save.
_PATIENCE = 32
# Kinds remembered at a time, and traced in all: more are too various.
_MOST, _VARIOUS = 64, 256
# Elements up to which the calls count, not the numbers. Beyond, natives choose by values, which graphs can't.
_FEW = 1 << 14
# Operations below which a function takes longer than they, and above which tracing does.
_WORTH, _LONG = 3, 500
_FREE = frozenset({"Const", "Placeholder", "Identity", "NoOp"})
_EAGER = tf.__internal__.EagerTensor
_PLAIN = frozenset({int, bool, str, type(None), tf.DType})


def _as_written():
    config = ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return "config_proto", config.SerializeToString()


_ATTRIBUTES = _as_written()
_tracing = ContextVar("tracing", default=False)


class _Eager(Exception):
    """Something is done on the host when it's called eagerly."""


def eager_alone():
    """Called by natives that check or draw on the host when they're called eagerly: functions of them aren't called in one."""
    if _tracing.get():
        raise _Eager


def whole(op):
    """A composite's body, called in one; or TensorFlow's own function while nothing is traced, and gives the value."""
    native, values = EAGER_ALONE.get(op.name), VALUES_ALONE.get(op.name)
    # A function of its own: what was traced of the body before settings changed is forgotten with it.
    body = in_one(op.body)
    if native is None and values is None:
        return body

    def run(*args):
        result = NotImplemented
        if tf.executing_eagerly():
            if native is not None:
                result = native(*args)
            elif not is_few(args) and not watched(*args):
                result = values(*args)
        return body(*args) if result is NotImplemented else result

    return run


def in_one(function):
    """The function, its eager calls of kinds that come again and again made in one while nobody differentiates.

    Args:
        function: `function(*args)` of tensors and plain values, without side effects, that gives the same numbers in graphs.
    """
    kinds, traced = {}, 0

    @functools.wraps(function)
    def run(*args):
        nonlocal traced
        if not tf.executing_eagerly():
            return function(*args)
        kind, tensors = _kind(args)
        call = kinds.get(kind, 0) if kind is not None else None
        if call is None or watched(*tensors):
            return function(*args)
        if type(call) is not int:
            try:
                return call(tensors)
            except Exception:
                # Called by itself the operation at fault says in the library's words what is wrong.
                return function(*args)
        if call == 0 and len(kinds) >= _MOST:
            kinds.clear()
        kinds[kind] = call + 1
        if call + 1 >= _PATIENCE:
            traced += 1
            kinds[kind] = _traced(function, args) if traced <= _VARIOUS else None
        return function(*args)

    return run


def is_few(args):
    """Whether the eager tensors among the arguments have few elements."""
    return sum(math.prod(x._shape_tuple()) for x in args if type(x) is _EAGER) <= _FEW


def _kind(args):
    """What calls with such arguments are known by (`None`: they aren't to be traced), and the tensors among them."""
    kind, tensors, few = [], [], _FEW
    for x in args:
        type_ = type(x)
        if type_ is _EAGER:
            shape = x._shape_tuple()
            few -= math.prod(shape)
            kind += shape, x._datatype_enum()
            tensors.append(x)
        elif type_ in _PLAIN:
            kind += type_, x
        elif type_ is float or (type_ is tuple and all(type(v) in (int, float) for v in x)):
            # 0.0 equals -0.0 and 1 equals 1.0, but they aren't written so.
            kind.append(repr(x))
        else:
            return None, tensors
    return (tuple(kind) if few >= 0 and tensors else None), tensors


def _traced(function, args):
    """`call(tensors)`, or `None` where the function is better called operation by operation."""
    if tf.config.functions_run_eagerly():
        return None
    given, structure = [i for i, x in enumerate(args) if type(x) is _EAGER], None

    def traced(*tensors):
        nonlocal structure
        every = list(args)
        for i, x in zip(given, tensors, strict=True):
            every[i] = x
        structure = function(*every)
        return structure

    token = _tracing.set(True)
    try:
        specs = [tf.TensorSpec(args[i].shape, args[i].dtype) for i in given]
        concrete = tf.function(traced, autograph=False).get_concrete_function(*specs)
    except Exception:
        # It needs values.
        return None
    finally:
        _tracing.reset(token)
    operations = [o for o in concrete.graph.get_operations() if o.type not in _FREE]
    if not _WORTH <= len(operations) <= _LONG or any(o.op_def.is_stateful for o in operations):
        return None
    if isinstance(structure, tf.Tensor):
        return _caller(concrete, _first)
    flat = type(structure) in (list, tuple) and all(isinstance(t, tf.Tensor) for t in structure)
    return _caller(concrete, type(structure)) if flat else None


def _caller(concrete, wrap):
    """Calls of the traced function by name, which cost half of what its own cost."""
    signature = concrete.function_def.signature
    name, count, captured = signature.name, len(signature.output_arg), list(concrete.captured_inputs)

    def call(tensors, concrete=concrete):  # TensorFlow forgets functions that nobody holds
        return wrap(execute(name, count, tensors + captured, _ATTRIBUTES, context.context()))

    return call


def _first(outputs):
    return outputs[0]
