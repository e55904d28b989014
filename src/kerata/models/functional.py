"""Functional models: from symbolic inputs to symbolic outputs."""

from kerata.core import dtypes, op_records, tree
from kerata.core.masks import get_mask, set_mask
from kerata.core.serialization import deserialize_keras_object, serialize_keras_object
from kerata.graph.tensor import KerasTensor
from kerata.layers.layer import Layer
from kerata.layers.operation import Operation
from kerata.models.function import Function
from kerata.models.model import Model


class Functional(Model):
    """What `Model(inputs, outputs)` makes.

    Args:
        inputs: `KerasTensor` or structure of them, from `Input`.
        outputs: `KerasTensor` or structure of them.
        name: name.

    Raises:
        ValueError: an output that needs an input which isn't among `inputs`.
    """

    # Whether inputs of other sizes than the model was made with go to the layers all the same (see `Sequential`).
    _any_size = False

    def __init__(self, inputs, outputs, name=None, **kwargs):
        trainable = kwargs.pop("trainable", None)
        super().__init__(name=name, **kwargs)
        self._set_graph(inputs, outputs)
        if trainable is not None and trainable != self.trainable:
            self.trainable = trainable

    def _set_graph(self, inputs, outputs):
        inputs, outputs = (tree.map_structure(lambda t: t, s) for s in (inputs, outputs))
        for what, structure in (("inputs", inputs), ("outputs", outputs)):
            for t in tree.flatten(structure):
                if not isinstance(t, KerasTensor):
                    raise ValueError(
                        f"Model: `{what}` must be KerasTensors (made by `Input`, or by calling layers on them), but {t!r} was given."
                    )
        if len({id(t) for t in tree.flatten(inputs)}) != len(tree.flatten(inputs)):
            raise ValueError("Model: the same tensor stands twice among `inputs`.")
        inputs = tree.map_structure(_as_input, inputs)
        self.__dict__["_function"] = Function(inputs, outputs, name=self.name)
        self.__dict__["_inputs_struct"], self.__dict__["_outputs_struct"] = inputs, outputs
        operations = self._function.network.operations
        self.__dict__["_layers"] = []
        for operation in operations:
            if isinstance(operation, Layer):
                self._track(operation)
        self.__dict__["_node_names"] = _node_names(operations)
        self.built = True

    # ------------------------------------------------------------- facts

    @property
    def inputs(self):
        """Symbolic inputs, flat."""
        return self._function.inputs

    @property
    def outputs(self):
        """Symbolic outputs, flat."""
        return self._function.outputs

    @property
    def operations(self):
        """Layers, and the nodes of ops, the farthest from the outputs first."""
        return self._function.operations

    @property
    def input(self):
        return self._inputs_struct

    @property
    def output(self):
        return self._outputs_struct

    @property
    def input_shape(self):
        return _shapes(self._inputs_struct)

    @property
    def output_shape(self):
        return _shapes(self._outputs_struct)

    @property
    def input_names(self):
        return [_input_name(t) for t in self.inputs]

    @property
    def output_names(self):
        return [self._node_names.get(id(t.node), None) or t.node.op.name for t in self.outputs]

    # ------------------------------------------------------------- running

    def _is_pure(self):
        own = (o for o in self._function.operations if isinstance(o, Operation) and not isinstance(o, Layer))
        return super()._is_pure() and all(o.call.__module__.startswith("kerata.") for o in own)

    def call(self, inputs, training=None, mask=None, **kwargs):
        flat = self._standardize(inputs)
        if mask is not None:
            for x, m in zip(flat, tree.flatten(mask), strict=False):
                if m is not None:
                    set_mask(x, m)
        outputs = tree.pack_sequence_as(self._outputs_struct, self._function.run(flat))
        # Keras's rule: a list of one output gives the output, with tensors; with symbols the list.
        return outputs[0] if type(outputs) in (list, tuple) and len(outputs) == 1 else outputs

    def _standardize(self, inputs):
        """Inputs as a flat list in the model's order, ranks and dtypes set right."""
        flat = self._in_order(inputs)
        if len(flat) != len(self.inputs):
            raise ValueError(
                f"{self._where()}: {len(self.inputs)} input(s) are expected ({', '.join(self.input_names)}), but {len(flat)} were given."
            )
        return [self._standardize_one(x, t) for x, t in zip(flat, self.inputs, strict=True)]

    def _in_order(self, inputs):
        if isinstance(inputs, dict):
            names = self.input_names
            keys = list(self._inputs_struct) if isinstance(self._inputs_struct, dict) else names
            missing = [k for k in keys if k not in inputs]
            if missing and not isinstance(self._inputs_struct, dict) and len(inputs) == len(names):
                return tree.flatten(inputs)
            optional = {_input_name(t) for t in self.inputs if getattr(t.node.op, "optional", False)}
            really = [k for k in missing if k not in optional]
            if really:
                raise ValueError(
                    f"{self._where()}: the input(s) {', '.join(map(repr, really))} are missing; given: {', '.join(map(repr, inputs))}."
                )
            return (
                tree.flatten({k: inputs.get(k) for k in keys})
                if isinstance(self._inputs_struct, dict)
                else [inputs.get(k) for k in keys]
            )
        return tree.flatten(inputs)

    def _standardize_one(self, x, symbol):
        if x is None:
            return x
        shape, wanted = tuple(x.shape), symbol.shape
        result = x
        if len(shape) != len(wanted):
            result = self._fit_rank(x, shape, symbol)
            shape = tuple(result.shape)
        # A batch of another size is as good, as in Keras.
        if not self._any_size and any(
            w is not None and s is not None and s != w for s, w in zip(shape[1:], wanted[1:], strict=True)
        ):
            raise ValueError(
                f"{self._where()}: the input {_input_name(symbol)!r} is expected to have the shape {wanted}, but has {tuple(x.shape)}."
            )
        dtype = dtypes.standardize_dtype(x.dtype)
        if dtype != symbol.dtype and not (dtypes.is_float(dtype) and dtypes.is_float(symbol.dtype)):
            from kerata import ops

            result = ops.cast(result, symbol.dtype)
        if result is not x and get_mask(x) is not None:
            set_mask(result, get_mask(x))
        return result

    def _fit_rank(self, x, shape, symbol):
        from kerata import ops

        wanted = symbol.shape
        if len(shape) == len(wanted) + 1 and shape[-1] == 1:
            return ops.squeeze(x, axis=-1)
        if len(shape) == len(wanted) - 1 and wanted[-1] == 1:
            return ops.expand_dims(x, axis=-1)
        raise ValueError(
            f"{self._where()}: the input {_input_name(symbol)!r} is expected to have the shape {wanted}, but has {shape}."
        )

    def compute_output_spec(self, inputs, training=None, mask=None):
        flat = tree.flatten(super().compute_output_spec(inputs))
        return tree.pack_sequence_as(self._outputs_struct, flat)

    def compute_output_shape(self, input_shape):
        return super().compute_output_shape(input_shape)

    def build(self, input_shape=None):
        """A Functional model is built when it is made."""

    def get_build_config(self):
        return {"input_shape": None}

    def build_from_config(self, config):
        return None

    # ------------------------------------------------------------- config

    def get_config(self):
        if not _is_plain(type(self)):
            return Model.get_config(self)
        return functional_config(self)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if "layers" in config and "input_layers" in config:
            return functional_from_config(cls, config, custom_objects)
        return super().from_config(config)


