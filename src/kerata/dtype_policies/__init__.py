"""What dtype a layer computes in, what dtype its variables have, and how they are quantized."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "policy": [
            "DTypePolicy",
            "FloatDTypePolicy",
            "get",
            "serialize",
            "deserialize",
            "dtype_policy",
            "set_dtype_policy",
        ],
        "policy_map": ["DTypePolicyMap"],
        "quantized": [
            "AWQDTypePolicy",
            "GPTQDTypePolicy",
            "Int4DTypePolicy",
            "QuantizedDTypePolicy",
            "QuantizedFloat8DTypePolicy",
        ],
    },
)
