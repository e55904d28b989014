"""What users pass as arrays, as rows on the host.

`rows` gives a C-contiguous NumPy array wherever that costs little, and otherwise an object with the
four things that sources use: `shape`, `dtype`, `take(indices, axis)`, `[start:stop]`. Frameworks are told by
the modules that their types come from; none is imported here.
"""

import functools
import sys

import numpy as np

from kerata.core import config
from kerata.core.dtypes import standardize_dtype, to_numpy_dtype

# Up to this size an array is converted whole, once; a larger one, or one on disk, batch by batch.
AT_ONCE_BYTES = 2**28
_FRAMEWORKS = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "tensorflow": "tensorflow"}
_FAMILIES = {
    **_FRAMEWORKS,
    "pandas": "pandas",
    "scipy": "scipy",
    "h5py": "h5py",
    "zarr": "zarr",
    "grain": "grain",
    "numpy": "numpy",
}


@functools.lru_cache(4096)
def family(kind):
    """Name of the library that a type, or its nearest ancestor, comes from, if it is a known one."""
    for base in kind.__mro__:
        name = _FAMILIES.get(base.__module__.partition(".")[0])
        if name is not None:
            return name
    return None


def framework(kind):
    """`"jax"`, `"torch"`, `"tensorflow"` or `None`: whose tensors a type's instances are."""
    name = family(kind)
    return name if name in _FRAMEWORKS else None


def rows(value, name="x"):
    """`value` as rows on the host, floats in the default float type.

    Raises:
        ValueError: for what is no array, or holds what no model takes.
    """
    if isinstance(value, Rows):
        return value
    array = _from_library(value, name)
    if isinstance(array, Rows):
        return array
    if array.ndim == 0:
        raise ValueError(f"`{name}` must have an axis of samples, but a single number ({value!r}) was given.")
    return _in_order(_in_dtype(array, name))


def _from_library(value, name):
    source = family(type(value))
    if source == "pandas":
        return _from_pandas(value, name)
    if source == "scipy" and hasattr(value, "tocsr"):
        return SparseRows(value.tocsr())
    if source in ("h5py", "zarr"):
        return StoredRows(value)
    if source in _FRAMEWORKS:
        return RaggedRows(value) if _stays_ragged(value) else to_host(value)
    if isinstance(value, np.ndarray):
        return np.asarray(value)  # drops subclasses, whose indexing is slow: a memory map stays mapped
    if isinstance(value, (list, tuple)) or (hasattr(value, "__array__") and not isinstance(value, type)):
        return _from_array_like(value, name)
    raise _unrecognized(value, name)


def _unrecognized(value, name):
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return ValueError(
        f"Unrecognized data type: {name}={shown} (of type {type(value)}). Expected all elements of `x` to be "
        f"array-like, and `{name}` as well: NumPy arrays, tensors, pandas objects, or lists of numbers."
    )


