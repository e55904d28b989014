"""The inputs of a model as symbols to trace it with."""

from kerata.core import config, dtypes, tree
from kerata.graph.tensor import KerasTensor


def input_symbols(model, given=None):
    """A structure of `KerasTensor`s: what was given, else what the model declares or was called on.

    Raises:
        ValueError: neither is there.
    """
    if given is not None:
        if (
            isinstance(given, (list, tuple))
            and len(given) == 1
            and not isinstance(_declared(model), (list, tuple))
        ):
            # Keras lists the arguments of the call.
            given = given[0]
        return tree.map_structure(lambda s: symbol(s, model.input_dtype), given)
    declared = _declared(model)
    if declared is None:
        declared = model.__dict__.get("_called_on")
    if declared is None:
        raise ValueError(
            f"export: the inputs of {model._where()} aren't known: call it on data first, or give "
            '`input_signature`, for instance `keras.InputSpec(shape=(None, 8), dtype="float32")`.'
        )
    return tree.map_structure(lambda s: symbol(s, model.input_dtype), declared)


def _declared(model):
    """The structure of symbolic inputs of a Functional (or built Sequential) model."""
    functional = model.__dict__.get("_functional") or model
    return functional.__dict__.get("_inputs_struct")


def symbol(s, dtype=None):
    """A `KerasTensor` like this spec; `dtype` if it has none."""
    if s is None:
        return None
    if not hasattr(s, "shape") or s.shape is None:
        raise ValueError(f"export: `input_signature` must hold things with a shape and a dtype, not {s!r}.")
    given = getattr(s, "dtype", None)
    dtype = (dtype or config.floatx()) if given is None else dtypes.standardize_dtype(given)
    return KerasTensor(
        tuple(None if d is None else int(d) for d in s.shape), dtype, name=getattr(s, "name", None)
    )


def input_names(model, symbols):
    """Names of the flat inputs: those of a Functional model's inputs, keys of a dict, names of the specs, or
    made up.
    """
    functional = model.__dict__.get("_functional") or model
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
