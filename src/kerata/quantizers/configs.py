"""What `quantize` is told: mode, quantizers, sizes of groups, calibration data."""

from kerata.core.construct import Constructed
from kerata.dtype_policies.quantized import MODES, invalid_mode

_DEFAULT = "default"


class QuantizationConfig(Constructed):
    """Base of the configs of quantization modes.

    Args:
        weight_quantizer: `Quantizer` of weights; `None`: the mode's own.
        activation_quantizer: `Quantizer` of what a weight is multiplied by; `None`: activations stay floats.
    """

    def __init__(self, weight_quantizer=None, activation_quantizer=None):
        self.weight_quantizer = weight_quantizer
        self.activation_quantizer = activation_quantizer

    @property
    def mode(self):
        """Name of the mode."""
        raise NotImplementedError(
            "Do not instantiate QuantizationConfig directly. It has no mode; a subclass says its own."
        )

    def dtype_policy_string(self):
        """The mode with its parameters, as names of dtype policies have it."""
        return self.mode

    def get_config(self):
        """The constructor's arguments, by name."""
        from kerata.quantizers.lookup import serialize

        given = {"weight_quantizer": self.weight_quantizer, "activation_quantizer": self.activation_quantizer}
        return {name: None if q is None else serialize(q) for name, q in given.items()}

    @classmethod
    def from_config(cls, config):
        """The config that `get_config` described."""
        return super().from_config(config)

    @staticmethod
    def weight_quantizer_or_default(config, default):
        """The weights' quantizer of a config (which may be `None`), or `default`."""
        return config.weight_quantizer if config is not None and config.weight_quantizer is not None else default

    @staticmethod
    def activation_quantizer_or_default(config, default):
        """The activations' quantizer of a config; `default` without a config."""
        return config.activation_quantizer if config is not None else default


def _checked(quantizer, owner, least, most):
    """A weights' quantizer whose integers fit into the mode's bits."""
    dtype = getattr(quantizer, "output_dtype", "int8")
    if dtype != "int8":
        raise ValueError(f"{owner}: the weight quantizer must have output_dtype='int8', not {dtype!r}.")
    limits = getattr(quantizer, "value_range", None)
    if limits is not None and (limits[0] < least or limits[1] > most):
        raise ValueError(
            f"{owner}: the weight quantizer's value_range must lie within [{least}, {most}], not {tuple(limits)}."
        )


class Int8QuantizationConfig(QuantizationConfig):
    """Weights of eight bits; activations too, quantized at each call.

    Args:
        weight_quantizer: `Quantizer` of weights.
        activation_quantizer: `Quantizer` of activations; `None`: activations stay floats.

    Raises:
        ValueError: integers that don't fit into eight bits.

    >>> from kerata import quantizers
    >>> quantizers.Int8QuantizationConfig(activation_quantizer=None).mode
    'int8'
    """

    def __init__(self, weight_quantizer=None, activation_quantizer=_DEFAULT):
        from kerata.quantizers.quantizer import AbsMaxQuantizer

        if activation_quantizer == _DEFAULT:
            activation_quantizer = AbsMaxQuantizer()
        super().__init__(weight_quantizer, activation_quantizer)
        if weight_quantizer is not None:
            _checked(weight_quantizer, type(self).__name__, -128, 127)

    @property
    def mode(self):
        return "int8"

    get_config = QuantizationConfig.get_config


class Int4QuantizationConfig(QuantizationConfig):
    """Weights of four bits.

    Args:
        weight_quantizer: `Quantizer` of weights, only without blocks.
        activation_quantizer: `Quantizer` of activations, only without blocks; by default they stay floats.
        block_size: how many weights that are summed together share a scale and a zero; `None` or -1: one scale a
            channel, and no zeros.

    Raises:
        ValueError: a size that is neither, a quantizer with blocks, integers that don't fit into four bits.

    >>> from kerata import quantizers
    >>> quantizers.Int4QuantizationConfig(block_size=64).dtype_policy_string()
    'int4/64'
    """

    def __init__(self, weight_quantizer=None, activation_quantizer=_DEFAULT, block_size=128):
        if activation_quantizer == _DEFAULT:
            activation_quantizer = None
        super().__init__(weight_quantizer, activation_quantizer)
        if block_size is not None and block_size != -1 and block_size <= 0:
            raise ValueError(
                f"Int4QuantizationConfig: block_size must be a positive integer, or None or -1 for one scale a "
                f"channel, not {block_size!r}."
            )
        self.block_size = block_size
        blocked = block_size not in (None, -1)
        if blocked and (weight_quantizer is not None or activation_quantizer is not None):
            raise ValueError(
                f"Int4QuantizationConfig: sub-channel quantization (block_size={block_size}) does not support quantizers "
                "of your own. Give block_size=None with them."
            )
        if weight_quantizer is not None:
            _checked(weight_quantizer, type(self).__name__, -8, 7)

    @property
    def mode(self):
        return "int4"

    def dtype_policy_string(self):
        return f"int4/{-1 if self.block_size is None else self.block_size}"

    def get_config(self):
        return {**super().get_config(), "block_size": self.block_size}

    @classmethod
    def from_config(cls, config):
        """The config that `get_config` described."""
        return super().from_config(config)


