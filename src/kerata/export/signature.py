"""The inputs of a model as symbols to trace it with."""

import inspect

from kerata.core import config, dtypes, tree
from kerata.graph.tensor import KerasTensor
from kerata.layers.input_spec import InputSpec


def input_symbols(model, given=None):
    """The arguments of a model's call as a tuple of structures of `KerasTensor`s: what was given, else what the model declares,
    was called on or was built for.

    Raises:
        ValueError: none of them is there.
    """
    arguments = _known(model) if given is None else _arguments(model, given)
    if arguments is None:
        raise ValueError(
            f"export: the inputs of {model._where()} aren't known: call it on data first, or give "
            '`input_signature`, for instance `keras.InputSpec(shape=(None, 8), dtype="float32")`.'
        )
    return tuple(tree.map_structure(lambda s: symbol(s, model.input_dtype), a) for a in arguments)


def inference(model, symbols):
    """The function of the inputs that exports hold. Where they are several arguments they keep their names."""
    if len(symbols) == 1:
        return lambda inputs: model._forward_pass(inputs, training=False)
    phase = {"training": False} if model._takes_training() else {}

    def call(*inputs):
        return model(*inputs, **phase)

    names = [p.name for p in _parameters(model)[: len(symbols)]]
    names = names if len(names) == len(symbols) else [f"args_{i}" for i in range(len(symbols))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
    return call


def _arguments(model, given):
    """Keras lists the arguments of the call; one of them may also be given as it is."""
    if not isinstance(given, (list, tuple)):
        return [given]
    declared = _declared(model)
    one = next(iter(_called_on(model)), None) if declared is None else declared
    if len(given) == 1 and (not isinstance(one, (list, tuple)) or isinstance(given[0], (list, tuple, dict))):
        return list(given)
    several = declared is None and not isinstance(one, (list, tuple)) and len(_parameters(model)) >= len(given) > 1
    return list(given) if several else [given]


def _known(model):
    """The arguments that a model declares, was called on or was built for; `None` if there are none."""
    declared = _declared(model)
    if declared is not None:
        return [_specs(declared, named=True)]
    called_on = [_specs(a, named=False) for a in _called_on(model)]
    shapes = model.__dict__.get("_build_shapes_dict") or {}
    if len(shapes) < 2:
        return called_on[:1] or [_of_shapes(s) for s in shapes.values()] or None
    parameters = [p.name for p in _parameters(model)]
    built_for = [_of_shapes(shapes[f"{name}_shape"]) for name in parameters if f"{name}_shape" in shapes]
    if [f"{name}_shape" in shapes for name in parameters[: len(shapes)]] != [True] * len(shapes):
        # Exports pass arguments by position: one that was left out has no place.
        return None
    called_on = called_on[: len(built_for)]
    return called_on + built_for[len(called_on) :]


def _called_on(model):
    """The arguments that a model was called with by position."""
    return model.__dict__.get("_called_on") or []


def _specs(symbols, named):
    """Specs of symbols; of calls they have no names, which would only count the symbols that were made so far."""

    def spec(s):
        return None if s is None else InputSpec(shape=s.shape, dtype=s.dtype, name=s.name if named else None)

    return tree.map_structure(spec, symbols)


def _parameters(model):
    """The parameters of a model's call that may be inputs."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = inspect.signature(model.call).parameters.values()
    return [p for p in own if p.kind in kinds and p.name not in ("training", "mask")]


def _of_shapes(shapes):
    """Specs of shapes in any structure, of any batch size."""
    if isinstance(shapes, dict):
        return {k: _of_shapes(s) for k, s in shapes.items()}
    if any(isinstance(d, (list, tuple, dict)) for d in shapes):
        return [_of_shapes(s) for s in shapes]
    return InputSpec(shape=(None, *shapes[1:]))


def _declared(model):
    """The structure of symbolic inputs of a Functional (or built Sequential) model."""
    functional = model.__dict__.get("_functional") or model
    return functional.__dict__.get("_inputs_struct")


def symbol(s, dtype=None):
    """A `KerasTensor` like this spec; `dtype` if it has none."""
    if s is None:
        return None
    if getattr(getattr(s, "shape", None), "rank", getattr(s, "shape", None)) is None:
        raise ValueError(f"export: `input_signature` must hold things with a shape and a dtype, not {s!r}.")
    given = getattr(s, "dtype", None)
    dtype = (dtype or config.floatx()) if given is None else dtypes.standardize_dtype(given)
    name = s._name if isinstance(s, KerasTensor) else getattr(s, "name", None)
    return KerasTensor(tuple(None if d is None else int(d) for d in s.shape), dtype, name=name)


def input_names(model, symbols):
    """Names of the flat inputs of all arguments: those of a Functional model's inputs, keys of a dict, names of the specs, or
    made up.
    """
    functional = model.__dict__.get("_functional") or model
    symbols = symbols[0] if len(symbols) == 1 else symbols
    flat = tree.flatten(symbols)
    names = getattr(functional, "input_names", None)
    if names is not None and len(names) == len(flat):
        return list(names)
    if isinstance(symbols, dict) and not any(tree.is_nested(v) for v in symbols.values()):
        return sorted(symbols)
    return [t._name or (f"input_{i}" if len(flat) > 1 else "input") for i, t in enumerate(flat)]


def output_names(model, outputs):
    """Names of the flat outputs, likewise."""
    functional = model.__dict__.get("_functional") or model
    flat = tree.flatten(outputs)
    names = getattr(functional, "output_names", None)
    if names is not None and len(names) == len(flat):
        return list(names)
    if isinstance(outputs, dict) and not any(tree.is_nested(v) for v in outputs.values()):
        return sorted(outputs)
    return [f"output_{i}" if len(flat) > 1 else "output" for i in range(len(flat))]
