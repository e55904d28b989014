"""Dtypes by name, and the one promotion table.

The lattice is JAX's (https://docs.jax.dev/en/latest/type_promotion.html), which Keras follows: bool < weak int <
sized ints < weak float < sized floats < complex. Python scalars are weak: they take the tensor's
width. Float8 promotes to no other float: what is lost or gained there is for the user to say.
"""

import functools

import ml_dtypes  # noqa: F401  (makes NumPy know "bfloat16" and float8 by name)
import numpy as np

from kerata.core import config

WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX = "int*", "float*", "complex*"
# dtype -> the dtypes right above it.
_ABOVE = {
    "bool": (WEAK_INT,),
    WEAK_INT: ("uint8", "int8"),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": (WEAK_FLOAT,),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": (WEAK_FLOAT,),
    WEAK_FLOAT: ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", WEAK_COMPLEX),
    "float8_e4m3fn": (),
    "float8_e5m2": (),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    WEAK_COMPLEX: ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}
FLOATS = ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64")
INTS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")
ALL = ("bool", *INTS, *FLOATS, *COMPLEX, "string")
_PYTHON = {bool: "bool", int: "int32", float: None, complex: "complex64", str: "string"}
_FLOAT_SET, _INT_SET, _ALL_SET = frozenset(FLOATS), frozenset(INTS), frozenset(ALL)


def is_float(dtype):
    """Whether the dtype (any spelling) is a floating one.

    >>> from kerata.core import dtypes
    >>> dtypes.is_float("bfloat16"), dtypes.is_float("int32")
    (True, False)
    """
    return (dtype if dtype in _ALL_SET else standardize_dtype(dtype)) in _FLOAT_SET


def is_int(dtype):
    """Whether the dtype (any spelling) is a signed or unsigned integer one."""
    return (dtype if dtype in _ALL_SET else standardize_dtype(dtype)) in _INT_SET


def is_complex(dtype):
    return standardize_dtype(dtype) in COMPLEX


def standardize_dtype(dtype):
    """The name of a dtype given as string, Python type, NumPy, JAX, torch or TensorFlow dtype; `None` is `floatx()`.

    Raises:
        ValueError: for what names no dtype.
    """
    if dtype is None:
        return config.floatx()
    if type(dtype) is str and dtype in _ALL_SET:
        return dtype
    if isinstance(dtype, np.dtype):
        name = _OF_NUMPY.get(dtype)
        if name is None:
            name = _OF_NUMPY[dtype] = _standardize(dtype)
        return name
    return _standardize(dtype)


# NumPy makes the names of its dtypes anew at each look.
_OF_NUMPY = {}


def _standardize(dtype):
    try:
        known = dtype in _PYTHON
    except TypeError:
        known = False
    if known:
        return _PYTHON[dtype] or config.floatx()
    if isinstance(dtype, np.dtype) and dtype.kind in "US":
        return "string"
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if not isinstance(name, str):
        name = str(dtype)
        if name.startswith("torch."):
            name = name[len("torch.") :]
        elif isinstance(dtype, type):
            name = getattr(dtype, "__name__", name)
    name = {"bool_": "bool", "str": "string", "object": "string", "int": "int32", "float": config.floatx()}.get(
        name, name
    )
    if name not in _ALL_SET:
        raise ValueError(f"{dtype!r} is no dtype. Known: {', '.join(ALL)}.")
    return name


@functools.cache
def to_numpy_dtype(name):
    """The NumPy dtype of a name, through `ml_dtypes` for bfloat16 and float8."""
    if name == "string":
        return np.dtype(object)
    if name == "bfloat16" or name.startswith("float8"):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


@functools.cache
def _ancestors(dtype):
    found, todo = {dtype}, [dtype]
    while todo:
        for above in _ABOVE[todo.pop()]:
            if above not in found:
                found.add(above)
                todo.append(above)
    return frozenset(found)


@functools.cache
def _join(a, b):
    """Least upper bound of two nodes."""
    if a == b:
        return a
    common = _ancestors(a) & _ancestors(b)
    if not common:
        raise ValueError(
            f"There is no implicit conversions from float8 dtypes: {a} and {b} meet here. Cast one of them (`ops.cast`)."
        )
    return next(c for c in common if common <= _ancestors(c))


@functools.cache
def promote(nodes, floatx):
    """Promotion of lattice nodes (dtype names and weak kinds) to one dtype name."""
    result = functools.reduce(_join, nodes)
    if result == "int64" and "int64" not in nodes:
        # uint32 with a signed dtype: 32 bits are kept, as in Keras and in JAX without 64-bit numbers.
        result = "int32"
    return {WEAK_INT: "int32", WEAK_FLOAT: floatx, WEAK_COMPLEX: "complex64"}.get(result, result)


_WEAK = {int: WEAK_INT, float: WEAK_FLOAT, complex: WEAK_COMPLEX, bool: "bool"}


def lattice_node(x):
    """Lattice node of a dtype, a Python scalar type, or anything with a dtype."""
    if isinstance(x, type) and x in _WEAK:
        return _WEAK[x]
    if type(x) in _WEAK:
        return _WEAK[type(x)]
    if hasattr(x, "dtype") and not isinstance(x, (str, type)):
        x = x.dtype
    return standardize_dtype(x)


def result_type(*dtypes):
    """The dtype that operands of these dtypes have together.

    Args:
        *dtypes: dtype names, framework dtypes, tensors, or the Python types `int`, `float`, `bool`
            (weak: they take the others' width).

    >>> from kerata.core import dtypes
    >>> dtypes.result_type("int32", "float16"), dtypes.result_type("bfloat16", float)
    ('float16', 'bfloat16')
    """
    if not dtypes:
        return config.floatx()
    return promote(tuple(lattice_node(d) for d in dtypes), config.floatx())
