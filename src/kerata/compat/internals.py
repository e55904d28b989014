"""`keras.src.…`: Keras's private paths, each name looked up where Kerata keeps it when it is asked for.

Code in the wild reaches into `keras.src` for classes that are public elsewhere, as in
`keras.src.layers.core.dense.Dense`, and patches functions there. Kerata's files lie differently, so a
path here is a view: it holds nothing, and finds, gets and sets names in the *homes* of its path, nearest
first. Only names that exist in Kerata are found.
"""

import functools
import importlib
import sys
import types

from kerata.version import KERAS_API_VERSION, __version__

# Where Kerata keeps what a first-level package of `keras.src` holds, after the modules of the same path.
HOMES = {
    "activations": ("activations",),
    "applications": ("applications",),
    "backend": (
        "backend",
        "ops",
        "config",
        "random",
        "distribution",
        "state",
        "core.scopes",
        "core.dtypes",
        "core.names",
    ),
    "callbacks": ("callbacks",),
    "constraints": ("constraints",),
    "datasets": ("datasets",),
    "distillation": ("distillation",),
    "distribution": ("distribution",),
    "dtype_policies": ("dtype_policies", "config"),
    "export": ("export", "layers"),
    "initializers": ("initializers",),
    "layers": ("layers",),
    "legacy": ("legacy", "saving", "models"),
    "losses": ("losses",),
    "metrics": ("metrics",),
    "models": ("models",),
    "ops": ("ops", "random", "backend"),
    "optimizers": ("optimizers", "optimizers.schedules"),
    "quantizers": ("quantizers",),
    "random": ("random",),
    "regularizers": ("regularizers",),
    "saving": ("saving", "models", "core.serialization", "core.registry"),
    "trainers": ("models", "training", "training.data", "utils"),
    "tree": ("tree", "core.tree"),
    "utils": ("utils", "config", "saving", "preprocessing", "core.names", "core.tree"),
    "version": ("version",),
    "visualization": ("visualization",),
    "wrappers": ("wrappers",),
}
FRAMEWORKS = ("jax", "numpy", "openvino", "tensorflow", "torch")
# These mean something else in each module: looked for in modules of the same path only.
OF_THEIR_MODULE = frozenset({"deserialize", "experimental", "get", "serialize"})
# A class whose private base Kerata has under the public name only.
RENAMED = {"BaseOptimizer": "Optimizer"}


class Internals(types.ModuleType):
    """One module of `keras.src`. See the module's docstring."""

    def __init__(self, path):
        super().__init__(".".join(("keras.src", *path)), "A view of Kerata: see `kerata.compat`.")
        own = self.__dict__
        own["__file__"] = __file__
        own["__path__"] = []
        own["_internal_path"] = path
        own["_patches"] = {}
        if path in ((), ("version",)):
            own["__version__"] = KERAS_API_VERSION
        if path == ("version",):
            own["version"] = lambda: KERAS_API_VERSION

    def __getattr__(self, name):
        if _is_dunder(name):
            raise AttributeError(name)
        if name in self._patches:
            return self._patches[name].value
        path = self._internal_path
        if has_module((*path, name)) and not _is_public(path, name):
            return importlib.import_module(f"{self.__name__}.{name}")
        for home in _homes(path, name):
            return _view_of(getattr(home, name))
        if name in RENAMED:
            return getattr(self, RENAMED[name])
        raise AttributeError(
            f"Kerata {__version__}, which stands for Keras here, has nothing for `{self.__name__}.{name}`.",
            name=name,
            obj=self,
        )

    def __setattr__(self, name, value):
        if _is_dunder(name) or isinstance(value, Internals):
            super().__setattr__(name, value)
            return
        patch = self._patches.pop(name, None)
        if patch is not None:
            patch.undo()
            if value is patch.before:
                return
        self._patches[name] = Patch(self._internal_path, name, value)

    def __delattr__(self, name):
        if name in self.__dict__:
            super().__delattr__(name)
        elif name in self._patches:
            self._patches.pop(name).undo()
        else:
            raise AttributeError(f"`{self.__name__}.{name}` is Kerata's own: it can be set, not deleted.")

    def __dir__(self):
        path = self._internal_path
        homes = [module for module in map(existing_module, [*_along(path), *_near(path)]) if module][:2]
        return sorted(
            {*vars(self), *(name for home in homes for name in dir(home) if not name.startswith("_"))}
        )


