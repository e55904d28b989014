"""The plain recurrent layer."""

from kerata import ops
from kerata.layers.rnn.cell import Cell
from kerata.layers.rnn.recurrent import Recurrent, of_cell


class SimpleRNNCell(Cell):
    """One step of a plain recurrent layer: `activation(step @ kernel + state @ recurrent_kernel + bias)`.

    Args:
        units: size of output and state.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout: share of the inputs dropped in training, the same ones at each step.
        recurrent_dropout: share of the state dropped in training, the same at each step.
        seed: of the dropout.

    Call arguments:
        sequence: `(batch, features)`: one step.
        states: list with the state, `(batch, units)`.
        training: whether to drop.

    Returns:
        `(output, [state])`.

    >>> import kerata
    >>> cell = kerata.layers.SimpleRNNCell(4)
    >>> output, states = cell(kerata.ops.ones((2, 3)), cell.get_initial_state(2))
    >>> tuple(output.shape), len(states)
    ((2, 4), 1)
    """

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
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

    def call(self, sequence, states, training=False):
        before = states[0] if isinstance(states, (list, tuple)) else states
        x, before = self._dropped(sequence, before, training)
        output = self.activation(ops.nn.dense(x, self.kernel, self.bias) + ops.matmul(before, self.recurrent_kernel))
        return output, [output]


class SimpleRNN(Recurrent):
    """A plain recurrent layer: the output is fed back (Elman, 1990).

    Args:
        units: size of output and state.
        activation: function, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout, recurrent_dropout: shares of inputs and state dropped in training.
        return_sequences, return_state, go_backwards, stateful, unroll: as in `RNN`.
        seed: of the dropout.

    Call arguments: as of `RNN`; `sequences` is `(batch, steps, features)`.

    >>> import kerata
    >>> tuple(kerata.layers.SimpleRNN(4)(kerata.ops.ones((2, 3, 5))).shape)
    (2, 4)
    """

    _config_unless = {"seed": None}

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        seed=None,
        **kwargs,
    ):
        cell = SimpleRNNCell(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
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
            name="simple_rnn_cell",
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
        self._settle()

    units = of_cell("units")
    activation = of_cell("activation")
    use_bias = of_cell("use_bias")
    kernel_initializer = of_cell("kernel_initializer")
    recurrent_initializer = of_cell("recurrent_initializer")
    bias_initializer = of_cell("bias_initializer")
    kernel_regularizer = of_cell("kernel_regularizer")
    recurrent_regularizer = of_cell("recurrent_regularizer")
    bias_regularizer = of_cell("bias_regularizer")
    kernel_constraint = of_cell("kernel_constraint")
    recurrent_constraint = of_cell("recurrent_constraint")
    bias_constraint = of_cell("bias_constraint")
    dropout = of_cell("dropout")
    recurrent_dropout = of_cell("recurrent_dropout")
    seed = of_cell("seed")
