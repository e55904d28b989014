"""Normalization to unit length."""

from kerata import ops
from kerata.layers.layer import Layer


class UnitNormalization(Layer):
    """Divide each example by its Euclidean norm over `axis`.

    Args:
        axis: int or list of ints.

    Input: floating. Output: the same shape.

    >>> import kerata
    >>> y = kerata.layers.UnitNormalization()(kerata.ops.convert_to_tensor([[3.0, 4.0]]))
    >>> round(float(y[0, 1]), 3)
    0.8
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(f"{self._where()}: `axis` must be an integer or several, not {axis!r}.")
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.supports_masking = True

    def call(self, inputs):
        return ops.normalize(
            inputs, axis=tuple(self.axis) if isinstance(self.axis, list) else self.axis, order=2, epsilon=1e-12
        )
