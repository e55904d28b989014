"""Softmax as a layer, with masks."""

from kerata import activations, ops
from kerata.layers.layer import Layer

# Logits of masked places: far enough to vanish beside any other, finite so that nothing is NaN.
FAR_BELOW = {"float16": -3e4, "bfloat16": -1e9, "float32": -1e9, "float64": -1e9}


class Softmax(Layer):
    """Exponentials that sum to one along an axis.

    Args:
        axis: int, or several.

    Call arguments:
        inputs: floating tensor.
        mask: boolean, broadcastable to the inputs; where it is false, the output is zero.

    >>> import kerata
    >>> x, mask = kerata.ops.ones(3), kerata.ops.convert_to_tensor([True, True, False])
    >>> kerata.ops.convert_to_numpy(kerata.layers.Softmax()(x, mask=mask)).tolist()
    [0.5, 0.5, 0.0]
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.supports_masking = True

    def call(self, inputs, mask=None):
        axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        if mask is None:
            return activations.softmax(inputs, axis=axis)
        mask = ops.cast(mask, "bool")
        self._check_mask(mask, inputs)
        far = FAR_BELOW[ops.dtype(inputs)]
        weights = activations.softmax(ops.where(mask, inputs, ops.full_like(inputs, far)), axis=axis)
        # Where a whole row is masked the weights would be uniform.
        return weights * ops.cast(mask, weights.dtype)

    def _check_mask(self, mask, inputs):
        found, wanted = tuple(mask.shape), tuple(inputs.shape)
        ok = len(found) <= len(wanted) and all(
            m in (1, None) or w is None or m == w for m, w in zip(found[::-1], wanted[::-1], strict=False)
        )
        if not ok:
            raise ValueError(f"{self._where()}: the mask's shape {found} doesn't broadcast to the inputs' {wanted}.")
