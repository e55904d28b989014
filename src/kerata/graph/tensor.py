"""`KerasTensor`: a shape and a dtype, and the node that would compute it."""

from kerata.core import dtypes
from kerata.core.names import auto_name


class KerasTensor:
    """A symbolic tensor: what ops and layers are called with to build a model.

    Args:
        shape: tuple of ints; `None` for a dimension not known.
        dtype: dtype name.
        sparse, ragged: kind of tensor it stands for.
        record_history: unused; kept for Keras's signature.
        name: name, made up unless given.

    >>> import kerata
    >>> x = kerata.KerasTensor((None, 3))
    >>> (x @ kerata.KerasTensor((3, 5))).shape
    (None, 5)
    """

    __slots__ = ("__dict__", "__weakref__", "_name", "dtype", "index", "node", "ragged", "shape", "sparse")
    # NumPy must not try to make an array of objects from `array + keras_tensor`.
    __array_priority__ = 100
    __array_ufunc__ = None

    def __init__(
        self,
        shape,
        dtype="float32",
        sparse=False,
        ragged=False,
        record_history=True,
        name=None,
        ragged_rank=None,
        row_splits_dtype=None,
    ):
        self.shape = _checked_shape(shape)
        self.dtype = dtypes.standardize_dtype(dtype)
        if sparse and ragged:
            raise ValueError("KerasTensor: `sparse` and `ragged` can't both be True.")
        if ragged_rank is not None and not 0 <= ragged_rank < len(self.shape):
            raise ValueError(
                f"KerasTensor: `ragged_rank` must be at least 0 and below the rank {len(self.shape)}, not {ragged_rank}."
            )
        if ragged and row_splits_dtype is not None and not dtypes.is_int(row_splits_dtype):
            raise ValueError(f"KerasTensor: `row_splits_dtype` must be an integer dtype, not {row_splits_dtype!r}.")
        self.sparse = bool(sparse)
        self.ragged = bool(ragged)
        self._name = name
        self.node = None
        self.index = 0
        if ragged_rank is not None or row_splits_dtype is not None:
            self._ragged = (ragged_rank, row_splits_dtype)

    @property
    def name(self):
        if self._name is None:
            self._name = auto_name("keras_tensor")
        return self._name

    @name.setter
    def name(self, value):
        self._name = value

    @property
    def ragged_rank(self):
        return getattr(self, "_ragged", (None, None))[0]

    @property
    def row_splits_dtype(self):
        return getattr(self, "_ragged", (None, None))[1]

    @property
    def ndim(self):
        return len(self.shape)

    def __repr__(self):
        kind = "".join(f", {k}=True" for k in ("sparse", "ragged") if getattr(self, k))
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}{kind}, name={self.name}>"

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a 0-d KerasTensor")
        if self.shape[0] is None:
            raise ValueError(f"The first dimension of {self!r} isn't known, so it has no len().")
        return self.shape[0]

    def __iter__(self):
        raise TypeError(f"Can't iterate over {self!r}: it has no values yet. Use `kerata.ops.unstack`.")

    def __bool__(self):
        raise TypeError(
            f"{self!r} has no truth value: it's symbolic. Use `kerata.ops.cond` or `kerata.ops.where`, "
            "or put the code into a layer's `call`."
        )

    def __array__(self, *args, **kwargs):
        raise ValueError(
            f"{self!r} is symbolic and can't become a NumPy array: NumPy functions can't be used while a model is "
            "being built. Use `kerata.ops`, or put the code into a layer's `call`."
        )

    def _no_number(self, *_):
        raise TypeError(f"{self!r} is symbolic and has no value yet, so it can't become a Python number.")

    __float__ = __int__ = __index__ = __complex__ = _no_number

    def __tf_tensor__(self, dtype=None, name=None):
        raise ValueError(
            f"{self!r} is symbolic and can't be given to a TensorFlow function. Use `kerata.ops`, or wrap the function "
            "in a layer."
        )

    def reshape(self, *newshape):
        """`ops.reshape`."""
        if len(newshape) == 1 and isinstance(newshape[0], (tuple, list)):
            newshape = newshape[0]
        return _op("reshape")(self, newshape)

    def squeeze(self, axis=None):
        """`ops.squeeze`."""
        return _op("squeeze")(self, axis)

    @property
    def T(self):
        return _op("transpose")(self)


