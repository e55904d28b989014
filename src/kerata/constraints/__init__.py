"""Projections of weights, applied after each optimizer step."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "constraint": ["Constraint"],
        "non_negative": ["NonNeg", "non_neg=NonNeg"],
        "norms": [
            "MaxNorm",
            "MinMaxNorm",
            "UnitNorm",
            "max_norm=MaxNorm",
            "min_max_norm=MinMaxNorm",
            "unit_norm=UnitNorm",
        ],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
