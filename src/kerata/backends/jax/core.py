"""JAX as a backend: what a tensor is, conversion, storage, gradient, compilation."""

import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from kerata.backends import gradients
from kerata.backends.numpy.core import to_host

try:  # Known beforehand it saves the first look; making an array here would start the runtime.
    from jax._src.array import ArrayImpl
except ImportError:
    ArrayImpl = jax.Array

NAME = "jax"
TENSOR = ArrayImpl
TYPES = {ArrayImpl}
NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
INTEGERS = frozenset(np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))
HALF = frozenset(np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16))
# What the fast path of dispatch looks at.
BOOL, FLOAT32 = np.dtype(bool), np.dtype("float32")
FLOATS = HALF | {np.dtype("float32"), np.dtype("float64")}
WIDE_FLOATS = frozenset({np.dtype("float32"), np.dtype("float64")})
WIDE_INTEGERS = frozenset({np.dtype("int32"), np.dtype("int64")})


def static(*argnums):
    """Compile a native once for each value of these arguments.

    Eagerly a jitted call costs a third of what `jax.lax` and the like cost; inside a trace it leaves no mark.
    """
    return functools.partial(jax.jit, static_argnums=argnums, inline=True)


_CONSTANTS = frozenset({int, float, bool, str, type(None)})


def _is_constant(value):
    kind = type(value)
    return kind in _CONSTANTS or (kind is tuple and all(map(_is_constant, value)))


def whole(op, body):
    """A composite's body compiled in one, the arguments that are no tensors being constants of it.

    Eagerly its ops would be called, and pass over memory, one by one.
    """
    constant = tuple(i for i in range(len(op.parameters)) if i not in op.tensor_at)
    # A function of its own: JAX would find what it traced of the body before settings changed.
    compiled = static(*constant)(lambda *args: body(*args))
    if not constant:
        return compiled

    def run(*args):
        for i in constant:
            if not _is_constant(args[i]):
                # A tensor among them, or what can't be a key.
                return body(*args)
        return compiled(*args)

    return run


def is_tensor(x):
    return isinstance(x, jax.Array)


def is_tracer_type(type_):
    return issubclass(type_, (jax.core.Tracer, jax.Array))


def canonical(dtype):
    """The dtype that stands for this one: 64-bit names mean 32 bits unless `jax_enable_x64` is on."""
    return NARROWED[dtype] if dtype in NARROWED and not jax.config.jax_enable_x64 else dtype


def convert(x, dtype=None):
    if dtype is not None:
        dtype = canonical(dtype)
    if hasattr(x, "detach") or (hasattr(x, "numpy") and not hasattr(x, "__jax_array__")):
        x = to_host(x)
    return jnp.asarray(x, dtype)


def to_numpy(x):
    return np.asarray(x)


def number(value, dtype):
    """A Python number as a scalar: to JAX NumPy's are as good."""
    return dtype.type(value)


@static(1)
def _cast(x, dtype):
    return jax.lax.convert_element_type(x, dtype)


def cast(x, dtype):
    return _cast(x, NARROWED[dtype] if dtype in NARROWED and not jax.config.jax_enable_x64 else dtype)


_NAMES = {}


def dtype_of(x):
    dtype = x.dtype
    try:
        return _NAMES[dtype]
    except KeyError:
        return _NAMES.setdefault(dtype, dtype.name)


def shape_of(x):
    return x.shape


dynamic_shape = shape_of
_stop_gradient = static()(jax.lax.stop_gradient)


def stop_gradient(x):
    # An array outside of all traces has none, and compiled it would be copied.
    return x if type(x) is ArrayImpl else _stop_gradient(x)


@static(1)
def bitcast(x, dtype):
    return jax.lax.bitcast_convert_type(x, dtype)


def variable(array, trainable, name):
    # A layer may be built inside a function that is being jitted; its weights are real arrays all the same.
    with jax.ensure_compile_time_eval():
        return jnp.array(array)


def read(storage):
    return storage


def assign(storage, tensor):
    return tensor


def value_and_grad(fn):
    return jax.value_and_grad(fn, has_aux=True)


def custom_gradient(f):
    @jax.custom_gradient
    def native(*args):
        output, grad_fn = f(*args)
        return output, lambda upstream: gradients.call(grad_fn, args, upstream)

    return native


def compile(fn, **options):
    return jax.jit(fn, **options)


def jvp(fun, primals, tangents, has_aux):
    return jax.jvp(fun, primals, tangents, has_aux=has_aux)


def vmap(fn, in_axes=0, out_axes=0):
    return jax.vmap(fn, in_axes, out_axes)


block = jax.block_until_ready


def device_scope(name):
    platform, _, index = str(name).lower().partition(":")
    return jax.default_device(jax.devices({"cuda": "gpu"}.get(platform, platform))[int(index or 0)])


def device_name():
    device = jax.devices()[0]
    return f"{device.platform}:{device.id}"


def version():
    return jax.__version__
