"""`DTypePolicy`, the policy by path, and the default one."""

from collections.abc import MutableMapping

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

    >>> import kerata
    >>> policy = kerata.DTypePolicy("mixed_bfloat16")
    >>> policy.compute_dtype, policy.variable_dtype
    ('bfloat16', 'float32')
    """

    def __init__(self, name=None):
        if name is None:
            name = dtype_policy().name
        if not isinstance(name, str):
            name = dtypes.standardize_dtype(name)
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
        return type(self) is type(other) and self.name == other.name

    def __hash__(self):
        return hash((type(self), self.name))

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


class FloatDTypePolicy(DTypePolicy):
    """A policy that isn't a quantized one: the same as `DTypePolicy`."""

    def __repr__(self):
        return f'<FloatDTypePolicy "{self.name}">'


def _parse(name):
    if name in _MIXED:
        return _MIXED[name], "float32"
    try:
        dtype = dtypes.standardize_dtype(name)
    except ValueError:
        raise ValueError(
            f"DTypePolicy: {name!r} is no policy. Give a dtype such as 'float32', or 'mixed_float16' or 'mixed_bfloat16'."
        ) from None
    return dtype, dtype


class DTypePolicyMap(Constructed, MutableMapping):
    """Policies by layer path; a path without one has `default_policy`.

    Args:
        default_policy: policy of paths that aren't in the map; `None`: the process's.
        policy_map: `{path: policy}`.
    """

    def __init__(self, default_policy=None, policy_map=None):
        self._default_policy = None if default_policy is None else get(default_policy)
        self.policy_map = {k: get(v) for k, v in (policy_map or {}).items()}

    @property
    def default_policy(self):
        return self._default_policy or dtype_policy()

    name = property(lambda self: "map_" + self.default_policy.name)
    compute_dtype = property(lambda self: self.default_policy.compute_dtype)
    variable_dtype = property(lambda self: self.default_policy.variable_dtype)
    quantization_mode = property(lambda self: self.default_policy.quantization_mode)

    def convert_input(self, x, autocast, dtype):
        return self.default_policy.convert_input(x, autocast, dtype)

    def __getitem__(self, path):
        return self.policy_map.get(path, self.default_policy)

    def __setitem__(self, path, policy):
        if path in self.policy_map:
            raise ValueError(f"DTypePolicyMap: {path!r} has a policy already; delete it first.")
        self.policy_map[path] = get(policy)

    def __delitem__(self, path):
        del self.policy_map[path]

    def __iter__(self):
        return iter(self.policy_map)

    def __len__(self):
        return len(self.policy_map)

    def __contains__(self, path):
        return path in self.policy_map

    def get_config(self):
        return {
            "default_policy": None if self._default_policy is None else serialize(self._default_policy),
            "policy_map": {k: serialize(v) for k, v in self.policy_map.items()},
        }


_default = None


def dtype_policy():
    """The policy that layers have unless they are given one.

    >>> import kerata
    >>> kerata.config.dtype_policy().name
    'float32'
    """
    return _default if _default is not None else DTypePolicy(config.floatx())


def set_dtype_policy(policy):
    """Set the default policy: a policy, or the name of one."""
    global _default
    _default = get(policy)


def get(identifier):
    """A policy from a policy, a name, a dtype or a config.

    Raises:
        ValueError: it is none of these.
    """
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, (DTypePolicy, DTypePolicyMap)):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return DTypePolicy(identifier)
    try:
        return DTypePolicy(dtypes.standardize_dtype(identifier))
    except ValueError:
        raise ValueError(f"{identifier!r} is neither a dtype policy, nor the name or config of one.") from None


def serialize(dtype_policy):
    """Config of a policy."""
    from kerata.core.serialization import serialize_keras_object

    return serialize_keras_object(dtype_policy)


def deserialize(config, custom_objects=None):
    """Policy from its config."""
    from kerata.core.serialization import deserialize_keras_object

    return deserialize_keras_object(config, custom_objects=custom_objects)
