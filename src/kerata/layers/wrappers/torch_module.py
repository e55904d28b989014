"""A PyTorch module as a layer."""

import base64

from kerata import backends
from kerata.core import serialization, tree
from kerata.graph.tensor import KerasTensor, any_symbolic
from kerata.layers.layer import Layer
from kerata.state.variable import Variable


class TorchModuleWrapper(Layer):
    """A `torch.nn.Module` as a layer, on the torch backend.

    Its parameters are the layer's weights: they train with the rest of the model.

    Args:
        module: the module. A lazy one must have been called once.
        name: name.
        output_shape: shape of the output without the batch; found by calling the module without data unless given.

    Raises:
        ValueError: `module` is no module, another backend is in force, or parameters aren't initialized yet.

    >>> import kerata
    >>> with kerata.config.use_backend("torch"):
    ...     import torch
    ...     layer = kerata.layers.TorchModuleWrapper(torch.nn.Linear(4, 3))
    ...     tuple(layer(kerata.ops.ones((2, 4))).shape), len(layer.trainable_weights)
    ((2, 3), 2)
    """

    # A module's code can't be traced as ops.
    _opaque = True
    # Its parameters are the module's, and registered there.
    _adopts_modules = False

    def __init__(self, module, name=None, output_shape=None, **kwargs):
        if backends.current_name() != "torch":
            raise ValueError(
                "TorchModuleWrapper: a torch module runs on the torch backend only, but the current one is "
                f"{backends.current_name()!r}; switch by `keras.config.set_backend('torch')`."
            )
        super().__init__(name=name, **kwargs)
        torch = backends.load("torch")
        if not torch.is_module(module) or isinstance(module, Layer):
            raise ValueError(f"{self._where()}: `module` must be a torch.nn.Module, but {module!r} was given.")
        self.module = module
        self.output_shape = None if output_shape is None else tuple(output_shape)
        self._adopt_parameters()
        self.built = True

    def _adopt_parameters(self):
        """The module's own parameters, not copies, as variables of the layer."""
        for path, parameter in self.module.named_parameters():
            if getattr(parameter, "is_uninitialized", bool)() or type(parameter).__name__.startswith("Uninitialized"):
                raise ValueError(
                    f"{self._where()}: parameter {path!r} has no shape yet; call the module on data first."
                )
            self._track(_variable_of(parameter, path.replace(".", "_")))

    def call(self, *args, training=None, **kwargs):
        if any_symbolic(args, kwargs):
            return self.compute_output_spec(*args, **kwargs)
        if training is not None:
            self.module.train(bool(training))
        return self.module(*args, **kwargs)

    def parameters(self, recurse=True):
        """The module's parameters."""
        return self.module.parameters(recurse=recurse)

    def compute_output_shape(self, input_shape):
        """Shape of the output for an input of a shape; batch sizes go through."""
        return super().compute_output_shape(input_shape)

    def compute_output_spec(self, *args, training=None, **kwargs):
        """By the shape that was given, else by calling the module without data."""
        if self.output_shape is not None:
            batch = args[0].shape[0]
            return KerasTensor((batch, *self.output_shape), self.compute_dtype)
        torch = backends.load("torch")

        def symbol(x):
            return torch.module_spec(tuple(x.shape), x.dtype) if isinstance(x, KerasTensor) else x

        args, kwargs = tree.map_structure(symbol, (args, kwargs))
        return _symbols(torch.module_outputs(self.module, args, kwargs))

    def __setstate__(self, state):
        super().__setstate__(state)
        parameters = {path.replace(".", "_"): parameter for path, parameter in self.module.named_parameters()}
        for variable in self.weights:
            variable._storage = parameters[variable.name]

    def __getattr__(self, name):
        """What the layer lacks is looked up on the module, so that code written for the module goes on working."""
        modules = self.__dict__.get("_modules") or {}
        if "module" in modules and not name.startswith("__"):
            return getattr(modules["module"], name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.", name=name, obj=self)

    def __getitem__(self, index):
        return self.module[index]

    def __len__(self):
        return len(self.module)

    def __iter__(self):
        return iter(self.module)

    def save_own_variables(self, store):
        """The module's `state_dict`, buffers too."""
        torch = backends.load("torch")
        for key, value in self.module.state_dict().items():
            store[key] = torch.to_numpy(value)

    def load_own_variables(self, store):
        """The module's `state_dict`, buffers too."""
        torch = backends.load("torch")
        self.module.load_state_dict({key: torch.convert(store[key][()]) for key in store})

    def get_config(self):
        data = backends.load("torch").module_to_bytes(self.module)
        return {
            **self.common_config(),
            "module": base64.b64encode(data).decode("ascii"),
            "output_shape": self.output_shape,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """A layer from its config, which holds a pickle: refused unless `safe_mode=False`."""
        config = dict(config)
        if isinstance(config.get("module"), str):
            if serialization.refuses_code(safe_mode):
                raise ValueError(
                    "TorchModuleWrapper: the config holds a pickled torch module, that is, code which loading would run. "
                    "If you trust it, load with `safe_mode=False`."
                )
            config["module"] = backends.load("torch").module_from_bytes(base64.b64decode(config["module"]))
        if isinstance(config.get("output_shape"), list):
            config["output_shape"] = tuple(config["output_shape"])
        return cls(**{k: serialization.revive(v) if k == "dtype" else v for k, v in config.items()})


def _variable_of(parameter, name):
    """A variable whose storage is this very parameter."""
    backend = backends.load("torch")
    variable = Variable(backend.to_numpy(parameter), trainable=parameter.requires_grad, name=name)
    variable._storage = parameter
    return variable


def _symbols(specs):
    """`(shape, dtype)` pairs of a structure as `KerasTensor`s."""
    if isinstance(specs, tuple) and len(specs) == 2 and isinstance(specs[1], str):
        return KerasTensor(*specs)
    if isinstance(specs, dict):
        return {k: _symbols(v) for k, v in specs.items()}
    return type(specs)(_symbols(v) for v in specs)
