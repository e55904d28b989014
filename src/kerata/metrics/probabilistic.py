"""How well predicted distributions fit."""

from kerata.losses import (
    binary_crossentropy,
    categorical_crossentropy,
    kl_divergence,
    poisson,
    sparse_categorical_crossentropy,
)
from kerata.metrics.mean import MeanMetricWrapper


class KLDivergence(MeanMetricWrapper):
    """Mean Kullback-Leibler divergence of predicted from true distributions.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.KLDivergence()([[0.5, 0.5]], [[0.5, 0.5]]))
    0.0
    """

    def __init__(self, name="kl_divergence", dtype=None):
        super().__init__(kl_divergence, name=name, dtype=dtype)


class Poisson(MeanMetricWrapper):
    """Mean of minus the log-likelihood of counts under predicted rates.

    Args:
        name, dtype: see `Metric`.

    >>> from kerata import metrics
    >>> float(metrics.Poisson()([[0.0, 0.0]], [[1.0, 3.0]]))
    2.0
    """

    def __init__(self, name="poisson", dtype=None):
        super().__init__(poisson, name=name, dtype=dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """Mean crossentropy of yes-or-no targets.

    Args:
        name, dtype: see `Metric`.
        from_logits: whether predictions are logits rather than probabilities.
        label_smoothing: how far, from 0 to 1, targets are moved towards 1/2.

    >>> from kerata import metrics
    >>> round(float(metrics.BinaryCrossentropy()([[1.0]], [[0.5]])), 4)
    0.6931
    """

    def __init__(self, name="binary_crossentropy", dtype=None, from_logits=False, label_smoothing=0):
        super().__init__(
            binary_crossentropy,
            name=name,
            dtype=dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing


class CategoricalCrossentropy(MeanMetricWrapper):
    """Mean crossentropy of one-hot targets.

    Args:
        name, dtype: see `Metric`.
        from_logits: whether predictions are logits rather than probabilities.
        label_smoothing: how far, from 0 to 1, targets are moved towards the uniform distribution.
        axis: axis of the classes.

    >>> from kerata import metrics
    >>> round(float(metrics.CategoricalCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]])), 4)
    0.6931
    """

    def __init__(self, name="categorical_crossentropy", dtype=None, from_logits=False, label_smoothing=0, axis=-1):
        super().__init__(
            categorical_crossentropy,
            name=name,
            dtype=dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """Mean crossentropy of targets that are class numbers.

    Args:
        name, dtype: see `Metric`.
        from_logits: whether predictions are logits rather than probabilities.
        ignore_class: class number whose places don't count, or `None`.
        axis: axis of the classes.

    >>> from kerata import metrics
    >>> round(float(metrics.SparseCategoricalCrossentropy()([1], [[0.5, 0.5]])), 4)
    0.6931
    """

    def __init__(
        self,
        name="sparse_categorical_crossentropy",
        dtype=None,
        from_logits=False,
        ignore_class=None,
        axis=-1,
    ):
        super().__init__(
            sparse_categorical_crossentropy,
            name=name,
            dtype=dtype,
            from_logits=from_logits,
            ignore_class=ignore_class,
            axis=axis,
        )
        self.from_logits = from_logits
        self.ignore_class = ignore_class
        self.axis = axis
