"""`DTypePolicy`, and the default one."""

from kerata.core import config, dtypes
from kerata.core.construct import Constructed

_MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}


class DTypePolicy(Constructed):
    """Compute dtype and variable dtype of a layer.

    Args:
        name: a dtype (both are it), or `"mixed_float16"` or `"mixed_bfloat16"` (compute in half
            precision, keep variables in float32).

    Raises:
        ValueError: a name that is neither.
        TypeError: no string.

    >>> import kerata
    >>> policy = kerata.DTypePolicy("mixed_bfloat16")
    >>> policy.compute_dtype, policy.variable_dtype
    ('bfloat16', 'float32')
    """

    def __init__(self, name=None):
        if name is None:
            name = dtype_policy().name
        elif not isinstance(name, str):
            raise TypeError(f"{type(self).__name__}: 'name' must be a string, not {name!r} ({type(name).__name__}).")
        self._name = name
        self._compute_dtype, self._variable_dtype = _parse(name)
        self._quantization_mode = None

    name = property(lambda self: self._name)
    compute_dtype = property(lambda self: self._compute_dtype)
    variable_dtype = property(lambda self: self._variable_dtype)
    quantization_mode = property(lambda self: self._quantization_mode)

    def convert_input(self, x, autocast, dtype):
        """`x` as a tensor, floating ones cast to `dtype` if `autocast`."""
        from kerata import ops
        from kerata.graph.tensor import KerasTensor

        dtype = dtypes.standardize_dtype(dtype)
        if not (isinstance(x, KerasTensor) or ops.is_tensor(x)):
            if not hasattr(x, "__array__"):
                return x
            return ops.convert_to_tensor(x, dtype if autocast and dtypes.is_float(x.dtype) else None)
        if autocast and dtypes.is_float(x.dtype) and dtypes.standardize_dtype(x.dtype) != dtype:
            return ops.cast(x, dtype)
        return x

    def get_config(self):
        return {"name": self.name}

    def __eq__(self, other):
        # A `FloatDTypePolicy` is the same thing as a `DTypePolicy`.
        return _kind(self) is _kind(other) and self._name == other._name

    def __hash__(self):
        return hash((_kind(self), self._name))

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


class FloatDTypePolicy(DTypePolicy):
    """Another name of `DTypePolicy`, for a policy that quantizes nothing.

    >>> import kerata
    >>> kerata.FloatDTypePolicy("float16") == kerata.DTypePolicy("float16")
    True
    """


def _kind(policy):
    return DTypePolicy if type(policy) is FloatDTypePolicy else type(policy)


def _parse(name):
    if name in _MIXED:
        return _MIXED[name], "float32"
    try:
        dtype = dtypes.standardize_dtype(name)
    except ValueError:
        raise ValueError(
            f"Cannot convert {name!r} to a dtype policy: give a dtype such as 'float32', 'mixed_float16' or "
            "'mixed_bfloat16', or a quantized policy such as 'int8_from_float32'."
        ) from None
    return dtype, dtype


_default = None


def dtype_policy():
    """The policy that layers have unless they are given one.

    >>> import kerata
    >>> kerata.config.dtype_policy().name
    'float32'
    """
    return _default if _default is not None else DTypePolicy(config.floatx())


def set_dtype_policy(policy):
    """Set the default policy.

    Args:
        policy: a policy, or the name of one.

    Raises:
        ValueError: it is neither.
    """
    global _default
    if not isinstance(policy, (DTypePolicy, str)) and not _names_dtype(policy):
        raise ValueError(
            f"Invalid `policy` argument: the name of a policy (such as 'mixed_float16') or a DTypePolicy is needed, "
            f"not {policy!r} ({type(policy).__name__})."
        )
    _default = get(policy)


def get(identifier):
    """A policy from a policy, a name, a dtype or a config; `None`: the default one.

    Args:
        identifier: any of these; the names of quantized policies are `"<mode>_from_<policy>"`, such as
            `"int8_from_mixed_bfloat16"`, `"int4/64_from_float32"`, `"gptq/4/128_from_float32"`.

    Raises:
        ValueError: it is none of these.

    >>> from kerata import dtype_policies
    >>> dtype_policies.get("int8_from_mixed_bfloat16").compute_dtype
    'bfloat16'
    """
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        from kerata.dtype_policies.quantized import quantized_from_name

        return quantized_from_name(identifier) or DTypePolicy(identifier)
    if _names_dtype(identifier):
        return DTypePolicy(dtypes.standardize_dtype(identifier))
    raise ValueError(
        f"Cannot interpret `dtype` argument: {identifier!r} ({type(identifier).__name__}) is neither a dtype policy, "
        "nor the name or config of one."
    )


def _names_dtype(x):
    try:
        dtypes.standardize_dtype(x)
    except ValueError:
        return False
    return True


def serialize(dtype_policy):
    """Config of a policy."""
    from kerata.core.serialization import serialize_keras_object

    return serialize_keras_object(dtype_policy)


def deserialize(config, custom_objects=None):
    """Policy from its config.

    Args:
        config: what `serialize` returned.
        custom_objects: `{name: class}` of policies of your own.
    """
    from kerata.core.serialization import deserialize_keras_object

    if isinstance(config, dict) and "module" not in config and "class_name" in config:
        # The short form: only policies may be meant.
        config = {"module": "keras.dtype_policies", "registered_name": None, **config}
    return deserialize_keras_object(config, custom_objects=custom_objects)
