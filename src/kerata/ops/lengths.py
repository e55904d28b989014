"""Lengths of dimensions: numbers, and scalar tensors where they aren't known before a graph runs."""

from kerata.ops.elementwise import maximum, minimum


def least(a, b):
    """The smaller of two lengths: a number if both are."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else minimum(a, b)


def most(a, b):
    """The larger of two lengths: a number if both are."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else maximum(a, b)
