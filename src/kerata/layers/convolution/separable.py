"""Separable convolution: each channel on its own, then all channels at each place."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.layers.convolution.convolution import Windowed
from kerata.layers.layer import Layer


class SeparableConvolution(Windowed, Layer):
    """Base of `SeparableConv1D` and `SeparableConv2D` (Sifre, 2014; Chollet, 2016).

    Args:
        filters: number of the output's channels.
        kernel_size: size of the window: int, or one for each spatial dimension.
        strides, padding, data_format, dilation_rate: as in `Conv2D`.
        depth_multiplier: number of channels between the two steps for each input channel.
        activation: function, or its name.
        use_bias: whether there is a bias.
        depthwise_initializer, pointwise_initializer, bias_initializer: of the weights.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        depthwise_constraint, pointwise_constraint, bias_constraint: applied after each update.
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters = self._count(filters, "filters")
        self._set_geometry(kernel_size, strides, padding, data_format, dilation_rate)
        self.depth_multiplier = self._count(depth_multiplier, "depth_multiplier")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.pointwise_initializer = initializers.get(pointwise_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)
        self.pointwise_constraint = constraints.get(pointwise_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self._check_window(input_shape)
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel",
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel",
            shape=(*(1,) * self.rank, channels * self.depth_multiplier, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )
        self._add_bias(self.filters)

    def call(self, inputs):
        geometry = self.strides, self.padding, self.data_format, self.dilation_rate
        return self._finished(ops.separable_conv(inputs, self.depthwise_kernel, self.pointwise_kernel, *geometry))


class SeparableConv1D(SeparableConvolution, rank=1):
    """Each channel of a sequence convolved on its own, then the channels mixed. Arguments: see `SeparableConv2D`.

    Input: `(batch, steps, channels)`. Output: `(batch, new steps, filters)`.

    >>> import kerata
    >>> tuple(kerata.layers.SeparableConv1D(8, 3)(kerata.ops.ones((2, 10, 4))).shape)
    (2, 8, 8)
    """


class SeparableConv2D(SeparableConvolution, rank=2):
    """Each channel of an image convolved on its own, then the channels mixed (Sifre, 2014; Chollet, 2016).

    Args:
        filters: number of the output's channels.
        kernel_size: height and width of the window; one int for both.
        strides: steps of the window.
        padding: `"valid"` or `"same"`.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        dilation_rate: distance between the window's elements; not together with strides.
        depth_multiplier: number of channels between the two steps for each input channel.
        activation: function, or its name.
        use_bias: whether there is a bias.
        depthwise_initializer, pointwise_initializer, bias_initializer: of the weights.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        depthwise_constraint, pointwise_constraint, bias_constraint: applied after each update.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same with `filters` channels.

    >>> import kerata
    >>> tuple(kerata.layers.SeparableConv2D(8, 3)(kerata.ops.ones((2, 10, 10, 4))).shape)
    (2, 8, 8, 8)
    """
