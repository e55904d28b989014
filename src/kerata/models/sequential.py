"""`Sequential`: layers one after another."""

import copy
import inspect

from kerata.core.serialization import deserialize_keras_object, serialize_keras_object
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import untraced
from kerata.layers.call import outside_call
from kerata.layers.layer import Layer, _as_shapes
from kerata.models.model import Model


class Sequential(Model):
    """A model whose layers are called one after another.

    Args:
        layers: list of layers (an `Input` first, or none: then it's built on the first call).
        trainable: whether its weights train.
        name: name.

    >>> import kerata
    >>> model = kerata.Sequential([kerata.Input((4,)), kerata.layers.Dense(2)])
    >>> model.output_shape
    (None, 2)
    """

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)

    def __init__(self, layers=None, trainable=True, name=None):
        super().__init__(trainable=trainable, name=name)
        self.__dict__["_functional"] = None
        self.__dict__["_stack"] = []
        for layer in layers or ():
            self.add(layer, rebuild=False)
        self._maybe_rebuild()

    def add(self, layer, rebuild=True):
        """Put a layer at the end.

        Args:
            layer: a layer, or a `KerasTensor` made by `Input`.
            rebuild: build at once if the shape of the inputs is known.

        Raises:
            ValueError: it's no layer, or its name is taken.
        """
        from kerata.layers.core.input_layer import InputLayer

        if isinstance(layer, KerasTensor) and layer.node is not None and isinstance(layer.node.op, InputLayer):
            layer = layer.node.op
        if not isinstance(layer, Layer):
            layer = _as_layer(layer, self)
        if isinstance(layer, InputLayer) and self._stack:
            if isinstance(self._stack[0], InputLayer):
                raise ValueError(
                    f"{self._where()} has an input already, and it takes only one: {self._stack[0].name!r}."
                )
        if any(other.name == layer.name and other is not layer for other in self._stack):
            raise ValueError(
                f"{self._where()}: each layer needs a name of its own, but there is one called {layer.name!r} already."
            )
        if not self._stack and layer._batch_input_shape is not None and not isinstance(layer, InputLayer):
            self._stack.append(InputLayer(batch_shape=layer._batch_input_shape))
        if isinstance(layer, InputLayer):
            self._stack.insert(0, layer)
        else:
            self._stack.append(layer)
            self._track(layer)
        self._forget()
        if rebuild:
            self._maybe_rebuild()

    def pop(self, rebuild=True):
        """Take the last layer away and return it."""
        layer = self._stack.pop()
        if not any(other is layer for other in self._stack):
            self._untrack(layer)
        self._forget()
        if rebuild:
            self._maybe_rebuild()
        return layer

    def _forget(self):
        self.__dict__["_functional"] = None
        self.__dict__["_forward"] = None
        self.built = False

    @property
    def layers(self):
        from kerata.layers.core.input_layer import InputLayer

        return [layer for layer in self._stack if not isinstance(layer, InputLayer)]

    @layers.setter
    def layers(self, _):
        raise AttributeError("`Sequential.layers` is read-only; use `add` and `pop`.")

    def _maybe_rebuild(self):
        from kerata.layers.core.input_layer import InputLayer

        if self._stack and isinstance(self._stack[0], InputLayer) and len(self._stack) > 1:
            self.build(self._stack[0].batch_shape)

    def build(self, input_shape=None):
        """Build the layers for inputs of this shape (batch first)."""
        from kerata.layers.core.input_layer import InputLayer
        from kerata.models.functional import Functional

        try:
            shape = _as_shapes(input_shape)
        except TypeError:
            shape = input_shape
        if not isinstance(shape, (tuple, list)) or not all(d is None or isinstance(d, int) for d in shape):
            return
        if not self.layers:
            raise ValueError(f"{self._where()} has no layers: add some before building it.")
        first = self._stack[0]
        if not isinstance(first, InputLayer):
            first = InputLayer(batch_shape=tuple(shape), dtype=_first_dtype(self._stack[0]))
            self._stack.insert(0, first)
        x = first.output
        with untraced(), outside_call():
            for layer in self.layers:
                if not _takes_one_input(layer):
                    raise ValueError(
                        f"{self._where()}: layers take one input each, but {layer._where()} takes more. Use a Functional model."
                    )
                x = layer(x)
            functional = Functional(first.output, x, name=self.name)
        # As in Keras the layers say what fits them: its shape may be no more than that of the first data.
        functional.__dict__["_any_size"] = True
        self.__dict__["_functional"] = functional

    def call(self, inputs, training=None, mask=None, **kwargs):
        if self._functional is not None:
            return self._functional.call(inputs, training=training, mask=mask)
        x = inputs
        for layer in self.layers:
            x = layer(x)
        return x

    def _maybe_build(self, bound):
        if self.built:
            return
        x = bound.get("inputs")
        if hasattr(x, "shape") and self.layers:
            self.build((None, *tuple(x.shape)[1:]) if len(x.shape) else ())
        else:
            self.built = True

    @property
    def inputs(self):
        return self._functional.inputs if self._functional else None

    @property
    def outputs(self):
        return self._functional.outputs if self._functional else None

    @property
    def input_shape(self):
        return self._built_functional("input_shape").input_shape

    @property
    def output_shape(self):
        return self._built_functional("output_shape").output_shape

    @property
    def input(self):
        return self._built_functional("input").input

    @property
    def output(self):
        return self._built_functional("output").output

    def _built_functional(self, what):
        if self._functional is None:
            raise AttributeError(
                f"{self._where()} has no `{what}` before it is built: call it on data, or start with an `Input`."
            )
        return self._functional

    @property
    def input_dtype(self):
        layers = self.layers
        return layers[0].input_dtype if layers else super().input_dtype

    def compute_output_spec(self, inputs, training=None, mask=None, **kwargs):
        if self._functional is not None:
            return self._functional.compute_output_spec(inputs, training=training, mask=mask)
        return super().compute_output_spec(inputs)

    def compute_output_shape(self, input_shape):
        if self._functional is not None:
            return self._functional.compute_output_shape(input_shape)
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def get_config(self):
        if not _is_plain(type(self)):
            return Model.get_config(self)
        config = self.common_config()
        config["layers"] = [serialize_keras_object(layer) for layer in self._stack]
        if self._functional is not None:
            config["build_input_shape"] = self._stack[0].batch_shape
        return copy.deepcopy(config)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if "layers" not in config:
            return super().from_config(config)
        for record in config["layers"]:
            if not isinstance(record, dict) or "config" not in record:
                raise ValueError(
                    f"{cls.__name__}: Expected a dictionary containing a 'config' key for each layer, but the config holds {record!r}."
                )
        layers = [deserialize_keras_object(record, custom_objects=custom_objects) for record in config["layers"]]
        kwargs = {k: config[k] for k in ("name", "trainable") if k in config}
        model = cls(name=kwargs.get("name"))
        for layer in layers:
            model.add(layer, rebuild=False)
        model._maybe_rebuild()
        shape = config.get("build_input_shape")
        if shape and model._functional is None and model.layers:
            model.build(_as_shapes(shape))
        if kwargs.get("trainable") is False:
            model.trainable = False
        return model


def _is_plain(cls):
    while cls.__dict__.get("_is_module_class"):
        cls = cls.__bases__[0]
    return cls is Sequential or cls.__init__ is Sequential.__init__


def _as_layer(value, owner):
    raise ValueError(f"{owner._where()}: only layers can be added, not {value!r} (a {type(value).__name__}).")


def _first_dtype(layer):
    from kerata.layers.core.embedding import Embedding

    return "int32" if isinstance(layer, Embedding) else None


def _takes_one_input(layer):
    kinds = inspect.Parameter
    # Of the bound method: the layer itself isn't among them, whatever it's called there.
    parameters = inspect.signature(layer.call).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind is kinds.POSITIONAL_OR_KEYWORD]
    return len(required) <= 1
