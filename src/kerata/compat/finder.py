"""The import hook behind `kerata.compat.install()`: which module answers to `keras` and to names below it."""

import importlib
import importlib.machinery
import sys
import types

from kerata.compat.internals import Internals, existing_module, has_module
from kerata.version import KERAS_API_VERSION, __version__

# The folder through which TensorFlow reaches `tf.keras`: the same API once more.
TF_FACE = "keras._tf_keras.keras"
# As scripts import it: `from tensorflow.keras import layers`.
TF_NAME = "tensorflow.keras"


def is_keras(name):
    """Whether a dotted module name is `keras` or `tensorflow.keras`, or below it."""
    return name in ("keras", TF_NAME) or name.startswith(("keras.", TF_NAME + "."))


class KerasFinder:
    """Answers for `keras`, `tensorflow.keras` and everything below, and for nothing else."""

    def find_spec(self, fullname, path=None, target=None):
        if not is_keras(fullname):
            return None
        module = _module_for(fullname)
        if module is None:
            raise ModuleNotFoundError(
                f"Kerata {__version__}, which stands for Keras here, has no module {fullname!r}.",
                name=fullname,
            )
        # TensorFlow takes the folder of `origin`, so it must be a path.
        spec = importlib.machinery.ModuleSpec(fullname, _Ready(module), origin=sys.modules["kerata"].__file__)
        spec.submodule_search_locations = []
        return spec


class _Ready:
    """Gives the import system a module that exists already."""

    def __init__(self, module):
        self.module = module
        self.spec = getattr(module, "__spec__", None)

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        # The import system has written its own `__spec__` on what may be Kerata's module.
        if self.spec is not None:
            module.__spec__ = self.spec


def _module_for(fullname):
    """The module that answers to a name, or `None`."""
    if fullname == "keras":
        return KerasFace()
    if fullname in (TF_FACE, TF_NAME):
        return importlib.import_module("keras")
    if fullname == "keras._tf_keras":
        return types.ModuleType(fullname, "Where TensorFlow looks for `tf.keras`.")
    if fullname == "keras.src" or fullname.startswith("keras.src."):
        path = tuple(fullname.split(".")[2:])
        return Internals(path) if has_module(path) else None
    for face in (TF_FACE + ".", TF_NAME + ".", "keras."):
        if fullname.startswith(face):
            return existing_module("kerata." + fullname.removeprefix(face))
    return None


class KerasFace(types.ModuleType):
    """`keras` itself: `kerata`, but for the version and for `keras.src`."""

    OWN = frozenset({"src", "_tf_keras", "version"})

    def __init__(self):
        super().__init__("keras", "Kerata under the name of Keras: see `kerata.compat`.")
        import kerata

        own = self.__dict__
        own["__file__"] = kerata.__file__
        own["__path__"] = []
        own["__version__"] = KERAS_API_VERSION
        own["version"] = lambda: KERAS_API_VERSION

    def __getattr__(self, name):
        if name == "src":
            return importlib.import_module("keras.src")
        kerata = sys.modules["kerata"]
        try:
            return getattr(kerata, name)
        except AttributeError:
            raise AttributeError(
                f"Kerata {__version__}, which stands for Keras here, has no `keras.{name}`.",
                name=name,
                obj=self,
            ) from None

    def __setattr__(self, name, value):
        if name in self.OWN or name.startswith("__"):
            super().__setattr__(name, value)
        elif vars(sys.modules["kerata"]).get(name) is not value:
            setattr(sys.modules["kerata"], name, value)

    def __delattr__(self, name):
        if name in self.OWN or name.startswith("__"):
            super().__delattr__(name)
        else:
            delattr(sys.modules["kerata"], name)

    def __dir__(self):
        return sorted({*dir(sys.modules["kerata"]), *vars(self)})