class Patch:
    """A name set through a view: where, and what was there, to put it back."""

    def __init__(self, path, name, value):
        homes = _homes_to_set(path, name)
        self.name = name
        self.value = value
        first = next(_homes(path, name), None)
        self.before = getattr(first, name) if first is not None else _ABSENT
        self.stored = [(home, vars(home).get(name, _ABSENT)) for home in homes]
        for home in homes:
            setattr(home, name, value)
        _forget_forms()

    def undo(self):
        for home, value in self.stored:
            if value is _ABSENT:
                delattr(home, self.name)
            else:
                setattr(home, self.name, value)
        _forget_forms()


def _forget_forms():
    """Composites remember a backend's functions."""
    from kerata.ops.declare import forget_forms

    forget_forms()


_ABSENT = object()


@functools.cache
def _keras_modules():
    from importlib.resources import files  # here: it costs 20 ms

    modules = {()}
    text = files("kerata.compat").joinpath("keras_modules.txt").read_text(encoding="utf-8")
    for line in text.replace("\n    ", " ").splitlines():
        if not line.startswith("#"):
            package, _, names = line.partition(":")
            parent = tuple(package.strip(".").split(".")) if package != "." else ()
            modules.update((*parent, name) for name in names.split())
    # `keras.src.backend` also shows the modules of the backend in use as its own: `backend.nn.relu`.
    shown = [path[2] for path in modules if path[:2] == ("backend", "numpy") and len(path) == 3]
    modules.update(("backend", name) for name in shown)
    return modules


def has_module(path):
    """Whether Keras has a module `keras.src.<path>`."""
    return path in _keras_modules()


def _is_public(path, name):
    """Whether a function or class of Kerata is called like a module of Keras there (`plot_image_gallery`)."""
    homes = filter(None, map(existing_module, _along(path)))
    return any(not isinstance(getattr(home, name, sys), types.ModuleType) for home in homes)


def _is_dunder(name):
    return name.startswith("__") and name.endswith("__")


def _view_of(value):
    """A module of Kerata as the view that `keras.src` has of it, for patches; other values as they are."""
    if isinstance(value, types.ModuleType) and value.__name__.startswith("kerata."):
        path = tuple(value.__name__.split(".")[1:])
        if has_module(path):
            return importlib.import_module(".".join(("keras.src", *path)))
    return value


def _homes(path, name):
    """The modules of Kerata that have `name`, as code asking at `path` should see it, nearest first."""
    for home in _modules(path, name):
        value = getattr(home, name, _ABSENT)
        foreign = isinstance(value, types.ModuleType) and not value.__name__.startswith("kerata.")
        if value is not _ABSENT and not foreign:
            yield home


def _modules(path, name):
    along = _along(path)
    if name.startswith("_"):
        along, near = along[:1], []
    else:
        near = [] if name in OF_THEIR_MODULE else _near(path)
    framework = _framework(path)
    if framework:
        yield _backend(framework)
    yield from filter(None, map(existing_module, dict.fromkeys([*along, *near])))
    # After the public functions: these take whatever Keras's backend takes, a native only native tensors.
    if path[:1] == ("backend",) and not framework:
        yield _backend(None)


def _homes_to_set(path, name):
    """The modules in which `name` must be set for Kerata's own code to see it."""
    if path[:1] == ("backend",):
        backend = _backend(_framework(path))
        # Ops look for a native function at each call, so what the backend lacks can be set there too.
        if hasattr(backend, name) or hasattr(getattr(existing_module("kerata.ops"), name, None), "op"):
            return [backend]
    homes = list(_homes(path, name))
    if not homes:
        return [next(filter(None, map(existing_module, [*_along(path), *_near(path)])))]
    value = getattr(homes[0], name)
    return [home for home in homes if getattr(home, name) is value]


def _along(path):
    """Names of Kerata's modules along a path: `kerata.layers.core.dense`, `kerata.layers.core` and so on."""
    return [".".join(("kerata", *path[:end])) for end in range(len(path), 0, -1)]


def _near(path):
    homes = HOMES.get(path[0], ()) if path else ()
    return [*(f"kerata.{home}" for home in homes), "kerata"]


def _framework(path):
    """The backend that a path names, else `None`. `backend.numpy` by itself is `numpy` of the current one."""
    if path[:1] != ("backend",) or len(path) < 2 or path[1] not in FRAMEWORKS or path == ("backend", "numpy"):
        return None
    return path[1]


def _backend(name):
    backends = importlib.import_module("kerata.backends")
    return backends.load(name) if name else backends.current()


def existing_module(name):
    """A module of Kerata, imported if need be; `None` if there is none of that name."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            return None
        raise
