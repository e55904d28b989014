"""Random values whose variance fits the number of a layer's inputs or outputs."""

import math

from kerata.core import errors, threefry
from kerata.initializers.seeded import SeededInitializer

# Standard deviation of a standard normal that is cut off at two standard deviations.
TRUNCATED_STDDEV = 0.87962566103423978
MODES = ("fan_in", "fan_out", "fan_avg")
DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "uniform")


class VarianceScaling(SeededInitializer):
    """Values of variance `scale / n`, where `n` is the fan-in, the fan-out or their mean.

    Args:
        scale: a positive number.
        mode: `"fan_in"`, `"fan_out"` or `"fan_avg"`.
        distribution: `"truncated_normal"` (also `"normal"`), `"untruncated_normal"` or `"uniform"`.
        seed: int, `SeedGenerator` or `None`.
        input_axes, output_axes: which axes of the weight count as inputs and as outputs, for weights that
            are not `(…, inputs, outputs)`.

    Raises:
        ValueError: for arguments out of range.

    >>> from kerata import initializers
    >>> initializers.VarianceScaling(2.0, seed=1)((3, 4)).shape
    (3, 4)
    """

    def __init__(
        self,
        scale=1.0,
        mode="fan_in",
        distribution="truncated_normal",
        seed=None,
        input_axes=None,
        output_axes=None,
    ):
        super().__init__(seed)
        owner = type(self).__name__
        if not scale > 0:
            raise ValueError(f"{owner}: Argument `scale` must be positive, but {scale!r} was given.")
        self.scale = scale
        self.mode = _choice(mode, MODES, "mode", owner)
        distribution = "truncated_normal" if str(distribution).lower() == "normal" else distribution
        self.distribution = _choice(distribution, DISTRIBUTIONS, "distribution", owner)
        if (input_axes is None) != (output_axes is None):
            raise ValueError(f"{owner}: give both `input_axes` and `output_axes`, or neither.")
        self.input_axes = input_axes
        self.output_axes = output_axes

    def host(self, shape, dtype):
        fan_in, fan_out = compute_fans(shape, self.input_axes, self.output_axes)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return self._draw(threefry.host_uniform, shape, dtype, -limit, limit)
        if self.distribution == "untruncated_normal":
            return self._draw(threefry.host_normal, shape, dtype, 0.0, math.sqrt(variance))
        stddev = math.sqrt(variance) / TRUNCATED_STDDEV
        return self._draw(threefry.host_truncated_normal, shape, dtype, 0.0, stddev)


def compute_fans(shape, input_axes=None, output_axes=None):
    """Number of inputs and of outputs that one unit of a weight of this shape has.

    Without axes: a vector counts for both, a matrix is `(inputs, outputs)`, and of a convolution's kernel the
    leading axes are the receptive field.

    >>> from kerata.initializers.variance import compute_fans
    >>> compute_fans((3, 3, 16, 32))
    (144, 288)
    """
    shape = tuple(shape)
    if input_axes is not None and output_axes is not None:
        used = {a % len(shape) for a in (*input_axes, *output_axes)}
        field = math.prod(d for a, d in enumerate(shape) if a not in used)
        return (
            math.prod(shape[a] for a in input_axes) * field,
            math.prod(shape[a] for a in output_axes) * field,
        )
    if len(shape) < 2:
        size = math.prod(shape)
        return size, size
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _choice(value, choices, name, owner):
    value = str(value).lower()
    if value not in choices:
        listed = ", ".join(repr(c) for c in choices)
        raise ValueError(
            f"{owner}: Invalid `{name}` argument: {value!r}. Choose one of {listed}.{errors.nearest(value, choices)}"
        )
    return value


class _Fixed(VarianceScaling):
    """A `VarianceScaling` whose scale, mode and distribution are given by the class."""

    settings = ()

    def __init__(self, seed=None, input_axes=None, output_axes=None):
        super().__init__(*self.settings, seed, input_axes, output_axes)

    def get_config(self):
        config = super().get_config()
        return {name: config[name] for name in ("seed", "input_axes", "output_axes")}


class GlorotUniform(_Fixed):
    """Uniform of variance `2 / (fan_in + fan_out)`; most layers' default. Source: Glorot & Bengio, 2010.

    Args:
        seed: int, `SeedGenerator` or `None`.
        input_axes, output_axes: see `VarianceScaling`.

    >>> from kerata import initializers
    >>> initializers.GlorotUniform(seed=1)((3, 4))[0]
    Array([-0.67361265,  0.33814794,  0.5665145 , -0.48410746], dtype=float32)
    """

    settings = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Fixed):
    """Truncated normal of variance `2 / (fan_in + fan_out)`. Source: Glorot & Bengio, 2010."""

    settings = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Fixed):
    """Uniform of variance `2 / fan_in`, for layers before a ReLU. Source: He et al., 2015."""

    settings = (2.0, "fan_in", "uniform")


class HeNormal(_Fixed):
    """Truncated normal of variance `2 / fan_in`, for layers before a ReLU. Source: He et al., 2015."""

    settings = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Fixed):
    """Uniform of variance `1 / fan_in`. Source: LeCun et al., Efficient BackProp, 1998."""

    settings = (1.0, "fan_in", "uniform")


class LecunNormal(_Fixed):
    """Truncated normal of variance `1 / fan_in`, the one for SELU. Source: LeCun et al., 1998."""

    settings = (1.0, "fan_in", "truncated_normal")
