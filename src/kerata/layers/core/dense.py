"""`Dense`: a matrix product."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.core.errors import positive_int
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.quantization.quantizable import Quantizable
from kerata.layers.quantization.weight import Weight
from kerata.layers.shapes import known_size


class Dense(Quantizable, Layer):
    """`activation(inputs @ kernel + bias)`.

    Args:
        units: length of the output's last dimension.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: of the weights.
        kernel_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.
        lora_rank: train only an addition of this rank to the kernel (see `enable_lora`).
        lora_alpha: the addition counts `lora_alpha / lora_rank`.
        quantization_config: what `quantize` uses.

    Input: floating, `(batch, …, features)`. Output: `(batch, …, units)`.

    Raises:
        ValueError: `units` is no positive integer; at build, the number of features isn't known.

    >>> import kerata
    >>> layer = kerata.layers.Dense(4, activation="relu")
    >>> tuple(layer(kerata.ops.ones((2, 3))).shape)
    (2, 4)
    >>> [tuple(w.shape) for w in layer.weights]
    [(3, 4), (4,)]
    """

    # Keras's configs leave out what the base says already.
    _config_unless = {**Quantizable._config_unless, "activity_regularizer": None}

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        lora_rank=None,
        lora_alpha=None,
        quantization_config=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = positive_int(units, "units", self._where())
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self._set_lora(lora_rank, lora_alpha)
        self.quantization_config = quantization_config
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True
        self.bias = None

    def build(self, input_shape):
        features = known_size(self, input_shape, -1)
        self._weights = (Weight("kernel", (features, self.units), "...x,xy->...y", flat_scale=True),)
        self._add_large(
            self._weights[0],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: features})
        self._enable_lora_as_constructed()

    @property
    def kernel(self):
        """The kernel `(features, units)`, LoRA's addition included; of a quantized layer its integers."""
        return self._shown()

    def _adapter_shapes(self, rank):
        return (self._weights[0].rows, rank), (rank, self.units)

    def quantized_build(self, kernel_shape, mode, config=None):
        """Make the variables of a quantization mode for weights of this shape."""
        super().quantized_build(kernel_shape, mode, config)

    def call(self, inputs, training=None):
        if self._special:
            x = self._product(self._weights[0], inputs, training)
            x = self._with_bias(x)
        else:
            x = ops.nn.dense(inputs, self._kernel, self.bias)
        return x if self.activation is None else self.activation(x)
