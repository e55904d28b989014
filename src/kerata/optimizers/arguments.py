"""Checks of the arguments that all optimizers take."""

import math
import operator
import warnings

import numpy as np

# Arguments of the base that are kept as given, in the order in which Keras's configs have them.
BASE = (
    "weight_decay",
    "clipnorm",
    "global_clipnorm",
    "clipvalue",
    "use_ema",
    "ema_momentum",
    "ema_overwrite_frequency",
    "loss_scale_factor",
    "gradient_accumulation_steps",
)
# In configs that Keras 2 wrote; they change nothing here.
OBSOLETE = ("is_legacy_optimizer", "jit_compile")


def reject_unknown(kwargs, owner):
    """Raise for arguments that nothing takes; those of older versions are dropped."""
    unknown = {name: value for name, value in kwargs.items() if name not in ("decay", *OBSOLETE)}
    if kwargs.get("decay") is not None:
        warnings.warn(
            f"{owner}: Argument `decay` is no longer supported and will be ignored. A learning rate that "
            "falls is a "
            "`keras.optimizers.schedules.InverseTimeDecay`.",
            stacklevel=4,
        )
    if unknown:
        hint = " The learning rate is `learning_rate`." if "lr" in unknown else ""
        raise ValueError(f"{owner}: Argument(s) not recognized: {unknown}.{hint}")


def learning_rate(value, owner):
    """A number (also a NumPy scalar or 0-d tensor) as a float."""
    if not isinstance(value, (bool, str)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise ValueError(
        f"{owner}: Argument `learning_rate` should be a number, a `LearningRateSchedule`, or a callable "
        "without "
        f"arguments that returns a number, but {value!r} was given."
    )


def number(value, name, owner, optional=False, low=None, high=None):
    """A finite number within bounds, as it was given."""
    if value is None and optional:
        return None
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise ValueError(f"{owner}: `{name}` must be a number, but {value!r} was given.")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"a float between [{low}, {high}]" if high is not None else f"at least {low}"
        raise ValueError(f"{owner}: `{name}` must be {bounds}, but {value!r} was given.")
    return value


def check_clipping(clipnorm, clipvalue, global_clipnorm, owner):
    given = {"clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": global_clipnorm}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        listed = ", ".join(f"{name}={value}" for name, value in given.items())
        raise ValueError(
            f"{owner}: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set, but {listed} were given."
        )
    for name, value in given.items():
        if not number(value, name, owner) > 0:
            raise ValueError(f"{owner}: `{name}` must be positive, but {value!r} was given.")


def averaging(use_ema, momentum, overwrite_frequency, owner):
    """`(momentum, overwrite frequency)`, checked when averages are kept."""
    if use_ema:
        number(momentum, "ema_momentum", owner, low=0, high=1)
        if overwrite_frequency is not None:
            overwrite_frequency = at_least(overwrite_frequency, 1, "ema_overwrite_frequency", owner)
    return momentum, overwrite_frequency


def accumulation(steps, owner):
    return None if steps is None else at_least(steps, 2, "gradient_accumulation_steps", owner)


def at_least(value, minimum, name, owner):
    try:
        integer = operator.index(value)
    except TypeError:
        integer = None
    if integer is None or isinstance(value, bool) or integer < minimum:
        raise ValueError(f"{owner}: `{name}` must be an integer >= {minimum} or None, but {value!r} was given.")
    return integer
