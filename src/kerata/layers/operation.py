"""`Operation`: a named computation without weights, and what layers have of it."""

from kerata.core import names, tree
from kerata.core.construct import Constructed
from kerata.graph.tensor import KerasTensor, any_symbolic, fresh
from kerata.graph.trace import Node, Trace, current_trace


class Operation(Constructed):
    """A computation that Functional models can hold and files can name: the base of layers, and of ops of one's own.

    A subclass gives `call`; its constructor's arguments are its config. Unlike a layer it has no weights, no dtype policy
    and no phase.

    Args:
        name: name; made from the class's unless given.

    >>> import kerata
    >>> class Times(kerata.Operation):
    ...     def __init__(self, by, name=None):
    ...         super().__init__(name=name)
    ...         self.by = by
    ...     def call(self, x):
    ...         return x * self.by
    >>> x = kerata.Input((3,))
    >>> Times(2)(x).shape
    (None, 3)
    >>> float(Times(2)(kerata.ops.ones(())))
    2.0
    """

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.__dict__["_inbound_nodes"] = []
        return self

    def __init__(self, name=None):
        if name is not None and not isinstance(name, str):
            raise ValueError(f"{type(self).__name__}: `name` must be a string, not {name!r}.")
        self.name = name or names.auto_name(type(self).__name__)

    def __call__(self, *args, **kwargs):
        if any_symbolic(args, kwargs) and current_trace.get() is None:
            return self.symbolic_call(*args, **kwargs)
        return self.call(*args, **kwargs)

    def call(self, *args, **kwargs):
        """What is computed. Override it."""
        raise NotImplementedError(f"{type(self).__name__} defines no `call`: write one that returns its outputs.")

    def symbolic_call(self, *args, **kwargs):
        """The call on `KerasTensor`s: a node of a Functional model."""
        outputs = self.compute_output_spec(*args, **kwargs)
        self._inbound_nodes.append(Node(self, args, kwargs, outputs))
        return outputs

    def compute_output_spec(self, *args, **kwargs):
        """Shapes and dtypes of the outputs, as `KerasTensor`s, by running `call` on shapes alone."""
        args, kwargs = tree.map_structure(_fresh, (args, kwargs))
        with Trace(record=False, dynamic=True):
            outputs = self.call(*args, **kwargs)
        return tree.map_structure(_fresh, outputs)

    def quantized_call(self, *args, **kwargs):
        """The call of what is quantized. For those that can be."""
        raise NotImplementedError(f"{type(self).__name__} defines no `quantized_call`.")

    def rematerialized_call(self, fn, *args, **kwargs):
        """`fn` in a form whose intermediate values are computed again for the gradient instead of being kept."""
        from kerata.layers.rematerialization import remat

        return remat(fn)

    def common_config(self):
        return {"name": self.name}

    @property
    def input(self):
        """Symbolic input of the only call in a Functional model."""
        return self._only([n.inputs for n in self._inbound_nodes], "input")

    @property
    def output(self):
        """Symbolic output of the only call in a Functional model."""
        return self._only([list(n.outputs) for n in self._inbound_nodes], "output")

    def _only(self, lists, what):
        if not lists:
            raise AttributeError(f"{self._where()} has no `{what}`: it was never called on a KerasTensor.")
        if len(lists) > 1:
            raise AttributeError(f"{self._where()} was called {len(lists)} times, so `{what}` isn't one thing.")
        return lists[0][0] if len(lists[0]) == 1 else lists[0]

    def _where(self):
        """How errors name it."""
        return f'{type(self).__name__} "{self.__dict__.get("name", "")}"'

    def __repr__(self):
        return f"<{type(self).__name__} name={self.__dict__.get('name')}>"


def _fresh(value):
    return fresh(value) if isinstance(value, KerasTensor) else value
