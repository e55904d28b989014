"""Programs of `torch.export`, of functions of tensors."""

import torch
from torch import nn

from kerata.backends.torch.core import DTYPES

# What dimensions that aren't known are while a program is traced: 0 and 1 would be taken for their values.
_BATCH, _OTHER = 3, 17


class _Module(nn.Module):
    """A function of tensors and of the parameters held here."""

    def __init__(self, function, values):
        super().__init__()
        self._function = function
        self._names = []
        for name, value, trainable in values:
            name = name.replace("/", "_").replace(".", "_")
            while hasattr(self, name):
                name += "_"
            self._names.append(name)
            value = value.detach().clone()
            if trainable:
                self.register_parameter(name, nn.Parameter(value))
            else:
                self.register_buffer(name, value)

    def forward(self, *inputs):
        values = [getattr(self, name) for name in self._names]
        outputs, updates = self._function(inputs, values)
        for position, value in updates:
            values[position].copy_(value)
        return outputs


def exported_program(function, values, inputs, options):
    """The program of `function(inputs, values)`, which returns the outputs, and `(position, value)` of values to update.

    Args:
        function: of a tuple of inputs and a list of values.
        values: `(name, tensor, whether it's a parameter)` of each.
        inputs: structures of `KerasTensor`s, one an argument.
        options: arguments of `torch.export.export`.
    """
    flat, structure = torch.utils._pytree.tree_flatten(inputs, is_leaf=lambda t: hasattr(t, "dtype"))
    examples = torch.utils._pytree.tree_unflatten([_example(t) for t in flat], structure)
    if "dynamic_shapes" not in options:
        batch = torch.export.Dim("batch", min=1)
        dynamic = [_dynamic(number, t, batch) for number, t in enumerate(flat)]
        options = {**options, "dynamic_shapes": (torch.utils._pytree.tree_unflatten(dynamic, structure),)}
    return torch.export.export(_Module(function, values).eval(), tuple(examples), **{"strict": False, **options})


def _example(t):
    shape = [(_OTHER if axis else _BATCH) if d is None else d for axis, d in enumerate(t.shape)]
    return torch.zeros(shape, dtype=DTYPES[t.dtype])


def _dynamic(number, t, batch):
    """All inputs have one batch size; any other unknown dimension is its own."""
    unknown = [axis for axis, d in enumerate(t.shape) if d is None]
    return {axis: torch.export.Dim(f"d{number}_{axis}", min=1) if axis else batch for axis in unknown}


def save_program(program, path):
    torch.export.save(program, path)
