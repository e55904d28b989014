"""Metrics by name and config."""

from kerata.core.family import Family

_family = Family(
    "metric",
    "kerata.metrics",
    "Metric",
    aliases={
        "mse": "MeanSquaredError",
        "MSE": "MeanSquaredError",
        "mae": "MeanAbsoluteError",
        "MAE": "MeanAbsoluteError",
        "mape": "MeanAbsolutePercentageError",
        "MAPE": "MeanAbsolutePercentageError",
        "msle": "MeanSquaredLogarithmicError",
        "MSLE": "MeanSquaredLogarithmicError",
        "rmse": "RootMeanSquaredError",
        "RMSE": "RootMeanSquaredError",
        "bce": "BinaryCrossentropy",
        "BCE": "BinaryCrossentropy",
        "kld": "KLDivergence",
        "KLD": "KLDivergence",
        "logcosh": "LogCoshError",
        "auc": "AUC",
        "iou": "IoU",
        "mean_iou": "MeanIoU",
    },
)


def get(identifier):
    """A metric from its name (`"mae"`, `"MeanAbsoluteError"`), config, class or callable; or `None`.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import metrics
    >>> metrics.get("mae")
    <MeanAbsoluteError name=mean_absolute_error>
    """
    return _family.get(identifier)


def serialize(metric):
    """Config of a metric object or function."""
    return _family.serialize(metric)


def deserialize(config, custom_objects=None):
    """The metric that a config describes."""
    return _family.deserialize(config, custom_objects)
