"""Into tensors and out of them; what a tensor is; stopping gradients."""

import numpy as np

from kerata import backends
from kerata.core import dtypes
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import NeedsShape, current_trace
from kerata.ops import rules, sparse_rules
from kerata.ops.declare import Index, _holds_tensors, _unwrap, composite, primitive, to_native


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """A native tensor of the current backend.

    Args:
        x: anything with values: NumPy array, nested list of numbers, scalar, `Variable`, a tensor of any framework.
            A `KerasTensor` is returned as it is (cast if need be).
        dtype: dtype of the result; by default that of `x` (Python floats: `floatx()`, integers: int32).
        sparse: `False`: a sparse tensor is made dense.
        ragged: `False`: a ragged tensor is made dense.

    Raises:
        ValueError: `x` holds no regular nest of numbers.

    >>> from kerata import ops
    >>> ops.convert_to_tensor([1, 2]).shape[0]
    2
    """
    b = backends.current()
    if dtype is None and type(x) in b.TYPES and sparse is None and ragged is None:
        return x
    dtype = None if dtype is None else dtypes.standardize_dtype(dtype)
    if sparse is False or ragged is False:
        x = _densified(b, x, sparse, ragged)
    if dtype in (None, "string") and hasattr(b, "from_host") and is_text(x):
        return b.from_host(np.asarray(x))
    x = _unwrap(b, x)
    if isinstance(x, KerasTensor):
        if dtype is None or x.dtype == dtype:
            return x
        from kerata.ops.elementwise import cast

        return cast(x, dtype)
    return to_native(b, x, dtype)


def _densified(b, x, sparse, ragged):
    """The tensor made dense if it's of a kind that isn't wanted; a symbol marked so."""
    if isinstance(x, KerasTensor):
        return as_dense(x) if (x.sparse and sparse is False) or (x.ragged and ragged is False) else x
    if b.is_tensor(x):
        # PyTorch's sparse tensors are tensors like the others.
        return b.densify(x) if sparse is False and hasattr(b, "densify") else x
    if not sparse_rules.met(b, x):
        return x
    unwanted = {"sparse": sparse, "ragged": ragged}[sparse_rules.kind_of(x)] is False
    return b.densify(x) if unwanted else x


@composite(native="densify")
def as_dense(x: Index):
    """A sparse or ragged tensor made dense (not public)."""
    from kerata.ops.elementwise import copied

    return copied(x)


def convert_to_numpy(x):
    """A NumPy array with the tensor's values (waits for the device), which may be written to.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.ones((2,))).tolist()
    [1.0, 1.0]
    """
    if isinstance(x, np.ndarray):
        return x
    if hasattr(type(x), "_is_kerata_variable"):
        return x.numpy()
    b = backends.current()
    if b.is_tensor(x):
        array = b.to_numpy(x)
        return array if array.flags.writeable else array.copy()
    if hasattr(b, "is_composite") and b.is_composite(x):
        return b.to_numpy(b.densify(x))
    if isinstance(x, KerasTensor):
        return x.__array__()
    if isinstance(x, (list, tuple)) and _holds_tensors(b, x):
        return np.stack([convert_to_numpy(v) for v in x])
    if isinstance(x, (list, tuple, int, float, bool)):
        return np.asarray(x, dtypes.to_numpy_dtype(b.dtype_of(to_native(b, x))))
    from kerata.ops.declare import _host

    return _host(x)


def is_tensor(x):
    """Whether `x` is a native tensor of the current backend (or symbolic).

    >>> from kerata import ops
    >>> ops.is_tensor(ops.ones(())), ops.is_tensor([1.0])
    (True, False)
    """
    b = backends.current()
    return isinstance(x, KerasTensor) or b.is_tensor(x) or (hasattr(b, "is_composite") and b.is_composite(x))


def is_text(x):
    """Whether `x` is a string, or a list or NumPy array of strings."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "US"
    while isinstance(x, (list, tuple)) and x:
        x = x[0]
    return isinstance(x, (str, bytes))


def shape(x):
    """The shape as a tuple.

    Dimensions that aren't known are `None` while a Functional model is being built, and scalar
    tensors inside traced functions (`tf.function`, export).

    >>> from kerata import ops
    >>> ops.shape(ops.zeros((2, 3)))
    (2, 3)
    """
    if isinstance(x, KerasTensor):
        return _symbolic_shape(x)
    b = backends.current()
    if hasattr(type(x), "_is_kerata_variable"):
        return tuple(x.shape)
    if b.is_tensor(x):
        return b.dynamic_shape(x)
    if sparse_rules.met(b, x):
        return b.sparse.shape_of(x)
    return np.shape(x)


def _symbolic_shape(x):
    trace = current_trace.get()
    if trace is None or None not in x.shape:
        return x.shape
    if not trace.dynamic:
        raise NeedsShape
    return tuple(shape_dim(x, i) if d is None else d for i, d in enumerate(x.shape))


def shape_dim(x, axis):
    from kerata.ops.movement import shape_dim

    return shape_dim(x, axis)


def dtype(x):
    """Name of the tensor's dtype.

    >>> from kerata import ops
    >>> ops.dtype(ops.ones((), dtype="bfloat16"))
    'bfloat16'
    """
    return dtypes.standardize_dtype(x.dtype)


@primitive(rule=rules.same)
def stop_gradient(variable: Index):
    """The same values, through which no gradient flows.

    Args:
        variable: tensor.

    Returns:
        Tensor of the same shape and dtype.

    >>> from kerata import ops
    >>> float(ops.stop_gradient(3.0))
    3.0
    """
