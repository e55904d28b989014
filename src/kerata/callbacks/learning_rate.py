"""Reading and changing optimizers' learning rates."""

import numpy as np


def rated_optimizers(model, owner):
    """The model's optimizer, or those that it hands the variables to.

    Args:
        model: compiled model.
        owner: the callback named in messages.

    Raises:
        ValueError: one has no learning rate.
    """
    optimizer = getattr(model, "optimizer", None)
    found = getattr(getattr(optimizer, "inner_optimizer", optimizer), "optimizers", None) or [optimizer]
    for one in found:
        if not hasattr(one, "learning_rate"):
            raise ValueError(f"{owner}: the model's optimizer must have a `learning_rate` attribute.")
    return list(found)


def get_rate(optimizer):
    """The learning rate as a Python float."""
    rate = optimizer.learning_rate
    return float(rate.numpy() if hasattr(rate, "numpy") else np.asarray(rate))


def rates(optimizers):
    """`{"learning_rate": rate}` for the logs; of several optimizers `learning_rate_` and the name of each."""
    if len(optimizers) == 1:
        return {"learning_rate": get_rate(optimizers[0])}
    return {f"learning_rate_{one.name}": get_rate(one) for one in optimizers}
