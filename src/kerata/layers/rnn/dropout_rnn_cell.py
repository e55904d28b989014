"""Dropout in recurrent cells: one mask for all steps of a sequence (Gal & Ghahramani, 2016)."""

from kerata import ops, random


class DropoutRNNCell:
    """The masks of a cell, drawn at a sequence's first step and kept until they are reset.

    A cell with it has `dropout`, `recurrent_dropout` and, if one of them is above 0, a `seed_generator`.
    """

    _dropout_mask = None
    _recurrent_dropout_mask = None
    seed_generator = None

    def _set_dropout(self, dropout, recurrent_dropout, seed):
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.seed = seed
        if self.dropout > 0 or self.recurrent_dropout > 0:
            self.seed_generator = random.SeedGenerator(seed)

    def get_dropout_mask(self, step_input):
        """Mask of the inputs; `step_input` says its shape. `None` without dropout."""
        if self._dropout_mask is None and self.dropout > 0:
            self.__dict__["_dropout_mask"] = self._draw(step_input, self.dropout)
        return self._dropout_mask

    def get_recurrent_dropout_mask(self, step_input):
        """Mask of the state. `None` without recurrent dropout."""
        if self._recurrent_dropout_mask is None and self.recurrent_dropout > 0:
            self.__dict__["_recurrent_dropout_mask"] = self._draw(step_input, self.recurrent_dropout)
        return self._recurrent_dropout_mask

    def _draw(self, like, rate):
        return random.dropout(ops.ones_like(like), rate, seed=self.seed_generator)

    def reset_dropout_mask(self):
        """Forget the inputs' mask, so that the next call draws another."""
        self.__dict__.pop("_dropout_mask", None)

    def reset_recurrent_dropout_mask(self):
        """Forget the state's mask."""
        self.__dict__.pop("_recurrent_dropout_mask", None)

    def _dropped(self, inputs, state, training):
        """Inputs and state times their masks, in training."""
        if not training:
            return inputs, state
        if self.dropout > 0:
            inputs = inputs * self.get_dropout_mask(inputs)
        if self.recurrent_dropout > 0:
            state = state * self.get_recurrent_dropout_mask(state)
        return inputs, state
