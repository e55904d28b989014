"""A Flax module as a layer."""

import inspect

from kerata import backends
from kerata.core import serialization
from kerata.layers.wrappers.jax_layer import JaxLayer


class FlaxLayer(JaxLayer):
    """A `flax.linen.Module` as a layer, on the backends of `JaxLayer`.

    What the module keeps outside of its collection "params" (batch statistics, say) is the layer's state and isn't
    trained; keys for dropout are taken care of.

    Args:
        module: the module.
        method: what to call of it: a name, a method, or a function of the module and `inputs`; by default `__call__`.
            It takes one argument `inputs`, and `training` if it likes.
        variables: `{collection: tree}` as `module.init` gives it; `None`: made when the layer is built.
        **kwargs: `seed`, `name`, `dtype`, …, as for `JaxLayer`.

    Raises:
        ValueError: as of `JaxLayer`.

    A runnable example, with Flax installed::

        class Scale(flax.linen.Module):
            @flax.linen.compact
            def __call__(self, inputs):
                return inputs * self.param("by", flax.linen.initializers.ones, inputs.shape[-1:])

        layer = kerata.layers.FlaxLayer(Scale())
        layer(jax.numpy.ones((1, 2)))
    """

    def __init__(self, module, method=None, variables=None, **kwargs):
        called = getattr(type(module), method) if isinstance(method, str) else method or type(module).__call__
        phase = "training" in inspect.signature(called).parameters
        # (Before the layer is set up, straight into the dict.)
        self.__dict__.update(_flax_module=module, _flax_method=method, _takes_phase=phase)
        params, state = None, None
        if variables is not None:
            params, state = _parted(variables)
        super().__init__(call_fn=self._apply, init_fn=self._init, params=params, state=state, **kwargs)
        self.module = module
        self.method = method

    def _apply(self, params, state, rng, inputs, training):
        variables = {**(params or {}), **(state or {})}
        options = {"training": training} if self._takes_phase else {}
        return backends.load("jax").flax_apply(self._flax_module, variables, rng, inputs, self._flax_method, options)

    def _init(self, rng, inputs, training):
        options = {"training": training} if self._takes_phase else {}
        return _parted(backends.load("jax").flax_init(self._flax_module, rng, inputs, self._flax_method, options))

    def get_config(self):
        method = self.method
        own = getattr(type(self.module), getattr(method, "__name__", ""), None)
        if own is not None and getattr(method, "__func__", method) is own:
            # One of the module's own goes by its name.
            method = method.__name__
        return {
            **self._options(),
            "module": serialization.serialize_keras_object(self.module),
            "method": serialization.serialize_keras_object(method),
        }


def _parted(variables):
    """`(parameters, state)` of a module's variables."""
    variables = dict(variables)
    params = {"params": variables.pop("params")} if "params" in variables else {}
    return params, variables
