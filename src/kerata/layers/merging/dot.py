"""`Dot`: products of two inputs, summed over an axis of each."""

from kerata import ops
from kerata.layers.merging.merging import Merge


class Dot(Merge):
    """Scalar products of two tensors along one axis of each, for each example.

    Args:
        axes: int, or pair of ints: the axis of the first and of the second.
        normalize: scale to unit length first, which gives cosines.

    Input: list of two tensors. Output: their remaining axes, at least one: `(batch, 1)` for two vectors.

    Raises:
        ValueError: at build, axes of different length.

    >>> import kerata
    >>> x = kerata.ops.convert_to_tensor([[3.0, 4.0]])
    >>> float(kerata.layers.Dot(axes=1)([x, x])[0, 0])
    25.0
    """

    exactly = 2

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        pair = axes if isinstance(axes, (list, tuple)) else (axes, axes)
        if len(pair) != 2 or not all(isinstance(a, int) and not isinstance(a, bool) for a in pair):
            raise ValueError(f"{self._where()}: `axes` must be an integer or two, but {axes!r} was given.")
        self.axes = axes
        self.normalize = normalize

    def _pair(self, shapes):
        pair = self.axes if isinstance(self.axes, (list, tuple)) else (self.axes, self.axes)
        return tuple(a % len(s) for a, s in zip(pair, shapes, strict=True))

    def build(self, input_shape):
        shapes = self._checked_list(input_shape)
        pair = self._pair(shapes)
        sizes = [s[a] for s, a in zip(shapes, pair, strict=True)]
        if 0 in pair:
            raise ValueError(
                f"{self._where()}: products are taken within each example, so `axes` can't be the batch's."
            )
        if None not in sizes and sizes[0] != sizes[1]:
            raise ValueError(
                f"{self._where()}: axis {pair[0]} of the first input and axis {pair[1]} of the second must have one "
                f"length, but the shapes are {tuple(shapes[0])} and {tuple(shapes[1])}."
            )

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)) or len(inputs) != 2:
            raise ValueError(f"{self._where()}: call it on a list of two tensors.")
        pair = self._pair([x.shape for x in inputs])
        if self.normalize:
            inputs = [ops.normalize(x, axis=a) for x, a in zip(inputs, pair, strict=True)]
        letters = "cdefghijklmnopqrstuvwxyz"
        first, second = inputs
        left = letters[: len(first.shape) - 2]
        right = letters[len(left) : len(left) + len(second.shape) - 2]
        names = (_with_contracted(n, a) for n, a in zip((left, right), pair, strict=True))
        out = ops.einsum(f"{','.join(names)}->a{left}{right}", first, second)
        return out if left or right else ops.expand_dims(out, 1)

    def compute_mask(self, inputs, mask=None):
        """None: the steps are summed over."""
        return None


def _with_contracted(names, axis):
    """Subscripts of one operand: the batch `a`, its own axes, and `b` where it is summed over."""
    return "a" + names[: axis - 1] + "b" + names[axis - 1 :]


def dot(inputs, axes=-1, **kwargs):
    """`Dot(axes, **kwargs)(inputs)`: scalar products of two tensors.

    >>> import kerata
    >>> x = kerata.Input((3,))
    >>> kerata.layers.dot([x, x], axes=1).shape
    (None, 1)
    """
    return Dot(axes=axes, **kwargs)(inputs)
