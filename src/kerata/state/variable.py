"""`Variable`: one class on every backend; what it stores is the backend's."""

import numpy as np

from kerata import backends
from kerata.core import dtypes, names
from kerata.core.changes import changes
from kerata.core.errors import format_shapes
from kerata.core.scopes import current_autocast, current_stateless
from kerata.graph.tensor import KerasTensor, install_operators, standardize_shape
from kerata.ops.declare import VARIABLES

_stateless, _autocast, _selected = current_stateless.get, current_autocast.get, backends.selected.get
AGGREGATIONS = (None, "none", "mean", "sum", "only_first_replica")


class Variable:
    """A tensor with state: a weight, a moving average, a counter.

    Args:
        initializer: an array, a number, an initializer's name, or a callable `(shape, dtype)`.
        shape: shape, needed when `initializer` is a callable or a name.
        dtype: dtype name; by default that of an array given, else `floatx()`.
        trainable: whether optimizers change it.
        autocast: whether it reads as the layer's compute dtype inside a layer's call (floating only).
        aggregation: how replicas combine: `"none"`, `"mean"`, `"sum"`, `"only_first_replica"`.
        synchronization: kept for Keras's signature.
        name: last part of its path.
        layout: distribution layout.

    Raises:
        ValueError: no shape for a callable, or an initial value of another shape.

    >>> import kerata
    >>> v = kerata.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0]).numpy().tolist()
    [2.0, 3.0]
    >>> (v * 2).shape == v.shape
    True
    """

    _is_kerata_variable = True
    # `array + variable` must come to the variable's operator.
    __array_priority__ = 100

    def __init__(
        self,
        initializer,
        shape=None,
        dtype=None,
        trainable=True,
        autocast=True,
        aggregation="none",
        synchronization="auto",
        name=None,
        layout=None,
        **kwargs,
    ):
        if kwargs:
            raise TypeError(f"Variable: unknown arguments {', '.join(kwargs)}.")
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError(f"Variable: `name` must be a string without '/', not {name!r}.")
        if aggregation not in AGGREGATIONS:
            raise ValueError(f"Variable: `aggregation` must be one of {AGGREGATIONS}, not {aggregation!r}.")
        self.name = name or names.auto_name("variable")
        self.path = "/".join((*names.path_parts(), self.name))
        self._trainable = bool(trainable)
        self._autocast = bool(autocast)
        self._aggregation = "none" if aggregation is None else aggregation
        self._synchronization = synchronization or "auto"
        self._layout = layout
        self._regularizer = None
        self._constraint = None
        self._overwrite_with_gradient = False
        self._lender = None
        value, self._dtype = _initial(initializer, shape, dtype)
        self._shape = tuple(value.shape)
        self._keep(backends.current(), value)

    def _keep(self, backend, value):
        """Store a NumPy array the backend's way."""
        self._backend = backend
        self._storage = backend.variable(value, self._trainable, self.name)
        # Whether what is stored is the tensor itself.
        self._in_hand = backend.is_tensor(self._storage)

    # ------------------------------------------------------------- reading

    @property
    def value(self):
        """The native tensor: the scope's inside a `StatelessScope`, cast inside an autocast scope."""
        scope, dtype = _stateless(), _autocast()
        if scope is None and dtype is None and self._lender is None and self._in_hand:
            # By far the most common case, so without a call.
            if (_selected() or backends.process.backend) is self._backend:
                return self._storage
        value = scope.read(self) if scope is not None else None
        if value is None:
            value = self._native()
        if dtype is not None and dtype != self._dtype and self._autocast and dtypes.is_float(self._dtype):
            return _cast(value, dtype)
        return value

    def _native(self):
        """The stored value as a tensor of the current backend."""
        if self._lender is not None:
            self._lender.write_back()
        backend = backends.selected.get() or backends.process.backend
        if backend is not self._backend:
            return self._foreign(backends.current())
        return backend.read(self._storage)

    def _foreign(self, backend):
        if backend is self._backend or getattr(backend, "EAGER", None) == self._backend.NAME:
            return self._backend.read(self._storage)
        return backend.convert(self._backend.to_numpy(self._backend.read(self._storage)), self._dtype)

    @property
    def storage(self):
        """What the backend keeps: a `jax.Array`, an `nn.Parameter`, a `tf.Variable`, an `ndarray`."""
        if self._lender is not None:
            self._lender.write_back()
        return self._storage

    # The name under which scripts written for Keras reach for it.
    _value = storage

    def numpy(self):
        """The value as a NumPy array of its own (later assignments don't change it).

        Raises:
            ValueError: inside a traced function, where there is none.
        """
        scope = current_stateless.get()
        value = scope.read(self) if scope is not None else None
        if value is None:
            if self._lender is not None:
                self._lender.write_back()
            array = self._backend.to_numpy(self._backend.read(self._storage))
            # What is assigned in place must not change an array that was given away.
            return array.copy() if self._in_hand and self._backend.IN_PLACE else array
        if isinstance(value, KerasTensor):
            raise ValueError(f"Variable {self.path!r} has no value while a graph is traced.")
        return backends.current().to_numpy(value)

    # ------------------------------------------------------------- assigning

    def assign(self, value):
        """Set the value; shape must agree, dtype is converted. Returns the variable (or, in a scope, the value)."""
        scope = current_stateless.get()
        backend = self._backend if scope is None else backends.current()
        value = _convert(value, self._dtype, backend)
        if tuple(value.shape) != self._shape and not _compatible(tuple(value.shape), self._shape):
            raise ValueError(
                f"Variable {self.path!r}: a value of shape {tuple(value.shape)} can't be assigned, its shape is {self._shape}."
            )
        if scope is not None:
            scope.add_update((self, value))
            return value
        if self._lender is not None:
            self._lender.write_back()
        self._storage = backend.assign(self._storage, value)
        return self

    def recast(self, dtype):
        """Keep the value in another floating dtype from now on; integers stay as they are."""
        dtype = dtypes.standardize_dtype(dtype)
        if dtype != self._dtype and dtypes.is_float(self._dtype):
            value = self.numpy()
            self._dtype = dtype
            self._keep(self._backend, value.astype(dtypes.to_numpy_dtype(dtype)))

    def assign_add(self, value):
        """Add to the value."""
        return self.assign(self + value)

    def assign_sub(self, value):
        """Subtract from the value."""
        return self.assign(self - value)

    # ------------------------------------------------------------- facts

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        dtype = current_autocast.get()
        if dtype is not None and self._autocast and dtypes.is_float(self._dtype):
            return dtype
        return self._dtype

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def trainable(self):
        """Whether optimizers change it. On PyTorch `requires_grad_(False)` of its parameter says no, too."""
        is_frozen = getattr(self._backend, "is_frozen", None)
        return self._trainable and (is_frozen is None or not is_frozen(self._storage))

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)
        set_trainable = getattr(self._backend, "set_trainable", None)
        if set_trainable is not None:
            set_trainable(self._storage, self._trainable)

    @property
    def autocast(self):
        return self._autocast

    @property
    def aggregation(self):
        return self._aggregation

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def overwrite_with_gradient(self):
        """Whether the gradient is the new value (scales of float8 training)."""
        return self._overwrite_with_gradient

    @overwrite_with_gradient.setter
    def overwrite_with_gradient(self, value):
        self._overwrite_with_gradient = _a_bool(value, "overwrite_with_gradient", self)

    @property
    def regularizer(self):
        return self._regularizer

    @regularizer.setter
    def regularizer(self, value):
        if value is not None and not callable(value):
            raise ValueError(f"Variable {self.path!r}: `regularizer` must be callable, not {value!r}.")
        self._regularizer = value

    @property
    def constraint(self):
        return self._constraint

    @constraint.setter
    def constraint(self, value):
        if value is not None and not callable(value):
            raise ValueError(f"Variable {self.path!r}: `constraint` must be callable, not {value!r}.")
        self._constraint = value

    @property
    def backend(self):
        """Name of the backend that holds the value."""
        return self._backend.NAME

    def to_backend(self, backend):
        """Move the value to another backend (a module from `backends.load`), in place."""
        if backend is not self._backend:
            self._keep(backend, self.numpy())
            changes.count += 1

    def __repr__(self):
        value = "" if current_stateless.get() is not None else f", value={_short(self.numpy())}"
        return f"<Variable path={self.path}, shape={self._shape}, dtype={self._dtype}{value}>"

    # ------------------------------------------------------------- conversions

    def __array__(self, dtype=None, copy=None):
        value = self.numpy()
        return value if dtype is None else value.astype(dtype)

    def __jax_array__(self):
        return self.value

    def __tf_tensor__(self, dtype=None, name=None):
        value = self.value
        return value if dtype is None or value.dtype == dtype else _cast(value, dtypes.standardize_dtype(dtype))

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """torch's functions take variables as they take tensors."""
        args, kwargs = _read_all(args), {k: _read_all(v) for k, v in (kwargs or {}).items()}
        return func(*args, **kwargs)

    # By this TensorFlow's tapes take the variable itself for a source, and go by its handle.
    _should_act_as_resource_variable = True

    @property
    def handle(self):
        """TensorFlow's resource handle."""
        return self.storage.handle

    def __pos__(self):
        return self.value

    def __float__(self):
        return float(self._scalar())

    def __int__(self):
        return int(self._scalar())

    def _scalar(self):
        if self._shape:
            raise TypeError(f"Only scalar arrays can be converted to Python scalars. {self.path} has the shape {self._shape}.")
        return self.numpy()

    def __index__(self):
        return int(self.numpy())

    def __bool__(self):
        if self._shape:
            raise TypeError(f"A Keras Variable cannot be used as a boolean. {self.path} has the shape {self._shape}.")
        return bool(self.numpy())

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of a 0-d Variable")
        return self._shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        from kerata import ops

        return ops.equal(self, other)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        copied.__setstate__(self.__getstate__())
        return copied

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k not in ("_storage", "_backend", "_lender")}
        return state | {"value": self.numpy(), "backend": self._backend.NAME}

    def __setstate__(self, state):
        state = dict(state)
        value, name = state.pop("value"), state.pop("backend")
        self.__dict__.update(state)
        self._lender = None
        self._keep(backends.load(name), np.array(value))


