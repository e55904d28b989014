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
from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetIsEmpty as _no_tape

from kerata.backends.repeated import FEW, LATER, kinds_by, of_tensors, repeated
from kerata.backends.tensorflow.core import EAGER_ALONE, VALUES_ALONE, tf, watched

# Operations from which on a function takes less time than they (of composites, whose bodies are Python), and above which tracing does.
_WORTH, _WORTH_OF_BODIES, _LONG = 4, 2, 500
_FREE = frozenset({"Const", "Placeholder", "Identity", "NoOp"})
_EAGER = frozenset({tf.__internal__.EagerTensor})


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


def whole(op, body):
    """A composite's body, called in one; or TensorFlow's own function while nothing is traced, and gives the value."""
    native, values = EAGER_ALONE.get(op.name), VALUES_ALONE.get(op.name)
    body = in_one(body, _WORTH_OF_BODIES)
    if native is None and values is None:
        return body

    def run(*args):
        result = NotImplemented
        if tf.executing_eagerly():
            if native is not None:
                result = native(*args)
            elif not watched(*args):
                result = values(*args)
        else:
            eager_alone()
        return body(*args) if result is NotImplemented else result

    return run


def in_one(function, worth=_WORTH):
    """The function, its eager calls of kinds that come again and again made in one while nobody differentiates.

    Args:
        function: `function(*args)` of tensors and plain values, without side effects, that gives the same numbers in graphs.
        worth: operations from which on it's done.
    """
    return repeated(function, _kind, functools.partial(_traced, worth), _is_traced)


def reading(function, count, variables):
    """A plan that is given `count` inputs and reads its variables, or is given their values too.

    Tapes watch the variables, so it's called in one only where there's no tape.
    """

    def read(*inputs):
        return function(*inputs, *[v.value() for v in variables])

    def kind(args):
        return _kind(args) if _no_tape() else (None, ())

    joined = repeated(read, kind, functools.partial(_traced, _WORTH), _is_traced)
    return lambda *args: joined(*args) if len(args) == count else function(*args)


def is_few(x):
    """Whether an eager tensor has so few elements that calls count."""
    return math.prod(x._shape_tuple()) <= FEW


_described = kinds_by(_EAGER, lambda x: ((shape := x._shape_tuple(), x._datatype_enum()), math.prod(shape)))


def _is_traced():
    return not tf.executing_eagerly()


def _kind(args):
    key, tensors = _described(args)
    return (None if watched(*tensors) else key), tensors


def _traced(worth, function, args):
    """`call(tensors)`, or `None` where the function is better called operation by operation, or `LATER`."""
    if tf.config.functions_run_eagerly():
        return LATER
    call, results = of_tensors(function, args, _EAGER), []

    def traced(*tensors):
        results[:] = [call(*tensors)]
        return results[0]

    token = _tracing.set(True)
    try:
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in args if type(x) in _EAGER]
        concrete = tf.function(traced, autograph=False).get_concrete_function(*specs)
    except Exception:
        # It needs values.
        return None
    finally:
        _tracing.reset(token)
    operations = [o for o in concrete.graph.get_operations() if o.type not in _FREE]
    if not worth <= len(operations) <= _LONG or any(
        o.op_def.is_stateful and o.type != "ReadVariableOp" for o in operations
    ):
        return None
    (result,) = results
    if isinstance(result, tf.Tensor):
        return _caller(concrete, _first)
    flat = type(result) in (list, tuple) and all(isinstance(t, tf.Tensor) for t in result)
    return _caller(concrete, type(result)) if flat else None


def _caller(concrete, wrap):
    """Calls of the traced function by name, which cost half of what its own cost."""
    signature = concrete.function_def.signature
    name, count, captured = signature.name, len(signature.output_arg), list(concrete.captured_inputs)

    def call(tensors, concrete=concrete):  # TensorFlow forgets functions that nobody holds
        return wrap(execute(name, count, tensors + captured, _ATTRIBUTES, context.context()))

    return call


def _first(outputs):
    return outputs[0]
