"""Activation functions. Most are ops of the same name; those whose signature differs are defined here."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "kerata.ops": [
            "celu",
            "elu",
            "glu",
            "hard_shrink",
            "hard_sigmoid",
            "hard_silu",
            "hard_swish=hard_silu",
            "hard_tanh",
            "leaky_relu",
            "log_sigmoid",
            "log_softmax",
            "relu6",
            "selu",
            "sigmoid",
            "silu",
            "soft_shrink",
            "softmax",
            "softplus",
            "softsign",
            "sparse_plus",
            "sparse_sigmoid",
            "sparsemax",
            "squareplus",
            "swish=silu",
            "tanh",
            "tanh_shrink",
            "threshold",
        ],
        "functions": ["exponential", "gelu", "linear", "mish", "relu"],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