install_operators(Variable)
VARIABLES.add(Variable)


def _initial(initializer, shape, dtype):
    """`(NumPy array, dtype name)` of the first value, made on the host."""
    if isinstance(initializer, str):
        from kerata import initializers

        initializer = initializers.get(initializer)
    if callable(initializer) and not hasattr(initializer, "shape"):
        if shape is None:
            raise ValueError("Variable: When creating a Variable from an initializer, the `shape` must be given.")
        shape = _static(shape)
        dtype = dtypes.standardize_dtype(dtype)
        make = getattr(initializer, "host", None)
        value = make(shape, dtype) if make is not None else initializer(shape, dtype=dtype)
        value = to_host(value)
        if tuple(value.shape) != shape:
            raise ValueError(f"Variable: the initializer made shapes {format_shapes([value.shape])} for {shape}.")
    else:
        if dtype is None:
            from kerata.ops.declare import _node

            node = _node(backends.current(), initializer)
            dtype = dtypes.promote((node,), dtypes.config.floatx())
            if isinstance(initializer, np.ndarray) and dtype == "float64":
                dtype = dtypes.config.floatx()
        dtype = dtypes.standardize_dtype(dtype)
        value = to_host(initializer)
        if shape is not None and tuple(value.shape) != _static(shape):
            raise ValueError(
                f"Variable: the initial value has shape {tuple(value.shape)}, but `shape` is {tuple(shape)}."
            )
    return np.asarray(value, dtypes.to_numpy_dtype(dtype)), dtype


