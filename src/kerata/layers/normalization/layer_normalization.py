"""Layer normalization (Ba et al., 2016)."""

from kerata import ops
from kerata.layers.layer import Layer
from kerata.layers.normalization.scale_and_shift import ScaleAndShift
from kerata.layers.shapes import known_size


class _RmsScaling(ScaleAndShift, Layer):
    """Keras's configs of layer normalization hold `rms_scaling`, which is no argument in its signature any more."""

    def get_config(self):
        return {**super().get_config(), "rms_scaling": self.rms_scaling}


class LayerNormalization(_RmsScaling):
    """Normalize each example over `axis`, then scale and shift.

    Args:
        axis: int or list of ints: the axes normalized over.
        epsilon: added to the variance.
        center: add `beta`.
        scale: multiply by `gamma`.
        beta_initializer, gamma_initializer: of the two.
        beta_regularizer, gamma_regularizer: penalties.
        beta_constraint, gamma_constraint: applied after each update.

    Input: floating. Output: the same shape.

    >>> import kerata
    >>> y = kerata.layers.LayerNormalization(epsilon=0.0)(kerata.ops.convert_to_tensor([[1.0, 3.0]]))
    >>> kerata.ops.convert_to_numpy(y).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(
        self,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        # In Keras's files; deprecated there in favour of `RMSNormalization`.
        self.rms_scaling = kwargs.pop("rms_scaling", False)
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else int(axis)
        self.epsilon = epsilon
        self._set_scale_and_shift(
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
        )
        self.supports_masking = True

    def build(self, input_shape):
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        shape = tuple(known_size(self, input_shape, a, "scale") for a in axes)
        self._add_scale_and_shift(shape, center=not self.rms_scaling)

    def call(self, inputs):
        x = self._widened(inputs)
        if self.rms_scaling:
            out = self._scaled(x)
        else:
            out = ops.layer_normalization(x, self.gamma, self.beta, self.axis, self.epsilon)
        return self._narrowed(out)

    def _scaled(self, x):
        """What Keras does under the name of RMS scaling: divided by the deviation around the mean, but not centred."""
        out = x * ops.rsqrt(ops.moments(x, axes=self.axis, keepdims=True)[1] + self.epsilon)
        if self.gamma is None:
            return out
        rank = len(x.shape)
        axes = [a % rank for a in (self.axis if isinstance(self.axis, list) else [self.axis])]
        return out * ops.reshape(self.gamma, [x.shape[i] if i in axes else 1 for i in range(rank)])
