"""What is in force for the time of a call: values of variables, autocast, training, masks.

Everything here is a context variable, so threads and tasks don't see each other's.
"""

from kerata.core.slots import Slot

current_stateless = Slot("stateless")
current_autocast = Slot("autocast")


class StatelessScope:
    """While it is entered, variables have the values of a mapping, and assigning changes only that.

    Args:
        state_mapping: `[(variable, value), …]`, the values to start from.
        collect_losses: keep what `add_loss` gets instead of storing it on the layers.
        initialize_variables: unused here (variables made inside a scope get their values at once);
            kept for Keras's signature.

    >>> import kerata
    >>> v = kerata.Variable(1.0)
    >>> with kerata.StatelessScope([(v, kerata.ops.ones(()) * 3)]) as scope:
    ...     v.assign_add(1.0) is None
    ...     float(v)
    False
    4.0
    >>> float(v), float(scope.get_current_value(v))
    (1.0, 4.0)
    """

    def __init__(self, state_mapping=None, collect_losses=False, initialize_variables=True):
        self.collect_losses = collect_losses
        self.initialize_variables = initialize_variables
        self.losses = []
        self._values = {}
        self._variables = {}
        self._tokens = []
        self._outer = None
        for entry in state_mapping or ():
            try:
                variable, value = entry
            except (TypeError, ValueError):
                raise ValueError(f"StatelessScope: entries must be (variable, value) pairs, not {entry!r}.") from None
            if not hasattr(variable, "assign"):
                raise ValueError(
                    f"StatelessScope: all keys in argument `mapping` must be Variable objects; {variable!r} is none."
                )
            if value is None:
                raise ValueError(f"StatelessScope: the value of {variable.path!r} is None.")
            if hasattr(value, "shape") and tuple(value.shape) != tuple(variable.shape):
                raise ValueError(
                    "StatelessScope: all values in argument `mapping` must be tensors with the shape of their variable, "
                    f"but {variable.path!r} has the shape {tuple(variable.shape)} and its value {tuple(value.shape)}."
                )
            # A variable stands for its value.
            self.add_update((variable, value.value if hasattr(type(value), "_is_kerata_variable") else value))

    @property
    def state_mapping(self):
        return dict(self._values.items())

    def add_update(self, update):
        """Set a variable's value in this scope: `(variable, value)`."""
        variable, value = update
        self._variables[id(variable)] = variable
        self._values[id(variable)] = value

    def add_loss(self, loss):
        """Keep an `add_loss` value."""
        self.losses.append(loss)

    def get_current_value(self, variable):
        """The variable's value in this scope, or `None` if the scope has none."""
        return self._values.get(id(variable))

    def read(self, variable):
        """The variable's value as code inside the scope sees it (an outer scope's, if this has none); `None`: its own."""
        value = self._values.get(id(variable))
        if value is None and self._outer is not None:
            return self._outer.read(variable)
        return value

    def updated(self):
        """`[(variable, value), …]` of every variable with a value in this scope."""
        return [(self._variables[k], v) for k, v in self._values.items()]

    def __enter__(self):
        self._outer = current_stateless.get()
        self._tokens.append(current_stateless.set(self))
        return self

    def __exit__(self, *exception):
        current_stateless.reset(self._tokens.pop())
        self._outer = None


def in_stateless_scope():
    """Whether a `StatelessScope` is entered."""
    return current_stateless.get() is not None


def get_stateless_scope():
    """The innermost entered `StatelessScope`, or `None`."""
    return current_stateless.get()


class AutocastScope:
    """While it is entered, floating variables read as `dtype` (`None`: as they are stored)."""

    __slots__ = ("_token", "dtype")

    def __init__(self, dtype):
        self.dtype = dtype

    def __enter__(self):
        self._token = current_autocast.set(self.dtype)
        return self

    def __exit__(self, *exception):
        current_autocast.reset(self._token)
