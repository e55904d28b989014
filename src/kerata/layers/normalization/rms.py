"""Normalization by the root mean square."""

from kerata import ops
from kerata.layers.layer import Layer
from kerata.layers.shapes import known_size


class RMSNormalization(Layer):
    """Scale each example to unit root mean square over `axis` (Zhang & Sennrich, 2019).

    Args:
        axis: int or list of ints.
        epsilon: added to the mean square.

    Input: floating. Output: the same shape, multiplied by the weight `scale`.

    >>> import kerata
    >>> y = kerata.layers.RMSNormalization()(kerata.ops.convert_to_tensor([[2.0, 2.0]]))
    >>> round(float(y[0, 0]), 3)
    1.0
    """

    def __init__(self, axis=-1, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else int(axis)
        self.epsilon = epsilon

    def build(self, input_shape):
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        shape = tuple(known_size(self, input_shape, a, "scale") for a in axes)
        self.scale = self.add_weight(name="scale", shape=shape, initializer="ones")

    def call(self, x):
        return ops.rms_normalization(x, self.scale, self.axis, self.epsilon)
