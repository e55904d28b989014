"""What dtype a layer computes in, and what dtype its variables have."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "policy": [
            "DTypePolicy",
            "FloatDTypePolicy",
            "DTypePolicyMap",
            "get",
            "serialize",
            "deserialize",
            "dtype_policy",
            "set_dtype_policy",
        ]
    },
)
