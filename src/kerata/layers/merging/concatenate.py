"""`Concatenate`: inputs one after another."""

from functools import reduce

from kerata import ops
from kerata.layers.merging.merging import Merge, _listed


class Concatenate(Merge):
    """The inputs one after another along an axis.

    Args:
        axis: the axis.

    Input: list of tensors whose shapes agree but for the axis. Output: one tensor.

    Raises:
        ValueError: at build, shapes that don't agree.

    >>> import kerata
    >>> x = kerata.ops.ones((2, 3))
    >>> tuple(kerata.layers.Concatenate()([x, x]).shape)
    (2, 6)
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape):
        shapes = self._checked_list(input_shape)
        ranks = {len(s) for s in shapes}
        rank = len(shapes[0])
        agree = len(ranks) == 1 and -rank <= self.axis < rank
        if agree:
            rest = [[d for i, d in enumerate(s) if i != self.axis % rank] for s in shapes]
            agree = all(len({d for d in dims if d is not None}) <= 1 for dims in zip(*rest, strict=True))
        if not agree:
            raise ValueError(
                f"{self._where()}: this layer requires inputs with matching shapes except for the concatenation axis "
                f"({self.axis}); the shapes are {_listed(shapes)}."
            )

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(f"{self._where()}: call it on a list of tensors, not on {inputs!r}.")
        return ops.concatenate(list(inputs), axis=self.axis)

    def compute_mask(self, inputs, mask=None):
        """The masks one after another; an input without one counts everywhere."""
        self._check_masks(inputs, mask)
        if mask is None or all(m is None for m in mask):
            return None
        axis = self.axis % len(inputs[0].shape)
        rank = max(len(m.shape) for m in mask if m is not None)
        if axis >= rank:
            # Along features a step counts if it does in any of the inputs.
            return reduce(ops.logical_or, [_whole(x, m, rank) for x, m in zip(inputs, mask, strict=True)])
        return ops.concatenate([_whole(x, m, rank) for x, m in zip(inputs, mask, strict=True)], axis=axis)


def _whole(x, mask, rank):
    """The mask, or one that holds everywhere, of the first `rank` dimensions of `x`."""
    if mask is not None:
        return mask
    return ops.ones_like(x[(slice(None),) * rank + (0,) * (len(x.shape) - rank)], dtype="bool")


def concatenate(inputs, axis=-1, **kwargs):
    """`Concatenate(axis, **kwargs)(inputs)`: a list of tensors one after another.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.concatenate([x, x]).shape
    (None, 6)
    """
    return Concatenate(axis=axis, **kwargs)(inputs)
