"""Learning rates that change with the step."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "schedule": ["LearningRateSchedule"],
        "cosine": ["CosineDecay", "CosineDecayRestarts"],
        "exponential": ["ExponentialDecay"],
        "inverse_time": ["InverseTimeDecay"],
        "piecewise": ["PiecewiseConstantDecay"],
        "polynomial": ["PolynomialDecay"],
        "lookup": ["deserialize", "serialize"],
    },
)
