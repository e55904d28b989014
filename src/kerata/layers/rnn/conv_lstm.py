"""An LSTM whose products are convolutions (Shi et al., 2015)."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.layers.convolution.convolution import Windowed
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from kerata.layers.rnn.lstm import ForgetBias
from kerata.layers.rnn.recurrent import Recurrent, of_cell
from kerata.layers.rnn.rnn import RNN


class ConvLSTMCell(DropoutRNNCell, Windowed, Layer):
    """One step of a convolutional LSTM.

    Args:
        rank: number of spatial dimensions.
        filters: number of the output's channels.
        kernel_size, strides, padding, data_format, dilation_rate: of the inputs' convolution, as in `Conv2D`; the states'
            keeps their size.
        activation: of the candidate and of the output.
        recurrent_activation: of the gates.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        unit_forget_bias: ones for the forget gate's initial bias.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout, recurrent_dropout: shares of inputs and state dropped in training, the same ones at each step.
        seed: of the dropout.
    """

    def __init__(
        self,
        rank,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.rank = rank
        self.filters = self._count(filters, "filters")
        self._set_geometry(kernel_size, strides, padding, data_format, dilation_rate)
        self.activation = activations.get(activation)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.unit_forget_bias = unit_forget_bias
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self._set_dropout(dropout, recurrent_dropout, seed)
        self.state_size = [self.filters, self.filters]
        self.bias = None

    def build(self, inputs_shape, states_shape=None):
        channels = self._channels(inputs_shape)
        self._check_window(inputs_shape)
        width = 4 * self.filters
        self.kernel = self.add_weight(
            name="kernel",
            shape=(*self.kernel_size, channels, width),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel",
            shape=(*self.kernel_size, self.filters, width),
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        if self.use_bias:
            first = ForgetBias(self.bias_initializer, self.filters) if self.unit_forget_bias else self.bias_initializer
            self.bias = self.add_weight(
                name="bias",
                shape=(width,),
                initializer=first,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def state_shape(self, inputs_shape):
        """Shape of a state, given that of a step's inputs."""
        first = 1 if self.data_format == "channels_last" else 2
        spatial = []
        for i in range(self.rank):
            size, stride = inputs_shape[first + i], self.strides[i]
            if size is not None:
                reach = 1 if self.padding == "same" else (self.kernel_size[i] - 1) * self.dilation_rate[i] + 1
                size = (size - reach) // stride + 1
            spatial.append(size)
        batch = inputs_shape[0]
        if self.data_format == "channels_last":
            return (batch, *spatial, self.filters)
        return (batch, self.filters, *spatial)

    def call(self, inputs, states, training=False):
        before, memory = states
        x, before = self._dropped(inputs, before, training)
        none = (1,) * self.rank
        z = ops.nn.conv_general(x, self.kernel, self.strides, self.padding, self.data_format, self.dilation_rate, 1)
        if self.bias is not None:
            z = ops.nn.bias_add(z, self.bias, self.data_format)
        z = z + ops.nn.conv_general(before, self.recurrent_kernel, none, "same", self.data_format, none, 1)
        i, f, candidate, o = ops.split(z, 4, axis=-1 if self.data_format == "channels_last" else 1)
        gate = self.recurrent_activation
        memory = gate(f) * memory + gate(i) * self.activation(candidate)
        output = gate(o) * self.activation(memory)
        return output, [output, memory]


