"""Spectral normalization (Miyato et al., 2018)."""

from kerata import ops
from kerata.core.errors import positive_int
from kerata.layers.core.wrapper import Wrapper
from kerata.layers.input_spec import InputSpec


class SpectralNormalization(Wrapper):
    """Divide a layer's kernel by its largest singular value, so that the layer stretches nothing.

    The value is found by power iteration, which in training goes on from where it was.

    Args:
        layer: a layer with a `kernel` or `embeddings`.
        power_iterations: steps of the iteration at each call in training.

    Call arguments:
        inputs: the layer's inputs.
        training: iterate, and change the kernel.

    >>> import kerata
    >>> layer = kerata.layers.SpectralNormalization(kerata.layers.Dense(4))
    >>> tuple(layer(kerata.ops.ones((2, 3)), training=True).shape)
    (2, 4)
    """

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError(
                f"{self._where()}: `power_iterations` should be greater than zero. It is {power_iterations}."
            )
        self.power_iterations = positive_int(power_iterations, "power_iterations", self._where())

    def build(self, input_shape):
        super().build(input_shape)
        self.input_spec = InputSpec(shape=(None, *input_shape[1:]))
        self.kernel = next(
            (k for k in map(self._own, ("_kernel", "kernel", "_embeddings", "embeddings")) if k is not None), None
        )
        if self.kernel is None:
            raise ValueError(
                f"{self._where()}: {type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings', so there "
                "is nothing to normalize."
            )
        self.vector_u = self.add_weight(
            name="vector_u",
            shape=(1, self.kernel.shape[-1]),
            initializer="truncated_normal",
            trainable=False,
            dtype=self.kernel.dtype,
        )

    def _own(self, name):
        weight = getattr(self.layer, name, None)
        return weight if hasattr(type(weight), "_is_kerata_variable") else None

    def call(self, inputs, training=False):
        if training:
            kernel, vector = self.normalized_weights()
            self.kernel.assign(ops.cast(kernel, self.kernel.dtype))
            self.vector_u.assign(ops.cast(vector, self.vector_u.dtype))
        return self.layer(inputs)

    def normalized_weights(self):
        """The kernel divided by its largest singular value, and the iterate with which it was found."""
        kernel = ops.convert_to_tensor(self.kernel)
        matrix = ops.reshape(kernel, (-1, kernel.shape[-1]))
        u = ops.convert_to_tensor(self.vector_u)
        for _ in range(self.power_iterations):
            v = ops.normalize(ops.matmul(u, ops.transpose(matrix)), axis=None, epsilon=1e-12)
            u = ops.normalize(ops.matmul(v, matrix), axis=None, epsilon=1e-12)
        u, v = ops.stop_gradient(u), ops.stop_gradient(v)
        sigma = ops.matmul(ops.matmul(v, matrix), ops.transpose(u))
        return ops.reshape(matrix / sigma, kernel.shape), u
