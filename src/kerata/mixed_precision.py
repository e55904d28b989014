"""`keras.mixed_precision`: older names of dtype policies."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "kerata.dtype_policies": [
            "DTypePolicy",
            "Policy=DTypePolicy",
            "dtype_policy",
            "global_policy=dtype_policy",
            "set_dtype_policy",
            "set_global_policy=set_dtype_policy",
        ],
        "kerata.optimizers": ["LossScaleOptimizer"],
    },
)