class ConvLSTM(Recurrent):
    """Base of `ConvLSTM1D`, `ConvLSTM2D` and `ConvLSTM3D`: a subclass sets `rank`.

    Args:
        filters: number of the output's channels.
        kernel_size, strides, padding, data_format, dilation_rate: of the inputs' convolution, as in `Conv2D`.
        activation, recurrent_activation, use_bias, …: as in `LSTM`.
        return_sequences, return_state, go_backwards, stateful: as in `RNN`.
    """

    rank = None

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        **kwargs,
    ):
        cell = ConvLSTMCell(
            self.rank,
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
            name="conv_lstm_cell",
        )
        super().__init__(
            cell,
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
        self.input_spec = InputSpec(ndim=self.rank + 3)

    filters = of_cell("filters")
    kernel_size = of_cell("kernel_size")
    strides = of_cell("strides")
    padding = of_cell("padding")
    data_format = of_cell("data_format")
    dilation_rate = of_cell("dilation_rate")
    activation = of_cell("activation")
    recurrent_activation = of_cell("recurrent_activation")
    use_bias = of_cell("use_bias")
    kernel_initializer = of_cell("kernel_initializer")
    recurrent_initializer = of_cell("recurrent_initializer")
    bias_initializer = of_cell("bias_initializer")
    unit_forget_bias = of_cell("unit_forget_bias")
    kernel_regularizer = of_cell("kernel_regularizer")
    recurrent_regularizer = of_cell("recurrent_regularizer")
    bias_regularizer = of_cell("bias_regularizer")
    kernel_constraint = of_cell("kernel_constraint")
    recurrent_constraint = of_cell("recurrent_constraint")
    bias_constraint = of_cell("bias_constraint")
    dropout = of_cell("dropout")
    recurrent_dropout = of_cell("recurrent_dropout")
    seed = of_cell("seed")

    def build(self, sequences_shape, initial_state_shape=None):
        self._step_shape = (sequences_shape[0], *sequences_shape[2:])
        RNN.build(self, sequences_shape, initial_state_shape)

    def _first_state(self, sequences, initial_state):
        if initial_state is None and not self.stateful:
            shape = ops.shape(sequences)
            shape = self.cell.state_shape((shape[0], *shape[2:]))
            return [ops.zeros(shape, dtype=self.compute_dtype) for _ in range(2)]
        return super()._first_state(sequences, initial_state)

    def get_initial_state(self, batch_size):
        """Zeros, shaped for the inputs that the layer was built for."""
        shape = self.cell.state_shape((batch_size, *self._step_shape[1:]))
        return [ops.zeros(shape, dtype=self.compute_dtype) for _ in range(2)]


class ConvLSTM1D(ConvLSTM):
    """A convolutional LSTM along sequences of sequences. The arguments are explained at `ConvLSTM2D`.

    Input: `(batch, time, steps, channels)`. Output: `(batch, new steps, filters)`.

    >>> import kerata
    >>> tuple(kerata.layers.ConvLSTM1D(4, 3)(kerata.ops.ones((2, 3, 6, 2))).shape)
    (2, 4, 4)
    """

    rank = 1


class ConvLSTM2D(ConvLSTM):
    """A convolutional LSTM along sequences of images (Shi et al., 2015).

    Args:
        filters: number of the output's channels.
        kernel_size, strides, padding, data_format, dilation_rate: of the inputs' convolution, as in `Conv2D`; the states'
            keeps their size.
        activation: of the candidate and of the output.
        recurrent_activation: of the gates.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        unit_forget_bias: ones for the forget gate's initial bias.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout, recurrent_dropout: shares of inputs and state dropped in training.
        seed: of the dropout.
        return_sequences, return_state, go_backwards, stateful: as in `RNN`.

    Input: `(batch, time, height, width, channels)`, or channels third. Output: `(batch, new height, new width, filters)`.

    >>> import kerata
    >>> tuple(kerata.layers.ConvLSTM2D(4, 3, padding="same")(kerata.ops.ones((2, 3, 5, 5, 2))).shape)
    (2, 5, 5, 4)
    """

    rank = 2


class ConvLSTM3D(ConvLSTM):
    """A convolutional LSTM along sequences of volumes. The arguments are explained at `ConvLSTM2D`.

    Input: `(batch, time, depth, height, width, channels)`, or channels third. Output: one volume with `filters` channels.

    >>> import kerata
    >>> tuple(kerata.layers.ConvLSTM3D(2, 2)(kerata.ops.ones((1, 2, 3, 3, 3, 1))).shape)
    (1, 2, 2, 2, 2)
    """

    rank = 3
