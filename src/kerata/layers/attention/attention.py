"""Attention without projections (Luong et al., 2015)."""

from kerata import ops
from kerata.core import dtypes
from kerata.layers.attention.masks import causal_mask, combined
from kerata.layers.layer import Layer
from kerata.layers.regularization.dropout import checked_rate


class Attention(Layer):
    """Weighted means of the values, by the products of queries and keys.

    Args:
        use_scale: multiply the scores by a trained number.
        score_mode: `"dot"`: scalar product; `"concat"`: a trained number times the sum of `tanh(query + key)`.
        dropout: share of weights dropped in training.
        seed: of the dropout.

    Call arguments:
        inputs: list of query `(batch, T, size)`, value `(batch, S, size)`, and optionally key `(batch, S, size)`, which
            is otherwise the value.
        mask: list of boolean masks of query `(batch, T)` and value `(batch, S)`.
        training: whether to drop weights.
        return_attention_scores: return `(output, weights)`.
        use_causal_mask: no place attends to later ones.

    Returns:
        `(batch, T, size)`.

    >>> import kerata
    >>> x = kerata.ops.ones((1, 3, 2))
    >>> tuple(kerata.layers.Attention()([x, x]).shape)
    (1, 3, 2)
    """

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                f"{self._where()}: Invalid value for argument score_mode. Expected one of {{'dot', 'concat'}}, but "
                f"{score_mode!r} was given."
            )
        self.score_mode = score_mode
        self._set_dropout(dropout, seed)
        self.scale = self.concat_score_weight = None

    def _set_dropout(self, dropout, seed):
        from kerata import random

        self.dropout = checked_rate(dropout, self)
        self.seed = seed
        if self.dropout > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = True

    def build(self, input_shape):
        self._check_inputs(input_shape)
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(name="concat_score_weight", shape=(), initializer="ones")

    def _check_inputs(self, inputs):
        if not isinstance(inputs, (list, tuple)) or (inputs and isinstance(inputs[0], (int, type(None)))):
            raise ValueError(f"{self._where()}: it must be called on a list [query, value] or [query, value, key].")
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{self._where()}: its inputs must have length 2 or 3 ([query, value] or [query, value, key]), "
                f"not {len(inputs)}."
            )

    def _calculate_scores(self, query, key):
        """`(batch, T, S)`."""
        if self.score_mode == "dot":
            scores = ops.matmul(query, ops.swapaxes(key, -1, -2))
            return scores if self.scale is None else scores * self.scale
        total = ops.expand_dims(query, -2) + ops.expand_dims(key, -3)
        total = total if self.scale is None else self.scale * total
        return self.concat_score_weight * ops.sum(ops.tanh(total), axis=-1)

    def call(self, inputs, mask=None, training=False, return_attention_scores=False, use_causal_mask=False):
        self._check_inputs(inputs)
        self._check_mask(mask, inputs)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._calculate_scores(query, key)
        weights = self._weights(scores, self._calculate_score_mask(scores, value_mask, use_causal_mask), training)
        output = ops.matmul(weights, value)
        if query_mask is not None:
            output = output * ops.cast(ops.expand_dims(query_mask, -1), output.dtype)
        return (output, weights) if return_attention_scores else output

    def _calculate_score_mask(self, scores, v_mask, use_causal_mask):
        columns = None if v_mask is None else ops.expand_dims(v_mask, -2)
        causal = causal_mask(*ops.shape(scores)[-2:]) if use_causal_mask else None
        return combined(columns, causal)

    def _weights(self, scores, keep, training):
        if keep is not None:
            # Far below any other score, within what half precision holds.
            far = 65504.0 if dtypes.standardize_dtype(scores.dtype) == "float16" else 1e9
            scores = scores - far * ops.cast(ops.logical_not(keep), scores.dtype)
        weights = ops.softmax(scores, axis=-1)
        if training and self.dropout > 0:
            from kerata import random

            weights = random.dropout(weights, self.dropout, seed=self.seed_generator)
        return weights

    def _check_mask(self, mask, inputs):
        if mask is None:
            return
        if not isinstance(mask, (list, tuple)):
            raise ValueError(
                f"{self._where()}: layer mask must be a list, with a mask for query and value, not {mask!r}."
            )
        if not 2 <= len(mask) <= 3:
            raise ValueError(
                f"{self._where()}: layer mask must be of length 2 or 3 (query, value and key), not {len(mask)}."
            )

    def compute_mask(self, inputs, mask=None):
        """The query's mask."""
        self._check_mask(mask, inputs)
        return mask[0] if mask else None

    def compute_output_spec(
        self, inputs, mask=None, return_attention_scores=False, training=None, use_causal_mask=False
    ):
        """Shapes and dtypes of the outputs."""
        return super().compute_output_spec(
            inputs,
            mask=mask,
            training=training,
            return_attention_scores=return_attention_scores,
            use_causal_mask=use_causal_mask,
        )

    def compute_output_shape(self, input_shape):
        """The query's shape, with the value's size."""
        return (*input_shape[0][:-1], input_shape[1][-1])
