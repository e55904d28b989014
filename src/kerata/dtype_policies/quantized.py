"""Policies of quantized layers: how weights are kept, and the policy of everything else."""

from kerata.core import dtypes
from kerata.core.errors import integer
from kerata.dtype_policies.policy import DTypePolicy

MODES = ("int8", "float8", "int4", "gptq", "awq")
_BITS = {"gptq": (2, 3, 4, 8), "awq": (4,)}


def invalid_mode(mode, error=ValueError):
    """The error for what is no quantization mode."""
    return error(f"Invalid quantization mode. Expected one of {MODES}, but {mode!r} was given.")


class QuantizedDTypePolicy(DTypePolicy):
    """How a layer's weights are quantized, and the policy of what isn't.

    Args:
        mode: `"int8"`, `"int4"` or `"float8"`.
        source_name: name of the policy for everything else; `None`: the process's.

    Raises:
        ValueError: another mode; a source that computes in float16, which overflows with integers' scales.

    >>> from kerata import dtype_policies
    >>> dtype_policies.QuantizedDTypePolicy("int8", "mixed_bfloat16").name
    'int8_from_mixed_bfloat16'
    """

    def __init__(self, mode, source_name=None):
        super().__init__(source_name)
        self._source_name = self._name
        self._quantization_mode = self._read_mode(mode)
        self._name = f"{mode}_from_{self._source_name}"
        if self._quantization_mode == "int8" and self._compute_dtype == "float16":
            raise ValueError(
                f"Quantization mode='int8' doesn't work well with compute_dtype='float16' (policy {self._name!r}): "
                "products of integers overflow it. Use 'bfloat16' or 'float32'."
            )

    def _read_mode(self, mode):
        """The name in `mode`, whose parameters become attributes."""
        if mode not in MODES:
            raise invalid_mode(mode)
        return mode

    def get_config(self):
        return {"mode": self._name.rsplit("_from_", 1)[0], "source_name": self._source_name}

    def __eq__(self, other):
        return super().__eq__(other) and self.get_config() == other.get_config()

    __hash__ = DTypePolicy.__hash__

    def __repr__(self):
        return f'<{type(self).__name__} "{self._name}">'


class QuantizedFloat8DTypePolicy(QuantizedDTypePolicy):
    """Training in float8: scales follow the largest values of the last steps.

    Args:
        mode: `"float8"`.
        source_name: name of the policy for everything else; `None`: the process's.
        amax_history_length: of how many steps the largest values are remembered.

    Raises:
        TypeError: `amax_history_length` is no integer.

    >>> from kerata import dtype_policies
    >>> dtype_policies.QuantizedFloat8DTypePolicy("float8", "float32").amax_history_length
    1024
    """

    default_amax_history_length = 1024

    def __init__(self, mode, source_name=None, amax_history_length=1024):
        super().__init__(mode, source_name)
        if not isinstance(amax_history_length, int):
            raise TypeError(
                f"{type(self).__name__}: `amax_history_length` must be an integer, not {amax_history_length!r}."
            )
        self._amax_history_length = amax_history_length

    @property
    def amax_history_length(self):
        """Of how many steps the largest values are remembered."""
        return self._amax_history_length

    def get_config(self):
        return {**super().get_config(), "amax_history_length": self._amax_history_length}


class _WithParameters(QuantizedDTypePolicy):
    """A mode with integers in its name: `"int4/<block_size>"`. They become attributes, checked by `_check`."""

    _form = ()

    def _read_mode(self, mode):
        own, *names = self._form
        wanted = "/".join([own, *(f"<{n}>" for n in names)])
        parts = mode.split("/") if isinstance(mode, str) else []
        if len(parts) != len(self._form) or parts[0] != own:
            raise ValueError(f"Invalid mode for {type(self).__name__}: the form is {wanted!r}, not {mode!r}.")
        for name, text in zip(names, parts[1:], strict=True):
            try:
                setattr(self, name, int(text))
            except ValueError:
                raise ValueError(
                    f"Invalid mode for {type(self).__name__}: {' and '.join(f'<{n}>' for n in names)} must be integers. "
                    f"The form is {wanted!r}, not {mode!r}."
                ) from None
        self.mode = own
        bits, size = getattr(self, "weight_bits", None), getattr(self, names[-1])
        if bits is not None and bits not in _BITS[own]:
            supported = "AWQ only supports 4-bit weights" if own == "awq" else "Supported values are 2, 3, 4 and 8"
            raise ValueError(f"Invalid weight_bits in mode {mode!r}: {bits}. {supported}.")
        if size != -1 and size <= 0:
            raise ValueError(
                f"Invalid {names[-1]} in mode {mode!r}: {size}. It is a positive integer, or -1 for one group."
            )
        return own


class Int4DTypePolicy(_WithParameters):
    """Weights of four bits, with a scale for each block of them.

    Args:
        mode: `"int4/<block_size>"`, such as `"int4/128"`; -1: a scale a channel.
        source_name: name of the policy for everything else; `None`: the process's.

    >>> from kerata import dtype_policies
    >>> dtype_policies.Int4DTypePolicy("int4/64", "float32").block_size
    64
    """

    _form = ("int4", "block_size")


class GPTQDTypePolicy(_WithParameters):
    """Weights quantized by GPTQ (Frantar et al., 2022).

    Args:
        mode: `"gptq/<weight_bits>/<group_size>"`, such as `"gptq/4/128"`: 2, 3, 4 or 8 bits; -1: one group.
        source_name: name of the policy for everything else; `None`: the process's.

    >>> from kerata import dtype_policies
    >>> dtype_policies.GPTQDTypePolicy("gptq/4/128", "float32").weight_bits
    4
    """

    _form = ("gptq", "weight_bits", "group_size")


class AWQDTypePolicy(_WithParameters):
    """Weights quantized by AWQ (Lin et al., 2023).

    Args:
        mode: `"awq/4/<group_size>"`, such as `"awq/4/128"`; -1: one group.
        source_name: name of the policy for everything else; `None`: the process's.

    >>> from kerata import dtype_policies
    >>> dtype_policies.AWQDTypePolicy("awq/4/128", "float32").group_size
    128
    """

    _form = ("awq", "weight_bits", "group_size")


def quantized_from_name(name):
    """The policy that `"<mode>_from_<policy>"` names; `None` for names that begin with no mode.

    Raises:
        ValueError: it begins with a mode, but doesn't go on like this.
    """
    if not name.startswith(MODES):
        return None
    mode, found, source = name.partition("_from_")
    if not found:
        if "_" not in name or name in dtypes.ALL:
            return None
        raise ValueError(
            f"Cannot convert `policy` into a valid pair of mode and source: {name!r} doesn't have the form "
            "'<mode>_from_<policy>', such as 'int8_from_float32'."
        )
    cls = {"int4": Int4DTypePolicy, "gptq": GPTQDTypePolicy, "awq": AWQDTypePolicy}.get(mode.split("/")[0])
    if mode == "float8":
        cls = QuantizedFloat8DTypePolicy
    elif mode in ("int8", "int4") or cls is None:
        cls = QuantizedDTypePolicy
    return cls(mode, source)


def policy_for(mode, source_name):
    """The policy of a mode with its parameters, as configs name it (`"int4/128"`)."""
    return quantized_from_name(f"{mode}_from_{source_name}")


def amax_history_length(policy):
    """Of how many steps a policy's float8 layers remember the largest values."""
    default = QuantizedFloat8DTypePolicy.default_amax_history_length
    return integer(getattr(policy, "amax_history_length", default), "amax_history_length", repr(policy), minimum=1)
