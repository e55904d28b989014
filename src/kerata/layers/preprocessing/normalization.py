"""`Normalization`: features shifted to mean 0 and scaled to variance 1."""

import numpy as np

from kerata import ops
from kerata.core import config
from kerata.layers.preprocessing.adapting import Adapting, host_array
from kerata.layers.preprocessing.data_layer import DataLayer, build_at_home


class Normalization(Adapting, DataLayer):
    """`(inputs - mean) / sqrt(variance)`, each feature by its own mean and variance.

    Args:
        axis: axis or axes whose every place has its own mean and variance; `None`: one for all numbers.
        mean: mean, if it's known; a number, or an array that broadcasts over `axis`.
        variance: variance, likewise; both or none.
        invert: compute `inputs * sqrt(variance) + mean` instead.

    Without `mean` and `variance` call `adapt` on data first. Mean and variance are accumulated in float64, batch by batch.

    Input: numbers of any shape. Output: the same shape, floating.

    Raises:
        ValueError: an axis that isn't there, only one of `mean` and `variance`, NaN in `adapt`, data of another shape.

    >>> import kerata
    >>> layer = kerata.layers.Normalization()
    >>> layer.adapt([[0.0, 7.0], [2.0, 7.0], [4.0, 10.0]])
    >>> kerata.ops.convert_to_numpy(layer.mean).tolist()
    [[2.0, 8.0]]
    >>> layer = kerata.layers.Normalization(mean=5.0, variance=4.0)
    >>> kerata.ops.convert_to_numpy(layer([[3.0, 7.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**kwargs)
        self.axis = () if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        if (mean is None) != (variance is None):
            raise ValueError(
                f"{self._where()}: both `mean` and `variance` must be set, or neither; given: mean={mean!r}, variance={variance!r}."
            )
        self.input_mean, self.input_variance = mean, variance
        self.invert = invert
        self.supports_masking = True
        self._input_shape = self._total = None

    # ------------------------------------------------------------- shapes

    def build(self, input_shape):
        rank = len(input_shape)
        if any(not -rank <= a < rank for a in self.axis):
            raise ValueError(
                f"{self._where()}: All `axis` values must be in the range [-{rank}, {rank}) of the {rank} dimensions of the "
                f"inputs {tuple(input_shape)}, but `axis` is {self.axis}."
            )
        kept = sorted(a % rank for a in self.axis)
        if any(input_shape[a] is None for a in kept):
            raise ValueError(
                f"{self._where()}: All `axis` values to be kept must have a known size, but the inputs' shape is "
                f"{tuple(input_shape)} and `axis` is {self.axis}."
            )
        self._kept = kept
        self._reduced = tuple(a for a in range(rank) if a not in kept)
        self._own_shape = tuple(input_shape[a] for a in kept)
        self._broadcast_shape = tuple(input_shape[a] if a in kept else 1 for a in range(rank))
        self._input_shape = tuple(input_shape)
        if self.input_mean is not None:
            self._fixed = self._of_axes(self.input_mean, "mean"), self._of_axes(self.input_variance, "variance")
            return
        self.adapt_mean = self.add_weight(self._own_shape, "zeros", name="mean", trainable=False)
        self.adapt_variance = self.add_weight(self._own_shape, "ones", name="variance", trainable=False)
        # A place in files that Keras keeps too.
        self.count = self.add_weight((), "zeros", dtype="int32", name="count", trainable=False)

    def _of_axes(self, value, name):
        """A given mean or variance for the inputs: it stands along the last of the kept axes."""
        value = host_array(ops.convert_to_numpy(value)).astype("float32")
        if value.ndim > len(self._kept) and value.shape != self._broadcast_shape:
            raise ValueError(
                f"{self._where()}: The rank of `{name}` must be less than or equal to the number of axes ({len(self._kept)}), "
                f"but its shape is {value.shape} and `axis` is {self.axis}."
            )
        try:
            if value.shape != self._broadcast_shape:
                value = np.broadcast_to(value, self._own_shape).reshape(self._broadcast_shape)
        except ValueError:
            raise ValueError(
                f"{self._where()}: `{name}` of shape {value.shape} doesn't broadcast to {self._own_shape}, the inputs' shape along "
                f"`axis` {self.axis}."
            ) from None
        return np.ascontiguousarray(value)

    @property
    def mean(self):
        """Mean, in a shape that broadcasts with the inputs; `None` before the layer is built."""
        return None if not self.built else ops.reshape(self._moments()[0], self._broadcast_shape)

    @property
    def variance(self):
        """Variance, likewise."""
        return None if not self.built else ops.reshape(self._moments()[1], self._broadcast_shape)

    def _moments(self):
        """Mean and variance, in shapes that broadcast with the inputs."""
        if self.input_mean is not None:
            return self._fixed
        moments = self.adapt_mean, self.adapt_variance
        if self._kept == list(range(len(self._input_shape)))[-len(self._kept) :]:
            return moments
        return tuple(ops.reshape(v, self._broadcast_shape) for v in moments)

    def __call__(self, inputs, **kwargs):
        if isinstance(inputs, (list, tuple, int, float)):
            inputs = ops.convert_to_tensor(inputs)
        build_at_home(self, inputs)
        return super().__call__(inputs, **kwargs)

    def call(self, inputs):
        dtype = self.compute_dtype
        mean, variance = (ops.cast(v, dtype) for v in self._moments())
        x = ops.cast(inputs, dtype)
        deviation = ops.maximum(ops.sqrt(variance), config.epsilon())
        return x * deviation + mean if self.invert else (x - mean) / deviation

    def compute_output_shape(self, input_shape):
        return input_shape

    # ------------------------------------------------------------- adapt

    def reset_state(self):
        """Forget the data seen by `update_state`."""
        self._total = None

    def update_state(self, data):
        """Take a batch into mean and variance.

        Args:
            data: array of the inputs' shape.

        Raises:
            ValueError: NaN, another shape than before, or a layer whose mean and variance were given.
        """
        if self.input_mean is not None:
            raise ValueError(f"{self._where()}: can't adapt: its `mean` and `variance` were given.")
        data = host_array(data) if hasattr(data, "shape") else np.asarray(data)
        if not self.built:
            self.build(data.shape)
        expected = [self._input_shape[a] for a in self._kept]
        if len(data.shape) != len(self._input_shape) or [data.shape[a] for a in self._kept] != expected:
            raise ValueError(
                f"{self._where()}: the layer was built for inputs of shape {self._input_shape}, but `adapt` was given data of an "
                f"incompatible shape {data.shape}."
            )
        data = data.astype("float64")
        count = int(np.prod([data.shape[a] for a in self._reduced]))
        if not count:
            return
        mean = data.mean(axis=self._reduced)
        if np.isnan(mean).any():
            raise ValueError(
                f"{self._where()}: `adapt` was given NaN ({int(np.isnan(data).sum())} of {data.size} numbers)."
            )
        self._total = _together(self._total, (count, mean, data.var(axis=self._reduced)))

    def finalize_state(self):
        """Set mean and variance from the data seen."""
        if self.input_mean is not None or self._total is None:
            return
        _, mean, variance = self._total
        self.adapt_mean.assign(mean.astype(self.adapt_mean.dtype))
        self.adapt_variance.assign(variance.astype(self.adapt_variance.dtype))

    def _adapt(self, stream):
        if self.input_mean is not None:
            self.update_state(())
        super()._adapt(stream)

    # ------------------------------------------------------------- config

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
            "invert": self.invert,
            "mean": _plain(self.input_mean),
            "variance": _plain(self.input_variance),
        }


def _together(a, b):
    """Count, mean and variance of two sets of data from those of each (Chan, Golub and LeVeque, 1979)."""
    if a is None:
        return b
    (m, mean_a, var_a), (n, mean_b, var_b) = a, b
    difference = mean_b - mean_a
    mean = mean_a + difference * (n / (m + n))
    variance = (m * var_a + n * var_b + difference**2 * (m * n / (m + n))) / (m + n)
    return m + n, mean, variance


def _plain(value):
    if value is None or isinstance(value, (int, float)):
        return value
    return (np.asarray(value) if isinstance(value, (list, tuple)) else host_array(value)).tolist()
