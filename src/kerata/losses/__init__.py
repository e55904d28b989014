"""Losses: classes with reduction, weights and masks, and the functions behind them."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "loss": ["Loss"],
        "absolute_error": [
            "MeanAbsoluteError",
            "MeanAbsolutePercentageError",
            "mean_absolute_error",
            "mean_absolute_percentage_error",
        ],
        "circle_loss": ["Circle", "circle"],
        "cosine": ["CosineSimilarity", "cosine_similarity"],
        "crossentropy": [
            "BinaryCrossentropy",
            "CategoricalCrossentropy",
            "SparseCategoricalCrossentropy",
            "binary_crossentropy",
            "categorical_crossentropy",
            "sparse_categorical_crossentropy",
        ],
        "ctc_loss": ["CTC", "ctc"],
        "divergence": ["KLDivergence", "Poisson", "kl_divergence", "poisson"],
        "focal": [
            "BinaryFocalCrossentropy",
            "CategoricalFocalCrossentropy",
            "binary_focal_crossentropy",
            "categorical_focal_crossentropy",
        ],
        "generalized": ["CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy"],
        "margin": [
            "CategoricalHinge",
            "Hinge",
            "SquaredHinge",
            "categorical_hinge",
            "hinge",
            "squared_hinge",
        ],
        "huber_loss": ["Huber", "huber"],
        "log_cosh_loss": ["LogCosh", "log_cosh"],
        "overlap": ["Dice", "Tversky", "dice", "tversky"],
        "squared_error": [
            "MeanSquaredError",
            "MeanSquaredLogarithmicError",
            "mean_squared_error",
            "mean_squared_logarithmic_error",
        ],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
