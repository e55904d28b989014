"""Merging element by element: sums, products, extremes."""

from functools import reduce

from kerata import ops
from kerata.core.masks import get_mask
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
    """Product of the inputs, element by element; masked steps of an input count as 1.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x = kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Multiply()([x, x])[0])
    9.0
    """

    def merge(self, inputs):
        masks = [get_mask(x) for x in inputs]
        if all(m is None for m in masks):
            return reduce(ops.multiply, inputs)
        kept = [
            x if m is None else ops.where(_like(m, x), x, ops.ones_like(x)) for x, m in zip(inputs, masks, strict=True)
        ]
        output = reduce(ops.multiply, kept)
        if any(m is None for m in masks):
            return output
        # Where nothing counts the product is 0, not 1.
        return output * ops.cast(_like(reduce(ops.logical_or, masks), output), output.dtype)


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
    """The larger one, element by element, of those that aren't masked.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x, y = kerata.ops.convert_to_tensor([1.0]), kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Maximum()([x, y])[0])
    3.0
    """

    def merge(self, inputs):
        return _extreme(ops.maximum, inputs)


class Minimum(Merge):
    """The smaller one, element by element, of those that aren't masked.

    Input: list of tensors whose shapes broadcast. Output: one tensor.

    >>> import kerata
    >>> x, y = kerata.ops.convert_to_tensor([1.0]), kerata.ops.convert_to_tensor([3.0])
    >>> float(kerata.layers.Minimum()([x, y])[0])
    1.0
    """

    def merge(self, inputs):
        return _extreme(ops.minimum, inputs)


def _extreme(choose, inputs):
    """`choose` of all inputs whose masks hold, or the first where none does."""
    masks = [get_mask(x) for x in inputs]
    if all(m is None for m in masks):
        return reduce(choose, inputs)
    output, counts = inputs[0], masks[0]
    for x, mask in zip(inputs[1:], masks[1:], strict=True):
        both = choose(output, x)
        either = both if counts is None else ops.where(_like(counts, x), both, x)
        output = either if mask is None else ops.where(_like(mask, x), either, output)
        counts = None if counts is None or mask is None else ops.logical_or(counts, mask)
    return output


def _like(mask, x):
    """The mask with dimensions of length 1 where `x` has more."""
    return (
        ops.expand_dims(mask, tuple(range(len(mask.shape), len(x.shape)))) if len(mask.shape) < len(x.shape) else mask
    )


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
