"""Losses by name and config."""

from kerata.core.family import Family
from kerata.losses.function_loss import LossFunctionWrapper

_family = Family(
    "loss",
    "kerata.losses",
    "Loss",
    aliases={
        "mse": "mean_squared_error",
        "MSE": "mean_squared_error",
        "mae": "mean_absolute_error",
        "MAE": "mean_absolute_error",
        "mape": "mean_absolute_percentage_error",
        "MAPE": "mean_absolute_percentage_error",
        "msle": "mean_squared_logarithmic_error",
        "MSLE": "mean_squared_logarithmic_error",
        "bce": "binary_crossentropy",
        "BCE": "binary_crossentropy",
        "kld": "kl_divergence",
        "KLD": "kl_divergence",
        "logcosh": "log_cosh",
        "huber_loss": "huber",
    },
    instances_only=False,
)


def get(identifier):
    """A loss from its name, config, class or callable; `None` stays `None`.

    Args:
        identifier: a function's name (`"mse"`, `"mean_squared_error"`) gives the function, a class's name
            (`"MeanSquaredError"`) an instance.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import losses
    >>> losses.get("mse").__name__, losses.get("Huber").name
    ('mean_squared_error', 'huber_loss')
    """
    return _family.get(identifier)


def serialize(loss):
    """Config of a loss object or function."""
    return _family.serialize(loss)


def deserialize(name, custom_objects=None):
    """The loss that a name or config describes.

    Args:
        name: a name or a config.
        custom_objects: `{name: class or function}` of what the config may need.
    """
    if isinstance(name, dict) and name.get("class_name") == "LossFunctionWrapper":
        return LossFunctionWrapper.from_config(name["config"])
    return _family.deserialize(name, custom_objects)
