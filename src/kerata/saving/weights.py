"""`save_weights` and `load_weights`."""

import contextlib
import os
import sys

from kerata.core import errors
from kerata.saving import archive, atomic
from kerata.saving.state import load_state, save_state
from kerata.saving.store import Reader, ShardedReader, ShardedWriter

_ENDING = ".weights.h5"
_INDEX_ENDING = ".weights.json"


@errors.short_traceback
def save_weights(model, filepath, overwrite=True, max_shard_size=None, **kwargs):
    """Save a model's variables, and its optimizer's if it's compiled.

    Args:
        model: a built model.
        filepath: name that ends in `.weights.h5`, or in `.weights.json` for shards.
        overwrite: replace a file that exists; if false, ask on a terminal, and raise where there is none.
        max_shard_size: write several files of at most so many GB, and an index `….weights.json`.

    Raises:
        ValueError: another ending, or the model isn't built.
        FileExistsError: the file exists and may not be overwritten.

    >>> import kerata, tempfile
    >>> model = kerata.Sequential([kerata.Input((3,)), kerata.layers.Dense(2)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save_weights(f"{folder}/m.weights.h5")
    ...     model.load_weights(f"{folder}/m.weights.h5")
    """
    _refuse(kwargs, "save_weights")
    path = os.fspath(filepath)
    _check_built(model, "save_weights")
    if path.endswith(_INDEX_ENDING) and max_shard_size is None:
        raise ValueError(f"save_weights: a name ending in {_INDEX_ENDING} is for shards; give `max_shard_size`.")
    if not path.endswith((_ENDING, _INDEX_ENDING)):
        raise ValueError(f"save_weights: the file's name must end in {_ENDING!r}, but it is {path!r}.")
    if max_shard_size is not None:
        path = path.removesuffix(_ENDING).removesuffix(_INDEX_ENDING)
        if ask_to_overwrite(path + _INDEX_ENDING, overwrite):
            _save_shards(model, path, max_shard_size)
        return
    if ask_to_overwrite(path, overwrite):
        with atomic.replacing(path) as temporary:
            archive.write_weights_file(temporary, lambda writer: save_state(model, writer))


@errors.short_traceback
def load_weights(model, filepath, skip_mismatch=False, **kwargs):
    """Set a model's variables from a file; its optimizer's too, if it has one and the file has it.

    Either everything fits and is loaded, or the model stays as it is.

    Args:
        model: a built model.
        filepath: `.weights.h5`, `.weights.json` (shards), `.keras`, `.h5` of Keras 2, or a folder of `OrbaxCheckpoint`.
        skip_mismatch: leave out layers that don't fit, with a warning.
        objects_to_skip: layers to leave out in any case.
        by_name: of `.h5` files of Keras 2 only: go by the layers' names rather than their order.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged, or doesn't fit the model.
    """
    skipped = kwargs.pop("objects_to_skip", None) or ()
    by_name = kwargs.pop("by_name", False)
    _refuse(kwargs, "load_weights")
    path = os.fspath(filepath)
    with contextlib.ExitStack() as stack:
        if _is_legacy(path):
            from kerata.saving import legacy

            must_exist(path, "load_weights")
            legacy.load_weights(model, path, by_name=by_name, skip_mismatch=skip_mismatch)
            return
        if by_name:
            raise ValueError(
                "load_weights: `by_name` is for `.h5` files of Keras 2. Files of Keras 3 go by the model's structure."
            )
        from kerata.saving import orbax

        if orbax.is_checkpoint(path):
            _check_built(model, "load_weights")
            orbax.load_weights(model, path, skip_mismatch, skipped)
            return
        reader = _reader(path, stack)
        _check_built(model, "load_weights")
        load_state(model, reader, skip_mismatch=skip_mismatch, skipped=skipped)


def ask_to_overwrite(path, overwrite):
    """Whether to write: the file doesn't exist, may be overwritten, or the user at the terminal says so."""
    if overwrite or not os.path.exists(path):
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise FileExistsError(f"{path!r} exists, and `overwrite=False` was given.")
    answer = ""
    while answer not in ("y", "n"):
        answer = input(f"{path} exists. Overwrite it? [y/n] ").strip().lower()[:1]
    return answer == "y"


class MissingFileError(FileNotFoundError, ValueError):
    """There is no such file. (Keras raises a `ValueError`.)"""


def must_exist(path, owner):
    """Raise for a path that leads nowhere."""
    if not os.path.exists(path):
        folder = os.path.dirname(os.path.abspath(path))
        near = errors.nearest(os.path.basename(path), os.listdir(folder)) if os.path.isdir(folder) else ""
        missing = "" if os.path.isdir(folder) else f" There is no folder {folder!r} either."
        raise MissingFileError(f"{owner}: File not found: {path!r}.{near}{missing}")


def _reader(path, stack):
    if path.endswith(_INDEX_ENDING):
        must_exist(path, "load_weights")
        return stack.enter_context(ShardedReader(path))
    if not os.path.isdir(path) and not path.endswith((".keras", _ENDING)):
        raise ValueError(
            f"load_weights: File format not supported: {path!r} has an unknown ending. Weights are in files ending in "
            f"{_ENDING}, {_INDEX_ENDING} (shards), .keras or .h5 (Keras 2)."
        )
    must_exist(path, "load_weights")
    if os.path.isdir(path) or path.endswith(".keras"):
        return stack.enter_context(archive.Archive(path)).weights()
    return stack.enter_context(Reader(path, repr(path)))


def _is_legacy(path):
    return path.endswith((".h5", ".hdf5")) and not path.endswith(_ENDING)


def _save_shards(model, path, max_shard_size):
    """All shards are complete under other names before the first gets its own, the index last of all."""
    if not max_shard_size > 0:
        raise ValueError(f"save_weights: `max_shard_size` is a number of GB above 0, not {max_shard_size!r}.")
    with contextlib.ExitStack() as finished, contextlib.ExitStack() as open_files:
        index = finished.enter_context(atomic.replacing(path + _INDEX_ENDING))

        def open_shard(number):
            shard = f"{path}_{number:05d}{_ENDING}"
            temporary = finished.enter_context(atomic.replacing(shard))
            return os.path.basename(shard), open_files.enter_context(open(temporary, "w+b", buffering=0))

        writer = ShardedWriter(open_shard, max_shard_size)
        try:
            save_state(model, writer)
            text = writer.close()
        except BaseException:
            writer.abandon()
            raise
        with open(index, "w", encoding="utf-8") as file:
            file.write(text)
        open_files.close()


def _check_built(model, owner):
    if getattr(model, "built", True):
        return
    raise ValueError(
        f"{owner}: the model {getattr(model, 'name', '')!r} is not built, so it has no weights yet. Call it "
        "on data once, or `build(input_shape)`."
    )


def _refuse(kwargs, owner):
    if kwargs:
        raise TypeError(f"{owner}: unexpected arguments {', '.join(map(repr, kwargs))}.")
