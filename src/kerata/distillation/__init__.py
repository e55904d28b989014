"""Distillation: a small model learns from a large one."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "distillation_losses": ["DistillationLoss", "FeatureDistillation", "LogitsDistillation"],
        "distilling": ["Distiller"],
    },
)