def _static(shape):
    shape = standardize_shape(shape)
    if None in shape:
        raise ValueError(f"Variable: a variable's shape must be known, but {shape} has None in it.")
    return shape


def to_host(value):
    """A NumPy array of anything with values: native tensors, variables, lists, numbers."""
    if isinstance(value, (np.ndarray, np.generic, int, float, bool, list, tuple)):
        return np.asarray(value)
    if isinstance(value, Variable):
        return value.numpy()
    backend = backends.current()
    if backend.is_tensor(value):
        return backend.to_numpy(value)
    from kerata.ops.declare import _host

    return _host(value)


def _convert(value, dtype, backend):
    from kerata.ops.declare import to_native

    if type(value) is KerasTensor:
        return value if value.dtype == dtype else _cast(value, dtype)
    if isinstance(value, Variable):
        value = value.value
    return to_native(backend, value, dtype)


def _cast(value, dtype):
    from kerata.ops.elementwise import cast

    return cast(value, dtype)


def _compatible(found, wanted):
    return len(found) == len(wanted) and all(f is None or f == w for f, w in zip(found, wanted, strict=True))


def _read_all(value):
    if type(value) is Variable:
        return value.value
    if type(value) in (list, tuple):
        return type(value)(_read_all(v) for v in value)
    return value


def _a_bool(value, name, variable):
    if not isinstance(value, bool):
        raise TypeError(f"Variable {variable.path!r}: `{name}` must be a bool, not {value!r}.")
    return value


def _short(array):
    return np.array2string(array, threshold=10, precision=4, separator=", ").replace("\n", " ")
