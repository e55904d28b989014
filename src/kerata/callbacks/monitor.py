"""What callbacks share that watch one number: is it better than before?"""

import operator
import warnings

import numpy as np

from kerata import ops
from kerata.callbacks.callback import Callback

MODES = ("auto", "min", "max")


class MonitorCallback(Callback):
    """Base of callbacks that watch one of the logged numbers.

    Args:
        monitor: name of the number in the logs.
        mode: `"min"` when smaller is better, `"max"` when greater is, `"auto"` to take the metric's own
        direction.
        baseline: value to compare the first one with, or `None`.
        min_delta: change below which a number isn't better.
    """

    def __init__(self, monitor="val_loss", mode="auto", baseline=None, min_delta=0):
        if mode not in MODES:
            warnings.warn(
                f"{type(self).__name__} mode '{mode}' is unknown (known: auto, min, max); falling back to auto.",
                stacklevel=3,
            )
            mode = "auto"
        self.monitor = monitor
        self.mode = mode
        self.best = baseline
        self.min_delta = abs(min_delta)
        self.monitor_op = None

    def _set_monitor_op(self):
        up = self._greater_is_better()
        self.monitor_op = ops.greater if up else ops.less
        self.min_delta = abs(self.min_delta) if up else -abs(self.min_delta)

    def _greater_is_better(self):
        if self.mode != "auto":
            return self.mode == "max"
        name = self.monitor.removeprefix("val_")
        direction = "down" if name == "loss" or name.endswith("_loss") else _direction(self.model, name)
        if direction is None:
            raise ValueError(
                f"{type(self).__name__}: monitor={self.monitor!r} is no metric that says whether it should "
                "be maximized or minimized. Pass `mode='max'` if greater is better, `mode='min'` if smaller "
                "is."
            )
        return direction == "up"

    def _is_improvement(self, value, reference):
        if self.monitor_op is None:
            self._set_monitor_op()
        if reference is None:
            return True
        # The two usual ones on the host, where the numbers are; in float32, which is what metrics have.
        compare = {ops.greater: operator.gt, ops.less: operator.lt}.get(self.monitor_op, self.monitor_op)
        return bool(compare(np.float32(value - self.min_delta), np.float32(reference)))

    def _monitored(self, logs, meanwhile):
        """The number, or `None` with a warning when it isn't there, or is several.

        Args:
            logs: what there is.
            meanwhile: what the callback does without it, for the warning.
        """
        logs = logs or {}
        value = logs.get(self.monitor)
        problem = None
        if value is None:
            problem = f"`{self.monitor}` is not available (available: {', '.join(logs) or 'nothing'})"
        elif getattr(value, "ndim", 0) > 0:
            problem = f"`{self.monitor}` is no single number (its shape is {tuple(value.shape)})"
        if problem is None:
            return value
        warnings.warn(f"{type(self).__name__}: {problem}; {meanwhile}.", stacklevel=3)
        return None


def _direction(model, name):
    """`"up"`, `"down"` or `None`: what the metric of this name says; names of outputs may stand in front."""
    metrics = list(_flat(getattr(model, "metrics", ())))
    for fits in (lambda own: own == name, lambda own: name.endswith(f"_{own}")):
        for metric in metrics:
            if fits(metric.name) and getattr(metric, "_direction", None) is not None:
                return metric._direction
    return None


def _flat(metrics):
    for metric in metrics:
        inner = getattr(metric, "metrics", None)
        if inner:
            yield from _flat(inner)
        else:
            yield metric
