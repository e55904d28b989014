"""Group normalization (Wu & He, 2018)."""

from kerata import ops
from kerata.core.errors import integer
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.normalization.scale_and_shift import ScaleAndShift
from kerata.layers.shapes import known_size


class GroupNormalization(ScaleAndShift, Layer):
    """Normalize groups of channels, each example on its own.

    One group is layer normalization over everything but the batch; as many groups as channels is instance
    normalization.

    Args:
        groups: number of groups, a divisor of the number of channels; -1: as many as channels.
        axis: the channels' axis.
        epsilon: added to the variance.
        center: add `beta`.
        scale: multiply by `gamma`.
        beta_initializer, gamma_initializer: of the two.
        beta_regularizer, gamma_regularizer: penalties.
        beta_constraint, gamma_constraint: applied after each update.

    Input: floating, `(batch, …, channels)`. Output: the same shape.

    Raises:
        ValueError: at build, groups that don't divide the channels.

    >>> import kerata
    >>> tuple(kerata.layers.GroupNormalization(2)(kerata.ops.ones((1, 4, 6))).shape)
    (1, 4, 6)
    """

    def __init__(
        self,
        groups=32,
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
        super().__init__(**kwargs)
        self.groups = integer(groups, "groups", self._where(), minimum=-1)
        self.axis = axis
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
        channels = known_size(self, input_shape, self.axis, "scale")
        if self.groups == -1:
            self.groups = channels
        if not self.groups or channels % self.groups:
            raise ValueError(
                f"{self._where()}: `groups` ({self.groups}) must divide the number of channels ({channels}; the "
                f"input's shape is {tuple(input_shape)}, axis={self.axis})."
            )
        self._add_scale_and_shift((channels,))
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: channels})

    def call(self, inputs):
        x = self._widened(inputs)
        rank = len(x.shape)
        axis = self.axis % rank
        shape = ops.shape(x)
        grouped = (*shape[:axis], self.groups, shape[axis] // self.groups, *shape[axis + 1 :])
        x = ops.reshape(x, grouped)
        reduced = tuple(i for i in range(1, rank + 1) if i != axis)
        mean, variance = ops.moments(x, axes=reduced, keepdims=True)
        x = (x - mean) * ops.rsqrt(variance + self.epsilon)
        spread = [1] * rank
        spread[axis] = shape[axis]
        x = ops.reshape(x, shape)
        if self.gamma is not None:
            x = x * ops.reshape(self.gamma, spread)
        if self.beta is not None:
            x = x + ops.reshape(self.beta, spread)
        return ops.cast(x, self.compute_dtype)
