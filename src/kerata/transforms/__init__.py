"""Transformations of functions that know about variables: one training loop for every backend."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"gradient": ["grad", "value_and_grad"], "compiled": ["jit"], "batched": ["vmap"]},
)
