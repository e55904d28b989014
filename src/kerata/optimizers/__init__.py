"""Optimizers: each gives its slots and a pure update; the base does the rest."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "optimizer": ["Optimizer"],
        "adadelta": ["Adadelta"],
        "adafactor": ["Adafactor"],
        "adagrad": ["Adagrad"],
        "adam": ["Adam"],
        "adamax": ["Adamax"],
        "adamw": ["AdamW"],
        "ftrl": ["Ftrl"],
        "lamb": ["Lamb"],
        "lion": ["Lion"],
        "loss_scale": ["LossScaleOptimizer"],
        "multi": ["MultiOptimizer", "OptimizerMap"],
        "muon": ["Muon"],
        "nadam": ["Nadam"],
        "rmsprop": ["RMSprop"],
        "schedule_free": ["ScheduleFreeAdamW"],
        "sgd": ["SGD"],
        "lookup": ["deserialize", "get", "serialize"],
    },
    submodules=["legacy", "schedules"],
)
