"""How much is cut off or put on at each side of each spatial dimension."""

from kerata.core.errors import integer


def border_pairs(value, rank, name, owner):
    """`value` as one pair `(before, after)` for each spatial dimension.

    Args:
        value: an int for all sides, one int for each dimension (both sides), or one pair for each.
        rank: number of spatial dimensions.
        name, owner: for messages.

    Raises:
        ValueError: anything else, or negative numbers.
    """
    if not isinstance(value, (list, tuple)):
        n = integer(value, name, owner, minimum=0)
        return ((n, n),) * rank
    if len(value) != rank:
        raise ValueError(f"{owner}: `{name}` must have {rank} entries, one for each spatial dimension, not {value!r}.")
    return tuple(border_pair(v, name, owner) for v in value)


def border_pair(value, name, owner):
    """One int or pair of ints as a pair."""
    if not isinstance(value, (list, tuple)):
        value = (value, value)
    if len(value) != 2:
        raise ValueError(f"{owner}: an entry of `{name}` must be an integer or a pair (before, after), not {value!r}.")
    return tuple(integer(v, name, owner, minimum=0) for v in value)
