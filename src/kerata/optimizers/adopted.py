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
    backend = backends.current()
    if not hasattr(variable, "assign") and not hasattr(variable, "copy_"):
        raise ValueError(
            f"An optimizer changes variables in place, which {type(variable).__name__} can't be. Use "
            "`keras.Variable`, or `stateless_apply` on values."
        )
    return AdoptedVariable(backend, variable)


class AdoptedVariable(Variable):
    """A `Variable` whose storage is somebody else's."""

    def __init__(self, backend, storage):
        self.adopted = storage
        self.name = str(getattr(storage, "name", None) or "variable").split(":")[0].replace("/", "_")
        self.path = self.name
        self._trainable = True
        self._autocast = False
        self._aggregation = "none"
        self._synchronization = "auto"
        self._layout = self._regularizer = self._constraint = self._lender = None
        self._overwrite_with_gradient = False
        self._backend = backend
        self._storage = storage
        self._shape = tuple(storage.shape)
        self._dtype = dtypes.standardize_dtype(storage.dtype)
