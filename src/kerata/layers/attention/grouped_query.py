"""Attention in which several query heads share one key and value head (Ainslie et al., 2023)."""

import math

from kerata import ops
from kerata.layers.attention.masks import causal_mask, combined, padding_mask, window_mask
from kerata.layers.attention.multi_head import HeadAttention


class GroupedQueryAttention(HeadAttention):
    """Multi-head attention with fewer key and value heads than query heads.

    As many key and value heads as query heads is multi-head attention; one is multi-query attention.

    Args:
        head_dim: size of a head.
        num_query_heads: number of query heads.
        num_key_value_heads: number of key and value heads, a divisor of `num_query_heads`.
        dropout: share of scores dropped in training.
        use_bias: whether the projections have biases.
        sliding_window: attend only to places fewer than so many steps away.
        flash_attention: demand (`True`) or forbid the framework's memory-saving kernel; `None`: as configured.
        kernel_initializer, bias_initializer: of the projections.
        kernel_regularizer, bias_regularizer: penalties on them.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.
        use_gate: multiply each head's result by a sigmoid of another projection of the query.
        seed: of the dropout.

    Call arguments: as of `MultiHeadAttention`.

    >>> import kerata
    >>> layer = kerata.layers.GroupQueryAttention(head_dim=4, num_query_heads=4, num_key_value_heads=2)
    >>> x = kerata.ops.ones((1, 5, 6))
    >>> tuple(layer(x, x).shape)
    (1, 5, 6)
    """

    # What files call it; weight files name it by the class's own name.
    _public_name = "GroupQueryAttention"
    _config_unless = {"flash_attention": None}

    def __init__(
        self,
        head_dim,
        num_query_heads,
        num_key_value_heads,
        dropout=0.0,
        use_bias=True,
        sliding_window=None,
        flash_attention=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_gate=False,
        seed=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.head_dim = self._count(head_dim, "head_dim")
        self.num_query_heads = self._count(num_query_heads, "num_query_heads")
        self.num_key_value_heads = self._count(num_key_value_heads, "num_key_value_heads")
        if self.num_query_heads % self.num_key_value_heads:
            raise ValueError(
                f"{self._where()}: `num_query_heads` ({num_query_heads}) must be a multiple of `num_key_value_heads` "
                f"({num_key_value_heads})."
            )
        self.use_gate = use_gate
        self._set_projections(
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            kernel_constraint,
            bias_constraint,
        )
        self._set_scores(dropout, sliding_window, flash_attention, seed)
        self._scale = 1.0 / math.sqrt(self.head_dim)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        size = self.head_dim
        self._query_dense = self._projection("query", 3, self.num_query_heads, size)
        self._key_dense = self._projection("key", 3, self.num_key_value_heads, size)
        parts = [(self._query_dense, query_shape), (self._key_dense, key_shape)]
        if self.use_gate:
            self._gate_dense = self._projection("gate", 3, self.num_query_heads, size)
            parts.append((self._gate_dense, query_shape))
        self._value_dense = self._projection("value", 3, self.num_key_value_heads, size)
        parts.append((self._value_dense, value_shape))
        self._build_scores(-1)
        self._output_dense = self._combination("attention_output", 3, (query_shape[-1],))
        parts.append((self._output_dense, (*query_shape[:-1], self.num_query_heads, size)))
        for layer, shape in parts:
            layer.build(tuple(shape))

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        key = value if key is None else key
        needs_scores = self._needs_scores(return_attention_scores, training)
        mask = self._mask(
            query, key, query_mask, value_mask, key_mask, attention_mask, use_causal_mask and needs_scores
        )
        q, k, v = self._query_dense(query), self._key_dense(key), self._value_dense(value)
        if needs_scores:
            output, scores = self._by_scores(q, k, v, mask, training)
        else:
            output, scores = self._fused(q, k, v, mask, bool(use_causal_mask)), None
        if self.use_gate:
            output = output * ops.sigmoid(self._gate_dense(query))
        output = self._output_dense(output)
        return (output, scores) if return_attention_scores else output

    def _mask(self, query, key, query_mask, value_mask, key_mask, attention_mask, causal):
        lengths = ops.shape(query)[1], ops.shape(key)[1]
        window = None if self.sliding_window is None else window_mask(*lengths, self.sliding_window)
        causal = causal_mask(*lengths) if causal else None
        return combined(padding_mask(query_mask, value_mask, key_mask), attention_mask, window, causal)

    def _by_scores(self, query, key, value, mask, training):
        """Attention by its formula; gives the scores too."""
        times = self.num_query_heads // self.num_key_value_heads
        key, value = (ops.repeat(t, times, axis=2) for t in (key, value))
        scores = ops.einsum("btnh,bsnh->bnts", query * self._scale, key)
        if mask is not None and len(mask.shape) < 4:
            mask = ops.expand_dims(mask, -3)
        scores = self._softmax(scores, mask=mask)
        kept = self._dropout_layer(scores, training=training) if self.dropout > 0 else scores
        return ops.einsum("bnts,bsnh->btnh", kept, value), scores

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        """The query's shape."""
        return tuple(query_shape)
