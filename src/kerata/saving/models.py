"""`save_model` and `load_model`."""

import json
import os

from kerata.core import errors, loading, serialization
from kerata.saving import archive, atomic
from kerata.saving.notice import warn
from kerata.saving.older import is_older, modern_config
from kerata.saving.state import load_state, save_state
from kerata.saving.walk import walk
from kerata.saving.weights import ask_to_overwrite, must_exist
from kerata.version import KERAS_API_VERSION, __version__

_LEGACY = (".h5", ".hdf5")


@errors.short_traceback
def save_model(model, filepath, overwrite=True, zipped=None, **kwargs):
    """Save a whole model: architecture, weights, compile settings, the optimizer's state.

    Args:
        model: the model.
        filepath: name that ends in `.keras`; with `zipped=False`, of a folder.
        overwrite: replace what exists; if false, ask on a terminal, and raise where there is none.
        zipped: one file (the default) or a folder.

    Raises:
        ValueError: another ending.
        FileExistsError: the file exists and may not be overwritten.

    >>> import kerata, tempfile
    >>> model = kerata.Sequential([kerata.Input((3,)), kerata.layers.Dense(2)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/m.keras")
    ...     kerata.saving.load_model(f"{folder}/m.keras").count_params()
    8
    """
    path = os.fspath(filepath)
    if path.endswith(_LEGACY) and not path.endswith(".weights.h5"):
        from kerata.saving import legacy

        if ask_to_overwrite(path, overwrite):
            legacy.save_model(model, path, include_optimizer=kwargs.pop("include_optimizer", True))
        return
    kwargs.pop("save_format", None)
    include_optimizer = kwargs.pop("include_optimizer", True)
    if kwargs:
        raise TypeError(f"save_model: unexpected arguments {', '.join(map(repr, kwargs))}.")
    zipped = True if zipped is None else bool(zipped)
    if zipped and not path.endswith(".keras"):
        raise ValueError(
            f"save_model: the file's name must end in '.keras', but it is {path!r}. For a folder, give "
            "`zipped=False`; for weights alone, call `save_weights`; for deployment, `model.export`."
        )
    if not zipped and path.endswith(".keras"):
        raise ValueError(
            f"save_model: with `zipped=False` it's a folder that is written, whose name should not end in '.keras', but it is "
            f"{path!r}."
        )
    if ask_to_overwrite(path, overwrite):
        _save(model, path, zipped, include_optimizer)


@errors.short_traceback
def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """Load a whole model.

    Built are only Kerata's own classes, registered ones and those in `custom_objects`; nothing in the file
    is run or imported.

    Args:
        filepath: a `.keras` file or folder, an `.h5` file of Keras 2, or a folder of `OrbaxCheckpoint`.
        custom_objects: `{name: class or function}` for names in the file.
        compile: compile it as it was compiled, with the optimizer's state.
        safe_mode: refuse code in the file (lambdas). Say `False` only for files you trust as programs.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged or no model.
        TypeError: it names a class or function that isn't known.
    """
    path = os.fspath(filepath)
    if not os.path.exists(path) and not path.endswith((".keras", *_LEGACY)) and os.path.splitext(path)[1]:
        raise ValueError(
            f"load_model: File format not supported: {path!r} has an unknown ending. Models are in files ending in .keras, in "
            "folders, or in .h5 files (Keras 2)."
        )
    must_exist(path, "load_model")
    if path.endswith(_LEGACY) and not path.endswith(".weights.h5"):
        from kerata.saving import legacy

        return legacy.load_model(path, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)
    if not os.path.isdir(path) and not path.endswith(".keras"):
        raise ValueError(
            f"load_model: {path!r} has an unknown ending. Models are in `.keras` files or folders, and in "
            "`.h5` files of Keras 2; `.weights.h5` files are for `model.load_weights`."
        )
    from kerata.saving import orbax

    if orbax.is_checkpoint(path):
        return orbax.load_model(path, custom_objects, compile, safe_mode)
    with archive.Archive(path, trusted=not safe_mode) as opened:
        opened.begin_check()
        config = _config(opened)
        if not compile:
            config.pop("compile_config", None)
        with loading.values_follow() as waiting:
            model = made(config, custom_objects, safe_mode, opened.shown)
            _load_weights(model, opened)
        for variable in waiting:
            # What the file had no value for.
            variable.initialize()
        with opened.assets() as folder:
            load_assets(model, folder)
    return model


def made(config, custom_objects, safe_mode, shown):
    """The model that a config describes."""
    try:
        with serialization.sharing():
            model = serialization.deserialize_keras_object(config, custom_objects, safe_mode=safe_mode)
    except RecursionError:
        raise ValueError(f"{shown}: its config is nested too deep to be a model's.") from None
    if not hasattr(model, "layers"):
        raise ValueError(f"{shown} holds a {type(model).__name__}, not a model.")
    return model


def _save(model, path, zipped, include_optimizer):
    if not getattr(model, "built", True):
        warn(f"The model {model.name!r} is not built: the file will hold no weights. Call it on data first.")
    texts = {archive.METADATA: _metadata(), archive.CONFIG: config_text(model, include_optimizer)}
    replacing = atomic.replacing if zipped else atomic.replacing_folder
    write = archive.write_zip if zipped else archive.write_folder
    with replacing(path) as temporary:
        write(
            temporary,
            texts,
            lambda writer: save_state(model, writer),
            lambda folder: save_assets(model, folder),
        )


def _metadata():
    return json.dumps(
        {
            # The release whose format this is; readers branch on it.
            "keras_version": KERAS_API_VERSION,
            "date_saved": archive.date_saved(),
            "kerata_version": __version__,
        }
    )


def config_text(model, include_optimizer=True):
    """A model's config as JSON."""
    with serialization.sharing():
        config = serialization.serialize_keras_object(model)
    if not include_optimizer:
        config.pop("compile_config", None)
    try:
        return json.dumps(config)
    except (TypeError, ValueError) as error:
        raise TypeError(f"The config of {model.name!r} is not plain data: {error}.") from error


def _config(opened):
    try:
        config = json.loads(opened.text(archive.CONFIG))
    except RecursionError:
        raise ValueError(f"{opened.shown}: its config is nested too deep to be a model's.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{opened.shown}: {archive.CONFIG} is no JSON ({error}).") from error
    if not serialization.is_serialized_object(config):
        raise ValueError(f"{opened.shown}: {archive.CONFIG} does not describe a model.")
    return modern_config(config) if is_older(_keras_version(opened)) else config


def _keras_version(opened):
    if archive.METADATA not in opened.names:
        return KERAS_API_VERSION
    try:
        return json.loads(opened.text(archive.METADATA))["keras_version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        # Nothing else depends on what it says.
        return KERAS_API_VERSION


def _load_weights(model, opened):
    if archive.WEIGHTS not in opened.names and not getattr(model, "built", False):
        return
    with opened.weights() as reader:
        if not getattr(model, "built", True) and not reader.paths():
            return
        load_state(model, reader)


def save_assets(model, folder):
    """Write the files that layers keep beside their weights (vocabularies), each in a folder of its path."""
    for path, obj in walk(model):
        if hasattr(obj, "save_assets"):
            inner = os.path.join(folder, *path.split("/"))
            os.makedirs(inner, exist_ok=True)
            obj.save_assets(inner)


def load_assets(model, folder):
    """Let layers read the files that they have in a folder."""
    for path, obj in walk(model):
        inner = os.path.join(folder, *path.split("/")) if folder else None
        if inner and hasattr(obj, "load_assets") and os.path.isdir(inner):
            obj.load_assets(inner)
