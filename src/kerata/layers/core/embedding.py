"""`Embedding`: a vector for each integer."""

import warnings

from kerata import constraints, initializers, ops, regularizers
from kerata.core import dtypes
from kerata.core.errors import positive_int
from kerata.layers.layer import Layer
from kerata.layers.quantization.mode import mode_named
from kerata.layers.quantization.quantizable import Quantizable
from kerata.layers.quantization.weight import Weight
from kerata.quantizers.lookup import serialize


class Embedding(Quantizable, Layer):
    """A trained vector for each integer from 0 to `input_dim - 1`.

    Args:
        input_dim: how many integers there are.
        output_dim: length of the vectors.
        embeddings_initializer: of the table.
        embeddings_regularizer: penalty on the table.
        embeddings_constraint: applied after each update.
        mask_zero: 0 is padding: the output carries a mask without it.
        weights: the table's first value, an array.
        lora_rank: train only an addition of this rank to the table (see `enable_lora`).
        lora_alpha: the addition counts `lora_alpha / lora_rank`.
        quantization_config: what `quantize` uses.

    Input: integers of any shape. Output: the same shape and `output_dim`.

    >>> import kerata
    >>> tuple(kerata.layers.Embedding(100, 8)(kerata.ops.convert_to_tensor([[1, 2, 3]])).shape)
    (1, 3, 8)
    """

    _adapted = "embeddings"
    _constrained = "embedding"
    _modes = ("int8", "int4")
    _large_names = ("embeddings",)
    _small_names = ()

    def __init__(
        self,
        input_dim,
        output_dim,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        weights=None,
        lora_rank=None,
        lora_alpha=None,
        quantization_config=None,
        **kwargs,
    ):
        if kwargs.pop("input_length", None) is not None:
            warnings.warn("Embedding: `input_length` isn't needed any more; leave it out.", stacklevel=2)
        # Integers that come as floats must not lose digits to half precision on their way in.
        super().__init__(**{"autocast": False, **kwargs})
        self.input_dim = positive_int(input_dim, "input_dim", self._where())
        self.output_dim = positive_int(output_dim, "output_dim", self._where())
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self._set_lora(lora_rank, lora_alpha)
        self.quantization_config = quantization_config
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1 else [weights])

    def build(self, input_shape=None):
        # As in its product with vectors: the scales are those of its rows, which is what a lookup takes.
        table = Weight(
            "embeddings", (self.input_dim, self.output_dim), "...d,vd->...v", flat_scale=True, rows_first=False
        )
        self._weights = (table, *self._more_weights())
        self._add_large(
            table,
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self._enable_lora_as_constructed()

    def get_build_config(self):
        # Its shape is that of its arguments, so there may have been none to remember.
        return super().get_build_config() or ({"shapes_dict": {}} if self.built else None)

    def _more_weights(self):
        return ()

    @property
    def embeddings(self):
        """The table `(input_dim, output_dim)`, LoRA's addition included; of a quantized layer its integers."""
        return self._shown()

    @property
    def input_dtype(self):
        return "int32"

    def _adapter_shapes(self, rank):
        return (self.input_dim, rank), (rank, self.output_dim)

    def quantized_build(self, embeddings_shape, mode, config=None):
        """Make the variables of a quantization mode for weights of this shape."""
        super().quantized_build(embeddings_shape, mode, config)

    def call(self, inputs):
        if not dtypes.is_int(ops.dtype(inputs)):
            inputs = ops.cast(inputs, "int32")
        if not self._special:
            return ops.cast(ops.take(self._embeddings, inputs, axis=0), self.compute_dtype)
        mode = self.quantization_mode
        if mode is None:
            vectors = ops.take(self._embeddings, inputs, axis=0)
        else:
            vectors = mode_named(mode, self._modes, NotImplementedError).take(self, self._weights[0], inputs)
        if self.lora_enabled:
            a, b = self._adapters()
            vectors = vectors + (self.lora_alpha / self.lora_rank) * ops.matmul(ops.take(a, inputs, axis=0), b)
        return ops.cast(vectors, self.compute_dtype)

    _makes_masks = property(lambda self: self.mask_zero)

    def compute_mask(self, inputs, mask=None):
        """Where the integers aren't 0, with `mask_zero`."""
        return ops.not_equal(inputs, 0) if self.mask_zero else None

    def get_config(self):
        config = super().get_config()
        config.update(
            input_dim=self.input_dim,
            output_dim=self.output_dim,
            embeddings_initializer=initializers.serialize(self.embeddings_initializer),
            embeddings_regularizer=regularizers.serialize(self.embeddings_regularizer),
            activity_regularizer=regularizers.serialize(self.activity_regularizer),
            embeddings_constraint=constraints.serialize(self.embeddings_constraint),
            mask_zero=self.mask_zero,
            quantization_config=None if self.quantization_config is None else serialize(self.quantization_config),
        )
        return config
