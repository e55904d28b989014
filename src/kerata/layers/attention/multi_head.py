"""Multi-head attention (Vaswani et al., 2017)."""

import math
import string

from kerata import constraints, initializers, ops, regularizers
from kerata.core import config
from kerata.core.errors import positive_int
from kerata.core.masks import get_mask
from kerata.layers.activations.softmax import Softmax
from kerata.layers.attention.masks import causal_mask, combined, padding_mask, window_mask
from kerata.layers.core.einsum_dense import EinsumDense
from kerata.layers.layer import Layer
from kerata.layers.regularization.dropout import Dropout, checked_rate


class HeadAttention(Layer):
    """What attention with several heads shares: the projections' arguments, and the choice of the kernel."""

    def _count(self, value, name):
        """A positive integer."""
        try:
            return positive_int(value, name, self._where())
        except ValueError:
            raise ValueError(
                f"{self._where()}: the argument `{name}` must be a positive integer, but {value!r} was given."
            ) from None

    def _set_projections(
        self,
        use_bias,
        kernel_initializer,
        bias_initializer,
        kernel_regularizer,
        bias_regularizer,
        kernel_constraint,
        bias_constraint,
    ):
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.supports_masking = True

    def _set_scores(self, dropout, sliding_window, flash_attention, seed):
        self.dropout = checked_rate(dropout, self)
        self.sliding_window = sliding_window
        if sliding_window is not None:
            self.sliding_window = positive_int(sliding_window, "sliding_window", self._where())
        self.flash_attention = config.is_flash_attention_enabled() if flash_attention is None else flash_attention
        self.seed = seed
        if self.flash_attention and self.dropout > 0:
            raise ValueError(
                f"{self._where()}: Dropout is not supported when flash attention is enabled. Set `dropout=0` or "
                "`flash_attention=False`."
            )

    def _projection(self, name, rank, heads, size):
        """`(…, features)` of this rank to `(…, heads, size)`."""
        letters = string.ascii_lowercase[: rank + 2]
        kept, contracted, new = letters[: rank - 1], letters[rank - 1], letters[rank:]
        equation = f"{kept}{contracted},{contracted}{new}->{kept}{new}"
        return self._einsum_dense(equation, (*(None,) * (rank - 2), heads, size), new, name)

    def _combination(self, name, rank, output_shape):
        """`(…, heads, size)`, of one dimension more than `rank`, to `(…, *output_shape)`."""
        letters = string.ascii_lowercase[: rank + 1 + len(output_shape)]
        kept, contracted, new = letters[: rank - 1], letters[rank - 1 : rank + 1], letters[rank + 1 :]
        equation = f"{kept}{contracted},{contracted}{new}->{kept}{new}"
        return self._einsum_dense(equation, (*(None,) * (rank - 2), *output_shape), new, name)

    def _einsum_dense(self, equation, output_shape, bias_axes, name):
        return EinsumDense(
            equation,
            output_shape=output_shape,
            bias_axes=bias_axes if self.use_bias else None,
            name=name,
            dtype=self.dtype_policy,
            kernel_initializer=_again(self.kernel_initializer),
            bias_initializer=_again(self.bias_initializer),
            kernel_regularizer=self.kernel_regularizer,
            bias_regularizer=self.bias_regularizer,
            kernel_constraint=self.kernel_constraint,
            bias_constraint=self.bias_constraint,
        )

    def _build_scores(self, axes):
        self._softmax = Softmax(axis=axes, dtype=self.dtype_policy)
        self._dropout_layer = Dropout(self.dropout, dtype=self.dtype_policy, seed=self.seed)

    def _needs_scores(self, return_attention_scores, training):
        """Whether the scores themselves are needed, which fused kernels don't give."""
        if return_attention_scores and self.flash_attention:
            raise ValueError(
                f"{self._where()}: Returning attention scores is not supported when flash attention is enabled. Set "
                "`flash_attention=False` to get them."
            )
        return return_attention_scores or (self.dropout > 0 and training)

    def _fused(self, query, key, value, mask, is_causal):
        """Attention of `(batch, steps, heads, size)` by the framework's kernel."""
        if mask is not None:
            # One mask for all heads.
            while len(mask.shape) < 4:
                mask = ops.expand_dims(mask, -3)
        # Looked up when called, so that it can be replaced.
        return ops.dot_product_attention(
            query=query,
            key=key,
            value=value,
            bias=None,
            mask=mask,
            scale=self._scale,
            is_causal=is_causal,
            flash_attention=self.flash_attention,
        )


