"""Policies by the paths of layers."""

import re
from collections.abc import MutableMapping

from kerata.core.construct import Constructed
from kerata.dtype_policies.policy import DTypePolicy, deserialize, dtype_policy, get, serialize
from kerata.dtype_policies.quantized import QuantizedDTypePolicy


class DTypePolicyMap(DTypePolicy, MutableMapping):
    """Policies by layer path; a path without one has `default_policy`.

    Given as `dtype` to a layer with layers inside, each of these gets the policy of its own path. A key is a path, or a
    regular expression that a whole path matches (`"decoder/.*"`).

    Args:
        default_policy: policy of paths that aren't in the map; `None`: the process's.
        policy_map: `{path: policy}`.

    Raises:
        TypeError: `policy_map` is no dict.
        ValueError: what is no policy; a path that has one already; a path that several expressions match.

    >>> from kerata import dtype_policies
    >>> policies = dtype_policies.DTypePolicyMap(policy_map={"decoder/.*": dtype_policies.get("bfloat16")})
    >>> policies["decoder/dense"].name, policies["encoder/dense"].name
    ('bfloat16', 'float32')
    """

    def __init__(self, default_policy=None, policy_map=None):
        if policy_map is not None and not isinstance(policy_map, dict):
            raise TypeError(
                f"If specified, `policy_map` must be a dict, not {policy_map!r} ({type(policy_map).__name__})."
            )
        self._default_policy = None if default_policy is None else get(default_policy)
        self._policies = {path: get(policy) for path, policy in (policy_map or {}).items()}

    @property
    def default_policy(self):
        """Policy of paths that aren't in the map."""
        return self._default_policy or dtype_policy()

    name = property(lambda self: "map_" + self.default_policy._name)
    compute_dtype = property(lambda self: self.default_policy.compute_dtype)
    variable_dtype = property(lambda self: self.default_policy.variable_dtype)
    quantization_mode = property(lambda self: self.default_policy.quantization_mode)

    def convert_input(self, x, autocast, dtype):
        return self.default_policy.convert_input(x, autocast, dtype)

    def __getitem__(self, path):
        if path in self._policies:
            return self._policies[path]
        matching = [key for key in self._policies if re.fullmatch(key, path)]
        if len(matching) > 1:
            raise ValueError(
                f"Path {path!r} matches multiple dtype policy keys: {', '.join(map(repr, matching))}. "
                "Give it an entry of its own, or make the expressions exclude each other."
            )
        return self._policies[matching[0]] if matching else self.default_policy

    def __setitem__(self, path, policy):
        if path in self._policies:
            raise ValueError(f"{path} already exist in the DTypePolicyMap; delete it first.")
        try:
            policy = get(policy)
        except ValueError as error:
            raise ValueError(f"Cannot interpret the assigned value. {error}") from None
        self._policies[path] = policy

    def __delitem__(self, path):
        # As in Keras, nothing happens for a path that has none of its own.
        self._policies.pop(path, None)

    def pop(self, path):
        """Remove and return the policy of exactly this path.

        Raises:
            KeyError: there is none.
        """
        return self._policies.pop(path)

    def __iter__(self):
        return iter(self._policies)

    def __len__(self):
        return len(self._policies)

    def __contains__(self, path):
        return path in self._policies

    __eq__ = Constructed.__eq__
    __hash__ = Constructed.__hash__

    def __repr__(self):
        mapping = [(path, policy.name) for path, policy in self._policies.items()]
        return f"<DTypePolicyMap at {hex(id(self))} default_policy={self.default_policy.name}, mapping={mapping}>"

    def get_config(self):
        return {
            "default_policy": None if self._default_policy is None else serialize(self._default_policy),
            "policy_map": {path: serialize(policy) for path, policy in self._policies.items()},
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The map that `get_config` described.

        Without a default policy of its own, the layers that weren't quantized (and the sources of those that were) follow
        the process's policy of now, so that a model can be loaded in another precision.
        """
        default = config["default_policy"]
        default = default if default is None else deserialize(default, custom_objects)
        policies = {path: deserialize(p, custom_objects) for path, p in config["policy_map"].items()}
        if default is None:
            policies = {path: _from_current(policy) for path, policy in policies.items()}
        return cls(default, policies)


def _from_current(policy):
    """A policy with the process's own in the place of its source."""
    if not isinstance(policy, QuantizedDTypePolicy):
        return dtype_policy()
    source = dtype_policy()
    source_name = getattr(source, "_source_name", None) or source.name
    return type(policy).from_config({**policy.get_config(), "source_name": source_name})
