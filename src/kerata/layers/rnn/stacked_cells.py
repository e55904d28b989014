"""Cells one above the other."""

from kerata.core import serialization, tree
from kerata.layers.call import signature_of
from kerata.layers.layer import Layer


class StackedRNNCells(Layer):
    """Several cells as one: each gets the output of the one below.

    Args:
        cells: list of cells.

    >>> import kerata
    >>> cell = kerata.layers.StackedRNNCells([kerata.layers.LSTMCell(4), kerata.layers.GRUCell(3)])
    >>> tuple(kerata.layers.RNN(cell)(kerata.ops.ones((2, 5, 6))).shape)
    (2, 3)
    """

    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        for cell in cells:
            for name in ("call", "state_size"):
                if not hasattr(cell, name):
                    raise ValueError(f"{self._where()}: a cell needs `{name}`, which {cell!r} hasn't.")
        self.cells = list(cells)

    @property
    def state_size(self):
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self):
        last = self.cells[-1]
        size = getattr(last, "output_size", None)
        if size is None:
            size = last.state_size[0] if isinstance(last.state_size, (list, tuple)) else last.state_size
        return size

    def get_initial_state(self, batch_size=None):
        """The cells' first states, one entry a cell."""
        from kerata import ops

        states = []
        for cell in self.cells:
            make = getattr(cell, "get_initial_state", None)
            if make is not None:
                states.append(make(batch_size=batch_size))
            elif isinstance(cell.state_size, (list, tuple)):
                states.append([ops.zeros((batch_size, s), dtype=self.compute_dtype) for s in cell.state_size])
            else:
                states.append([ops.zeros((batch_size, cell.state_size), dtype=self.compute_dtype)])
        return states

    def build(self, input_shape):
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(tuple(input_shape))
                cell.built = True
            size = getattr(cell, "output_size", None)
            if size is None:
                size = cell.state_size[0] if isinstance(cell.state_size, (list, tuple)) else cell.state_size
            input_shape = (input_shape[0], *(size if isinstance(size, (list, tuple)) else (size,)))

    def call(self, inputs, states, training=False, **kwargs):
        new = []
        for cell, own in zip(self.cells, states, strict=True):
            own = list(own) if tree.is_nested(own) else [own]
            takes = isinstance(cell, Layer) and signature_of(type(cell).call).takes_training
            inputs, state = cell(inputs, own, **({"training": training} if takes else {}))
            new.append(list(state) if tree.is_nested(state) else [state])
        return inputs, new

    def get_config(self):
        return {**super().get_config(), "cells": [serialization.serialize_keras_object(c) for c in self.cells]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A stack from its config."""
        config = dict(config)
        cells = [serialization.deserialize_keras_object(c, custom_objects=custom_objects) for c in config.pop("cells")]
        return cls(cells, **config)
