"""`kerata run`: a script, as `python script.py` runs it, with Kerata as its `keras`."""

import os
import runpy
import sys

from kerata import compat


def take_backend(arguments):
    """Split `--backend NAME` off a script's arguments.

    Arguments behind a `--` are the script's without a look; that `--` goes.

    Returns:
        `(arguments without it, NAME or None)`.
    """
    left, backend = [], None
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            left.extend(rest)
        elif argument == "--backend":
            backend = next(rest, None)
            if backend is None:
                sys.exit("kerata run: --backend needs the name of a backend.")
        elif argument.startswith("--backend="):
            backend = argument.partition("=")[2]
        else:
            left.append(argument)
    return left, backend


class Script:
    """A script to run in this process as `__main__`.

    Args:
        target: path of a Python file, folder or zip file, or a module's name if `is_module`.
        arguments: its `sys.argv[1:]`.
        backend: becomes `KERAS_BACKEND`, which its children see too.
    """

    def __init__(self, target, arguments=(), backend=None, is_module=False):
        self.target = target
        self.arguments = list(arguments)
        self.backend = backend
        self.is_module = is_module

    def run(self):
        """Run it. Errors and exit codes come out as they would from `python`."""
        if not self.is_module and not os.path.exists(self.target):
            print(f"kerata run: there is no script {self.target!r}.", file=sys.stderr)
            sys.exit(2)
        if self.backend:
            os.environ["KERAS_BACKEND"] = self.backend
        compat.install(children=True)
        sys.argv = [self.target, *self.arguments]
        if not sys.flags.safe_path:
            # Where Python puts a script's folder; the `kerata` command's own folder stands there now.
            sys.path[0] = os.getcwd() if self.is_module else os.path.dirname(os.path.abspath(self.target))
        try:
            if self.is_module:
                runpy.run_module(self.target, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(self.target, run_name="__main__")
        except Exception as error:
            # As an uncaught error: the script's own frames only, through whatever hook it has set.
            error.__traceback__ = _frames_of_script(error.__traceback__)
            sys.excepthook(type(error), error, error.__traceback__)
            sys.exit(1)


def _frames_of_script(traceback):
    """The traceback from the first frame that is neither this file's nor `runpy`'s."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename not in (__file__, runpy.run_path.__code__.co_filename):
            return traceback
        traceback = traceback.tb_next
    return None