def _is_plain(cls):
    """Whether this is Functional itself rather than a user's subclass with a constructor of its own."""
    while cls.__dict__.get("_is_module_class"):
        cls = cls.__bases__[0]
    return cls is Functional or cls.__init__ in (Functional.__init__, Model.__init__)


def _shapes(structure):
    flat = tree.flatten(structure)
    return flat[0].shape if len(flat) == 1 else tree.map_structure(lambda t: t.shape, structure)


def _as_input(t):
    """An input that isn't an `Input` (a layer's output, say) is fine: the graph begins there."""
    from kerata.layers.core.input_layer import InputLayer

    if t.node is None:
        InputLayer(batch_shape=t.shape, dtype=t.dtype, input_tensor=t)
    return t


def _input_name(t):
    return t.node.op.name if t.node is not None and isinstance(t.node.op, Layer) else t.name


def _node_names(operations):
    """Names of op nodes: `add`, `add_1`, … as in files."""
    from kerata.core.names import auto_name

    return {id(node): auto_name(node.op.name) for node in operations if not isinstance(node, Operation)}


# ------------------------------------------------------------------ config


def functional_config(model):
    """The model as layers and the nodes between them, in Keras's format."""
    network = model._function.network
    history = _History(model)
    layers = []
    for operation in network.operations:
        if isinstance(operation, Operation):
            record = serialize_keras_object(operation)
            record["name"] = operation.name
            record["inbound_nodes"] = [
                {"args": history.serialized(n.args), "kwargs": history.serialized(n.kwargs or {})}
                for n in history.nodes_of(operation)
                if n.inputs
            ]
        else:
            record = _op_record(operation, model._node_names[id(operation)], history)
        layers.append(record)
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": layers,
        "input_layers": tree.map_structure(history.address, model._inputs_struct),
        "output_layers": tree.map_structure(history.address, model._outputs_struct),
    }


