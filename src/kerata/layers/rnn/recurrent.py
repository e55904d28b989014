"""What `SimpleRNN`, `LSTM` and `GRU` share: an `RNN` that makes its own cell."""

from kerata import activations, ops
from kerata.layers.input_spec import InputSpec
from kerata.layers.rnn.rnn import RNN


def of_cell(name):
    """A property that reads an argument off the cell."""
    return property(lambda self: getattr(self.cell, name))


class Recurrent(RNN):
    """Base of the layers around one of the library's own cells."""

    def _settle(self):
        """Called at the end of constructors."""
        self.input_spec = InputSpec(ndim=3)

    def get_config(self):
        # The cell's arguments are the layer's own, the cell isn't among them.
        config = super().get_config()
        config.pop("cell", None)
        return config

    def _dropped_inputs(self, sequences, training):
        """The sequence times the cell's dropout mask, the same at each step."""
        if not training or self.cell.dropout == 0:
            return sequences
        mask = self.cell.get_dropout_mask(sequences[:, 0])
        self._reset_masks()
        return sequences * ops.expand_dims(mask, 1)

    def _can_fuse(self, mask, training):
        """Whether the framework's whole-sequence kernel computes the same."""
        cell = self.cell
        functions = cell.activation is activations.tanh and cell.recurrent_activation is activations.sigmoid
        recurrent_dropout = training and cell.recurrent_dropout > 0
        masks = mask is None or (len(mask.shape) == 2 and not self.zero_output_for_mask)
        return functions and masks and not (self.unroll or recurrent_dropout or self.use_cudnn is False)

    def _by_kernel(self, kernel, masked, x, state, weights, mask):
        """`(last output, outputs, states)` by a whole-sequence kernel, or by its form for masks."""
        if mask is None:
            outputs, *state = kernel(x, *state, *weights, self.go_backwards, self.return_sequences)
            return state[0], self._in_order(outputs), state
        mask = ops.cast(mask, "bool")
        outputs, *state = masked(x, *state, *weights, mask, self.go_backwards, self.return_sequences)
        # Before the first step that counts there is no output, whatever the first state.
        if not self.return_sequences:
            seen = ops.any(mask, axis=1)
        elif self.go_backwards:
            seen = ops.flip(ops.cumsum(ops.flip(ops.cast(mask, "int32"), 1), axis=1), 1) > 0
        else:
            seen = ops.cumsum(ops.cast(mask, "int32"), axis=1) > 0
        outputs = ops.where(ops.expand_dims(seen, -1), outputs, ops.zeros_like(outputs))
        return outputs, self._in_order(outputs), state

    def _in_order(self, outputs):
        """Outputs in the order in which they were computed."""
        return ops.flip(outputs, 1) if self.go_backwards and self.return_sequences else outputs
