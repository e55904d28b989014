"""Whole models in one `.h5` file, as Keras 2 wrote them and Keras 3 still does when asked for `.h5`.

The root's attributes `model_config` and `training_config` are JSON. Under `model_weights` each layer has a
group whose attribute `weight_names` lists its datasets; weights go by order, not by name.
"""

import json

import numpy as np

from kerata.core import serialization
from kerata.saving import atomic
from kerata.saving.notice import warn
from kerata.saving.older import is_older, modern_config, modern_training
from kerata.saving.state import optimizer_variables
from kerata.saving.store import Entry, Reader, host_array, write_dataset
from kerata.saving.window import Window
from kerata.version import KERAS_API_VERSION

# An HDF5 attribute holds less than 64 KiB; longer lists are in numbered attributes.
_LARGEST_ATTRIBUTE = 64_000
_TOP_LEVEL = "top_level_model_weights"


def save_model(model, path, include_optimizer=True):
    """Write a model as one `.h5` file."""
    config = {"class_name": type(model).__name__, "config": _without_modules(model.get_config())}
    with atomic.replacing(path) as temporary, open(temporary, "w+b", buffering=0) as file:
        window = Window(file)
        h5 = _new_file(window)
        try:
            h5.attrs["keras_version"] = KERAS_API_VERSION
            h5.attrs["backend"] = model_backend(model)
            h5.attrs["model_config"] = json.dumps(serialization.serialize_keras_object(config))
            _write_weights(model, h5.create_group("model_weights"), window)
            if include_optimizer and getattr(model, "compiled", False):
                _write_training(model, h5, window)
        except BaseException:
            window.swallow()
            h5.close()
            raise
        h5.close()
        window.check()


def load_model(path, custom_objects=None, compile=True, safe_mode=True):
    """Read a model from one `.h5` file."""
    from kerata.saving.models import made

    shown = repr(path)
    with Reader(path, shown) as reader:
        attributes = reader.attributes()
        if "model_config" not in attributes:
            raise ValueError(f"{shown} holds weights only; build the model and call `model.load_weights`.")
        older = is_older(attributes.get("keras_version"))
        config = _json(attributes["model_config"], shown)
        model = made(modern_config(config) if older else config, custom_objects, safe_mode, shown)
        _load(model, reader, by_name=False, skip_mismatch=False)
        if compile and "training_config" in attributes:
            config = _json(attributes["training_config"], shown)
            _compile(model, config, reader, custom_objects, safe_mode)
    return model


def load_weights(model, path, by_name=False, skip_mismatch=False):
    """Read weights from a file of a whole model or of weights alone."""
    with Reader(path, repr(path)) as reader:
        _load(model, reader, by_name, skip_mismatch)


def model_backend(model):
    """Name of the backend that a model's variables are on."""
    variables = model.variables
    return getattr(variables[0], "backend", None) or "numpy" if variables else "numpy"


# Writing


def _new_file(window):
    import h5py

    return h5py.File(window, "w")


def _without_modules(config):
    """The older, shorter form of a config: layers by class name alone."""
    if "layers" not in config:
        return config
    short = []
    for entry in config["layers"]:
        if ">" in (entry.get("registered_name") or ""):
            # In this format the class's name says the package.
            entry = {**entry, "class_name": entry["registered_name"]}
        entry = {k: v for k, v in entry.items() if k not in ("module", "registered_name", "build_config")}
        if isinstance(entry["config"], dict):
            entry["config"] = _without_modules(entry["config"])
        short.append(entry)
    return {**config, "layers": short}


def _write_weights(model, group, window):
    layers = [layer for layer in model.layers if _weights(layer) is not None]
    _write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["keras_version"] = KERAS_API_VERSION
    group.attrs["backend"] = model_backend(model)
    for layer in layers:
        _write_variables(group.create_group(layer.name), _weights(layer), window)
    _write_variables(group.create_group(_TOP_LEVEL), _own(model), window)


def _write_variables(group, variables, window):
    names = _unique([v.path for v in variables])
    _write_names(group, "weight_names", names)
    for name, variable in zip(names, variables, strict=True):
        write_dataset(group, name, host_array(variable))
        window.check()


def _write_names(group, attribute, names):
    import h5py

    if not names:
        group.attrs[attribute] = np.array([])
        return
    parts, size = [[]], 0
    for name in names:
        if size + len(name) > _LARGEST_ATTRIBUTE:
            parts.append([])
            size = 0
        parts[-1].append(name)
        size += len(name.encode()) + 16
    for number, part in enumerate(parts):
        key = attribute if len(parts) == 1 else f"{attribute}{number}"
        group.attrs[key] = np.array(part, dtype=h5py.string_dtype())


def _unique(names):
    seen, unique = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name] - 1}")
    return unique


def _write_training(model, h5, window):
    config = serialization.serialize_keras_object(model.get_compile_config() or {})
    optimizer = config.pop("optimizer", None)
    if isinstance(optimizer, dict):
        optimizer = {"class_name": optimizer["class_name"], "config": optimizer["config"]}
    h5.attrs["training_config"] = json.dumps({**config, "optimizer_config": optimizer})
    if model.optimizer is not None and model.optimizer.built:
        _write_variables(h5.create_group("optimizer_weights"), model.optimizer.variables, window)


