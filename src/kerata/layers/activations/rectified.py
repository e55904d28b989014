"""Rectified activations with parameters."""

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.shapes import known_size


def _number(value, name, layer, minimum=0):
    """`value` as a number of at least `minimum`."""
    if isinstance(value, dict):
        # Keras 2 wrote numbers as serialized arrays.
        value = value["value"]
    if value is None or isinstance(value, (bool, str)) or value < minimum:
        raise ValueError(f"{layer._where()}: `{name}` must be a number of at least {minimum}, but {value!r} was given.")
    return float(value)


class ReLU(Layer):
    """`max(x, 0)`, or a variant of it.

    Args:
        max_value: upper bound, or `None`.
        negative_slope: slope below the threshold.
        threshold: below it an element counts as negative: `negative_slope * (x - threshold)`.

    Input: any shape. Output: the same.

    Raises:
        ValueError: negative numbers.

    >>> import kerata
    >>> layer = kerata.layers.ReLU(max_value=6.0)
    >>> kerata.ops.convert_to_numpy(layer([-1.0, 2.0, 9.0])).tolist()
    [0.0, 2.0, 6.0]
    """

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        self.max_value = None if max_value is None else _number(max_value, "max_value", self)
        self.negative_slope = _number(negative_slope, "negative_slope", self)
        self.threshold = _number(threshold, "threshold", self)
        self.supports_masking = True

    def call(self, inputs):
        return activations.relu(
            inputs, negative_slope=self.negative_slope, max_value=self.max_value, threshold=self.threshold
        )


class LeakyReLU(Layer):
    """`x` where positive, `negative_slope * x` elsewhere (Maas et al., 2013).

    Args:
        negative_slope: at least 0.

    Input: any shape. Output: the same.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.LeakyReLU(0.5)([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(self, negative_slope=0.3, **kwargs):
        negative_slope = kwargs.pop("alpha", negative_slope)
        if negative_slope is None:
            raise ValueError(
                "The negative_slope value of a Leaky ReLU layer cannot be None; give a number of at least 0."
            )
        super().__init__(**kwargs)
        self.negative_slope = _number(negative_slope, "negative_slope", self)
        self.supports_masking = True

    def call(self, inputs):
        return ops.leaky_relu(inputs, negative_slope=self.negative_slope)


class PReLU(Layer):
    """`x` where positive, `alpha * x` elsewhere, with a learned `alpha` (He et al., 2015).

    Args:
        alpha_initializer: of the slopes.
        alpha_regularizer: penalty on them.
        alpha_constraint: applied after each update.
        shared_axes: axes along which one slope is shared (those of an image, for one slope a channel); the batch
            always shares.

    Input: any shape. Output: the same.

    >>> import kerata
    >>> layer = kerata.layers.PReLU("ones", shared_axes=[1])
    >>> tuple(layer(kerata.ops.ones((2, 5, 3))).shape), tuple(layer.alpha.shape)
    ((2, 5, 3), (1, 3))
    """

    def __init__(
        self, alpha_initializer="Zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs
    ):
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        if shared_axes is not None:
            shared_axes = list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]
        self.shared_axes = shared_axes
        self.supports_masking = True

    def build(self, input_shape):
        rank = len(input_shape)
        shared = {a % rank for a in self.shared_axes or ()}
        shape = [1 if i in shared else known_size(self, input_shape, i, "slopes") for i in range(1, rank)]
        self.alpha = self.add_weight(
            name="alpha",
            shape=tuple(shape),
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        axes = {i: input_shape[i] for i in range(1, rank) if i not in shared}
        self.input_spec = InputSpec(ndim=rank, axes=axes)

    def call(self, inputs):
        return ops.relu(inputs) - self.alpha * ops.relu(-inputs)


class ELU(Layer):
    """`x` where positive, `alpha * (exp(x) - 1)` elsewhere (Clevert et al., 2015).

    Args:
        alpha: limit for very negative elements, with the sign changed.

    Input: any shape. Output: the same.

    >>> import kerata
    >>> kerata.ops.convert_to_numpy(kerata.layers.ELU()([0.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha
        self.supports_masking = True

    def call(self, inputs):
        return ops.elu(inputs, alpha=self.alpha)
