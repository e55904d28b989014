"""Projections of weights, applied after each optimizer step."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "constraint": ["Constraint"],
        "non_negative": ["NonNeg"],
        "norms": ["MaxNorm", "MinMaxNorm", "UnitNorm"],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
