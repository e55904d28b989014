"""`CategoryEncoding`: numbers of categories to vectors."""

from kerata import ops
from kerata.core import errors
from kerata.graph.tensor import KerasTensor
from kerata.layers.preprocessing import encoding
from kerata.layers.preprocessing.encoding import EncodingLayer


class CategoryEncoding(EncodingLayer):
    """Numbers of categories as one-hot vectors, as multi-hot vectors or as counts.

    Args:
        num_tokens: number of categories; the numbers are 0 … `num_tokens - 1`. Others count nowhere.
        output_mode: `"one_hot"`: a vector for each number. `"multi_hot"`: a vector for each example, with 1 for every category
            that is in it. `"count"`: the same with the number of times.
        sparse: return sparse tensors (TensorFlow, JAX).

    Call arguments:
        inputs: integers, of shape `(n,)` (one example) or `(batch, n)`.
        count_weights: with `"count"`, what each number counts instead of 1; of `inputs`' shape.

    Output: `(num_tokens,)`, `(batch, num_tokens)`; with `"one_hot"` of `inputs`' shape and one dimension more, but a last dimension of
    1 is dropped first.

    Raises:
        ValueError: no or a bad `num_tokens`, an unknown `output_mode`, or weights where none are used.

    >>> import kerata
    >>> layer = kerata.layers.CategoryEncoding(4, output_mode="count")
    >>> kerata.ops.convert_to_numpy(layer([[0, 1, 1], [3, 3, 3]])).tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0]]
    """

    _config_unless = {"sparse": False}

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        if output_mode == "binary":
            output_mode = "multi_hot"  # its name in Keras 2
        super().__init__(output_mode=output_mode, sparse=sparse, **kwargs)
        owner = self._where()
        if output_mode not in ("one_hot", "multi_hot", "count"):
            raise ValueError(
                f"{owner}: Unknown arg for output_mode: {output_mode}. It must be 'one_hot', 'multi_hot' or 'count'."
                + errors.nearest(output_mode, ("one_hot", "multi_hot", "count"))
            )
        if num_tokens is None:
            raise ValueError(f"{owner}: num_tokens must be set to use this layer: the number of categories.")
        num_tokens = errors.integer(num_tokens, "num_tokens", owner)
        if num_tokens < 1:
            raise ValueError(f"{owner}: `num_tokens` must be >= 1, but {num_tokens} was given.")
        self.num_tokens = num_tokens

    def _depth(self):
        return self.num_tokens

    def _needs(self, name):
        # JAX takes longer to copy long vectors than to make them.
        return super()._needs(name) or (name == "jax" and self.output_mode == "one_hot")

    def call(self, inputs, count_weights=None):
        self._check_weights(count_weights)
        weights = None if count_weights is None else ops.cast(count_weights, self.compute_dtype)
        return self._encode(inputs, weights)

    def _encode(self, inputs, weights=None):
        return self._encoded(encoding.cast(inputs, "int32"), weights=weights)

    def _check_weights(self, count_weights):
        if count_weights is not None and self.output_mode != "count":
            raise ValueError(
                f"{self._where()}: `count_weights` is not used when `output_mode` is not 'count'; it is {self.output_mode!r}."
            )

    def compute_output_spec(self, inputs, count_weights=None):
        self._check_weights(count_weights)
        return KerasTensor(self.compute_output_shape(inputs.shape), self.compute_dtype, sparse=self.sparse)
