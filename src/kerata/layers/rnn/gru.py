"""The gated recurrent unit (Cho et al., 2014)."""

from kerata import activations, ops
from kerata.layers.rnn.cell import Cell
from kerata.layers.rnn.recurrent import Recurrent, of_cell


class GRUCell(Cell):
    """One step of a GRU.

    Args:
        units: size of output and state.
        activation: of the candidate.
        recurrent_activation: of the gates.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout: share of the inputs dropped in training, the same ones at each step.
        recurrent_dropout: share of the state dropped in training, the same at each step.
        reset_after: the reset gate acts after the product with the recurrent kernel (as in cuDNN), which has its own
            bias then; otherwise before it, as in the paper.
        seed: of the dropout.

    Call arguments:
        inputs: `(batch, features)`: one step.
        states: list with the state, `(batch, units)`.
        training: whether to drop.

    Returns:
        `(output, [state])`.

    >>> import kerata
    >>> cell = kerata.layers.GRUCell(4)
    >>> output, states = cell(kerata.ops.ones((2, 3)), cell.get_initial_state(2))
    >>> tuple(output.shape), len(states)
    ((2, 4), 1)
    """

    gates = 3

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
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
        reset_after=True,
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
        self.reset_after = reset_after

    def _bias_shape(self, width):
        return (2, width) if self.reset_after else (width,)

    def call(self, inputs, states, training=False):
        before = states[0] if isinstance(states, (list, tuple)) else states
        x, dropped = self._dropped(inputs, before, training)
        new = self._after(x, dropped) if self.reset_after else self._before(x, dropped)
        gate, candidate = new
        output = gate * before + (1 - gate) * candidate
        return output, [output]

    def _after(self, x, state):
        """Update gate and candidate, the reset gate acting on the product."""
        input_bias, recurrent_bias = (None, None) if self.bias is None else (self.bias[0], self.bias[1])
        xz, xr, xh = ops.split(ops.nn.dense(x, self.kernel, input_bias), 3, axis=-1)
        hz, hr, hh = ops.split(ops.nn.dense(state, self.recurrent_kernel, recurrent_bias), 3, axis=-1)
        gate = self.recurrent_activation
        return gate(xz + hz), self.activation(xh + gate(xr + hr) * hh)

    def _before(self, x, state):
        """Update gate and candidate, the reset gate acting on the state."""
        xz, xr, xh = ops.split(ops.nn.dense(x, self.kernel, self.bias), 3, axis=-1)
        units, kernel = self.units, ops.convert_to_tensor(self.recurrent_kernel)
        hz, hr = ops.split(ops.matmul(state, kernel[:, : 2 * units]), 2, axis=-1)
        gate = self.recurrent_activation
        reset = gate(xr + hr) * state
        return gate(xz + hz), self.activation(xh + ops.matmul(reset, kernel[:, 2 * units :]))


class GRU(Recurrent):
    """The gated recurrent unit: an update gate mixes the old state with a candidate.

    With `tanh` and `sigmoid`, `reset_after`, no recurrent dropout and no unrolling, the framework's own kernel
    for whole sequences does it; the numbers are the same.

    Args:
        units: size of output and state.
        activation: of the candidate.
        recurrent_activation: of the gates.
        use_bias: whether there is a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
        kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights.
        activity_regularizer: penalty on the output.
        kernel_constraint, recurrent_constraint, bias_constraint: applied after each update.
        dropout, recurrent_dropout: shares of inputs and state dropped in training.
        seed: of the dropout.
        return_sequences, return_state, go_backwards, stateful, unroll: as in `RNN`.
        reset_after: the reset gate acts after the product with the recurrent kernel, which has its own bias then.
        use_cudnn: `False` forbids the framework's kernel for whole sequences.

    Call arguments: as of `RNN`; `sequences` is `(batch, steps, features)`.

    >>> import kerata
    >>> tuple(kerata.layers.GRU(4)(kerata.ops.ones((2, 3, 5))).shape)
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
        reset_after=True,
        use_cudnn="auto",
        **kwargs,
    ):
        kwargs.pop("implementation", None)
        cell = GRUCell(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
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
            reset_after=reset_after,
            seed=seed,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
            name="gru_cell",
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
    kernel_regularizer = of_cell("kernel_regularizer")
    recurrent_regularizer = of_cell("recurrent_regularizer")
    bias_regularizer = of_cell("bias_regularizer")
    kernel_constraint = of_cell("kernel_constraint")
    recurrent_constraint = of_cell("recurrent_constraint")
    bias_constraint = of_cell("bias_constraint")
    dropout = of_cell("dropout")
    recurrent_dropout = of_cell("recurrent_dropout")
    reset_after = of_cell("reset_after")
    seed = of_cell("seed")

    def inner_loop(self, sequences, initial_state, mask, training=False):
        """By the framework's kernel for whole sequences where it computes the same, else step by step."""
        cell = self.cell
        if not (cell.reset_after and self._can_fuse(mask, training)):
            return super().inner_loop(sequences, initial_state, mask, training)
        x = self._dropped_inputs(sequences, training)
        bias = ops.zeros((2, 3 * cell.units), dtype=self.compute_dtype) if cell.bias is None else cell.bias
        weights = cell.kernel, cell.recurrent_kernel, bias
        return self._by_kernel(ops.nn.gru, ops.nn.masked_gru, x, initial_state, weights, mask)
