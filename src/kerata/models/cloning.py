"""`clone_model`: the same architecture with new weights."""

from kerata.core import tree
from kerata.core.serialization import deserialize_keras_object, serialize_keras_object
from kerata.models.functional import Functional
from kerata.models.sequential import Sequential


def clone_model(model, input_tensors=None, clone_function=None, call_function=None, recursive=False, **kwargs):
    """A model of the same architecture with weights of its own.

    Args:
        model: the model.
        input_tensors: `KerasTensor`s to build the clone upon.
        clone_function: function of a layer that returns the layer to take its place; by default a copy of it.
        call_function: function of `(layer, *args, **kwargs)` that calls a cloned layer.
        recursive: clone layers inside nested models by `clone_function` too.

    Raises:
        ValueError: a subclassed model, with arguments that only symbolic models have.

    >>> import kerata
    >>> model = kerata.Sequential([kerata.Input((2,)), kerata.layers.Dense(1)])
    >>> kerata.models.clone_model(model).output_shape
    (None, 1)
    """
    if kwargs:
        raise TypeError(f"clone_model: unknown arguments {', '.join(kwargs)}.")
    clone = clone_function or _from_config
    if isinstance(model, Sequential):
        layers = [_cloned(layer, clone, recursive) for layer in model._stack]
        made = Sequential(layers[1:] if input_tensors is not None and _is_input(layers[0]) else layers, name=model.name)
        if input_tensors is not None:
            made.build(tree.flatten(input_tensors)[0].shape)
        return made
    if isinstance(model, Functional):
        return _clone_functional(model, input_tensors, clone, call_function, recursive)
    if input_tensors is not None or clone_function is not None:
        raise ValueError(
            "clone_model: a subclassed model is cloned by its config alone; `input_tensors` and `clone_function` don't apply."
        )
    return _copy(model)


def _copy(layer):
    return deserialize_keras_object(serialize_keras_object(layer))


def _from_config(layer):
    # Not built yet: its variables' paths are those of the place where the clone has it.
    return type(layer).from_config(layer.get_config())


def _is_input(layer):
    from kerata.layers.core.input_layer import InputLayer

    return isinstance(layer, InputLayer)


def _cloned(layer, clone, recursive):
    if _is_input(layer):
        return type(layer).from_config(layer.get_config())
    if recursive and isinstance(layer, (Functional, Sequential)):
        return clone_model(layer, clone_function=clone, recursive=True)
    return clone(layer)


def _clone_functional(model, input_tensors, clone, call_function, recursive):
    network = model._function.network
    made, tensors = {}, {}
    given = tree.flatten(input_tensors) if input_tensors is not None else [None] * len(network.inputs)
    for old, new in zip(network.inputs, given, strict=True):
        tensors[id(old)] = new if new is not None else _cloned(old.node.op, clone, recursive).output
    for node in network.nodes:
        args, kwargs = tree.map_structure(lambda t: tensors.get(id(t), t), [list(node.args), dict(node.kwargs or {})])
        if hasattr(node.op, "native"):
            result = node.op.function(*args, **kwargs)
        else:
            if id(node.op) not in made:
                made[id(node.op)] = _cloned(node.op, clone, recursive)
            layer = made[id(node.op)]
            result = call_function(layer, *args, **kwargs) if call_function else layer(*args, **kwargs)
        for old, new in zip(node.outputs, tree.flatten(result), strict=False):
            tensors[id(old)] = new
    inputs = tree.map_structure(lambda t: tensors[id(t)], model._inputs_struct)
    outputs = tree.map_structure(lambda t: tensors[id(t)], model._outputs_struct)
    return Functional(inputs, outputs, name=model.name)
