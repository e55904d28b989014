"""Files of an export, put in place together once all are written."""

import os
import tempfile
from contextlib import contextmanager

from kerata.saving.atomic import replacing


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
