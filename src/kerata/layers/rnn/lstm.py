"""Long short-term memory (Hochreiter & Schmidhuber, 1997)."""

import numpy as np

from kerata import activations, ops
from kerata.layers.rnn.cell import Cell
from kerata.layers.rnn.recurrent import Recurrent, of_cell


class ForgetBias:
    """Initial biases with ones for the forget gate, so that a new net remembers (Jozefowicz et al., 2015)."""

    def __init__(self, initializer, units):
        self.initializer, self.units = initializer, units

    def __call__(self, shape, dtype=None):
        value = np.array(ops.convert_to_numpy(self.initializer(shape, dtype=dtype)))
        value[self.units : 2 * self.units] = 1
        return value


class LSTMCell(Cell):
    """One step of an LSTM.

    Args:
        units: size of output and states.
        activation: of the candidate and of the output.
        recurrent_activation: of the gates.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        unit_forget_bias: ones for the forget gate's initial bias.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout: share of the inputs dropped in training, the same ones at each step.
        recurrent_dropout: share of the state dropped in training, the same at each step.
        seed: of the dropout.

    Call arguments:
        inputs: `(batch, features)`: one step.
        states: list of the output before and the memory, each `(batch, units)`.
        training: whether to drop.

    Returns:
        `(output, [output, memory])`.

    >>> import kerata
    >>> cell = kerata.layers.LSTMCell(4)
    >>> output, states = cell(kerata.ops.ones((2, 3)), cell.get_initial_state(2))
    >>> tuple(output.shape), len(states)
    ((2, 4), 2)
    """

    gates = 4

    def __init__(
        self,
        units,
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
        # Keras 2's choice between two ways to compute the same.
        kwargs.pop("implementation", None)
        super().__init__(**kwargs)
        self._set_arguments(
            units,
            activation,
            use_bias,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            kernel_regularizer,
            recurrent_regularizer,
            bias_regularizer,
            kernel_constraint,
            recurrent_constraint,
            bias_constraint,
            dropout,
            recurrent_dropout,
            seed,
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.state_size = [self.units, self.units]

    def _first_bias(self):
        return ForgetBias(self.bias_initializer, self.units) if self.unit_forget_bias else self.bias_initializer

    def call(self, inputs, states, training=False):
        before, memory = states
        x, before = self._dropped(inputs, before, training)
        z = ops.nn.dense(x, self.kernel, self.bias) + ops.matmul(before, self.recurrent_kernel)
        i, f, candidate, o = ops.split(z, 4, axis=-1)
        gate = self.recurrent_activation
        memory = gate(f) * memory + gate(i) * self.activation(candidate)
        output = gate(o) * self.activation(memory)
        return output, [output, memory]


class LSTM(Recurrent):
    """Long short-term memory: gates decide what is written to, kept in and read from a memory.

    With `tanh` and `sigmoid`, no recurrent dropout and no unrolling, the framework's own kernel for whole
    sequences does it; the numbers are the same.

    Args:
        units: size of output and states.
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
        return_sequences, return_state, go_backwards, stateful, unroll: as in `RNN`.
        use_cudnn: `False` forbids the framework's kernel for whole sequences.

    Call arguments: as of `RNN`; `sequences` is `(batch, steps, features)`.

    >>> import kerata
    >>> tuple(kerata.layers.LSTM(4)(kerata.ops.ones((2, 3, 5))).shape)
    (2, 4)
    """

    _config_unless = {"use_cudnn": "auto"}

    def __init__(
        self,
        units,
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
        unroll=False,
        use_cudnn="auto",
        **kwargs,
    ):
        kwargs.pop("implementation", None)
        cell = LSTMCell(
            units,
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
            name="lstm_cell",
        )
        super().__init__(
            cell,
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
        self.use_cudnn = use_cudnn
        self._settle()

    units = of_cell("units")
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

    def inner_loop(self, sequences, initial_state, mask, training=False):
        """By the framework's kernel for whole sequences where it computes the same, else step by step."""
        cell = self.cell
        if not self._can_fuse(mask, training):
            return super().inner_loop(sequences, initial_state, mask, training)
        x = self._dropped_inputs(sequences, training)
        bias = ops.zeros((4 * cell.units,), dtype=self.compute_dtype) if cell.bias is None else cell.bias
        kernels = cell.kernel, cell.recurrent_kernel, bias
        return self._by_kernel(ops.nn.lstm, ops.nn.masked_lstm, x, initial_state, kernels, mask)
