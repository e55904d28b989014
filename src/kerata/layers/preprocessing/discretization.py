"""`Discretization`: numbers to the numbers of the bins they fall into."""

import numpy as np

from kerata import ops
from kerata.core import errors
from kerata.layers.preprocessing import encoding
from kerata.layers.preprocessing.adapting import Adapting, host_array
from kerata.layers.preprocessing.encoding import EncodingLayer

MODES = ("int", "one_hot", "multi_hot", "count")


class Discretization(Adapting, EncodingLayer):
    """Puts numbers into bins.

    Args:
        bin_boundaries: ascending boundaries; `[0, 1]` makes the bins `x < 0`, `0 ≤ x < 1` and `1 ≤ x`.
        num_bins: how many bins `adapt` makes, of about as many values each.
        epsilon: how far the share of a bin may be from even, a small number; a smaller one takes more memory.
        output_mode: `"int"`: the bin's number; `"one_hot"`, `"multi_hot"`, `"count"`: as in `CategoryEncoding`.
        sparse: return sparse tensors (TensorFlow, JAX).
        dtype: dtype in which numbers are compared, and of encodings.
        name: name.

    Input: numbers of any shape. Output: int32 of the same shape, or an encoding.

    Raises:
        ValueError: both or none of `bin_boundaries` and `num_bins`; boundaries that don't ascend; NaN in `adapt`; a call before
            there are boundaries.

    >>> import kerata
    >>> layer = kerata.layers.Discretization(bin_boundaries=[0.0, 0.5, 1.0])
    >>> kerata.ops.convert_to_numpy(layer([-1.0, 0.0, 0.6, 7.0])).tolist()
    [0, 1, 2, 3]
    >>> layer = kerata.layers.Discretization(num_bins=2)
    >>> layer.adapt([1.0, 2.0, 3.0, 4.0])
    >>> kerata.ops.convert_to_numpy(layer([1.5, 3.5])).tolist()
    [0, 1]
    """

    def __init__(
        self,
        bin_boundaries=None,
        num_bins=None,
        epsilon=0.01,
        output_mode="int",
        sparse=False,
        dtype=None,
        name=None,
        **kwargs,
    ):
        super().__init__(output_mode=output_mode, sparse=sparse, name=name, dtype=dtype, **kwargs)
        owner = self._where()
        errors.one_of(output_mode, MODES, "output_mode", owner)
        if bin_boundaries is not None and num_bins is not None:
            raise ValueError(
                f"{owner}: Both `num_bins` and `bin_boundaries` were given ({num_bins!r} and {bin_boundaries!r}): give the "
                "boundaries, or the number of bins and call `adapt`."
            )
        if bin_boundaries is None and num_bins is None:
            raise ValueError(f"{owner}: either `num_bins` or `bin_boundaries` must be given.")
        if num_bins is not None:
            num_bins = errors.positive_int(num_bins, "num_bins", owner)
        if bin_boundaries is not None:
            bin_boundaries = _ascending(bin_boundaries, owner)
        self.num_bins = num_bins
        self.epsilon = epsilon
        self.bin_boundaries = bin_boundaries
        self.reset_state()

    @property
    def input_dtype(self):
        return self.compute_dtype

    @property
    def output_dtype(self):
        return "int32" if self.output_mode == "int" else self.compute_dtype

    def _output_dtype(self):
        return self.output_dtype

    def _depth(self):
        return self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1

    def reset_state(self):
        """Forget the data seen by `update_state`."""
        self.__dict__["summary"] = np.zeros((2, 0), "float32")

    def update_state(self, data):
        """Take a batch into the summary of all data.

        Args:
            data: array of numbers of any shape.

        Raises:
            ValueError: NaN among them, or the layer has fixed boundaries.
        """
        if self.num_bins is None:
            raise ValueError(f"{self._where()}: its `bin_boundaries` were given, so there is nothing to adapt.")
        values = host_array(data) if hasattr(data, "shape") else np.asarray(data)
        values = values.astype("float32").ravel()
        if np.isnan(values).any():
            raise ValueError(
                f"{self._where()}: `adapt` was given NaN ({np.isnan(values).sum()} of {len(values)} values)."
            )
        self.__dict__["summary"] = _merged(self.summary, _summary(values, self.epsilon), self.epsilon)

    def finalize_state(self):
        """Make the boundaries from the data seen."""
        if self.num_bins is None or self.summary.shape[1] == 0:
            return
        self.bin_boundaries = _compressed(self.summary, 1.0 / self.num_bins)[0][:-1].tolist()

    def _adapt(self, stream):
        if self.num_bins is None:
            self.update_state(())
        super()._adapt(stream)

    def call(self, inputs):
        if self.bin_boundaries is None:
            raise ValueError(
                f"{self._where()}: You need to call `adapt` on data first (or give `bin_boundaries`): it has no boundaries yet."
            )
        if not self.bin_boundaries:
            indices = ops.zeros_like(inputs, dtype="int32")
        else:
            boundaries = np.asarray(self.bin_boundaries, "float32")
            indices = encoding.of_values(
                lambda x: ops.searchsorted(ops.cast(boundaries, "float32"), ops.cast(x, "float32"), side="right"),
                inputs,
            )
        return self._encoded(indices)

    def get_config(self):
        return {
            "bin_boundaries": self.bin_boundaries,
            "num_bins": self.num_bins,
            "epsilon": self.epsilon,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": self.dtype,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if config.get("bin_boundaries") is not None and config.get("num_bins") is not None:
            # Boundaries that were adapted.
            config = dict(config)
            boundaries = config.pop("bin_boundaries")
            layer = cls(**config)
            layer.bin_boundaries = list(boundaries)
            return layer
        return cls(**config)

    def load_own_variables(self, store):
        if len(store.keys()) == 1:
            # Files of early releases kept the summary as a weight.
            self.__dict__["summary"] = np.asarray(store["0"])


def _ascending(boundaries, owner):
    boundaries = [float(b) for b in np.asarray(boundaries).ravel()]
    if any(np.isnan(boundaries)) or any(b < a for a, b in zip(boundaries, boundaries[1:], strict=False)):
        raise ValueError(f"{owner}: `bin_boundaries` must ascend, but {boundaries} were given.")
    return boundaries


# A summary is two rows: ascending values, and how many data each stands for.


def _summary(values, epsilon):
    """Summary of a batch: about `1 / epsilon` of its values, evenly spaced in order, each for those up to it."""
    values = np.sort(values)
    share = max(len(values) * epsilon, 1)
    kept = values[int(share) - 1 :: int(share)]
    return np.stack([kept, np.full(len(kept), share, "float32")])


def _merged(a, b, epsilon):
    """Summary of the data of two summaries."""
    both = np.concatenate([a, b], axis=1)
    return _compressed(both[:, np.argsort(both[0], kind="stable")], epsilon)


def _compressed(summary, epsilon):
    """The summary with about `1 / epsilon` values, interpolated where its cumulative weights are even shares of the whole."""
    values, weights = summary
    if len(values) * epsilon < 1:
        return summary
    shares = epsilon + np.arange(0.0, 1.0, epsilon)
    cumulative = np.cumsum(weights)
    at = np.interp(shares, cumulative / cumulative[-1], values)
    reached = np.interp(shares, cumulative / cumulative[-1], cumulative)
    return np.stack([at, np.diff(reached, prepend=0)]).astype("float32")