def _checked_shape(shape):
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if type(shape) is tuple:
        for d in shape:
            if d is not None and type(d) is not int:
                break
            if d is not None and d < 0:
                break
        else:
            return shape
    return standardize_shape(shape)


def standardize_shape(shape):
    """A shape as a tuple of ints and `None`s, or a `ValueError` that says what is wrong."""
    if shape is None:
        raise ValueError("A shape is needed, but None was given.")
    if not hasattr(shape, "__iter__"):
        raise ValueError(f"A shape must be a sequence of integers (None where not known), not {shape!r}.")
    result = []
    for d in shape:
        if d is not None and not isinstance(d, KerasTensor):
            try:
                if isinstance(d, (bool, float)):
                    raise TypeError
                d = int(d)
            except TypeError:
                raise ValueError(f"A shape holds integers and None, but {tuple(shape)!r} holds {d!r}.") from None
            if d < 0:
                raise ValueError(f"A shape holds no negative dimension, but {tuple(shape)!r} holds {d}.")
        elif isinstance(d, KerasTensor):
            d = None
        result.append(d)
    return tuple(result)


def _op(name):
    # The vocabulary stands on the graph; looked up late, so the graph needn't know it.
    from kerata import ops

    return getattr(ops, name)


def _binary(name, reflected=False):
    if reflected:
        return lambda self, other: _op(name)(other, self)
    return lambda self, other: _op(name)(self, other)


def install_operators(cls):
    """Give a class Python's operators, each through the op of that name."""
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
        "mod": "mod", "pow": "power", "matmul": "matmul", "and": "logical_and", "or": "logical_or",
        "xor": "logical_xor", "lshift": "left_shift", "rshift": "right_shift",
    }  # fmt: skip
    for method, name in binary.items():
        setattr(cls, f"__{method}__", _binary(name))
        setattr(cls, f"__r{method}__", _binary(name, reflected=True))
    comparisons = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "ne": "not_equal"}
    for method, name in comparisons.items():
        setattr(cls, f"__{method}__", _binary(name))
    cls.__neg__ = lambda self: _op("negative")(self)
    cls.__abs__ = lambda self: _op("absolute")(self)
    cls.__invert__ = lambda self: _op("logical_not")(self)
    cls.__round__ = lambda self, ndigits=None: _op("round")(self, decimals=ndigits or 0)
    cls.__getitem__ = lambda self, key: _op("get_item")(self, key)
    return cls


install_operators(KerasTensor)


def spec(shape, dtype):
    """A fresh `KerasTensor` as shape-and-dtype rules return it (the shape is right already)."""
    tensor = KerasTensor.__new__(KerasTensor)
    tensor.shape = shape
    tensor.dtype = dtype
    tensor.sparse = tensor.ragged = False
    tensor._name = None
    tensor.node = None
    tensor.index = 0
    return tensor


def fresh(tensor):
    """Another symbol of the same shape, dtype and kind, made by no node."""
    other = spec(tensor.shape, tensor.dtype)
    if tensor.sparse or tensor.ragged:
        other.sparse, other.ragged = tensor.sparse, tensor.ragged
        if hasattr(tensor, "_ragged"):
            other._ragged = tensor._ragged
    return other


def is_keras_tensor(x):
    """Whether `x` is a `KerasTensor`."""
    return isinstance(x, KerasTensor)


def any_symbolic(args, kwargs=None):
    """Whether a `KerasTensor` occurs anywhere in these (nested) arguments."""
    for value in args:
        kind = type(value)
        if kind is KerasTensor:
            return True
        if kind in (list, tuple):
            if any_symbolic(value):
                return True
        elif kind is dict:
            if any_symbolic(value.values()):
                return True
        elif isinstance(value, (KerasTensor, list, tuple, dict)):
            if isinstance(value, KerasTensor):
                return True
            if any_symbolic(value.values() if isinstance(value, dict) else value):
                return True
    return bool(kwargs) and any_symbolic(kwargs.values())
