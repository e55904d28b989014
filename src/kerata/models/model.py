"""`Model`: a layer that trains, predicts and is saved."""

from kerata import backends
from kerata.core import dtypes, tree
from kerata.core.serialization import serialize_keras_object
from kerata.graph.tensor import KerasTensor
from kerata.layers.layer import Layer
from kerata.models.forward import Forward
from kerata.training.trainer import Trainer


class Model(Trainer, Layer):
    """A group of layers that is trained and saved as one.

    Three ways to make one: `Model(inputs, outputs)` from symbolic tensors (Functional), `Sequential([...])`, or a subclass with
    layers as attributes and a `call`.

    Args:
        inputs: `KerasTensor` or structure of them.
        outputs: `KerasTensor` or structure of them, computed from the inputs.
        name: name.

    >>> import kerata
    >>> inputs = kerata.Input((3,))
    >>> model = kerata.Model(inputs, kerata.layers.Dense(2)(inputs))
    >>> model.count_params()
    8
    """

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.__dict__["_backend"] = backends.current()
        self.__dict__["_forward"] = None
        return self

    @classmethod
    def _class_for(cls, args, kwargs):
        if _functional_arguments(args, kwargs) and _plain(cls):
            from kerata.models.functional import Functional

            return Functional
        return cls

    def __init__(self, *args, **kwargs):
        if _functional_arguments(args, kwargs) and not hasattr(self, "_set_graph"):
            # A subclass that calls `super().__init__(inputs, outputs)` becomes a Functional model.
            _become_functional(self, *args, **kwargs)
            return
        if args:
            raise TypeError(
                f"{type(self).__name__}: Model takes `inputs` and `outputs` (KerasTensors) or keyword arguments, not {args!r}."
            )
        Trainer.__init__(self)
        Layer.__init__(self, **kwargs)

    def __call__(self, *args, **kwargs):
        selected = backends.selected.get() or backends.process.backend
        if selected is not self._backend:
            return self._on_own_backend(args, kwargs)
        forward = self._forward
        if forward is not None and len(args) == 1:
            result = forward(args[0], kwargs)
            if result is not forward.DECLINED:
                return result
        return super().__call__(*args, **kwargs)

    def _on_own_backend(self, args, kwargs):
        """The outermost call enters the model's backend; within a graph being built there is none to enter."""
        if getattr(backends.current(), "EAGER", None) == self._backend.NAME or backends.current() is self._backend:
            return Layer.__call__(self, *args, **kwargs)
        with backends.use_backend(self._backend):
            return self(*args, **kwargs)

    def _take_dtype(self, dtype):
        super()._take_dtype(dtype)
        if self.optimizer is not None and self.optimizer.built:
            self.optimizer._follow_dtypes()

    def _call(self, args, kwargs):
        outputs = super()._call(args, kwargs)
        if self._forward is None and self.built:
            self.__dict__["_forward"] = Forward(self)
            # What export and inference backends ask of a model that doesn't declare its inputs.
            self.__dict__["_called_on"] = [tree.map_structure(_batchless, a) for a in args]
        return outputs

    def call(self, *args, **kwargs):
        raise NotImplementedError(
            f"{type(self).__name__} defines no `call`: write one that returns the model's outputs."
        )

    # ------------------------------------------------------------- layers

    @property
    def layers(self):
        """Layers of the model, not those within them."""
        return list(self._layers)

    @layers.setter
    def layers(self, _):
        raise AttributeError("`Model.layers` attribute is reserved: name yours otherwise.")

    def get_layer(self, name=None, index=None):
        """A layer by name or by number.

        Raises:
            ValueError: there is none, or both or neither were given.
        """
        if (name is None) == (index is None):
            raise ValueError("get_layer: give either `name` or `index`.")
        layers = self.layers
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise ValueError(f"{self._where()} has {len(layers)} layers; there is none at index {index}.")
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"{self._where()} has no layer {name!r}; it has {', '.join(repr(v.name) for v in layers)}.")

    def summary(
        self,
        line_length=None,
        positions=None,
        print_fn=None,
        expand_nested=False,
        show_trainable=False,
        layer_range=None,
    ):
        """Print a table of the layers with output shapes and numbers of parameters.

        Args:
            line_length: width in characters.
            positions: relative widths of the columns.
            print_fn: function of a string that prints it.
            expand_nested: show the layers of nested models.
            show_trainable: show which layers train.
            layer_range: names (or patterns) of the first and last layer to show.
        """
        from kerata.models.summary import print_summary

        print_summary(self, line_length, positions, print_fn, expand_nested, show_trainable, layer_range)

    def __getstate__(self):
        state = {
            k: v for k, v in super().__getstate__().items() if k not in ("_forward", "_steps", "_backend", "history")
        }
        return state | {"_backend": self._backend.NAME}

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.update(_backend=backends.load(state["_backend"]), _forward=None, _steps={})

    def __reduce_ex__(self, protocol):
        if not _subclassed(self):
            # The graph is made anew from the config, which is what files do too.
            from kerata.models.moving import restored, snapshot

            return restored, (snapshot(self),)
        return super().__reduce_ex__(protocol)

    # ------------------------------------------------------------- backends

    @property
    def backend(self):
        """Name of the backend that the model is on."""
        return self._backend.NAME

    def to_backend(self, name):
        """The same model on another backend: architecture, weights, optimizer state and compile settings.

        Args:
            name: name of the backend.

        Returns:
            A new model; this one stays as it is.
        """
        from kerata.models.moving import moved

        return moved(self, name)

    # ------------------------------------------------------------- config and files

    def build_from_config(self, config):
        if not config:
            return
        if "input_shape" in config and config["input_shape"] is not None and _subclassed(self):
            from kerata.models.reading import build_by_call

            build_by_call(self, config["input_shape"])
            return
        super().build_from_config(config)

    def get_build_config(self):
        return super().get_build_config() or {"input_shape": None}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if "layers" in config and "input_layers" in config and "output_layers" in config:
            from kerata.models.functional import Functional, functional_from_config

            return functional_from_config(Functional if _plain(cls) else cls, config, custom_objects)
        return super().from_config(config)

    def to_json(self, **kwargs):
        """The architecture as a JSON string; `model_from_json` reads it."""
        import json

        return json.dumps(serialize_keras_object(self), **kwargs)

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """Write the model to a `.keras` file: architecture, weights, optimizer state, compile settings.

        Args:
            filepath: path ending in `.keras` (or `.h5`).
            overwrite: replace an existing file.
            zipped: one file rather than a folder; `None`: by the path.
        """
        from kerata import saving

        saving.save_model(self, filepath, overwrite=overwrite, zipped=zipped, **kwargs)

    def save_weights(self, filepath, overwrite=True, max_shard_size=None):
        """Write the weights to a `.weights.h5` file.

        Args:
            filepath: path ending in `.weights.h5` (`.weights.json` for shards).
            overwrite: replace an existing file.
            max_shard_size: size in GB above which several files are written.
        """
        from kerata import saving

        saving.save_weights(self, filepath, overwrite=overwrite, max_shard_size=max_shard_size)

    def load_weights(self, filepath, skip_mismatch=False, **kwargs):
        """Set the weights from a `.weights.h5` or `.keras` file.

        Args:
            filepath: path.
            skip_mismatch: leave layers alone whose shapes differ.
        """
        from kerata import saving

        saving.load_weights(self, filepath, skip_mismatch=skip_mismatch, **kwargs)

    def export(self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
        """Write the model for a runtime: only what inference needs.

        Args:
            filepath: path of the file, or of a SavedModel's folder.
            format: `"tf_saved_model"`, `"onnx"`, `"openvino"`, `"litert"` or `"torch"`, whatever the model's backend; the
                format's own framework must be installed.
            verbose: say what was written; `None`: yes.
            input_signature: specs of the inputs, for a model that doesn't know them.
            **kwargs: options of the format, see `kerata.export.export_model`.
        """
        from kerata.export import export_model

        export_model(self, filepath, format=format, verbose=verbose, input_signature=input_signature, **kwargs)

    def _serving_call(self):
        """What a framework that saves the model writes as its inference."""
        from kerata.export.export_model import serving_call

        return serving_call(self)

    def quantize(self, mode=None, config=None, filters=None, **kwargs):
        """Keep the weights of the layers that can in fewer bits from now on.

        Args:
            mode: `"int8"`, `"int4"` or `"float8"`; `"gptq"` and `"awq"` with a config.
            config: `QuantizationConfig`; `None`: the mode's default.
            filters: which layers: regular expression of names, a list of them, or a function of a layer.
            type_check: also quantize layers of your own that descend from the library's, with `False`.

        Raises:
            ValueError: the model isn't built; an unknown mode; layers that are quantized already; for `"gptq"` and
                `"awq"` no structure of blocks.

        >>> import kerata
        >>> model = kerata.Sequential([kerata.Input((3,)), kerata.layers.Dense(2)])
        >>> model.quantize("int8")
        >>> model.layers[0].quantization_mode
        'int8'
        """
        type_check = kwargs.pop("type_check", True)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}.quantize: {kwargs}.")
        from kerata.models.quantization import quantize

        quantize(self, mode, config, filters, type_check)

    def get_quantization_layer_structure(self, mode=None):
        """What the tokens pass first, and the blocks to quantize one after the other. Override it in models of blocks.

        Args:
            mode: name of the quantization mode.

        Returns:
            `{"pre_block_layers": [layers], "sequential_blocks": [layers]}`, or `None`.
        """

    def get_state_tree(self, value_format="backend_tensor"):
        """All state as nested dicts by path.

        Args:
            value_format: `"backend_tensor"` or `"numpy_array"`.
        """
        from kerata.models.state_tree import state_tree

        return state_tree(self, value_format)

    def set_state_tree(self, state_tree):
        """Set state from what `get_state_tree` returned (or a part of it)."""
        from kerata.models.state_tree import set_state_tree

        set_state_tree(self, state_tree)


