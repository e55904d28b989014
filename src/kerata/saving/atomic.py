"""Files that are replaced whole or not at all."""

import errno
import os
import secrets
import shutil
from contextlib import contextmanager, suppress


@contextmanager
def replacing(path):
    """Yield a path in the same folder to write to; it takes the place of `path` when the block ends well.

    Whatever ends the block early (an error, Ctrl-C) leaves the old file as it was and nothing beside it.
    """
    # A link stays a link: what it points to is replaced.
    target = os.path.realpath(path)
    temporary = _beside(target)
    try:
        yield temporary
        _keep_mode(target, temporary)
        _to_disk(temporary)
        os.replace(temporary, target)
    except BaseException as error:
        _discard(temporary)
        _explain_full_disk(error, path)
        raise
    _to_disk(os.path.dirname(target))


@contextmanager
def replacing_folder(path):
    """The same for a folder: yield an empty one to fill, which takes the place of `path`."""
    target = os.path.realpath(path)
    temporary, old = _beside(target), _beside(target)
    try:
        os.mkdir(temporary)
        yield temporary
        for folder, _, files in os.walk(temporary):
            for name in files:
                _to_disk(os.path.join(folder, name))
        if os.path.isdir(target):
            # No call swaps full folders; if the second rename fails, the first is taken back.
            os.rename(target, old)
        try:
            os.rename(temporary, target)
        except BaseException:
            if os.path.isdir(old):
                os.rename(old, target)
            raise
    except BaseException as error:
        _discard(temporary)
        _explain_full_disk(error, path)
        raise
    _discard(old)
    _to_disk(os.path.dirname(target))


def _beside(target):
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")


def _keep_mode(target, temporary):
    with suppress(FileNotFoundError):
        os.chmod(temporary, os.stat(target).st_mode & 0o7777)


def _to_disk(path):
    # Folders can't be flushed everywhere (Windows); their entries are then left to the system.
    flags = os.O_RDONLY if os.name != "nt" else os.O_RDWR
    try:
        descriptor = os.open(path, flags)
    except (PermissionError, IsADirectoryError):
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _discard(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)


def _explain_full_disk(error, path):
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise OSError(
            error.errno,
            f"There is no space left to save {os.fspath(path)!r}. An older file of that name is untouched, "
            "and nothing was left behind",
        ) from error
