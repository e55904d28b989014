"""Reading and changing an optimizer's learning rate."""

import numpy as np


def get_rate(model):
    """The learning rate as a Python float."""
    rate = model.optimizer.learning_rate
    return float(rate.numpy() if hasattr(rate, "numpy") else np.asarray(rate))


def check_settable(model, owner):
    """Raise unless the model has an optimizer with a learning rate."""
    if not hasattr(getattr(model, "optimizer", None), "learning_rate"):
        raise ValueError(f"{owner}: the model's optimizer must have a `learning_rate` attribute.")
