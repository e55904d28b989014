"""The base of all constraints."""

from kerata.core.construct import Constructed


class Constraint(Constructed):
    """A projection of a weight's value. A subclass gives `__call__(w)`, which returns the new value.

    >>> import kerata
    >>> class Capped(kerata.constraints.Constraint):
    ...     def __call__(self, w):
    ...         return kerata.ops.minimum(w, 1.0)
    >>> Capped()(kerata.ops.convert_to_tensor([0.5, 2.0]))
    Array([0.5, 1. ], dtype=float32)
    """

    def __call__(self, w):
        """The value `w` becomes."""
        raise NotImplementedError(f"{type(self).__name__} must define `__call__(w)`.")