def _from_array_like(value, name):
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` can't be made an array: are its rows of different lengths?") from None
    if array.dtype.kind in "OUS":
        raise _unrecognized(value, name)
    return array


def _from_pandas(value, name):
    array = value.to_numpy()
    if array.dtype.kind == "O":  # mixed columns, or pandas' own nullable types
        try:
            array = value.to_numpy(dtype=config.floatx())
        except (TypeError, ValueError):
            raise ValueError(
                f"`{name}` is a pandas {type(value).__name__} with columns that hold no numbers. Convert "
                "them, for instance with `pandas.get_dummies` or `.astype(...)`, or leave them out."
            ) from None
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _stays_ragged(value):
    from kerata import backends

    return type(value).__name__ == "RaggedTensor" and backends.current_name() == "tensorflow"


def to_host(value):
    """A tensor of any framework as a NumPy array (sparse ones made dense)."""
    from kerata import backends

    kind = type(value).__name__
    if kind in ("SparseTensor", "IndexedSlices"):
        value = sys.modules["tensorflow"].sparse.to_dense(sys.modules["tensorflow"].sparse.reorder(value))
    elif kind == "RaggedTensor":
        raise ValueError("Only TensorFlow takes ragged tensors: pad it first, for instance with `.to_tensor()`.")
    elif hasattr(value, "todense"):
        value = value.todense()
    elif getattr(value, "is_sparse", False):
        value = value.to_dense()
    return backends.load(framework(type(value))).to_numpy(value)


def _in_dtype(array, name):
    target = feeding_dtype(array.dtype, name)
    if target == array.dtype:
        return array
    if array.nbytes > AT_ONCE_BYTES:
        return CastRows(array, target)
    return array.astype(target)


@functools.lru_cache(256)
def _feeding_dtype(dtype, floatx):
    if dtype.kind in "biuc":
        return dtype
    if dtype.kind == "f" or dtype.name.startswith(("bfloat16", "float8")):
        return np.dtype(to_numpy_dtype(floatx))
    return None


def feeding_dtype(dtype, name="x"):
    """The dtype in which an array of `dtype` is fed: floats become `floatx`, the rest stays."""
    target = _feeding_dtype(dtype, config.floatx())
    if target is not None:
        return target
    if _strings_are_fed(dtype):
        return dtype
    what = {"O": "Python objects", "U": "text", "S": "text", "M": "dates", "m": "time spans"}.get(
        dtype.kind, "no numbers"
    )
    raise ValueError(
        f"Invalid dtype: {dtype}. `{name}` holds {what}, which can't be made tensors. Convert it to numbers "
        "first" + (" (rows of different lengths must be padded)." if dtype.kind == "O" else ".")
    )


def _strings_are_fed(dtype):
    from kerata import backends

    return dtype.kind in "US" and backends.current_name() == "tensorflow"


def _in_order(array):
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return array
    # `take` on any other layout would copy the whole array at every call.
    return np.ascontiguousarray(array) if array.nbytes <= AT_ONCE_BYTES else StridedRows(array)


def map_arrays(convert, node):
    """`convert` applied to each array of a structure of dicts, lists and tuples.

    Lists of numbers (`y.tolist()`) are arrays, lists of arrays are several arrays. Dicts of any kind become
    plain.
    """
    if isinstance(node, dict):
        return {key: map_arrays(convert, value) for key, value in node.items()}
    if isinstance(node, (list, tuple)) and not _is_of_numbers(node):
        parts = [map_arrays(convert, value) for value in node]
        if isinstance(node, list):
            return parts
        return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
    return None if node is None else convert(node)


def _is_of_numbers(node):
    while isinstance(node, (list, tuple)):
        if not node:
            return False
        node = node[0]
    return isinstance(node, (int, float, complex, np.generic))


def window(array, start, stop):
    """Rows `start` to `stop`, without copying where the kind allows it."""
    return array.window(start, stop) if isinstance(array, Rows) else array[start:stop]


class Rows:
    """Rows that aren't a plain array. Subclasses say how to read some of them."""

    def __init__(self, data, dtype=None):
        self.data = data
        self.shape = tuple(data.shape)
        self.dtype = feeding_dtype(np.dtype(data.dtype)) if dtype is None else dtype
        self.ndim = len(self.shape)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, at):
        return np.asarray(self.read(at), self.dtype)

    def take(self, indices, axis=0):
        return self[indices]

    def read(self, at):
        return self.data[at]

    def window(self, start, stop):
        return type(self)(self.data[start:stop], self.dtype)


class StridedRows(Rows):
    """A large array in another memory order."""


class CastRows(Rows):
    """A large array, converted a batch at a time."""


class SparseRows(Rows):
    """A SciPy sparse matrix, made dense a batch at a time."""

    def read(self, at):
        return self.data[at].toarray()


class StoredRows(Rows):
    """An array on disk (HDF5, Zarr), read a batch at a time."""

    def __init__(self, data, dtype=None, start=0, stop=None):
        super().__init__(data, dtype)
        self.start = start
        self.shape = ((len(data) if stop is None else stop) - start, *self.shape[1:])

    def read(self, at):
        if isinstance(at, slice):
            first, last, step = at.indices(self.shape[0])
            return self.data[self.start + first : self.start + last : step]
        # HDF5 wants indices in rising order, each once.
        places, back = np.unique(np.asarray(at), return_inverse=True)
        return self.data[places + self.start][back]

    def window(self, start, stop):
        return StoredRows(self.data, self.dtype, self.start + start, self.start + min(stop, self.shape[0]))


class RaggedRows(Rows):
    """A ragged tensor on TensorFlow; its batches are ragged too, and of no one size."""

    def __init__(self, data, dtype=None):
        dtype = feeding_dtype(np.dtype(data.dtype.as_numpy_dtype)) if dtype is None else dtype
        super().__init__(data, dtype)

    def __getitem__(self, at):
        from kerata import backends

        return backends.load("tensorflow").ragged.rows(self.data, at, self.dtype)


# What a batch may hold as it is (float64 and float16 are converted).
UNCHANGED = frozenset(np.dtype(c) for c in "?bBhHiIlLqQf")


def batch_leaf(value, native=None):
    """One leaf of a batch that came from a user's own iterable, as an array or a tensor of the backend
    `native`.

    Args:
        value: array, tensor, list of numbers, or `None`.
        native: name of the framework whose tensors are left as they are.
    """
    if type(value) is np.ndarray and value.dtype in UNCHANGED:
        return value
    if value is None:
        return None
    source = framework(type(value))
    if source is not None:
        return value if source == native or _stays_ragged(value) else _fed(to_host(value))
    if isinstance(value, np.ndarray):
        return _fed(np.asarray(value))
    if isinstance(value, (int, float, np.generic)):
        return _fed(np.asarray(value))
    if family(type(value)) == "scipy" and hasattr(value, "toarray"):
        return _fed(value.toarray())
    return rows(value, "a batch")[:]


def _fed(array):
    return array.astype(feeding_dtype(array.dtype, "a batch"), copy=False)


def dtype_name(value):
    return standardize_dtype(value.dtype)


def floatx_dtype():
    return np.dtype(to_numpy_dtype(config.floatx()))
