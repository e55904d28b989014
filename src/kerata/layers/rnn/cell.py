"""What the library's recurrent cells share: arguments, weights, the first state."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.core.errors import positive_int
from kerata.layers.layer import Layer
from kerata.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from kerata.layers.shapes import known_size


class Cell(DropoutRNNCell, Layer):
    """Base of `SimpleRNNCell`, `LSTMCell` and `GRUCell`. A subclass says how many `gates` its kernels hold."""

    gates = 1

    def _set_arguments(
        self,
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
    ):
        self.units = positive_int(units, "units", self._where())
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self._set_dropout(dropout, recurrent_dropout, seed)
        self.state_size = self.units
        self.output_size = self.units
        self.bias = None

    def build(self, input_shape):
        features = known_size(self, input_shape, -1)
        width = self.gates * self.units
        self.kernel = self.add_weight(
            name="kernel",
            shape=(features, width),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel",
            shape=(self.units, width),
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=self._bias_shape(width),
                initializer=self._first_bias(),
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def _bias_shape(self, width):
        return (width,)

    def _first_bias(self):
        return self.bias_initializer

    def get_initial_state(self, batch_size=None):
        """Zeros, as a list with the state's tensors."""
        sizes = self.state_size if isinstance(self.state_size, list) else [self.state_size]
        return [ops.zeros((batch_size, size), dtype=self.compute_dtype) for size in sizes]
