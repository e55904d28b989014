"""Checkpoints in Orbax's format: a folder of numbered steps, each with a model's state, and perhaps its config and assets.

As Keras writes them: `pytree` holds `Model.get_state_tree`, `model_config` the config as JSON, `assets` the bytes of files. The format
is Orbax's own business; it is read and written by the `orbax-checkpoint` package.
"""

import json
import os
import tempfile
import warnings

import numpy as np

from kerata.core import serialization
from kerata.models.state_tree import leaves, nested
from kerata.saving.models import config_text, load_assets, made, save_assets
from kerata.saving.notice import warn

STATE, CONFIG, ASSETS = "pytree", "model_config", "assets"
_MARK = "_CHECKPOINT_METADATA"
_WEIGHTS = ("trainable_variables", "non_trainable_variables")


def library(what):
    """The package, or an error that says who needs it."""
    try:
        from orbax.checkpoint import v1
    except ImportError as error:
        raise ImportError(f"{what} needs the package `orbax-checkpoint`: pip install orbax-checkpoint") from error
    return v1


def is_checkpoint(path):
    """Whether a path is a folder of checkpoints, or one of them."""
    return os.path.isdir(path) and _latest(path) is not None


def steps_in(path):
    """Numbers of the checkpoints in a folder, smallest first."""
    numbers = sorted(int(name) for name in os.listdir(path) if name.isdecimal())
    return [n for n in numbers if os.path.isfile(os.path.join(path, str(n), _MARK))]


def _latest(path):
    """The checkpoint itself, or the one in a folder that was written last; `None` if there is none.

    Not the largest number: a run that began anew counts from 0 beside what an earlier one left.
    """
    if os.path.isfile(os.path.join(path, _MARK)):
        return path
    folders = [os.path.join(path, str(step)) for step in steps_in(path)]
    # Where it isn't told, the largest number: the sort is stable.
    return sorted(folders, key=_written)[-1] if folders else None


