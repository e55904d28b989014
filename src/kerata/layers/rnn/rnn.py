"""`RNN`: a cell applied along time, for any cell."""

from kerata import ops
from kerata.core import tree
from kerata.graph.tensor import spec
from kerata.graph.trace import Trace
from kerata.layers.call import signature_of
from kerata.layers.layer import Layer
from kerata.layers.rnn.dropout_rnn_cell import DropoutRNNCell
from kerata.layers.rnn.stacked_cells import StackedRNNCells
from kerata.state.variable import Variable


class RNN(Layer):
    """Apply a cell to each step of a sequence, handing its state on.

    Args:
        cell: a layer with `call(step, states) -> (output, new states)`, `state_size` (int, or list of ints), optionally
            `output_size` and `get_initial_state(batch_size)`; or a list of cells, stacked.
        return_sequences: return the output of every step, not only of the last.
        return_state: return the last states too.
        go_backwards: from the last step to the first; outputs come in that order.
        stateful: begin each batch with the states with which the one before ended.
        unroll: a Python loop instead of a compiled one; the number of steps must be known.
        zero_output_for_mask: outputs of masked steps are zero, not those of the step before.

    Call arguments:
        sequences: `(batch, steps, …)`.
        initial_state: list of the first states; zeros unless given.
        mask: boolean `(batch, steps)`; where it is false a step is skipped: states stay.
        training: handed to the cell.

    Returns:
        `(batch, units)`, or `(batch, steps, units)` with `return_sequences`; with `return_state` a tuple of that
        and the states.

    >>> import kerata
    >>> layer = kerata.layers.RNN(kerata.layers.LSTMCell(4), return_sequences=True)
    >>> tuple(layer(kerata.ops.ones((2, 3, 5))).shape)
    (2, 3, 4)
    """

    def __init__(
        self,
        cell,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        zero_output_for_mask=False,
        **kwargs,
    ):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        for name, what in (("call", "a method `call(step, states)`"), ("state_size", "an attribute `state_size`")):
            if not hasattr(cell, name):
                raise ValueError(f"{type(self).__name__}: a cell needs {what}, which {cell!r} hasn't.")
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.zero_output_for_mask = zero_output_for_mask
        self.supports_masking = True
        self.input_spec = None
        self.__dict__["states"] = None

    @property
    def state_size(self):
        """Sizes of the cell's states, as a list."""
        size = self.cell.state_size
        return list(size) if isinstance(size, (list, tuple)) else [size]

    def build(self, sequences_shape, initial_state_shape=None):
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))
            self.cell.built = True
        if self.stateful:
            self._make_states(sequences_shape[0])

    # ------------------------------------------------------------- states

    def _make_states(self, batch_size):
        """The variables in which a stateful layer keeps its states."""
        if batch_size is None:
            raise ValueError(
                f"{self._where()}: a stateful layer needs a fixed batch size. Give it by `Input(batch_size=…)` or "
                "`batch_shape`."
            )
        if self.states is None:
            # Part of `variables`, but no weights: files don't hold them.
            self.__dict__["states"] = tree.map_structure(
                lambda s: Variable(s, trainable=False, dtype=self.variable_dtype, name="rnn_state"),
                self.get_initial_state(batch_size),
            )

    @property
    def variables(self):
        kept = [] if self.states is None else tree.flatten(self.states)
        return [*super().variables, *kept]

    def get_initial_state(self, batch_size):
        """The cell's first states, as a list."""
        make = getattr(self.cell, "get_initial_state", None)
        if make is not None:
            state = make(batch_size=batch_size)
        else:
            state = [ops.zeros((batch_size, size), dtype=self.compute_dtype) for size in self.state_size]
        return list(state) if tree.is_nested(state) else [state]

    def reset_state(self):
        """Zeros for the states of a stateful layer."""
        for state in tree.flatten(self.states) if self.states is not None else ():
            state.assign(ops.zeros(state.shape, state.dtype))

    reset_states = reset_state

    # ------------------------------------------------------------- calling

    def call(self, sequences, initial_state=None, mask=None, training=False):
        state = self._first_state(sequences, initial_state)
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        last, outputs, state = self.inner_loop(sequences, state, mask, training)
        if self.stateful:
            for variable, value in zip(tree.flatten(self.states), tree.flatten(state), strict=True):
                variable.assign(value)
        output = outputs if self.return_sequences else last
        return (output, *state) if self.return_state else output

    def _first_state(self, sequences, initial_state):
        if initial_state is not None:
            state = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
            if len(state) != len(self.state_size):
                raise ValueError(
                    f"{self._where()}: `initial_state` must hold {len(self.state_size)} states, but "
                    f"{len(state)} were given."
                )
        elif self.stateful:
            kept, batch = tree.flatten(self.states)[0].shape[0], sequences.shape[0]
            if batch is not None and batch != kept:
                raise ValueError(
                    f"{self._where()}: a stateful layer is called with the batch size that its states were made for, {kept}, "
                    f"but the inputs have {batch}."
                )
            # As values: the variables are assigned at the end.
            state = tree.map_structure(ops.convert_to_tensor, list(self.states))
        else:
            state = self.get_initial_state(ops.shape(sequences)[0])
        return tree.map_structure(lambda s: ops.cast(s, self.compute_dtype), state)

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """Shape of the outputs, or `(shape, *shapes of the states)` with `return_state`."""
        return super().compute_output_shape(sequences_shape)

    def inner_loop(self, sequences, initial_state, mask, training=False):
        """Run the cell along time.

        Returns:
            `(last output, outputs of all steps, last states)`.
        """
        kwargs = {"training": training} if self._cell_takes_training() else {}
        if training:
            self._draw_masks(sequences, initial_state)

        def step(x, state):
            output, new = self.cell(x, state, **kwargs)
            # The loop wants the structure that it was given.
            return output, tree.pack_sequence_as(state, tree.flatten(new))

        loop = _unrolled if self.unroll else _scanned
        try:
            return loop(self, step, sequences, initial_state, mask)
        finally:
            self._reset_masks()

    def _cell_takes_training(self):
        return isinstance(self.cell, Layer) and signature_of(type(self.cell).call).takes_training

    def _cells(self):
        return getattr(self.cell, "cells", (self.cell,))

    def _reset_masks(self):
        for cell in self._cells():
            if isinstance(cell, DropoutRNNCell):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    def _draw_masks(self, sequences, state):
        """Dropout masks are drawn before the loop: within it they would be new at each step."""
        x = sequences[:, 0]
        states = state if isinstance(self.cell, StackedRNNCells) else [state]
        for cell, own in zip(self._cells(), states, strict=True):
            first = tree.flatten(own)[0]
            if isinstance(cell, DropoutRNNCell):
                cell.get_dropout_mask(x)
                cell.get_recurrent_dropout_mask(first)
            # The next cell of a stack gets this one's output, which is shaped like its first state.
            x = first

    def compute_mask(self, _, mask):
        """The inputs' mask for sequences; states have none."""
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        output_mask = mask if self.return_sequences else None
        return (output_mask, *(None for _ in self.state_size)) if self.return_state else output_mask


