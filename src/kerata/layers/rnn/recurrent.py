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
        return functions and mask is None and not (self.unroll or recurrent_dropout or self.use_cudnn is False)

    def _in_order(self, outputs):
        """Outputs in the order in which they were computed."""
        return ops.flip(outputs, 1) if self.go_backwards and self.return_sequences else outputs
