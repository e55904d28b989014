"""TensorFlow as a backend: what a tensor is, conversion, storage, gradient, compilation."""

import contextlib
import os
import re

import numpy as np

from kerata.backends import gradients
from kerata.backends.numpy.core import to_host


@contextlib.contextmanager
def _without_keras():
    """TensorFlow imports Keras eagerly, two seconds of it, unless told that Keras 2 is wanted.

    Only the import reads it: `tf.keras` is lazy afterwards and finds the installed Keras as ever.
    """
    if "TF_USE_LEGACY_KERAS" in os.environ:
        yield
        return
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("TF_USE_LEGACY_KERAS", None)


with _without_keras():
    import tensorflow as tf
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext


def _leave_our_code_alone():
    """Keep AutoGraph from rewriting Kerata's functions inside a user's `tf.function`: they are fit for graphs as they are, and
    the rewriting takes seconds and warns of what it can't read. TensorFlow has the same rule for `keras`."""
    from tensorflow.python.autograph.core import config

    config.CONVERSION_RULES = (config.DoNotConvert("kerata"), *config.CONVERSION_RULES)


_leave_our_code_alone()

NAME = "tensorflow"
TENSOR = tf.__internal__.EagerTensor
TYPES = {tf.__internal__.EagerTensor, getattr(tf.__internal__, "SymbolicTensor", tf.Tensor)}
DTYPES = {
    name: tf.dtypes.as_dtype(name)
    for name in [
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float8_e4m3fn",
        "float8_e5m2",
        "bfloat16",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
}
# What the fast path of dispatch looks at.
BOOL, FLOAT32 = tf.bool, tf.float32
VARIABLES = (tf.Variable, tf.IndexedSlices)
FLOATS = frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating)
WIDE_FLOATS = frozenset({tf.float32, tf.float64})
WIDE_INTEGERS = frozenset({tf.int32, tf.int64})


def _recorded_of_tapes():
    from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetPossibleGradientTypes

    return TFE_Py_TapeSetPossibleGradientTypes


_possible_gradients = _recorded_of_tapes()


def watched(*tensors):
    """Whether a tape or an accumulator looks at one of the tensors."""
    return _possible_gradients([t for t in tensors if isinstance(t, tf.Tensor)]) != 0


def in_xla():
    """Whether what is being traced is known to be for XLA: the function, or one that it is traced in, is `jit_compile`d."""
    return GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())


# Of composites, TensorFlow's own functions for eager calls: XLA hasn't got the kernels, or values are looked at first.
# Those of the second kind have the right values alone: not the gradients.
EAGER_ALONE = {}
VALUES_ALONE = {}


def is_tensor(x):
    return isinstance(x, tf.Tensor)


def is_tracer_type(type_):
    return issubclass(type_, tf.Tensor)


def convert(x, dtype=None):
    dtype = None if dtype is None else DTYPES[dtype]
    if isinstance(x, tf.IndexedSlices) and not isinstance(x.indices, tf.Tensor):
        x = tf.IndexedSlices(x.values, tf.convert_to_tensor(x.indices), x.dense_shape)  # made by hand
    if isinstance(x, (tf.Tensor, tf.Variable, tf.IndexedSlices)):
        x = tf.convert_to_tensor(x)
        return x if dtype is None or x.dtype == dtype else tf.cast(x, dtype)
    if isinstance(x, (list, tuple)) and _holds_tensor(x):
        x = tf.stack([convert(e) for e in x])
        return x if dtype is None else tf.cast(x, dtype)
    if not isinstance(x, (bool, int, float, complex, str, bytes)):
        x = to_host(x)
        if dtype is not None and x.dtype != dtype.as_numpy_dtype:
            x = x.astype(dtype.as_numpy_dtype)
    if dtype is not None and (type(x) is bool or (type(x) in (int, float) and not _takes(dtype, type(x)))):
        x = np.asarray(x).astype(dtype.as_numpy_dtype)
    return tf.convert_to_tensor(x, dtype)


def _takes(dtype, kind):
    """Whether TensorFlow makes this dtype of a Python number by itself."""
    return dtype.is_floating or dtype.is_complex or (dtype.is_integer and kind is int)


