"""The base of all regularizers."""

import math

from kerata.core.construct import Constructed


class Regularizer(Constructed):
    """A penalty on a tensor. A subclass gives `__call__(x)`, which returns a scalar.

    >>> import kerata
    >>> class Spread(kerata.regularizers.Regularizer):
    ...     def __call__(self, x):
    ...         return 0.1 * kerata.ops.var(x)
    >>> float(Spread()([0.0, 2.0])) == float(kerata.ops.convert_to_tensor(0.1))
    True
    """

    def __call__(self, x):
        """The penalty of `x`, a scalar tensor."""
        raise NotImplementedError(f"{type(self).__name__} must define `__call__(x)`.")


def strength(value, name, owner):
    """A regularizer's factor as a float, or a `ValueError`; `None` counts as zero."""
    if value is None:
        return 0.0
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(number) or number < 0:
        raise ValueError(
            f"{owner}: Invalid value for argument {name}: expected a non-negative float, but {value!r} was given."
        )
    return number
