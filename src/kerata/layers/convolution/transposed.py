"""Transposed convolution: upsampling by the gradient of a convolution."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.core.errors import int_tuple
from kerata.layers.convolution.convolution import Windowed
from kerata.layers.layer import Layer


class TransposedConvolution(Windowed, Layer):
    """Base of `Conv1DTranspose`, `Conv2DTranspose` and `Conv3DTranspose`.

    Args:
        filters: number of the output's channels.
        kernel_size: size of the window: int, or one for each spatial dimension.
        strides: factor by which the output is larger.
        padding: `"valid"` or `"same"`.
        output_padding: extra length of each spatial dimension, below its stride; `None` for the usual length.
        data_format, dilation_rate: as in `Conv2D`.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: of the weights.
        kernel_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters = self._count(filters, "filters")
        self._set_geometry(kernel_size, strides, padding, data_format, dilation_rate)
        self.output_padding = self._checked_output_padding(output_padding)
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def _checked_output_padding(self, output_padding):
        if output_padding is None:
            return None
        extra = int_tuple(output_padding, self.rank, "output_padding", self._where(), minimum=0)
        if any(e >= s for e, s in zip(extra, self.strides, strict=True)):
            raise ValueError(
                f"{self._where()}: `output_padding` must be strictly less than `strides`. Received: output_padding="
                f"{extra}, strides={self.strides}"
            )
        return extra

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.kernel = self.add_weight(
            name="kernel",
            shape=(*self.kernel_size, self.filters, channels),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self._add_bias(self.filters)

    def call(self, inputs):
        return self._finished(
            ops.conv_transpose(
                inputs,
                self.kernel,
                self.strides,
                self.padding,
                self.output_padding,
                self.data_format,
                self.dilation_rate,
            )
        )


class Conv1DTranspose(TransposedConvolution, rank=1):
    """Transposed convolution along one dimension. The arguments are explained at `Conv2DTranspose`.

    Input: `(batch, steps, channels)`. Output: `(batch, new steps, filters)`.

    >>> import kerata
    >>> tuple(kerata.layers.Conv1DTranspose(8, 3, strides=2, padding="same")(kerata.ops.ones((2, 5, 4))).shape)
    (2, 10, 8)
    """


class Conv2DTranspose(TransposedConvolution, rank=2):
    """Transposed convolution of images: learned upsampling (Zeiler et al., 2010).

    Args:
        filters: number of the output's channels.
        kernel_size: height and width of the window; one int for both.
        strides: factor by which the output is larger.
        padding: `"valid"` or `"same"`.
        output_padding: extra height and width, below the strides; `None` for the usual size.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        dilation_rate: distance between the window's elements; not together with strides.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: of the weights.
        kernel_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same, larger, with `filters` channels.

    >>> import kerata
    >>> tuple(kerata.layers.Conv2DTranspose(8, 3, strides=2, padding="same")(kerata.ops.ones((2, 5, 5, 4))).shape)
    (2, 10, 10, 8)
    """


class Conv3DTranspose(TransposedConvolution, rank=3):
    """Transposed convolution of volumes. The arguments are explained at `Conv2DTranspose`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same, larger, with `filters`
    channels.

    >>> import kerata
    >>> tuple(kerata.layers.Conv3DTranspose(2, 2, strides=2)(kerata.ops.ones((1, 3, 3, 3, 4))).shape)
    (1, 6, 6, 6, 2)
    """

    # By position, Keras has `data_format` before `output_padding` here.
    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1, 1),
        padding="valid",
        data_format=None,
        output_padding=None,
        dilation_rate=(1, 1, 1),
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            output_padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )
