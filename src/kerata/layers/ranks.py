"""Families of layers for 1, 2 and 3 spatial dimensions, written once."""

import types

from kerata.core import config
from kerata.core.errors import one_of


class ForRank:
    """A base whose subclasses say `rank=2`, and get the constructor with defaults of that rank.

    `spatial` names the arguments that are one number for each dimension: a subclass of rank 2 has the default `(1, 1)`
    where the base has 1.
    """

    rank = None
    spatial = ()

    def __init_subclass__(cls, rank=None, **kwargs):
        super().__init_subclass__(**kwargs)
        if rank is not None:
            cls.rank = rank
            if "__init__" not in cls.__dict__ and rank > 1:
                cls.__init__ = _with_rank(cls.__init__, rank, cls.spatial)


def _with_rank(init, rank, names):
    """The constructor with tuples of `rank` numbers for defaults of `names`."""
    defaults = list(init.__defaults__ or ())
    arguments = init.__code__.co_varnames[: init.__code__.co_argcount]
    first = len(arguments) - len(defaults)
    for name in names:
        at = arguments.index(name) - first
        if at >= 0 and isinstance(defaults[at], int):
            defaults[at] = (defaults[at],) * rank
    made = types.FunctionType(init.__code__, init.__globals__, init.__name__, tuple(defaults), init.__closure__)
    made.__kwdefaults__ = init.__kwdefaults__
    made.__qualname__ = init.__qualname__
    made.__module__ = init.__module__
    return made


def standardize_padding(padding, owner, causal=False):
    """`"valid"` or `"same"` (or `"causal"`), in lower case."""
    choices = ("valid", "same", "causal") if causal else ("valid", "same")
    if isinstance(padding, str):
        padding = padding.lower()
    return one_of(padding, choices, "padding", owner)


def standardize_data_format(data_format):
    return config.standardize_data_format(data_format)
