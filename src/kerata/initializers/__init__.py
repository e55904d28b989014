"""Initial values of weights. They are drawn on the host, so they are the same bits on every backend."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "initializer": ["Initializer"],
        "constant": ["Constant", "Identity", "Ones", "Zeros"],
        "distributions": ["RandomNormal", "RandomUniform", "TruncatedNormal"],
        "variance_scaling": [
            "GlorotNormal",
            "GlorotUniform",
            "HeNormal",
            "HeUniform",
            "LecunNormal",
            "LecunUniform",
            "VarianceScaling",
        ],
        "orthogonal": ["Orthogonal"],
        "stft": ["STFT"],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
