"""Batch normalization (Ioffe & Szegedy, 2015) and its renormalized form (Ioffe, 2017)."""

from kerata import initializers, ops
from kerata.core import config
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.normalization.scale_and_shift import ScaleAndShift
from kerata.layers.shapes import known_size


class BatchNormalization(ScaleAndShift, Layer):
    """Normalize each feature over the batch in training, and by moving averages in inference.

    With `trainable = False` it normalizes by the moving averages in training too, and leaves them as they are.

    Args:
        axis: the features' axis; everything else is averaged over.
        momentum: how much of the moving averages stays at each step.
        epsilon: added to the variance.
        center: add `beta`.
        scale: multiply by `gamma`.
        beta_initializer, gamma_initializer: of the two.
        moving_mean_initializer, moving_variance_initializer: of the moving averages.
        beta_regularizer, gamma_regularizer: penalties.
        beta_constraint, gamma_constraint: applied after each update.
        renorm: correct the batch's statistics towards the moving ones, so that training and inference agree better.
        renorm_clipping: dict with bounds `rmin`, `rmax`, `dmax` of the correction.
        renorm_momentum: as `momentum`, for the averages that the correction uses.
        synchronized: average over all replicas (under distribution).

    Call arguments:
        inputs: floating tensor with the features along `axis`.
        training: normalize by the batch's statistics and update the moving averages.
        mask: boolean; steps where it is false don't count in the statistics.

    >>> import kerata
    >>> layer = kerata.layers.BatchNormalization()
    >>> y = layer(kerata.ops.convert_to_tensor([[1.0], [3.0]]), training=True)
    >>> round(float(y[1, 0]), 3), round(float(layer.moving_mean[0]), 3)
    (1.0, 0.02)
    """

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        moving_mean_initializer="zeros",
        moving_variance_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        renorm=False,
        renorm_clipping=None,
        renorm_momentum=0.99,
        synchronized=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.axis = int(axis)
        self.momentum = momentum
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
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.renorm = renorm
        self.renorm_clipping = _checked_clipping(renorm_clipping, self)
        self.renorm_momentum = renorm_momentum
        self.synchronized = synchronized
        self.supports_masking = True

    def build(self, input_shape):
        size = known_size(self, input_shape, self.axis, "statistics")
        self._add_scale_and_shift((size,))
        self.moving_mean = self._add_average("moving_mean", size, self.moving_mean_initializer)
        self.moving_variance = self._add_average("moving_variance", size, self.moving_variance_initializer)
        if self.renorm:
            deviation = self._first_deviation
            self.moving_stddev = self._add_average("moving_stddev", size, deviation)
            self.renorm_mean = self._add_average("renorm_mean", size, self.moving_mean_initializer)
            self.renorm_stddev = self._add_average("renorm_stddev", size, deviation)
        rank = len(input_shape)
        self.input_spec = InputSpec(ndim=rank, axes={self.axis: size})
        self._reduced = tuple(i for i in range(rank) if i != self.axis % rank)

    def _first_deviation(self, shape, dtype=None):
        return ops.sqrt(self.moving_variance_initializer(shape, dtype=dtype))

    def _add_average(self, name, size, initializer):
        return self.add_weight(
            name=name,
            shape=(size,),
            initializer=initializer,
            trainable=False,
            autocast=False,
            aggregation="mean",
        )

    def call(self, inputs, training=None, mask=None):
        x = self._widened(inputs)
        gamma, beta = self.gamma, self.beta
        if not training or not self.trainable:
            out = self._normalized(x, self.moving_mean, self.moving_variance, gamma, beta)
        elif mask is None and not self.renorm and not self.synchronized:
            out, mean, variance = ops.nn.batch_normalization_training(x, self.axis, beta, gamma, self.epsilon)
            self._update(self.moving_mean, mean, self.momentum)
            self._update(self.moving_variance, variance, self.momentum)
        else:
            mean, variance = self._moments(x, mask)
            if self.renorm:
                gamma, beta = self._renormalized(mean, variance)
            self._update(self.moving_mean, mean, self.momentum)
            self._update_variance(variance)
            out = self._normalized(x, mean, variance, gamma, beta)
        return self._narrowed(out)

    def _normalized(self, x, mean, variance, gamma, beta):
        return ops.batch_normalization(x, mean, variance, self.axis, beta, gamma, self.epsilon)

    def _moments(self, x, mask):
        if mask is None:
            return ops.moments(x, axes=self._reduced, synchronized=self.synchronized)
        weights = ops.cast(mask, x.dtype)
        weights = ops.reshape(weights, (*ops.shape(weights), *(1,) * (len(x.shape) - len(weights.shape))))
        # Shares of the whole on both sides, so that a mask with fewer dimensions than the input needs no broadcast.
        share = ops.maximum(ops.mean(weights, axis=self._reduced, keepdims=True), config.epsilon())
        mean = ops.mean(weights * x, axis=self._reduced, keepdims=True) / share
        variance = ops.mean(weights * ops.square(x - mean), axis=self._reduced, keepdims=True) / share
        return ops.squeeze(mean, self._reduced), ops.squeeze(variance, self._reduced)

    def _renormalized(self, mean, variance):
        """`gamma` and `beta` with the correction `r`, `d` towards the moving statistics in them."""
        stddev = ops.sqrt(variance + self.epsilon)
        bounds = self.renorm_clipping or {}
        r = ops.stop_gradient(stddev / self.renorm_stddev)
        d = ops.stop_gradient((mean - self.renorm_mean) / self.renorm_stddev)
        if bounds.get("rmin") is not None or bounds.get("rmax") is not None:
            r = ops.clip(r, bounds.get("rmin", 0.0), bounds.get("rmax", float("inf")))
        if bounds.get("dmax") is not None:
            d = ops.clip(d, -bounds["dmax"], bounds["dmax"])
        gamma = r if self.gamma is None else r * self.gamma
        beta = d if self.gamma is None else d * self.gamma
        beta = beta if self.beta is None else beta + self.beta
        self._update(self.renorm_mean, mean, self.renorm_momentum)
        self._update(self.renorm_stddev, stddev, self.renorm_momentum)
        self._update(self.moving_stddev, stddev, self.momentum)
        return gamma, beta

    def _update_variance(self, variance):
        if self.renorm:
            # Deviations are averaged, and the variance follows from them.
            self.moving_variance.assign(ops.square(self.moving_stddev) - self.epsilon)
        else:
            self._update(self.moving_variance, variance, self.momentum)

    def _update(self, average, value, momentum):
        value = ops.stop_gradient(ops.cast(value, average.dtype))
        average.assign(average * momentum + value * (1.0 - momentum))


def _checked_clipping(clipping, layer):
    unknown = set(clipping or ()) - {"rmin", "rmax", "dmax"}
    if unknown:
        raise ValueError(
            f"{layer._where()}: Received invalid keys {sorted(unknown)} for `renorm_clipping`, which has the keys 'rmin', "
            "'rmax' and 'dmax'."
        )
    rmin, rmax, dmax = ((clipping or {}).get(name) for name in ("rmin", "rmax", "dmax"))
    if rmin is not None and rmax is not None and rmin > rmax:
        raise ValueError(
            f"{layer._where()}: in `renorm_clipping` rmax should be at least rmin, but {clipping} was given."
        )
    if dmax is not None and dmax < 0:
        raise ValueError(
            f"{layer._where()}: in `renorm_clipping` dmax should be non-negative, but {clipping} was given."
        )
    return clipping