def _kept(name):
    """A property for an argument that Keras shows as one."""
    private = f"_{name}"
    return property(lambda self: self.__dict__[private], lambda self, value: self.__dict__.update({private: value}))


def _again(initializer):
    """A fresh initializer for each weight: one without a seed would give them all the same values."""
    return initializer.clone() if hasattr(initializer, "clone") else initializer


class MultiHeadAttention(HeadAttention):
    """Each of several heads takes weighted means of the values, by how well a query fits the keys.

    Query, key and value are projected for each head; the heads' results are put together and projected once more. With
    query, key and value the same tensor it is self-attention.

    Args:
        num_heads: number of heads.
        key_dim: size of a head's queries and keys.
        value_dim: size of a head's values; `None`: `key_dim`.
        dropout: share of scores dropped in training.
        use_bias: whether the projections have biases.
        output_shape: shape of the output's last dimensions; `None`: the query's features.
        attention_axes: axes attended over; `None`: all but batch and features.
        sliding_window: attend only to places fewer than so many steps away.
        flash_attention: demand (`True`) or forbid the framework's memory-saving kernel; `None`: as configured.
        kernel_initializer, bias_initializer: of the projections.
        kernel_regularizer, bias_regularizer: penalties on them.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.
        use_gate: multiply each head's result by a sigmoid of another projection of the query.
        seed: of the dropout.

    Call arguments:
        query: `(batch, T, features)`.
        value: `(batch, S, features)`.
        key: `(batch, S, features)`; `None`: `value`.
        query_mask, value_mask, key_mask: boolean `(batch, T)` and `(batch, S)`; the query's is handed on to the output,
            and heeded itself where it comes along with the query (from `Masking` or an `Embedding`).
        attention_mask: boolean, broadcastable to `(batch, T, S)`; true: attend.
        return_attention_scores: return `(output, scores)`, with scores `(batch, heads, T, S)`.
        training: whether to drop scores.
        use_causal_mask: no place attends to later ones.

    Returns:
        `(batch, T, features)`.

    >>> import kerata
    >>> layer = kerata.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    >>> x = kerata.ops.ones((1, 5, 6))
    >>> tuple(layer(x, x, use_causal_mask=True).shape)
    (1, 5, 6)
    """

    _config_unless = {"flash_attention": None}

    num_heads, key_dim, value_dim = _kept("num_heads"), _kept("key_dim"), _kept("value_dim")
    dropout, use_bias, attention_axes = _kept("dropout"), _kept("use_bias"), _kept("attention_axes")

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
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
        self.num_heads = self._count(num_heads, "num_heads")
        self.key_dim = self._count(key_dim, "key_dim")
        self.value_dim = self.key_dim if value_dim is None else self._count(value_dim, "value_dim")
        self.output_shape = _shape(output_shape, self._where())
        self.attention_axes = (attention_axes,) if isinstance(attention_axes, int) else attention_axes
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
        self._scale = 1.0 / math.sqrt(self.key_dim)

    # The projections under their public names, by which files know them.
    query_dense = property(lambda self: self._query_dense)
    key_dense = property(lambda self: self._key_dense)
    value_dense = property(lambda self: self._value_dense)
    output_dense = property(lambda self: self._output_dense)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        self._check_shapes(query_shape, value_shape, key_shape)
        rank = len(query_shape)
        self._attended = self._attended_axes(rank)
        self._query_dense = self._projection("query", rank, self.num_heads, self.key_dim)
        self._key_dense = self._projection("key", len(key_shape), self.num_heads, self.key_dim)
        parts = [(self._query_dense, query_shape), (self._key_dense, key_shape)]
        if self.use_gate:
            self._gate_dense = self._projection("gate", rank, self.num_heads, self.value_dim)
            parts.append((self._gate_dense, query_shape))
        self._value_dense = self._projection("value", len(value_shape), self.num_heads, self.value_dim)
        parts.append((self._value_dense, value_shape))
        self._build_scores(tuple(range(-len(self._attended), 0)))
        output_shape = self.output_shape or (query_shape[-1],)
        self._output_dense = self._combination("attention_output", rank, output_shape)
        parts.append((self._output_dense, (*query_shape[:-1], self.num_heads, self.value_dim)))
        for layer, shape in parts:
            layer.build(tuple(shape))

    def _check_shapes(self, query_shape, value_shape, key_shape):
        if len({len(query_shape), len(value_shape), len(key_shape)}) > 1:
            problem = "the numbers of dimensions of query, value and key must be equal"
        elif value_shape[1:-1] != key_shape[1:-1]:
            problem = "the steps of key and value must be equal"
        else:
            return
        raise ValueError(
            f"{self._where()}: {problem}, but the shapes are {tuple(query_shape)} (query), {tuple(value_shape)} (value) "
            f"and {tuple(key_shape)} (key)."
        )

    def _attended_axes(self, rank):
        if self.attention_axes is None:
            return tuple(range(1, rank - 1))
        return tuple(a % rank for a in self.attention_axes)

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
        # Keras heeds the mask that rides on the query, and not the argument: padded queries attend to nothing.
        mask = padding_mask(get_mask(query), value_mask, key_mask)
        mask = combined(mask, attention_mask, self._window(query, key))
        # Fused kernels know causality without a mask; overrides of an older signature don't.
        own = type(self)._compute_attention is MultiHeadAttention._compute_attention
        causal = {"use_causal_mask": True} if use_causal_mask and own else {}
        if use_causal_mask and not own:
            mask = combined(mask, causal_mask(*self._lengths(query, key)))
        gate = ops.sigmoid(self._gate_dense(query)) if self.use_gate else None
        output, scores = self._compute_attention(
            self._query_dense(query),
            self._key_dense(key),
            self._value_dense(value),
            mask,
            training,
            return_attention_scores,
            **causal,
        )
        output = self._output_dense(output if gate is None else output * gate)
        return (output, scores) if return_attention_scores else output

    def _compute_attention(
        self,
        query,
        key,
        value,
        attention_mask=None,
        training=None,
        return_attention_scores=False,
        use_causal_mask=False,
    ):
        """Attention of the projected query, key and value, `(…, heads, size)`. May be overridden.

        Returns:
            `(output, scores)`; scores are `None` where a fused kernel was used.
        """
        one_axis = self._attended == (1,) and len(query.shape) == 4
        if one_axis and not self._needs_scores(return_attention_scores, training):
            return self._fused(query, key, value, attention_mask, bool(use_causal_mask)), None
        if use_causal_mask:
            attention_mask = combined(attention_mask, causal_mask(*self._lengths(query, key)))
        return self._by_scores(query, key, value, attention_mask, training)

    def _lengths(self, query, key):
        axis = self._attended[0]
        return ops.shape(query)[axis], ops.shape(key)[axis]

    def _window(self, query, key):
        if self.sliding_window is None:
            return None
        return window_mask(*self._lengths(query, key), self.sliding_window)

    def _by_scores(self, query, key, value, mask, training):
        """Attention by its formula, for any attended axes; gives the scores too."""
        scores_equation, output_equation = _equations(len(query.shape), self._attended)
        scores = ops.einsum(scores_equation, query * self._scale, key)
        if mask is not None:
            # The heads' dimension stands before the attended ones.
            while len(mask.shape) < len(scores.shape):
                mask = ops.expand_dims(mask, -2 * len(self._attended) - 1)
        scores = self._softmax(scores, mask=mask)
        kept = self._dropout_layer(scores, training=training) if self.dropout > 0 else scores
        return ops.einsum(output_equation, kept, value), scores

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        """The query's shape, with the features of the output."""
        key_shape = value_shape if key_shape is None else key_shape
        self._check_shapes(query_shape, value_shape, key_shape)
        return (*query_shape[:-1], *(self.output_shape or (query_shape[-1],)))


def _equations(rank, attended):
    """Einsum equations for scores and output, of operands `(batch, …, heads, size)` with this many dimensions."""
    letters = iter(string.ascii_lowercase)
    query = [next(letters) for _ in range(rank)]
    key = [next(letters) if i in attended else query[i] for i in range(rank)]
    value = [*key[:-1], next(letters)]
    free = [query[i] for i in range(rank - 2) if i not in attended]
    scores = [*free, query[-2], *(query[i] for i in attended), *(key[i] for i in attended)]
    output = [*query[:-1], value[-1]]
    q, k, v, s, o = map("".join, (query, key, value, scores, output))
    return f"{q},{k}->{s}", f"{s},{v}->{o}"


def _shape(value, owner):
    if value is None:
        return None
    try:
        return tuple(
            positive_int(v, "output_shape", owner) for v in (value if isinstance(value, (list, tuple)) else [value])
        )
    except ValueError:
        raise ValueError(
            f"{owner}: Invalid `output_shape`: it must be a positive integer or several, but {value!r} was given."
        ) from None
