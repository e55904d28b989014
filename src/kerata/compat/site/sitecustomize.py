"""Run by each Python that a script under `kerata run` starts: its first `import keras` gets Kerata.

Python imports `sitecustomize` at its start from wherever it finds one first; this folder stands first on
`PYTHONPATH`. A Python that never imports `keras` pays for this file alone. Standard library only.
"""

import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class KerasComes:
    """Waits for the first import of `keras`, then hands over to `kerata.compat`."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "keras":
            return None
        try:
            from kerata.compat import install
        except ModuleNotFoundError as error:
            if error.name != "kerata":
                raise
            raise ModuleNotFoundError(
                f"KERATA_AS_KERAS is set, so `import keras` means Kerata, but Kerata is not installed for "
                f"{sys.executable}. Install it there, or unset KERATA_AS_KERAS for that process.",
                name=name,
            ) from None
        sys.meta_path.remove(self)
        install()
        return sys.meta_path[0].find_spec(name, path, target)


def _run_next_sitecustomize():
    """Run the `sitecustomize` that this one hides, if there is one."""
    elsewhere = [path for path in sys.path if os.path.abspath(path or os.curdir) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("KERATA_AS_KERAS") == "1":
    sys.meta_path.insert(0, KerasComes())
_run_next_sitecustomize()