class Float8QuantizationConfig(QuantizationConfig):
    """Training in float8. It has no options.

    >>> from kerata import quantizers
    >>> quantizers.Float8QuantizationConfig().mode
    'float8'
    """

    def __init__(self):
        super().__init__()

    @property
    def mode(self):
        return "float8"

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        """The config that `get_config` described."""
        return cls()


class _Calibrated(QuantizationConfig):
    """Modes that look at data. The data, the tokenizer and the layers aren't part of the config in files."""

    def __init__(self, dataset, tokenizer, weight_bits, num_samples, sequence_length, group_size, structure):
        super().__init__()
        self.dataset = dataset
        self.tokenizer = tokenizer
        self.weight_bits = weight_bits
        self.num_samples = num_samples
        self.sequence_length = sequence_length
        self.group_size = group_size
        self.quantization_layer_structure = structure
        for name in ("num_samples", "sequence_length"):
            self._positive(name)
        if group_size != -1 and group_size <= 0:
            raise ValueError(
                f"{type(self).__name__}: Invalid group_size {group_size!r}. It is a positive integer, or -1 for one group."
            )

    def _positive(self, name):
        value = getattr(self, name)
        if value <= 0:
            raise ValueError(f"{type(self).__name__}: {name} must be a positive integer, not {value!r}.")

    def dtype_policy_string(self):
        """The mode with its parameters, as names of dtype policies have it.

        >>> from kerata import quantizers
        >>> quantizers.GPTQConfig(None, None).dtype_policy_string()
        'gptq/4/128'
        """
        return f"{self.mode}/{self.weight_bits}/{self.group_size}"

    _options = ()

    def get_config(self):
        config = {"dataset": None, "tokenizer": None}
        config.update({name: getattr(self, name) for name in self._options})
        return {**config, "quantization_layer_structure": None}


class GPTQConfig(_Calibrated):
    """Weights rounded one after the other, each rounding error made good by the weights that follow.

    Source: Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022.

    Args:
        dataset: texts, or arrays of tokens: what the model is run on.
        tokenizer: callable (or object with `tokenize`) that makes tokens of a text.
        weight_bits: 2, 3, 4 or 8.
        num_samples: how many windows of the data to use.
        per_channel: a scale for each output; otherwise one for all.
        sequence_length: length of a window.
        hessian_damping: added to the diagonal of the Hessian, as a fraction of its mean; from 0 to 1.
        group_size: how many weights share a scale; -1: all of an output.
        symmetric: ranges around 0.
        activation_order: begin with the inputs that count most.
        quantization_layer_structure: `{"pre_block_layers": [layers], "sequential_blocks": [layers]}`: what the tokens
            pass first (an embedding), and the blocks after it, whose weights are quantized one block after the other.

    Raises:
        ValueError: an option out of its range.

    >>> from kerata import quantizers
    >>> quantizers.GPTQConfig(["a text"], str.split, group_size=64).mode
    'gptq'
    """

    _options = ("weight_bits", "num_samples", "per_channel", "sequence_length", "hessian_damping", "group_size")
    _options += ("symmetric", "activation_order")

    def __init__(
        self,
        dataset,
        tokenizer,
        *,
        weight_bits: int = 4,
        num_samples: int = 128,
        per_channel: bool = True,
        sequence_length: int = 512,
        hessian_damping: float = 0.01,
        group_size: int = 128,
        symmetric: bool = False,
        activation_order: bool = False,
        quantization_layer_structure: dict = None,
    ):
        super().__init__(
            dataset, tokenizer, weight_bits, num_samples, sequence_length, group_size, quantization_layer_structure
        )
        self.per_channel = per_channel
        self.hessian_damping = hessian_damping
        self.symmetric = symmetric
        self.activation_order = activation_order
        if weight_bits not in (2, 3, 4, 8):
            raise ValueError(f"GPTQConfig: Unsupported weight_bits {weight_bits!r}; 2, 3, 4 and 8 are.")
        if not 0 <= hessian_damping <= 1:
            raise ValueError(f"GPTQConfig: hessian_damping must be between 0 and 1, not {hessian_damping!r}.")

    get_config = _Calibrated.get_config

    @classmethod
    def from_config(cls, config):
        """The config that `get_config` described; it has no data."""
        return super().from_config(config)

    @property
    def mode(self):
        return "gptq"

    def dtype_policy_string(self):
        return super().dtype_policy_string()


