"""NumPy as a backend: what a tensor is, conversion, storage. It computes no gradients."""

import contextlib

import ml_dtypes
import numpy as np

from kerata.backends.repeated import kinds_by

NAME = "numpy"
TENSOR = np.ndarray
TYPES = {np.ndarray, np.bool_, ml_dtypes.bfloat16} | {
    np.dtype(code).type for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
}
# What the fast path of dispatch looks at.
BOOL, FLOAT32 = np.dtype(bool), np.dtype("float32")
# Those with which Python numbers are weak: NumPy makes float32 of bfloat16 and a Python float.
FLOATS = frozenset(np.dtype(name) for name in ("float16", "float32", "float64"))
WIDE_FLOATS = frozenset({np.dtype("float32"), np.dtype("float64")})
WIDE_INTEGERS = frozenset({np.dtype("int32"), np.dtype("int64")})
NUMPY_TYPES = frozenset(TYPES)
# Dtypes that NumPy (or ml_dtypes) sums, multiplies or evaluates too coarsely: computed in float32, then rounded once.
NARROW = frozenset(np.dtype(name) for name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"))
# Of composites' calls, see `repeated`.
kind_of_call = kinds_by(frozenset({np.ndarray}), lambda x: ((x.shape, x.dtype), x.size))
is_traced = bool
_NAMES = {np.dtype(type_): np.dtype(type_).name for type_ in TYPES if type_ is not np.ndarray}


def is_tensor(x):
    return isinstance(x, (np.ndarray, np.generic))


def is_tracer_type(type_):
    return issubclass(type_, (np.ndarray, np.generic))


def convert(x, dtype=None):
    return np.asarray(to_host(x), None if dtype is None else np.dtype(dtype))


def to_numpy(x):
    return np.asarray(x)


def to_host(x):
    """Any framework's tensor, list or scalar as NumPy, with torch's bfloat16 and gradients seen to."""
    if isinstance(x, (np.ndarray, np.generic, bool, int, float, complex, str)):
        return np.asarray(x)
    if isinstance(x, (list, tuple)):
        return np.asarray([to_host(e) if hasattr(e, "__array__") or isinstance(e, (list, tuple)) else e for e in x])
    if hasattr(x, "detach"):
        return _torch_to_host(x)
    return np.asarray(x)


def _torch_to_host(x):
    x = x.detach().resolve_conj().resolve_neg().cpu()
    name = str(x.dtype).removeprefix("torch.")
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        torch = __import__("sys").modules["torch"]
        bits = torch.int16 if name == "bfloat16" else torch.uint8
        return x.contiguous().view(bits).numpy().view(np.dtype(name))
    return x.numpy()


def number(value, dtype):
    """A Python number as an array."""
    return np.array(value, dtype)


def cast(x, dtype):
    return x.astype(dtype)


def dtype_of(x):
    try:
        return _NAMES[x.dtype]
    except KeyError:
        return _NAMES.setdefault(x.dtype, x.dtype.name)


def shape_of(x):
    return x.shape


dynamic_shape = shape_of


def stop_gradient(x):
    return x


def bitcast(x, dtype):
    dtype = np.dtype(dtype)
    x = np.ascontiguousarray(x).reshape(x.shape)
    if dtype.itemsize > x.itemsize:
        return x.view(dtype).reshape(x.shape[:-1])
    if dtype.itemsize < x.itemsize:
        return x[..., None].view(dtype)
    return x.view(dtype)


def variable(array, trainable, name):
    return np.array(array)


def read(storage):
    return storage


def assign(storage, tensor):
    # A copy: the caller's array may change afterwards, and other backends would not follow it.
    return np.array(tensor, storage.dtype)


def custom_gradient(f):
    return lambda *args, **kwargs: f(*args, **kwargs)[0]


def compile(fn, **options):
    return fn


def vmap(fn, in_axes=0, out_axes=0):
    """Loop over the mapped axis and stack."""

    def mapped(*args):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        size = next(a.shape[ax] for a, ax in zip(args, axes, strict=True) if ax is not None)
        rows = [
            fn(*(a if ax is None else np.take(a, i, ax) for a, ax in zip(args, axes, strict=True))) for i in range(size)
        ]
        return _stack(rows, out_axes)

    return mapped


def _stack(rows, axes):
    first = rows[0]
    if isinstance(first, (tuple, list)):
        axes = axes if isinstance(axes, (tuple, list)) else (axes,) * len(first)
        return type(first)(_stack(list(column), ax) for column, ax in zip(zip(*rows, strict=True), axes, strict=True))
    if isinstance(first, dict):
        return {key: _stack([row[key] for row in rows], axes) for key in first}
    return np.stack(rows, axes)


def block(x):
    return x


def device_scope(name):
    if not str(name).lower().startswith("cpu"):
        raise ValueError(f"The numpy backend has no device {name!r}, only the CPU.")
    return contextlib.nullcontext()


def device_name():
    return "cpu"


def version():
    return np.__version__
