"""A rate for each stretch of steps."""

from kerata import ops
from kerata.optimizers.schedules.schedule import LearningRateSchedule


class PiecewiseConstantDecay(LearningRateSchedule):
    """`values[0]` up to and with step `boundaries[0]`, then `values[1]` up to `boundaries[1]`, …

    Args:
        boundaries: increasing step numbers.
        values: the rates, one more than boundaries.
        name: name.

    Raises:
        ValueError: when the two lengths don't fit or boundaries don't increase.

    >>> from kerata.optimizers import schedules
    >>> rate = schedules.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(step)) for step in (10, 11, 21)]
    [1.0, 0.5, 0.25]
    """

    def __init__(self, boundaries, values, name="PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "PiecewiseConstantDecay: The length of boundaries should be 1 less than the length of "
                "values, but "
                f"there are {len(boundaries)} boundaries and {len(values)} values."
            )
        if any(after <= before for before, after in zip(boundaries, boundaries[1:], strict=False)):
            raise ValueError(f"PiecewiseConstantDecay: `boundaries` must increase, but {boundaries!r} were given.")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step):
        step = ops.cast(step, "float32")
        rate = ops.convert_to_tensor(self.values[-1], dtype="float32")
        for boundary, value in reversed(list(zip(self.boundaries, self.values[:-1], strict=True))):
            rate = ops.where(step <= boundary, ops.convert_to_tensor(value, dtype="float32"), rate)
        return rate