class AWQConfig(_Calibrated):
    """Weights scaled up before rounding where the inputs are large, and the inputs scaled down.

    Source: Lin et al., "AWQ: Activation-aware Weight Quantization for LLM Compression and Acceleration", 2023.

    Args:
        dataset: texts, or arrays of tokens: what the model is run on.
        tokenizer: callable (or object with `tokenize`) that makes tokens of a text.
        weight_bits: 4.
        num_samples: how many windows of the data to use.
        sequence_length: length of a window.
        group_size: how many weights share a scale; -1: all of an output.
        num_grid_points: how many strengths of scaling are tried.
        quantization_layer_structure: see `GPTQConfig`.

    Raises:
        ValueError: an option out of its range.

    >>> from kerata import quantizers
    >>> quantizers.AWQConfig(["a text"], str.split).dtype_policy_string()
    'awq/4/128'
    """

    _options = ("weight_bits", "num_samples", "sequence_length", "group_size", "num_grid_points")

    def __init__(
        self,
        dataset,
        tokenizer,
        *,
        weight_bits: int = 4,
        num_samples: int = 128,
        sequence_length: int = 512,
        group_size: int = 128,
        num_grid_points: int = 20,
        quantization_layer_structure: dict = None,
    ):
        super().__init__(
            dataset, tokenizer, weight_bits, num_samples, sequence_length, group_size, quantization_layer_structure
        )
        self.num_grid_points = num_grid_points
        if weight_bits != 4:
            raise ValueError(f"AWQConfig: AWQ only supports 4-bit weights, not weight_bits={weight_bits!r}.")
        self._positive("num_grid_points")

    get_config = _Calibrated.get_config

    @classmethod
    def from_config(cls, config):
        """The config that `get_config` described; it has no data."""
        return super().from_config(config)

    @property
    def mode(self):
        return "awq"

    def dtype_policy_string(self):
        return super().dtype_policy_string()


_DEFAULTS = {"int8": Int8QuantizationConfig, "int4": Int4QuantizationConfig, "float8": Float8QuantizationConfig}
_CALIBRATED = {"gptq": GPTQConfig, "awq": AWQConfig}


def resolved(mode, config):
    """The config that `quantize(mode, config=config)` means.

    Raises:
        ValueError: neither is given, they contradict each other, or the mode is unknown.
    """
    if mode is None and config is None:
        raise ValueError("quantize: give a `mode` ('int8', 'int4', 'float8'), or a `config`.")
    if config is None:
        if mode in _CALIBRATED:
            name = _CALIBRATED[mode].__name__
            article = "a" if mode == "gptq" else "an"
            raise ValueError(f"For {mode.upper()}, you must pass {article} `{name}` object in the `config` argument.")
        if mode not in _DEFAULTS:
            raise invalid_mode(mode)
        return _DEFAULTS[mode]()
    if not isinstance(config, QuantizationConfig):
        raise ValueError(
            f"Argument `config` must be an instance of `QuantizationConfig`, not {config!r} ({type(config).__name__})."
        )
    own = config.mode
    if mode is not None and own != mode:
        raise ValueError(f"Contradictory arguments: mode={mode!r}, but the config's is {own!r}.")
    if own not in MODES:
        raise invalid_mode(own)
    wanted = _CALIBRATED.get(own)
    if wanted is not None and not isinstance(config, wanted):
        raise ValueError(f"mode={own!r} requires a valid `config`: a {wanted.__name__}, not {type(config).__name__}.")
    return config
