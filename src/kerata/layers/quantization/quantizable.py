"""`Quantizable`: what layers with large weights have in common, floats or not."""

import numpy as np

from kerata import ops
from kerata.core.changes import changes
from kerata.dtype_policies import policy as policies
from kerata.dtype_policies.policy_map import DTypePolicyMap
from kerata.dtype_policies.quantized import policy_for
from kerata.layers.layer import Layer
from kerata.layers.lora import Adaptable
from kerata.layers.quantization.mode import mode_named
from kerata.quantizers.configs import resolved


class Quantizable(Adaptable):
    """Layers that `quantize`.

    A layer of this kind describes its weights when it's built (`self._weights`, a tuple of `Weight`) and makes them with
    `_add_large`; multiplies with `_product` while `_special` says that there's more to it than the float weight. A weight
    whose name is in `_private` is kept as `_name`, since its public name is a property.
    """

    # The modes there are for this layer.
    _modes = ("int8", "float8", "int4", "gptq", "awq")
    # Names of the weights in the order of files, and of the other variables.
    _large_names = ("kernel",)
    _small_names = ("bias",)
    _private = frozenset({"kernel", "embeddings"})
    _weights = ()
    _is_quantized = False
    # Whether a weight is quantized or adapted.
    _special = False
    inputs_quantizer = None
    quantization_config = None

    # ------------------------------------------------------------- building

    def _add_large(self, weight, **options):
        """The weight's variable, or what its mode keeps instead."""
        mode = self.quantization_mode
        if mode is not None:
            self.quantized_build(weight.shape, mode, self.quantization_config)
        if mode is None or (mode_named(mode).keeps_floats and not mode_named(mode).has_data):
            variable = self.add_weight(name=weight.name, shape=weight.shape, **options)
            setattr(self, self._attribute_of(weight.name), variable)

    def quantized_build(self, input_shape, mode, config=None):
        """Make the variables of a mode for the weights that the layer has described.

        Args:
            input_shape: shape of the weight.
            mode: name of the mode.
            config: `QuantizationConfig`, or `None`.

        Raises:
            NotImplementedError: no mode, or none for this layer.
        """
        chosen = mode_named(mode, self._modes, NotImplementedError)
        chosen.set_inputs_quantizer(self, config)
        for weight in self._weights:
            if not hasattr(self, self._first_variable(chosen, weight)):
                chosen.build(self, weight, config)
        self._is_quantized = self._special = True

    @staticmethod
    def _first_variable(mode, weight):
        return mode.variables(weight)[0]

    def _attribute_of(self, name):
        return f"_{name}" if name in self._private else name

    def _integers(self, weight):
        """The variable in the place of a weight."""
        return getattr(self, self._attribute_of(weight.name))

    # ------------------------------------------------------------- quantizing

    def quantize(self, mode=None, type_check=True, config=None):
        """Keep the weights in fewer bits from now on.

        Args:
            mode: `"int8"`, `"int4"` or `"float8"`; `"gptq"` and `"awq"` with a config.
            type_check: refuse classes that descend from the library's own, whose `call` may do something else.
            config: `QuantizationConfig`; `None`: the mode's default.

        Raises:
            ValueError: the layer isn't built, or is quantized already; an unknown mode; a config of another mode.
            NotImplementedError: a class of your own, or a mode that this layer doesn't have.

        >>> import kerata
        >>> layer = kerata.layers.Dense(2)
        >>> layer.build((None, 3))
        >>> layer.quantize("int8")
        >>> layer.dtype_policy.name, [v.dtype for v in layer.variables]
        ('int8_from_float32', ['float32', 'int8', 'float32'])
        """
        self._check_built()
        config = resolved(mode, config)
        mode = config.mode
        if self._is_quantized:
            raise ValueError(
                f"{self._where()} is already quantized with dtype_policy={self._own_policy().name!r}, so mode={mode!r} "
                "can't be applied."
            )
        if type_check and not _plain(type(self)).__module__.startswith("kerata.layers."):
            raise NotImplementedError(
                f"Layer {type(self).__name__} does not have a `quantize` method implemented: it descends from a layer that "
                "has, but may compute something else. With `type_check=False` it's quantized all the same."
            )
        chosen = mode_named(mode, self._modes, NotImplementedError)
        policy = policy_for(config.dtype_policy_string(), self._own_policy().name)
        arrays = {}
        if not chosen.keeps_floats:
            for weight in self._weights:
                arrays[weight.name] = self._integers(weight).numpy()
                delattr(self, self._attribute_of(weight.name))
        self.quantization_config = config
        self.quantized_build(None, mode, config)
        for weight in self._weights:
            if weight.name in arrays:
                self._set_quantized(chosen.quantized(self, weight, arrays.pop(weight.name)))
        self._set_policy(policy)
        changes.count += 1

    def _check_built(self):
        if not self.built:
            raise ValueError(f"Cannot quantize a layer that isn't yet built. {self._where()}: call it once before.")

    def _set_quantized(self, arrays):
        for name, array in arrays.items():
            getattr(self, self._attribute_of(name)).assign(array)

    def _forget_floats(self, weight):
        """Let go of a float weight that the integers stand for now."""
        attribute = self._attribute_of(weight.name)
        if attribute in self.__dict__:
            delattr(self, attribute)
        changes.count += 1

    def _set_policy(self, policy):
        own = self._dtype_policy
        if isinstance(own, DTypePolicyMap):
            del own[self.path]
            own[self.path] = policy
        else:
            Layer.dtype_policy.fset(self, policy)

    @property
    def dtype_policy(self):
        """The layer's policy. A quantized one that's set on a layer that is built quantizes it."""
        return self._dtype_policy

    @dtype_policy.setter
    def dtype_policy(self, value):
        policy = policies.get(value)
        mode = None if isinstance(policy, DTypePolicyMap) else policy.quantization_mode
        if mode is not None and self.built and not self._is_quantized:
            if mode_named(mode).has_data:
                raise ValueError(
                    f"{self._where()}: the policy {policy.name!r} can't be set on a layer that is built: {mode} needs data. "
                    f"Use `quantize({mode!r}, config=…)`."
                )
            self.quantize(mode, type_check=False, config=_config_of(policy))
        Layer.dtype_policy.fset(self, policy)

    # ------------------------------------------------------------- computing

    def quantized_call(self, *args, **kwargs):
        """The call, of a layer that's quantized.

        Raises:
            NotImplementedError: it isn't.
        """
        mode_named(self.quantization_mode, self._modes, NotImplementedError)
        return self.call(*args, **kwargs)

    def _product(self, weight, x, training=None):
        """The einsum of `x` with a weight that is quantized, adapted or both."""
        mode = self.quantization_mode
        if mode is None:
            y = ops.einsum(weight.equation, x, self._integers(weight))
        else:
            y = mode_named(mode, self._modes, NotImplementedError).multiply(self, weight, x, training)
        return y + self._adaptation(weight.equation, x) if self.lora_enabled else y

    def _with_bias(self, y):
        bias = self.bias
        if bias is not None and self.quantization_mode == "float8" and self.compute_dtype == "float32":
            # As in Keras, which lets GPUs add it within the product.
            bias = ops.cast(ops.cast(bias, "bfloat16"), "float32")
        return y if bias is None else y + bias

    def _shown(self):
        """What the first weight's property gives: the float weight or its integers, and what LoRA adds."""
        if not self._is_quantized:
            return self._merged()
        mode, weight = mode_named(self.quantization_mode), self._weights[0]
        if not self.lora_enabled:
            return mode.integers(self, weight)
        return mode.floats(self, weight) + self._addition()

    # ------------------------------------------------------------- files

    @property
    def variable_serialization_spec(self):
        """`{mode: names of the variables in the order of files}`; `None` is the mode of floats."""
        spec = {None: [*self._large_names, *self._small_names]}
        for name in self._modes:
            spec[name] = self._names_in_files(mode_named(name))
        return spec

    def _names_in_files(self, mode):
        first, *rest = self._weights or self._described()
        names = mode.spec(first, self._small_names)
        for weight in rest:
            names += mode.spec(weight, ())
        return names

    def _described(self):
        """The weights before they have shapes."""
        from kerata.layers.quantization.weight import Weight

        return [Weight(n, (), "->,", owns_groups=i == 0) for i, n in enumerate(self._large_names)]

    def _in_files(self):
        """`{name: variable}` in the order of files: what the mode has, then variables that a subclass added."""
        mode = mode_named(self.quantization_mode)
        names = self._names_in_files(mode)
        found = {n: v for n in names if (v := getattr(self, self._attribute_of(n), None)) is not None}
        left_out = {id(v) for v in found.values()} | {id(v) for v in self._adapters_or_none()}
        if mode.has_data:
            # The float weight, while it's still there, has no place in such files.
            left_out |= {id(getattr(self, self._attribute_of(w.name), None)) for w in self._weights}
        own = [*self._trainable_variables, *self._non_trainable_variables]
        return {**found, **{v.path: v for v in own if id(v) not in left_out}}

    def _adapters_or_none(self):
        return self._adapters() if self.lora_enabled else ()

    def save_own_variables(self, store):
        """The variables by number; adapters merged into the weight that they adapt, which is quantized anew."""
        if not self._is_quantized:
            super().save_own_variables(store)
            return
        mode = mode_named(self.quantization_mode)
        if mode.has_data and not getattr(self, mode.flag()):
            raise ValueError(
                f"{self._where()} can't be saved: it's quantized by {mode.name}, but was not calibrated, so its quantized "
                f"weight is empty. Quantize the model as a whole, or calibrate the layer."
            )
        changed = {}
        if self.lora_enabled:
            weight = self._weights[0]
            merged = ops.convert_to_numpy(mode.floats(self, weight) + self._addition()).astype(np.float32)
            changed = {weight.name: merged} if mode.name == "float8" else mode.quantized(self, weight, merged)
        for i, (name, variable) in enumerate(self._in_files().items()):
            store[str(i)] = changed[name] if name in changed else variable.numpy()

    def load_own_variables(self, store):
        """The variables by number; adapters begin anew at zero."""
        if not self._is_quantized:
            super().load_own_variables(store)
            return
        variables = self._in_files()
        mode = mode_named(self.quantization_mode)
        found = len(store.keys())
        if found != len(variables):
            hint = ""
            if mode.has_data and found == len(variables) - 1:
                hint = " Keras 3.15 leaves out the zeros of such layers when it saves them; without them the file is no use."
            raise ValueError(
                f"{self._where()}, quantized by {mode.name}, has {len(variables)} variables ({', '.join(variables)}), but "
                f"the file has {found}.{hint}"
            )
        for i, variable in enumerate(variables.values()):
            variable.assign(np.asarray(store[str(i)]))
        for adapter in self._adapters_or_none():
            adapter.assign(ops.zeros(adapter.shape, adapter.dtype))
        if mode.has_data:
            for weight in self._weights:
                mode.calibrated(self, weight)


def _plain(cls):
    """The class without what the framework's module class adds."""
    while cls.__dict__.get("_is_module_class"):
        cls = cls.__bases__[0]
    return cls


def _config_of(policy):
    """The config that a policy stands for."""
    from kerata.quantizers.configs import Int4QuantizationConfig

    size = getattr(policy, "block_size", None)
    return Int4QuantizationConfig(block_size=size) if size is not None else None