def _written(folder):
    """When a checkpoint was written, in ns, as it says itself: folders that are copied keep it."""
    try:
        with open(os.path.join(folder, _MARK), encoding="utf-8") as file:
            return int(json.load(file)["commit_timestamp_nsecs"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0  # not finished, or another version's


def contents(model, weights_only):
    """`{name: nested dict}`: what a checkpoint of a model holds."""
    from kerata import backends

    # JAX's arrays may lie on several devices, each of which writes its part.
    state = model.get_state_tree("backend_tensor" if backends.current_name() == "jax" else "numpy_array")
    if weights_only:
        return {STATE: {kind: state[kind] for kind in _WEIGHTS}}
    parts = {STATE: state, CONFIG: {"config": config_text(model)}}
    with tempfile.TemporaryDirectory() as folder:
        save_assets(model, folder)
        assets = _bytes_of(folder)
    return {**parts, ASSETS: assets} if assets else parts


def _bytes_of(folder):
    """The files below a folder as nested dicts of their bytes; empty folders are left out."""
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.is_dir():
            inner = _bytes_of(entry.path)
            if inner:
                found[entry.name] = inner
        else:
            with open(entry.path, "rb") as file:
                found[entry.name] = np.frombuffer(file.read(), "uint8")
    return found


def load_model(path, custom_objects, compile, safe_mode):
    """The model of the last checkpoint in a folder; see `saving.load_model`."""
    parts, shown = _read(path)
    if CONFIG not in parts:
        raise ValueError(
            f"load_model: {shown} holds weights without a model (`save_weights_only=True`). Build the model, then call its "
            "`load_weights` on the folder."
        )
    try:
        config = json.loads(parts[CONFIG]["config"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"load_model: the config in {shown} can't be read ({error}).") from error
    if not serialization.is_serialized_object(config):
        raise ValueError(f"load_model: the config in {shown} describes no model.")
    if not compile:
        config.pop("compile_config", None)
    model = made(config, custom_objects, safe_mode, shown)
    _set_state(model, parts[STATE])
    if ASSETS in parts:
        with tempfile.TemporaryDirectory() as folder:
            _write_files(parts[ASSETS], folder, shown)
            load_assets(model, folder)
    return model


def load_weights(model, path, skip_mismatch, skipped=()):
    """Set a model's variables, and its optimizer's if they are there, from the last checkpoint in a folder."""
    parts, _ = _read(path)
    shapes = {v.path: tuple(v.shape) for v in model.variables}
    left_out = {v.path for layer in skipped for v in layer.variables}

    def fits(path, value):
        if path in left_out:
            return False
        if not skip_mismatch or shapes.get(path) == tuple(value.shape):
            return True
        warn(f"load_weights: {path!r} of shape {tuple(value.shape)} has no place in the model; it is left out.")
        return False

    _set_state(model, parts[STATE], fits if skip_mismatch or left_out else None)


def _read(path):
    folder = _latest(path)
    shown = repr(folder)
    v1 = library("Reading an Orbax checkpoint")
    with warnings.catch_warnings():
        # That arrays come back to where they were: they are put where the model's are.
        warnings.filterwarnings("ignore", message="Sharding info")
        try:
            parts = v1.load_checkpointables(os.path.abspath(folder))
        except Exception as error:
            raise ValueError(f"{shown} can't be read as an Orbax checkpoint: {error}") from error
    if STATE not in parts:
        raise ValueError(f"{shown} is an Orbax checkpoint without {STATE!r}: it wasn't written by `OrbaxCheckpoint`.")
    return parts, shown


def _set_state(model, state, fits=None):
    """All of the state but the metrics', which is of the epoch that was; all is checked before anything is set.

    Args:
        fits: `fits(path, value)`: which values of variables are taken, and nothing else; then some may be missing.
    """
    kinds = {"trainable_variables": model.trainable_variables, "non_trainable_variables": model.non_trainable_variables}
    wanted, names = {}, {}
    for kind, own in kinds.items():
        found = dict(leaves(state.get(kind, {})))
        names |= _names(found, [v.path for v in own], model.name)
        values = {names.get(path, path): v for path, v in found.items() if path in names or not _is_seed(path)}
        if fits is not None:
            values = {path: value for path, value in values.items() if fits(path, value)}
        missing = [v.path for v in own if v.path not in values and not _is_seed(v.path)] if fits is None else []
        if missing:
            raise ValueError(
                f"The checkpoint has no value for {missing[0]!r} of the model {model.name!r} among its {kind}, which are: "
                f"{', '.join(map(repr, found)) or 'none'}. It is that of another model; `skip_mismatch=True` takes what fits."
            )
        wanted[kind] = nested(values.items())
    if model.optimizer is not None and fits is None and "optimizer_variables" in state:
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        found, own = dict(leaves(state["optimizer_variables"])), {v.path for v in model.optimizer.variables}
        scopes = _scopes(found, own)
        found = {_slot(path, names, scopes): value for path, value in found.items()}
        if set(found) == own:
            wanted["optimizer_variables"] = nested(found.items())
        else:
            warn("The optimizer's state in the checkpoint is that of other variables or settings; it is left out.")
    model.set_state_tree(wanted)


def _is_seed(path):
    """Whether it's the state of a random generator: left out where the model hasn't got it, as in `.keras` files."""
    return path.endswith("seed_generator_state")


def _names(found, paths, model):
    """`{name in the checkpoint: the model's}`.

    The model's may be numbered otherwise (`dense_2` for `dense`), and begin with the model's name, which may be another, or not, by
    whether it was built by a call. Where the two don't correspond, each name stands for itself.
    """
    stored = [p for p in found if not _is_seed(p)]
    if set(stored) <= set(paths):
        return {p: p for p in found if p in paths}
    wanted = [p for p in paths if not _is_seed(p)]
    for prefix in (model, stored[0].split("/")[0], None):
        own, told = _told_by(wanted, model, prefix), _told_by(stored, prefix, prefix)
        if set(own) == set(told) and len(own) == len(wanted) and len(told) == len(stored):
            return {told[n]: own[n] for n in own}
    return {p: p for p in found if p in paths}


def _told_by(paths, model, prefix):
    """Paths by what is compared of them: the number anew, or (no `prefix`) the layer's and the variable's name alone.

    How many models are named before those hangs on when they were built.
    """
    return {_numbered_anew(p, paths, model) if prefix else tuple(p.split("/")[-2:]): p for p in paths}


def _scopes(found, own):
    """`{optimizer's name in the checkpoint: the model's}`: of one each, or of each kind in the order of their numbers."""
    found, own = (sorted({p.partition("/")[0] for p in paths}, key=_base) for paths in (found, own))
    fits = len(found) == len(own) and (len(found) == 1 or [_base(n)[0] for n in found] == [_base(n)[0] for n in own])
    return dict(zip(found, own, strict=True)) if fits else {}


def _slot(path, names, scopes):
    """The path of an optimizer's variable, whose name begins with that of the model's variable."""
    scope, _, name = path.rpartition("/")
    scope = scopes.get(scope, scope)
    for told, own in sorted(names.items(), key=lambda pair: -len(pair[0])):
        start = told.replace("/", "_") + "_"
        if name.startswith(start):
            name = own.replace("/", "_") + "_" + name[len(start) :]
            break
    return f"{scope}/{name}" if scope else name


def _numbered_anew(path, paths, model):
    """The path below the model, each name's number counted from 0 among its like, as if nothing had been named before."""
    parts, told = path.split("/"), []
    for depth, part in enumerate(parts):
        beside = {
            other[depth]
            for other in (p.split("/") for p in paths)
            if other[:depth] == parts[:depth] and len(other) > depth
        }
        base = _base(part)[0]
        told.append((base, sorted(_base(n)[1] for n in beside if _base(n)[0] == base).index(_base(part)[1])))
    return tuple(told[1:] if told[0][0] == _base(model)[0] else told)


def _base(name):
    base, _, number = name.rpartition("_")
    return (base, int(number)) if base and number.isdecimal() else (name, 0)


def _write_files(tree, folder, shown):
    for name, value in tree.items():
        if not name or name in (".", "..") or set(name) & {"/", "\\", "\0", ":"}:
            raise ValueError(f"load_model: {shown} holds an asset named {name!r}, which is no file name.")
        path = os.path.join(folder, name)
        if isinstance(value, dict):
            os.mkdir(path)
            _write_files(value, path, shown)
        else:
            with open(path, "wb") as file:
                file.write(np.asarray(value, "uint8").tobytes())
