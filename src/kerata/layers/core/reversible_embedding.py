"""An embedding that goes both ways."""

from kerata import ops
from kerata.layers.core.embedding import Embedding
from kerata.layers.quantization.mode import mode_named
from kerata.layers.quantization.weight import Weight


class ReversibleEmbedding(Embedding):
    """An `Embedding` that also takes vectors back to scores of the integers, as language models do at their end.

    Args:
        input_dim: how many integers there are.
        output_dim: length of the vectors.
        tie_weights: use one table both ways (Press & Wolf, 2017).
        embeddings_initializer: of the tables.
        embeddings_regularizer: penalty on the tables.
        embeddings_constraint: applied after each update.
        mask_zero: 0 is padding: the output carries a mask without it.
        reverse_dtype: dtype in which scores are computed; `None`: the compute dtype.
        logit_soft_cap: cap scores by `cap * tanh(score / cap)`.

    Call arguments:
        inputs: integers; with `reverse`, vectors `(…, output_dim)`.
        reverse: give scores `(…, input_dim)`.

    >>> import kerata
    >>> layer = kerata.layers.ReversibleEmbedding(100, 8)
    >>> vectors = layer(kerata.ops.convert_to_tensor([[1, 2, 3]]))
    >>> tuple(layer(vectors, reverse=True).shape)
    (1, 3, 100)
    """

    def __init__(
        self,
        input_dim,
        output_dim,
        tie_weights=True,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        reverse_dtype=None,
        logit_soft_cap=None,
        **kwargs,
    ):
        super().__init__(
            input_dim,
            output_dim,
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            embeddings_constraint=embeddings_constraint,
            mask_zero=mask_zero,
            **kwargs,
        )
        self.tie_weights = tie_weights
        self.reverse_dtype = reverse_dtype
        self.logit_soft_cap = logit_soft_cap

    @property
    def _large_names(self):
        return ("embeddings",) if self.tie_weights else ("embeddings", "reverse_embeddings")

    def _more_weights(self):
        if self.tie_weights:
            return ()
        reverse = Weight(
            "reverse_embeddings", (self.output_dim, self.input_dim), "...d,dv->...v", flat_scale=True,
            packed=0, owns_groups=False, zero_dtype=self.variable_dtype,
        )  # fmt: skip
        return (reverse,)

    def build(self, input_shape=None):
        super().build(input_shape)
        if not self.tie_weights:
            self._add_large(
                self._weights[1],
                initializer=self.embeddings_initializer,
                regularizer=self.embeddings_regularizer,
                constraint=self.embeddings_constraint,
            )

    def compute_output_shape(self, input_shape, reverse=False):
        """`(…, output_dim)`; in `reverse`, `(…, input_dim)`."""
        if reverse:
            return (*input_shape[:-1], self.input_dim)
        return (*input_shape, self.output_dim)

    def call(self, inputs, reverse=False):
        if not reverse:
            return super().call(inputs)
        dtype = self.reverse_dtype or self.compute_dtype
        if self._is_quantized:
            weight = self._weights[0 if self.tie_weights else 1]
            scores = ops.cast(self._scores(weight, ops.cast(inputs, self.compute_dtype)), dtype)
        else:
            table = ops.transpose(self.embeddings) if self.tie_weights else self.reverse_embeddings
            scores = ops.matmul(ops.cast(inputs, dtype), ops.cast(table, dtype))
        if self.logit_soft_cap is not None:
            scores = self.logit_soft_cap * ops.tanh(scores / self.logit_soft_cap)
        return scores

    def _scores(self, weight, vectors):
        mode = mode_named(self.quantization_mode, self._modes, NotImplementedError)
        scores = mode.multiply(self, weight, vectors, None)
        if self.lora_enabled and self.tie_weights:
            scores = scores + self._adaptation(weight.equation, vectors)
        return scores

    def compute_mask(self, inputs, mask=None):
        """Where the integers aren't 0, with `mask_zero`; vectors hand on their own."""
        return mask if mask is not None else super().compute_mask(inputs, mask)
