"""Depthwise convolution: each channel on its own."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.layers.convolution.convolution import Windowed
from kerata.layers.layer import Layer


class DepthwiseConvolution(Windowed, Layer):
    """Base of `DepthwiseConv1D` and `DepthwiseConv2D`.

    Args:
        kernel_size: size of the window: int, or one for each spatial dimension.
        strides, padding, data_format, dilation_rate: as in `Conv2D`.
        depth_multiplier: number of output channels for each input channel.
        activation: function, or its name.
        use_bias: whether there is a bias.
        depthwise_initializer, bias_initializer: of the weights.
        depthwise_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        depthwise_constraint, bias_constraint: applied after each update.
    """

    def __init__(
        self,
        kernel_size,
        strides=1,
        padding="valid",
        depth_multiplier=1,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_geometry(kernel_size, strides, padding, data_format, dilation_rate)
        self.depth_multiplier = self._count(depth_multiplier, "depth_multiplier")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self._check_window(input_shape)
        self.kernel = self.add_weight(
            name="kernel",
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self._add_bias(channels * self.depth_multiplier)

    def call(self, inputs):
        geometry = self.strides, self.padding, self.data_format, self.dilation_rate
        return self._finished(ops.depthwise_conv(inputs, self.kernel, *geometry))


class DepthwiseConv1D(DepthwiseConvolution, rank=1):
    """Each channel of a sequence convolved on its own. The arguments are explained at `DepthwiseConv2D`.

    Input: `(batch, steps, channels)`. Output: `(batch, new steps, channels * depth_multiplier)`.

    >>> import kerata
    >>> tuple(kerata.layers.DepthwiseConv1D(3, depth_multiplier=2)(kerata.ops.ones((2, 10, 4))).shape)
    (2, 8, 8)
    """


class DepthwiseConv2D(DepthwiseConvolution, rank=2):
    """Each channel of an image convolved on its own.

    Args:
        kernel_size: height and width of the window; one int for both.
        strides: steps of the window.
        padding: `"valid"` or `"same"`.
        depth_multiplier: number of output channels for each input channel.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        dilation_rate: distance between the window's elements; not together with strides.
        activation: function, or its name.
        use_bias: whether there is a bias.
        depthwise_initializer, bias_initializer: of the weights.
        depthwise_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        depthwise_constraint, bias_constraint: applied after each update.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same with
    `channels * depth_multiplier` channels.

    >>> import kerata
    >>> tuple(kerata.layers.DepthwiseConv2D(3)(kerata.ops.ones((2, 10, 10, 4))).shape)
    (2, 8, 8, 4)
    """
