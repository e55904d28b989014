"""Merging element by element: sums, products, extremes."""

from functools import reduce

from kerata import ops
from kerata.layers.merging.merging import Merge


class Add(Merge):
    """Sum of the inputs.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> float(kerata.layers.Add()([kerata.ops.ones((1,)), kerata.ops.ones((1,))])[0])
    2.0
    """

    def merge(self, inputs):
        return reduce(ops.add, inputs)


class Subtract(Merge):
    """The first input minus the second.

    Input: list of two tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> float(kerata.layers.Subtract()([kerata.ops.ones((1,)), kerata.ops.ones((1,))])[0])
    0.0
    """

    exactly = 2

    def merge(self, inputs):
        return ops.subtract(*inputs)


class Multiply(Merge):
    """Product of the inputs, element by element.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x = kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Multiply()([x, x])[0])
    9.0
    """

    def merge(self, inputs):
        return reduce(ops.multiply, inputs)


class Average(Merge):
    """Mean of the inputs, element by element.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x, y = kerata.ops.convert_to_tensor([1.0]), kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Average()([x, y])[0])
    2.0
    """

    def merge(self, inputs):
        return reduce(ops.add, inputs) / len(inputs)


class Maximum(Merge):
    """The larger one, element by element.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x, y = kerata.ops.convert_to_tensor([1.0]), kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Maximum()([x, y])[0])
    3.0
    """

    def merge(self, inputs):
        return reduce(ops.maximum, inputs)


class Minimum(Merge):
    """The smaller one, element by element.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x, y = kerata.ops.convert_to_tensor([1.0]), kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Minimum()([x, y])[0])
    1.0
    """

    def merge(self, inputs):
        return reduce(ops.minimum, inputs)


def add(inputs, **kwargs):
    """`Add(**kwargs)(inputs)`: the sum of a list of tensors.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.add([x, x]).shape
    (None, 3)
    """
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """`Subtract(**kwargs)(inputs)`: the first of two tensors minus the second.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.subtract([x, x]).shape
    (None, 3)
    """
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """`Multiply(**kwargs)(inputs)`: the product of a list of tensors.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.multiply([x, x]).shape
    (None, 3)
    """
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """`Average(**kwargs)(inputs)`: the mean of a list of tensors.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.average([x, x]).shape
    (None, 3)
    """
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """`Maximum(**kwargs)(inputs)`: the larger ones of a list of tensors.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.maximum([x, x]).shape
    (None, 3)
    """
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """`Minimum(**kwargs)(inputs)`: the smaller ones of a list of tensors.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.minimum([x, x]).shape
    (None, 3)
    """
    return Minimum(**kwargs)(inputs)