# Reading


def _load(model, reader, by_name, skip_mismatch):
    pairs, problems = [], []
    for layer, entries in _matched(model, reader, by_name, skip_mismatch):
        problem = _problem(layer, _weights(layer), entries)
        if problem:
            problems.append(problem)
        else:
            pairs += zip(_weights(layer), entries, strict=True)
    top = _entries(reader, _TOP_LEVEL)
    if top and len(top) == len(_own(model)):
        pairs += zip(_own(model), top, strict=True)
    if problems and not skip_mismatch:
        listed = "\n  ".join(problems)
        raise ValueError(f"{reader.shown} does not fit the model; nothing was changed.\n  {listed}")
    if problems:
        listed = "\n  ".join(problems)
        warn(f"{reader.shown}: not everything fits and was loaded.\n  {listed}")
    for variable, entry in pairs:
        variable.assign(entry.read())


def _matched(model, reader, by_name, skip_mismatch):
    """Layers of the model with what the file has for each."""
    in_file = {name: _entries(reader, name) for name in _names(reader, "", "layer_names")}
    in_file = {name: entries for name, entries in in_file.items() if entries}
    layers = [layer for layer in model.layers if _weights(layer)]
    if by_name:
        return [(layer, in_file[layer.name]) for layer in layers if layer.name in in_file]
    if len(in_file) != len(layers) and not skip_mismatch:
        raise ValueError(
            f"{reader.shown} has {len(in_file)} layers with weights ({', '.join(list(in_file)[:5])}, …), but "
            f"the model has {len(layers)} ({', '.join(layer.name for layer in layers[:5])}, …). Nothing was "
            "changed. With `by_name=True` layers of equal names are loaded."
        )
    return list(zip(layers, in_file.values(), strict=False))


def _problem(layer, variables, entries):
    if len(variables) != len(entries):
        return f"{layer.name!r} has {len(variables)} weights, but the file has {len(entries)} for it."
    for variable, entry in zip(variables, entries, strict=True):
        if tuple(variable.shape) != entry.shape:
            return (
                f"{layer.name!r}: {variable.path!r} has the shape {tuple(variable.shape)}, but the file has "
                f"{entry.shape}."
            )
        entry.probe()
    return None


def _entries(reader, layer):
    """A layer's variables in the file, in order."""
    group = reader.group(_weights_root(reader), layer)
    if group is None:
        return []
    found = []
    for name in _names(reader, layer, "weight_names"):
        *folders, key = name.split("/")
        inner = reader.group(group.name.strip("/"), "/".join(folders)) if folders else group
        if inner is None or key not in inner:
            raise ValueError(f"{reader.shown} lists the weight {name!r} of {layer!r}, but doesn't have it.")
        found.append(Entry(inner, key, reader))
    return found


def _weights_root(reader):
    return "model_weights" if reader.group("", "model_weights") is not None else ""


def _names(reader, layer, attribute):
    group = reader.group(_weights_root(reader), layer)
    if group is None:
        return []
    found = list(group.attrs.get(attribute, ()))
    number = 0
    while f"{attribute}{number}" in group.attrs:
        found += list(group.attrs[f"{attribute}{number}"])
        number += 1
    return [n.decode() if isinstance(n, bytes) else str(n) for n in found]


def _compile(model, config, reader, custom_objects, safe_mode):
    from kerata.core.registry import CustomObjectScope

    config = modern_training(config)
    try:
        with CustomObjectScope(custom_objects):
            model.compile_from_config(config)
    except (TypeError, ValueError) as error:
        warn(
            f"{reader.shown}: the model was loaded but not compiled, since its compile settings are of "
            f"another version ({error}). Call `compile`."
        )
        return
    _load_optimizer(model.optimizer, reader)


def _load_optimizer(optimizer, reader):
    names = reader.group("", "optimizer_weights")
    if names is None or optimizer is None:
        return
    entries = []
    for name in [n.decode() if isinstance(n, bytes) else str(n) for n in names.attrs.get("weight_names", ())]:
        *folders, key = name.split("/")
        entries.append(Entry(reader.group("optimizer_weights", "/".join(folders)), key, reader))
    variables = optimizer_variables(optimizer, len(entries))
    if [tuple(v.shape) for v in variables] != [entry.shape for entry in entries]:
        warn(f"{reader.shown}: the optimizer's state is of another version of Keras; it starts anew.")
        return
    for variable, entry in zip(variables, entries, strict=True):
        variable.assign(entry.read())


def _weights(layer):
    """Weights in the order of these files: those that train first."""
    weights = getattr(layer, "trainable_weights", None)
    return None if weights is None else [*weights, *layer.non_trainable_weights]


def _own(model):
    return [*model._trainable_variables, *model._non_trainable_variables]


def _json(text, shown):
    try:
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{shown}: its config is damaged ({error}).") from error
