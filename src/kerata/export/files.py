"""Files of an export, put in place together once all are written."""

import os
import shutil
import tempfile
from contextlib import contextmanager

from kerata.saving.atomic import replacing


@contextmanager
def replacing_folder(path):
    """Yield a folder beside `path` to write into; what is written there takes its place in `path`, the files of its top last."""
    path = os.path.abspath(os.fspath(path))
    outer, name = os.path.split(path)
    if os.path.lexists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"export: a SavedModel is a folder, but {path!r} is a file. Give another path.")
    os.makedirs(outer, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=outer, prefix=f".{name}.") as own:
        yield own
        os.makedirs(path, exist_ok=True)
        for written in sorted(os.listdir(own), key=lambda n: os.path.isfile(os.path.join(own, n))):
            source, target = os.path.join(own, written), os.path.join(path, written)
            if os.path.isdir(source) and os.path.isdir(target):
                shutil.rmtree(target)
            os.replace(source, target)


@contextmanager
def replacing_all(path):
    """Yield a path of the same name in a folder of its own; files written there replace those beside `path`.

    The file that `path` names comes last, since it refers to the others.
    """
    folder, name = os.path.split(os.path.abspath(os.fspath(path)))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"export: there is no folder {folder!r}.")
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}.") as own:
        yield os.path.join(own, name)
        for written in sorted(os.listdir(own), key=lambda n: n == name):
            with replacing(os.path.join(folder, written)) as target:
                os.replace(os.path.join(own, written), target)
