"""Kerata under the name `keras`: `import keras`, `from keras.layers import …`, `from keras.src.… import …`.

    import kerata.compat

    kerata.compat.install()
    import keras            # Kerata from here on

Call `install()` before anything imports `keras`; `kerata run script.py` does so for a whole script.

What stands behind each name:

- `keras.layers`, `keras.ops` … are Kerata's own modules, the same objects.
- `keras` itself forwards to `kerata`, both ways, but for `__version__` and `version()`: these name the
  Keras release whose API this is, since packages branch on them.
- `keras.src.…` looks each name up when it is asked for, by its last part, where Kerata keeps it. Setting
  one (as `unittest.mock.patch` does) sets it there. A name that Kerata lacks raises.
- `tf.keras` is the same, since TensorFlow takes it from `keras`.
"""

import os
import sys
import types

from kerata.compat.finder import KerasFinder, is_keras

__all__ = ["install", "is_installed", "uninstall"]

# Read by `site/sitecustomize.py` in Pythons that a script starts.
CHILDREN_VARIABLE = "KERATA_AS_KERAS"
SITE = os.path.join(os.path.dirname(__file__), "site")

_finder = KerasFinder()
_replaced = {}


def install(children=False):
    """Make `import keras` mean Kerata in this process.

    A real Keras that TensorFlow pulled in steps aside (TensorFlow imports it along with itself). One that
    other code already uses can't: that code would go on with it while new imports get Kerata.

    Args:
        children: whether the Pythons that this process starts import Kerata as `keras` too. It is
            passed on by environment variables, so not to those started with `-E`, `-I` or `-S`.

    Raises:
        RuntimeError: a module other than TensorFlow's already holds something of the real Keras.
    """
    if not is_installed():
        loaded = {name: module for name, module in sys.modules.items() if is_keras(name)}
        if loaded and (users := _users_of_keras()):
            raise RuntimeError(
                f"kerata.compat.install(): the real Keras is already in use by {', '.join(users[:3])}. "
                "Install before the first `import keras`, or start the script with `kerata run`."
            )
        for name in loaded:
            _replaced[name] = sys.modules.pop(name)
        sys.meta_path.insert(0, _finder)
    if children:
        _pass_on_to_children()


def uninstall():
    """Give the name `keras` back. Whoever imported Kerata under it keeps what it has."""
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if is_keras(name)]:
        del sys.modules[name]
    sys.modules.update(_replaced)
    _replaced.clear()
    if os.environ.pop(CHILDREN_VARIABLE, None):
        rest = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != SITE]
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)


def is_installed():
    """Whether `import keras` means Kerata in this process."""
    return _finder in sys.meta_path


def _users_of_keras():
    """Names of the modules that hold a module, class or function of the real Keras."""
    users = []
    for name, module in list(sys.modules.items()):
        if is_keras(name) or name.partition(".")[0] in ("tensorflow", "tf_keras"):
            continue
        for value in list(getattr(module, "__dict__", {}).values()):
            if is_keras(_home(value)):
                users.append(name)
                break
    return users


def _home(value):
    """Name of a module, or of the module that a class or function is from, else an empty string."""
    # (By `type`: some objects warn when any attribute of theirs is looked at, `__class__` too.)
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        home = value.__name__
    else:
        home = getattr(value, "__module__", "") if issubclass(kind, (type, types.FunctionType)) else ""
    return home if isinstance(home, str) else ""


def _pass_on_to_children():
    os.environ[CHILDREN_VARIABLE] = "1"
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if SITE not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([SITE, *paths])
