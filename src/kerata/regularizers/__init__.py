"""Penalties on weights and outputs, added to the loss."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "regularizer": ["Regularizer"],
        "norms": ["L1", "L1L2", "L2", "l1=L1", "l1_l2=L1L2", "l2=L2"],
        "orthogonal": ["OrthogonalRegularizer", "orthogonal_regularizer=OrthogonalRegularizer"],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
