"""The base of layers that merge several inputs element by element."""

from functools import reduce

from kerata import ops
from kerata.layers.layer import Layer
from kerata.ops.rules import broadcast_shapes


class Merge(Layer):
    """Merges a list of inputs whose shapes broadcast. A subclass gives `merge(inputs)`.

    Inputs of fewer dimensions get dimensions of length 1 after the batch.
    """

    exactly = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def merge(self, inputs):
        """One tensor of a list of tensors with the same number of dimensions."""
        raise NotImplementedError

    def build(self, input_shape):
        shapes = self._checked_list(input_shape)
        batches = {s[0] for s in shapes if s and s[0] is not None}
        if len(batches) > 1 and 1 not in batches:
            raise ValueError(f"{self._where()}: the inputs have different batch sizes: {_listed(shapes)}.")
        rank = max(map(len, shapes))
        try:
            reduce(broadcast_shapes, [_with_rank(s, rank) for s in shapes])
        except ValueError:
            raise ValueError(f"{self._where()}: the inputs' shapes don't broadcast: {_listed(shapes)}.") from None

    def _checked_list(self, shapes):
        if not isinstance(shapes, (list, tuple)) or not all(isinstance(s, (list, tuple)) for s in shapes):
            raise ValueError(f"{self._where()}: call it on a list of tensors; its input has the shape {shapes}.")
        if not shapes or (self.exactly and len(shapes) != self.exactly):
            wanted = f"exactly {self.exactly} inputs" if self.exactly else "a list of at least one tensor"
            raise ValueError(f"{self._where()}: this layer should be called on {wanted}, not on {len(shapes)}.")
        return shapes

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(f"{self._where()}: call it on a list of tensors, not on {inputs!r}.")
        rank = max(len(x.shape) for x in inputs)
        return self.merge([_expanded(x, rank) for x in inputs])

    def compute_mask(self, inputs, mask=None):
        """Where any of the inputs' masks holds; an input without a mask counts everywhere."""
        self._check_masks(inputs, mask)
        if mask is None or any(m is None for m in mask):
            return None
        return reduce(ops.logical_or, mask)

    def _check_masks(self, inputs, mask):
        for name, value in (("inputs", inputs), ("mask", mask)):
            if value is not None and not isinstance(value, (list, tuple)):
                raise ValueError(f"{self._where()}: `{name}` should be a list. It is {value!r}.")
        if mask is not None and len(mask) != len(inputs):
            raise ValueError(
                f"{self._where()}: `inputs` and `mask` should have the same length. They have {len(inputs)} and {len(mask)}."
            )


def _with_rank(shape, rank):
    return (*shape[:1], *(1,) * (rank - len(shape)), *shape[1:])


def _expanded(x, rank):
    missing = rank - len(x.shape)
    return ops.expand_dims(x, tuple(range(1, 1 + missing))) if missing else x


def _listed(shapes):
    return ", ".join(str(tuple(s)) for s in shapes)
