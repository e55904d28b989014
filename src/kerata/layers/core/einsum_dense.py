"""`EinsumDense`: a dense layer by an einsum equation."""

import re

from kerata import activations, constraints, initializers, ops, regularizers
from kerata.initializers.variance import VarianceScaling
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.quantization.quantizable import Quantizable
from kerata.layers.quantization.weight import Weight


class EinsumDense(Quantizable, Layer):
    """`activation(einsum(equation, inputs, kernel) + bias)`.

    Args:
        equation: `"inputs,kernel->outputs"`, with one letter a dimension; `"..."` for leading dimensions, such as
            `"...x,xy->...y"`, which is a `Dense`.
        output_shape: shape of the output without the batch; `None` where it is the input's. An int if it is one.
        activation: function, or its name.
        bias_axes: letters of the output's dimensions that the bias has; `None`: no bias.
        kernel_initializer, bias_initializer: of the weights.
        kernel_regularizer, bias_regularizer: penalties on the weights.
        kernel_constraint, bias_constraint: applied after each update.
        lora_rank: train only an addition of this rank to the kernel (see `enable_lora`).
        lora_alpha: the addition counts `lora_alpha / lora_rank`.
        gptq_unpacked_column_size, quantization_config: of quantized layers.

    Raises:
        ValueError: an equation that isn't of this form, or, at build, one that doesn't fit the input.

    >>> import kerata
    >>> layer = kerata.layers.EinsumDense("abc,cd->abd", output_shape=(None, 64), bias_axes="d")
    >>> tuple(layer(kerata.ops.ones((2, 3, 5))).shape)
    (2, 3, 64)
    """

    _config_unless = {**Quantizable._config_unless, "gptq_unpacked_column_size": None}

    def __init__(
        self,
        equation,
        output_shape,
        activation=None,
        bias_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        lora_rank=None,
        lora_alpha=None,
        gptq_unpacked_column_size=None,
        quantization_config=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.equation = equation
        self.output_shape = tuple(output_shape) if isinstance(output_shape, (list, tuple)) else (output_shape,)
        self.activation = activations.get(activation)
        self.bias_axes = bias_axes
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self._set_lora(lora_rank, lora_alpha)
        self.gptq_unpacked_column_size = gptq_unpacked_column_size
        self.quantization_config = quantization_config
        self.bias = None

    def build(self, input_shape):
        plan = Equation(self.equation, self.bias_axes, input_shape, self.output_shape, self._where())
        self._weights = (Weight("kernel", plan.kernel_shape, plan.spelled_out, calibrated_zero="zero_point"),)
        self._add_large(
            self._weights[0],
            initializer=_with_fans(self.kernel_initializer, plan),
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if plan.bias_shape is not None:
            self.bias = self.add_weight(
                name="bias",
                shape=plan.bias_shape,
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(ndim=len(input_shape))
        self._enable_lora_as_constructed()

    @property
    def kernel(self):
        """The kernel, LoRA's addition included; of a quantized layer its integers."""
        return self._shown()

    def _adapter_shapes(self, rank):
        shape = self._weights[0].shape
        return (*shape[:-1], rank), (rank, shape[-1])

    def quantized_build(self, kernel_shape, mode, config=None):
        """Make the variables of a quantization mode for weights of this shape."""
        super().quantized_build(kernel_shape, mode, config)

    def call(self, inputs, training=None):
        if self._special:
            x = self._product(self._weights[0], inputs, training)
            x = self._with_bias(x)
        else:
            x = ops.nn.einsum_dense(self.equation, inputs, self._kernel, self.bias)
        return x if self.activation is None else self.activation(x)


def _with_fans(initializer, plan):
    """A variance-scaling initializer told which of the kernel's axes are inputs and which outputs."""
    if not isinstance(initializer, VarianceScaling) or initializer.input_axes is not None:
        return initializer
    axes = {"input_axes": plan.input_axes, "output_axes": plan.output_axes}
    return type(initializer).from_config({**initializer.get_config(), **axes})


def _without_dots(equation, count):
    """The equation with letters in the place of dots."""
    letters = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation]
    return equation.replace("...", "".join(letters[:count]))


class Equation:
    """What an equation says about the weights, for an input of a given shape.

    Attributes:
        kernel_shape, bias_shape: shapes of the weights; `bias_shape` is `None` without a bias.
        spelled_out: the equation with letters in the place of dots.
        input_axes, output_axes: the kernel's axes that are summed over, and those that are the output's alone.
    """

    def __init__(self, equation, bias_axes, input_shape, output_shape, owner):
        match = re.fullmatch(
            r"(\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?", equation.replace(" ", "")
        )
        if not match or (match[1] and match[3]) or match[1] != match[5] or match[3] != match[7]:
            raise ValueError(
                f"{owner}: `equation` must have the form 'ab,bc->ac', '...ab,bc->...ac' or 'ab...,bc->ac...', but "
                f"{equation!r} was given."
            )
        self.equation, self.owner = equation, owner
        inputs, kernel, outputs = match[2], match[4], match[6]
        rank = len(input_shape)
        if len(inputs) > rank:
            raise self._error(f"the input has {rank} dimensions (shape {tuple(input_shape)})")
        self.elided = rank - len(inputs) if match[3] else 0
        self.spelled_out = _without_dots(self.equation.replace(" ", ""), rank - len(inputs))
        named = input_shape[rank - len(inputs) :] if match[1] else input_shape[: len(inputs)]
        sizes = dict(zip(inputs, named, strict=True))
        self._read_output(outputs, output_shape, sizes, right_aligned=bool(match[1]))
        for letter in kernel:
            if sizes.get(letter) is None:
                what = "isn't known" if letter in sizes else "occurs in neither input nor output"
                raise self._error(
                    f"the size of {letter!r}, a dimension of the kernel, {what} (input shape {tuple(input_shape)})"
                )
        self.kernel_shape = tuple(sizes[c] for c in kernel)
        self.input_axes = tuple(i for i, c in enumerate(kernel) if c in inputs and c not in outputs)
        self.output_axes = tuple(i for i, c in enumerate(kernel) if c not in inputs)
        self.bias_shape = None if bias_axes is None else self._bias(bias_axes, outputs, sizes)

    def _error(self, problem):
        return ValueError(f"{self.owner}: the equation {self.equation!r} doesn't fit: {problem}.")

    def _read_output(self, outputs, output_shape, sizes, right_aligned):
        """Sizes of the output's letters, of which `output_shape` gives those that aren't the input's."""
        given = list(output_shape)
        # The batch comes first unless it is hidden in leading dots.
        named = outputs if right_aligned else outputs[1:]
        if right_aligned:
            given = given[-len(named) :] if len(given) >= len(named) else [None] * (len(named) - len(given)) + given
        else:
            # As in Keras, sizes of dimensions that the output doesn't have are left alone.
            given = given[: len(named)]
        if len(given) != len(named):
            raise self._error(f"`output_shape` {tuple(output_shape)} has another number of dimensions than the output")
        for letter, size in zip(named, given, strict=True):
            known = sizes.get(letter)
            if size is not None and known is not None and size != known:
                raise self._error(f"`output_shape` says {size} for {letter!r}, but the input has {known}")
            sizes[letter] = known if size is None else size

    def _bias(self, bias_axes, outputs, sizes):
        for letter in bias_axes:
            if letter not in outputs:
                raise self._error(f"the bias axis {letter!r} is no dimension of the output {outputs!r}")
        first = min(outputs.index(c) for c in bias_axes)
        return tuple(sizes[c] if c in bias_axes else 1 for c in outputs[first:]) + (1,) * self.elided