def _batchless(x):
    """The shape (of any batch size) and dtype of an input that was given."""
    if not hasattr(x, "shape"):
        return None
    return KerasTensor((None, *tuple(x.shape)[1:]) if len(x.shape) else (), dtypes.standardize_dtype(x.dtype))


def _functional_arguments(args, kwargs):
    return (
        len(args) == 2
        or (len(args) == 1 and "outputs" in kwargs)
        or ("inputs" in kwargs and "outputs" in kwargs)
        or (len(args) == 3 and isinstance(args[2], str))
    )


def _plain(cls):
    while cls.__dict__.get("_is_module_class"):
        cls = cls.__bases__[0]
    return cls is Model


def _like(cls, other):
    """`other`, as a module class if `cls` is one."""
    name = backends.current_name()
    return backends.load(name).module_class(other) if cls.__dict__.get("_is_module_class") else other


def _become_functional(model, *args, **kwargs):
    from kerata.models.functional import Functional

    cls = type(model)
    found = _FUNCTIONAL.get(cls)
    if found is None:
        namespace = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "_is_module_class": True}
        found = _FUNCTIONAL[cls] = type(cls)(cls.__name__, (cls, _like(cls, Functional)), namespace)
    # Not by `setattr`, which tracks attributes.
    object.__setattr__(model, "__class__", found)
    Functional.__init__(model, *args, **kwargs)


_FUNCTIONAL = {}


def _subclassed(model):
    return not hasattr(model, "_set_graph") and not hasattr(model, "_stack")
