"""Variables of the framework itself (`tf.Variable`, `torch.nn.Parameter`) that an optimizer is given."""

from kerata import backends
from kerata.core import dtypes
from kerata.state import Variable


def as_variable(variable):
    """A `Variable` as it is; a framework's own variable behind the same face.

    Raises:
        ValueError: for what can't be changed in place.
    """
    if isinstance(variable, Variable):
        return variable
    if not hasattr(variable, "assign") and not hasattr(variable, "copy_"):
        raise ValueError(
            f"An optimizer changes variables in place, which {type(variable).__name__} can't be. Use "
            "`keras.Variable`, or `stateless_apply` on values."
        )
    return AdoptedVariable(variable)


class AdoptedVariable(Variable):
    """A `Variable` whose storage is somebody else's."""

    def __init__(self, storage):
        self.adopted = storage
        backend = backends.current()
        super().__init__(
            backend.to_numpy(backend.read(storage)),
            dtype=dtypes.standardize_dtype(storage.dtype),
            autocast=False,
            name=_usable_name(storage),
        )

    def _keep(self, backend, value):
        self._backend = backend
        self._storage = self.adopted
        self._in_hand = backend.is_tensor(self.adopted)


def _usable_name(storage):
    name = getattr(storage, "name", None)
    return name.split(":")[0].replace("/", "_") if isinstance(name, str) and name else None
