"""Convolution in 1, 2 and 3 dimensions: the base of the family, and the plain ones."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.core.errors import int_tuple, positive_int
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.lora import Adaptable
from kerata.layers.ranks import ForRank, standardize_data_format, standardize_padding
from kerata.layers.shapes import channel_axis, known_size


class Windowed(ForRank):
    """What all convolutions share: the geometry, and the input's channels."""

    spatial = ("strides", "dilation_rate")
    causal = False

    def _set_geometry(self, kernel_size, strides, padding, data_format, dilation_rate):
        owner, rank = self._where(), self.rank
        self.kernel_size = self._counts(kernel_size, "kernel_size")
        self.strides = self._counts(strides, "strides")
        self.dilation_rate = self._counts(dilation_rate, "dilation_rate")
        self.padding = standardize_padding(padding, owner, self.causal)
        self.data_format = standardize_data_format(data_format)
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                f"{owner}: `strides > 1` not supported in conjunction with `dilation_rate > 1`. "
                f"Received: strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def _count(self, value, name):
        """A positive integer."""
        try:
            return positive_int(value, name, self._where())
        except ValueError:
            raise ValueError(
                f"{self._where()}: Invalid value for argument `{name}`. Expected a strictly positive value. "
                f"Received {name}={value}."
            ) from None

    def _counts(self, value, name):
        """A positive integer for each spatial dimension."""
        try:
            return int_tuple(value, self.rank, name, self._where())
        except ValueError:
            bad = ""
            if isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
                wrong = {v for v in value if v < 1}
                bad = f", including values {wrong} that do not satisfy `value > 0`" if wrong else ""
            raise ValueError(
                f"{self._where()}: The `{name}` argument must be a tuple of {self.rank} integers. "
                f"Received {name}={value}{bad}."
            ) from None

    def _check_window(self, input_shape):
        """The window has to fit into the input at least once."""
        if self.padding != "valid":
            return
        first = 1 if self.data_format == "channels_last" else 2
        spatial = input_shape[first : first + self.rank]
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation_rate, strict=True)]
        if any(s is not None and s < r for s, r in zip(spatial, reach, strict=False)):
            raise ValueError(
                f"{self._where()}: Computed output size would be zero or negative. The window reaches over "
                f"{tuple(reach)}, but the input's shape is {tuple(input_shape)}."
            )

    def _channels(self, input_shape):
        """Number of the input's channels, which from now on is demanded."""
        axis = channel_axis(self.data_format, len(input_shape))
        channels = known_size(self, input_shape, axis)
        spec_axis = -1 if self.data_format == "channels_last" else 1
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={spec_axis: channels})
        return channels

    def _op_padding(self):
        """The padding as ops take it: causal is zeros before the first step."""
        if self.padding != "causal":
            return self.padding
        return tuple(((k - 1) * d, 0) for k, d in zip(self.kernel_size, self.dilation_rate, strict=True))

    def _add_bias(self, size):
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(size,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def _finished(self, x):
        """Bias and activation."""
        if self.bias is not None:
            x = ops.nn.bias_add(x, self.bias, self.data_format)
        return x if self.activation is None else self.activation(x)


class Convolution(Adaptable, Windowed, Layer):
    """Base of `Conv1D`, `Conv2D` and `Conv3D`.

    Args:
        filters: number of the output's channels.
        kernel_size: size of the window: int, or one for each spatial dimension.
        strides: steps of the window.
        padding: `"valid"`: none; `"same"`: as many zeros as keep the size (strides aside); in one dimension also
            `"causal"`: zeros before the first step only, so no step sees later ones.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        dilation_rate: distance between the window's elements.
        groups: channels are split in so many groups that are convolved each on its own.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: of the weights.
        kernel_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.

    Raises:
        ValueError: numbers that are no positive integers, strides and dilation both above 1, or groups that don't
            divide the filters.
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        groups=1,
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
        lora = kwargs.pop("lora_rank", None), kwargs.pop("lora_alpha", None)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters = self._count(filters, "filters")
        try:
            self.groups = positive_int(groups, "groups", self._where())
        except ValueError:
            raise ValueError(
                f"{self._where()}: The number of groups must be a positive integer. Received: groups={groups}."
            ) from None
        if self.filters % self.groups:
            raise ValueError(
                f"{self._where()}: The number of filters must be evenly divisible by the number of groups. "
                f"Received: groups={groups}, filters={filters}."
            )
        self._set_geometry(kernel_size, strides, padding, data_format, dilation_rate)
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self._set_lora(*lora)
        self.bias = None

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self._check_window(input_shape)
        if channels % self.groups:
            raise ValueError(
                f"{self._where()}: the input's {channels} channels must be a multiple of `groups` ({self.groups}); "
                f"its shape is {tuple(input_shape)}."
            )
        self._kernel = self.add_weight(
            name="kernel",
            shape=(*self.kernel_size, channels // self.groups, self.filters),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self._add_bias(self.filters)
        self._enable_lora_as_constructed()

    @property
    def kernel(self):
        """The kernel `(*window, channels / groups, filters)`, LoRA's addition included."""
        return self._merged()

    def _adapter_shapes(self, rank):
        return (*self._kernel.shape[:-1], rank), (rank, self.filters)

    def convolution_op(self, inputs, kernel):
        """The convolution itself, without bias and activation. May be overridden, to change the kernel first."""
        return ops.nn.conv_general(inputs, kernel, *self._arguments())

    def _arguments(self):
        return self.strides, self._op_padding(), self.data_format, self.dilation_rate, self.groups

    def call(self, inputs):
        if self.bias is None or type(self).convolution_op is not Convolution.convolution_op:
            return self._finished(self.convolution_op(inputs, self.kernel))
        x = ops.nn.conv_bias(inputs, self.kernel, self.bias, *self._arguments())
        return x if self.activation is None else self.activation(x)


class Conv1D(Convolution, rank=1):
    """Convolution along one dimension, such as time.

    The arguments are explained at `Conv2D`; here `padding` may be `"causal"` too: step `t` then sees no later one.

    Input: `(batch, steps, channels)`. Output: `(batch, new steps, filters)`.

    >>> import kerata
    >>> tuple(kerata.layers.Conv1D(8, 3, padding="causal")(kerata.ops.ones((2, 10, 4))).shape)
    (2, 10, 8)
    """

    causal = True


class Conv2D(Convolution, rank=2):
    """Convolution of images.

    Args:
        filters: number of the output's channels.
        kernel_size: height and width of the window; one int for both.
        strides: steps of the window.
        padding: `"valid"`: none; `"same"`: zeros that keep height and width (strides aside).
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        dilation_rate: distance between the window's elements; not together with strides.
        groups: channels are split in so many groups that are convolved each on its own.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: of the weights.
        kernel_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, bias_constraint: applied after each update.

    Input: `(batch, height, width, channels)`, or channels second. Output: the same with `filters` channels.

    Raises:
        ValueError: numbers that are no positive integers, strides and dilation both above 1, or groups that divide
            neither filters nor channels.

    >>> import kerata
    >>> tuple(kerata.layers.Conv2D(8, 3, activation="relu")(kerata.ops.ones((2, 10, 10, 3))).shape)
    (2, 8, 8, 8)
    """


class Conv3D(Convolution, rank=3):
    """Convolution of volumes. The arguments are explained at `Conv2D`.

    Input: `(batch, depth, height, width, channels)`, or channels second. Output: the same with `filters` channels.

    >>> import kerata
    >>> tuple(kerata.layers.Conv3D(8, 3)(kerata.ops.ones((2, 5, 5, 5, 3))).shape)
    (2, 3, 3, 3, 8)
    """
