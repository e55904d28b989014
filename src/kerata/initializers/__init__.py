"""Initial values of weights. They are drawn on the host, so they are the same bits on every backend."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "initializer": ["Initializer"],
        "constants": [
            "Constant",
            "Identity",
            "IdentityInitializer=Identity",
            "Ones",
            "Zeros",
            "constant=Constant",
            "identity=Identity",
            "ones=Ones",
            "zeros=Zeros",
        ],
        "distributions": [
            "RandomNormal",
            "RandomUniform",
            "TruncatedNormal",
            "random_normal=RandomNormal",
            "random_uniform=RandomUniform",
            "truncated_normal=TruncatedNormal",
        ],
        "variance": [
            "GlorotNormal",
            "GlorotUniform",
            "HeNormal",
            "HeUniform",
            "LecunNormal",
            "LecunUniform",
            "VarianceScaling",
            "glorot_normal=GlorotNormal",
            "glorot_uniform=GlorotUniform",
            "he_normal=HeNormal",
            "he_uniform=HeUniform",
            "lecun_normal=LecunNormal",
            "lecun_uniform=LecunUniform",
            "variance_scaling=VarianceScaling",
        ],
        "orthogonal_matrix": ["Orthogonal", "OrthogonalInitializer=Orthogonal", "orthogonal=Orthogonal"],
        "fourier": ["STFT", "STFTInitializer=STFT", "stft=STFT"],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
