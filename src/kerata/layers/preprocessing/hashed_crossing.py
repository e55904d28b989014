"""`HashedCrossing`: combinations of categories to buckets."""

from kerata import backends, ops
from kerata.core import dtypes, errors
from kerata.graph.tensor import KerasTensor
from kerata.layers.preprocessing import encoding
from kerata.layers.preprocessing.hashing import HashingLayer, named
from kerata.layers.preprocessing.host_layer import as_array
from kerata.ops.hashing import cross_buckets


class HashedCrossing(HashingLayer):
    """Puts combinations of features into buckets: what two or more categories are together, by the hash of all of them.

    The buckets are those of TensorFlow's `sparse.cross_hashed`, on every backend.

    Args:
        num_bins: number of buckets.
        output_mode: `"int"`: the bucket's number; `"one_hot"`: a vector with a 1 there.
        sparse: return sparse tensors (TensorFlow, JAX).
        name: name.
        dtype: dtype of the result; by default int64 for numbers, float32 for vectors.

    Input: a list of two or more features, strings or integers, all of shape `()`, `(batch,)` or `(batch, 1)`. Output: of the same shape,
    or `(batch, num_bins)`.

    Raises:
        ValueError: a bad `num_bins` or `output_mode`, one feature alone, features that aren't dense integers or strings of one shape.

    >>> import kerata
    >>> layer = kerata.layers.HashedCrossing(num_bins=5)
    >>> kerata.ops.convert_to_numpy(layer((["A", "B", "A"], [101, 101, 102]))).tolist()
    [1, 4, 3]
    """

    def __init__(self, num_bins, output_mode="int", sparse=False, name=None, dtype=None, **kwargs):
        owner = named(self, name)
        num_bins = errors.positive_int(num_bins, "num_bins", owner)
        errors.one_of(output_mode, ("int", "one_hot"), "output_mode", owner)
        super().__init__(num_bins, output_mode=output_mode, sparse=sparse, name=name, dtype=dtype, **kwargs)

    def _received(self, inputs, b):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"{self._where()}: HashedCrossing should be called on a list or tuple of features, but "
                f"{type(inputs).__name__} was given."
            )
        if len(inputs) < 2:
            raise ValueError(f"{self._where()}: at least two inputs are needed to cross, but {len(inputs)} was given.")
        return [as_array(x, b, self._where()) for x in inputs]

    def call(self, inputs):
        self._check(inputs)
        if any(map(encoding.text_dtype, inputs)):
            self._check_text(next(x for x in inputs if encoding.text_dtype(x)))
            crossed = backends.current().cross_text(inputs, self.num_bins)
        else:
            crossed = cross_buckets(ops.stack([ops.cast(x, "int64") for x in inputs], axis=-1), self.num_bins)
        return self._encoded(crossed)

    def _check(self, inputs):
        for x in inputs:
            if not hasattr(x, "shape") or hasattr(x, "dense_shape") or hasattr(x, "flat_values"):
                raise ValueError(
                    f"{self._where()}: All inputs should be dense tensors, but {type(x).__name__} was given."
                )
        shapes = [tuple(x.shape) for x in inputs]
        if any(len(s) != len(shapes[0]) or not _agree(s, shapes[0]) for s in shapes):
            raise ValueError(
                f"{self._where()}: All inputs should have equal shape, but they have {errors.format_shapes(shapes)}."
            )
        if len(shapes[0]) > 2 or (len(shapes[0]) == 2 and shapes[0][1] != 1):
            raise ValueError(
                f"{self._where()}: All inputs should have shape `()`, `(batch_size,)` or `(batch_size, 1)`, but have {shapes[0]}."
            )
        for x in inputs:
            if not encoding.text_dtype(x) and not dtypes.is_int(x.dtype):
                raise ValueError(
                    f"{self._where()}: All inputs should have an integer or string dtype, but one has "
                    f"{dtypes.standardize_dtype(x.dtype)}."
                )

    def compute_output_shape(self, input_shape):
        return super().compute_output_shape(tuple(input_shape[0]))

    def compute_output_spec(self, inputs):
        self._check(inputs)
        return KerasTensor(self.compute_output_shape([x.shape for x in inputs]), self.compute_dtype, sparse=self.sparse)

    def get_config(self):
        return {
            "num_bins": self.num_bins,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": self.dtype,
        }


def _agree(a, b):
    return all(m == n or m is None or n is None for m, n in zip(a, b, strict=True))