class _Masked:
    """A step that does nothing where the mask is false: the carry is `(states, output of the step before)`."""

    def __init__(self, layer, step):
        self.step, self.zero = step, layer.zero_output_for_mask

    def __call__(self, carry, x, counts):
        state, before = carry
        output, new = self.step(x, state)
        new = _where(counts, new, state)
        held = _where(counts, output, before)
        shown = _where(counts, output, tree.map_structure(ops.zeros_like, output)) if self.zero else held
        return (new, held), shown


def _where(counts, new, old):
    """`new` where a row counts, else `old`, in each tensor of a structure."""

    def choose(n, o):
        shape = (*ops.shape(counts), *(1,) * (len(n.shape) - len(counts.shape)))
        return ops.where(ops.reshape(counts, shape), n, o)

    return tree.map_structure(choose, new, old)


def _blank_output(layer, step, sequences, state):
    """Zeros shaped like the cell's output: what stands before the first step that counts."""
    batch = ops.shape(sequences)[0]
    size = getattr(layer.cell, "output_size", None)
    if isinstance(size, int):
        return ops.zeros((batch, size), dtype=layer.compute_dtype)

    def one(t, drop=0):
        return spec((t.shape[0], *tuple(t.shape)[1 + drop :]), ops.dtype(t))

    with Trace(record=False, dynamic=True):
        output, _ = step(one(sequences, 1), tree.map_structure(one, state))
    return tree.map_structure(lambda t: ops.zeros((batch, *t.shape[1:]), dtype=t.dtype), output)


def _scanned(layer, step, sequences, state, mask):
    """The steps by `ops.scan`, which compiles one of them."""
    backwards = layer.go_backwards
    xs = ops.swapaxes(sequences, 0, 1)
    if mask is None:
        state, outputs = ops.scan(lambda state, x: step(x, state)[::-1], state, xs, reverse=backwards)
    else:
        masked, blank = _Masked(layer, step), _blank_output(layer, step, sequences, state)
        xs = (xs, ops.swapaxes(ops.cast(mask, "bool"), 0, 1))
        (state, _), outputs = ops.scan(lambda carry, at: masked(carry, *at), (state, blank), xs, reverse=backwards)
    last = tree.map_structure(lambda y: y[0 if backwards else -1], outputs)
    if layer.return_sequences:
        outputs = tree.map_structure(lambda y: ops.swapaxes(ops.flip(y, 0) if backwards else y, 0, 1), outputs)
    return last, outputs, state


def _unrolled(layer, step, sequences, state, mask):
    """The steps one by one."""
    length = sequences.shape[1]
    if length is None:
        raise ValueError(
            f"{layer._where()}: to be unrolled, the number of steps must be known; the input's shape is "
            f"{tuple(sequences.shape)}."
        )
    times = range(length - 1, -1, -1) if layer.go_backwards else range(length)
    masked, carry, outputs = None, state, []
    if mask is not None:
        masked, mask = _Masked(layer, step), ops.cast(mask, "bool")
        carry = (state, _blank_output(layer, step, sequences, state))
    for t in times:
        if masked is None:
            output, carry = step(sequences[:, t], carry)
        else:
            carry, output = masked(carry, sequences[:, t], mask[:, t])
        outputs.append(output)
    state = carry if masked is None else carry[0]
    together = None
    if layer.return_sequences:
        together = tree.map_structure(lambda *ys: ops.stack(ys, axis=1), *outputs)
    return outputs[-1], together, state