class _History:
    """Where tensors come from: `[name of the operation, number of its call, number of its output]`."""

    def __init__(self, model):
        self.names = model._node_names
        self.calls = {}
        network = model._function.network
        # A layer's calls in the order in which they were made, but only those of this model.
        within = {id(n): n for n in network.nodes}
        within.update({id(t.node): t.node for t in network.inputs if t.node is not None})
        self.by_layer = {}
        for operation in network.operations:
            if isinstance(operation, Operation):
                own = [n for n in operation._inbound_nodes if id(n) in within]
                self.by_layer[id(operation)] = own
                self.calls.update({id(n): i for i, n in enumerate(own)})

    def nodes_of(self, layer):
        return self.by_layer[id(layer)]

    def address(self, t):
        node = t.node
        if isinstance(node.op, Operation):
            return [node.op.name, self.calls[id(node)], t.index]
        return [self.names[id(node)], 0, t.index]

    def serialized(self, value):
        return tree.map_structure(self._leaf, _slices_kept(value))

    def _leaf(self, value):
        if isinstance(value, KerasTensor):
            config = {"shape": list(value.shape), "dtype": value.dtype, "keras_history": self.address(value)}
            return {"class_name": "__keras_tensor__", "config": config}
        return serialize_keras_object(value)


def _slices_kept(value):
    return list(value) if isinstance(value, tuple) else value


def _op_record(node, name, history):
    arguments = dict(zip(node.op.parameters, node.args, strict=False))
    record, called = op_records.to_record(node.op.name, arguments, name)
    record["name"] = name
    record["config"] = {k: serialize_keras_object(v) for k, v in record["config"].items()}
    record["inbound_nodes"] = [{"args": history.serialized(list(called)), "kwargs": {}}]
    return record


def functional_from_config(cls, config, custom_objects=None):
    """Make the layers, then make their calls again, each once its inputs are there."""
    made, calls, outputs = {}, {}, {}
    pending = []
    for record in config["layers"]:
        name = record.get("name") or record["config"]["name"]
        if op_records.is_op_record(record):
            made[name] = record
        else:
            made[name] = deserialize_keras_object(record, custom_objects=custom_objects)
        calls[name] = 0
        nodes = record.get("inbound_nodes") or []
        if not nodes and not op_records.is_op_record(record):
            made_outputs = made[name]._inbound_nodes
            if made_outputs:
                outputs[name, 0] = made_outputs[0].outputs
        pending += [(name, i, node) for i, node in enumerate(nodes)]
    while pending:
        waiting = []
        for name, i, node in pending:
            if i != calls[name] or not _run_node(made[name], name, i, node, outputs):
                waiting.append((name, i, node))
            else:
                calls[name] += 1
        if len(waiting) == len(pending):
            raise ValueError(
                f"The config's graph can't be put together: {', '.join(sorted({n for n, _, _ in waiting}))} lack inputs."
            )
        pending = waiting
    inputs = _at_addresses(config["input_layers"], outputs)
    results = _at_addresses(config["output_layers"], outputs)
    rest = {k: v for k, v in config.items() if k not in ("layers", "input_layers", "output_layers")}
    model = cls(inputs, results, **rest)
    # Ops keep the names that they have in the file.
    for (name, _), tensors in outputs.items():
        if isinstance(made[name], dict) and hasattr(model, "_node_names"):
            model._node_names[id(tensors[0].node)] = name
    return model


def _run_node(operation, name, number, node, outputs):
    """Make one call; `False` if an input isn't there yet."""
    missing = []

    def tensor(value):
        if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
            source, call, index = value["config"]["keras_history"]
            if (source, call) not in outputs:
                missing.append(source)
                return tree.MAP_TO_NONE
            return outputs[source, call][index]
        if isinstance(value, dict) and ("class_name" in value):
            return deserialize_keras_object(value)
        return None

    args = tree.traverse(tensor, list(node["args"]))
    kwargs = tree.traverse(tensor, dict(node["kwargs"]))
    if missing:
        return False
    if isinstance(operation, dict):
        result = op_records.from_record(operation)(*args, **kwargs)
    else:
        result = operation(*args, **kwargs)
    outputs[name, number] = [t for t in tree.flatten(result) if isinstance(t, KerasTensor)]
    return True


def _at_addresses(structure, outputs):
    def address(value):
        if (
            isinstance(value, (list, tuple))
            and len(value) == 3
            and isinstance(value[0], str)
            and isinstance(value[1], int)
        ):
            return outputs[value[0], value[1]][value[2]]
        return None

    result = tree.traverse(address, structure)
    return result
