"""`Weight`: which of a weight's dimensions are summed over, and how it's laid out in bits."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from kerata import ops


@dataclass(frozen=True)
class Weight:
    """A weight that can be quantized, and what an einsum says about it.

    As a matrix its rows are the dimensions that are summed over, its columns the others, each in the weight's order.

    Args:
        name: its name; of its scales and zeros the first part.
        shape: its shape.
        equation: `"inputs,weight->outputs"`; the inputs may begin with dots.
        flat_scale: int8's scale is a vector, rather than laid out to broadcast with the outputs.
        rows_first: whether the matrix of four-bit integers, and its scales, are kept as they are or transposed.
        packed: which dimension of the kept matrix has two integers in a byte.
        owns_groups: whether it has its own `g_idx`, the number of each row's group.
        zero_dtype: dtype of a group's zero.
        calibrated_zero: name of the variable of the zeros that GPTQ or AWQ found; `None`: `kernel_zero`.
    """

    name: str
    shape: tuple
    equation: str
    flat_scale: bool = False
    rows_first: bool = True
    packed: int = 1
    owns_groups: bool = True
    zero_dtype: str = "int8"
    calibrated_zero: str | None = None

    @functools.cached_property
    def terms(self):
        """`(inputs, weight, outputs)`, the leading dots left out."""
        inputs, outputs = self.equation.split("->")
        inputs, weight = inputs.split(",")
        return inputs.removeprefix("..."), weight, outputs.removeprefix("...")

    @functools.cached_property
    def summed(self):
        """The weight's axes that are summed over."""
        inputs, weight, outputs = self.terms
        return tuple(i for i, c in enumerate(weight) if c in inputs and c not in outputs)

    @functools.cached_property
    def kept(self):
        return tuple(i for i in range(len(self.shape)) if i not in self.summed)

    @functools.cached_property
    def input_axes(self):
        """The inputs' axes that are summed over, counted from the end."""
        inputs, _, outputs = self.terms
        return tuple(i - len(inputs) for i, c in enumerate(inputs) if c not in outputs)

    @property
    def rows(self):
        return math.prod(self.shape[i] for i in self.summed)

    @property
    def columns(self):
        return math.prod(self.shape[i] for i in self.kept)

    # ------------------------------------------------------------- the matrix

    def to_matrix(self, array):
        """A host array as the matrix `(rows, columns)`."""
        return np.transpose(array, self.summed + self.kept).reshape(self.rows, self.columns)

    def from_matrix(self, matrix, xp=ops):
        """The matrix, or one row that stands for all of them, in the weight's shape."""
        order = self.summed + self.kept
        if matrix.shape[0] == self.rows:
            shape = [self.shape[i] for i in order]
        else:
            shape = [1] * len(self.summed) + [self.shape[i] for i in self.kept]
        return _transposed(xp.reshape(matrix, shape), tuple(np.argsort(order).tolist()), xp)

    # ------------------------------------------------------------- scales

    @functools.cached_property
    def scale_shape(self):
        """The shape of a scale with the summed axes left in, of size 1."""
        return tuple(1 if i in self.summed else d for i, d in enumerate(self.shape))

    def to_output(self, scale, xp=ops):
        """A scale of the weight laid out to broadcast with the outputs."""
        if self.flat_scale:
            return xp.reshape(scale, (self.columns,))
        _, weight, outputs = self.terms
        scale = xp.reshape(scale, [self.shape[i] for i in self.kept])
        letters = [weight[i] for i in self.kept]
        scale = _transposed(scale, tuple(letters.index(c) for c in outputs if c in letters), xp)
        sizes = dict(zip(weight, self.scale_shape, strict=True))
        return xp.reshape(scale, [sizes[c] if c in letters else 1 for c in outputs])

    def from_output(self, scale, xp=ops):
        """The reverse of `to_output`: a scale laid out to broadcast with the weight."""
        if not self.flat_scale:
            _, weight, outputs = self.terms
            letters = [weight[i] for i in self.kept]
            found = [c for c in outputs if c in letters]
            sizes = dict(zip(weight, self.shape, strict=True))
            scale = xp.reshape(scale, [sizes[c] for c in found])
            scale = _transposed(scale, tuple(found.index(c) for c in letters), xp)
        return xp.reshape(scale, self.scale_shape)

    def input_scale_to_output(self, scale):
        """A scale of the inputs, its summed axes of size 1, laid out to broadcast with the outputs."""
        inputs, _, outputs = self.terms
        if "..." in self.equation:
            # `"...x"` to `"...y"`: one axis of size 1 in the place of the other.
            return scale
        scale = ops.squeeze(scale, axis=self.input_axes)
        letters = [c for c in inputs if c in outputs]
        scale = _transposed(scale, tuple(letters.index(c) for c in outputs if c in letters), ops)
        missing = tuple(i for i, c in enumerate(outputs) if c not in letters)
        return ops.expand_dims(scale, missing) if missing else scale

    @functools.cached_property
    def backwards(self):
        """The equation of the gradient with respect to the inputs: `"outputs,weight->inputs"`."""
        inputs, rest = self.equation.split(",")
        weight, outputs = rest.split("->")
        return f"{outputs},{weight}->{inputs}"


def _transposed(x, axes, xp):
    return x if axes == tuple(range(len(axes))) else xp.transpose(x, axes)