def _holds_tensor(x):
    return any(
        isinstance(e, (tf.Tensor, tf.Variable)) or (isinstance(e, (list, tuple)) and _holds_tensor(e)) for e in x
    )


def to_numpy(x):
    return np.asarray(x.numpy())


def number(value, dtype):
    """A Python number as a tensor."""
    return tf.constant(value, dtype)


def cast(x, dtype):
    return tf.cast(x, dtype)


def dtype_of(x):
    return x.dtype.name


def shape_of(x):
    return tuple(x.shape.as_list())


def dynamic_shape(x):
    shape = x.shape.as_list()
    if None not in shape:
        return tuple(shape)
    dynamic = tf.shape(x)
    return tuple(dynamic[i] if n is None else n for i, n in enumerate(shape))


def size_of(x, axis):
    """One dimension: an int if known, else a scalar tensor."""
    size = x.shape[axis]
    return tf.shape(x)[axis] if size is None else size


def stop_gradient(x):
    return tf.stop_gradient(x)


def bitcast(x, dtype):
    return tf.bitcast(x, dtype)


def variable(array, trainable, name):
    # Created in a function, a variable must outlive its graph.
    with tf.init_scope():
        return tf.Variable(array, trainable=trainable, name=re.sub(r"[^A-Za-z0-9_.\\/>-]", "_", name or "variable"))


def read(storage):
    return storage.value()


def assign(storage, tensor):
    storage.assign(tensor, read_value=False)
    return storage


def value_and_grad(fn):
    sparse = sparse_value_and_grad(fn)

    def with_gradients(params, *args):
        values, grads = sparse(params, *args)
        return values, [tf.convert_to_tensor(g) for g in grads]

    return with_gradients


def sparse_value_and_grad(fn):
    """The same, gradients of lookups being `tf.IndexedSlices`."""

    def with_gradients(params, *args):
        with tf.GradientTape() as tape:
            tape.watch(params)
            loss, aux = fn(params, *args)
        grads = tape.gradient(loss, params, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return (loss, aux), grads

    return with_gradients


def custom_gradient(f):
    @tf.custom_gradient
    def native(*args):
        output, grad_fn = f(*args)
        return output, lambda *upstream: gradients.call(grad_fn, args, upstream[0] if len(upstream) == 1 else upstream)

    return native


def compile(fn, **options):
    """`tf.function`, by default without autograph: our own control flow is explicit."""
    options.setdefault("autograph", False)
    return tf.function(fn, **options)


def jvp(fun, primals, tangents, has_aux):
    with tf.autodiff.ForwardAccumulator(list(primals), list(tangents)) as forward:
        result = fun(*primals)
    output, *aux = result if has_aux else (result,)
    # A result that doesn't depend on the primals has no tangent: it's 0.
    tangent = tf.nest.map_structure(
        lambda t: forward.jvp(t, unconnected_gradients=tf.UnconnectedGradients.ZERO), output
    )
    return (output, tangent, *aux)


def vmap(fn, in_axes=0, out_axes=0):
    """`tf.vectorized_map` over the axes that are mapped, moved to the front and the results' moved back."""

    def mapped(*args):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        front = [_move(a, ax, 0) for a, ax in zip(args, axes, strict=True) if ax is not None]

        def row(elements):
            elements = iter(elements)
            return fn(*(a if ax is None else next(elements) for a, ax in zip(args, axes, strict=True)))

        out = tf.vectorized_map(row, front)
        if isinstance(out_axes, (tuple, list)):
            return type(out)(_move(o, 0, ax) for o, ax in zip(out, out_axes, strict=True))
        return tf.nest.map_structure(lambda o: _move(o, 0, out_axes), out)

    return mapped


def _move(x, source, target):
    axes = list(range(x.shape.rank))
    source, target = source % len(axes), target % len(axes)
    if source == target:
        return x
    axes.insert(target, axes.pop(source))
    return tf.transpose(x, axes)


def block(x):
    # Eager kernels on the CPU have run when they return; on an accelerator reading waits.
    if tf.config.list_logical_devices("GPU"):
        tf.test.experimental.sync_devices()
    return x


def device_scope(name):
    return tf.device(str(name))


def device_name():
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    return devices[0].name


def version():
    return tf.__version__
