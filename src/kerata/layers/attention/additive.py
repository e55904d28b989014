"""Additive attention (Bahdanau et al., 2014)."""

from kerata import ops
from kerata.layers.attention.attention import Attention
from kerata.layers.shapes import known_size


class AdditiveAttention(Attention):
    """Weighted means of the values, by sums of `scale * tanh(query + key)`.

    Args:
        use_scale: weigh the features of the sum by a trained vector.
        dropout: share of weights dropped in training.

    Call arguments: as of `Attention`.

    >>> import kerata
    >>> x = kerata.ops.ones((1, 3, 2))
    >>> tuple(kerata.layers.AdditiveAttention()([x, x]).shape)
    (1, 3, 2)
    """

    def __init__(self, use_scale=True, dropout=0.0, **kwargs):
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape):
        self._check_inputs(input_shape)
        if self.use_scale:
            size = known_size(self, input_shape[0], -1, "scale")
            self.scale = self.add_weight(name="scale", shape=(size,), initializer="glorot_uniform")

    def _calculate_scores(self, query, key):
        total = ops.tanh(ops.expand_dims(query, -2) + ops.expand_dims(key, -3))
        return ops.sum(total if self.scale is None else self.scale * total, axis=-1)

    def get_config(self):
        config = super().get_config()
        config.pop("score_mode", None)
        return config
