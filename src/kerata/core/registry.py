"""Names of classes and functions in files: users' own, registered ones and the library's public ones."""

import importlib
import inspect
from contextvars import ContextVar

# Where public classes are, by their Keras module. Order settles which one a bare name means.
AREAS = (
    "layers",
    "models",
    "optimizers",
    "optimizers.schedules",
    "losses",
    "metrics",
    "initializers",
    "regularizers",
    "constraints",
    "activations",
    "dtype_policies",
    "quantizers",
    "random",
    "distillation",
    "utils",
)

# Functions that a file may name. Any other function of the library does more than compute.
FUNCTION_AREAS = (
    "activations",
    "losses",
    "metrics",
    "initializers",
    "regularizers",
    "constraints",
    "optimizers",
    "ops",
)

# Of those areas' functions, the ones that make objects rather than compute.
_NO_FUNCTIONS = frozenset({"get", "serialize", "deserialize"})

# Classes that Keras files under `keras` itself, rather than under their area.
_TOP_LEVEL = frozenset(
    ("Sequential", "Model", "Function", "Layer", "Operation", "Loss", "Metric", "Optimizer", "Initializer")
    + ("Regularizer", "Quantizer", "DTypePolicy", "FloatDTypePolicy", "InputSpec")
)

# Classes without a public name: `{name: (module in Keras's files, module here)}`.
_UNLISTED = {"Functional": ("keras.src.models.functional", "kerata.models.functional")}

_global_objects = {}
_global_names = {}
_scoped_objects = ContextVar("kerata_custom_objects", default=None)


def register_keras_serializable(package="Custom", name=None):
    """Decorator that makes a class or function loadable: files name it `package>name`.

    Args:
        package: keeps equal names of different packages apart.
        name: name in files; the class's or function's own by default.

    >>> import kerata
    >>> @kerata.saving.register_keras_serializable("demo")
    ... def double(x):
    ...     return x * 2
    >>> kerata.saving.get_registered_name(double)
    'demo>double'
    """

    def register(obj):
        if inspect.isclass(obj) and not hasattr(obj, "get_config"):
            raise ValueError(
                f"register_keras_serializable: Cannot register a class that does not have a get_config() method, as {obj.__name__}: "
                "there would be nothing to save. Define it, with the constructor's arguments as a dict."
            )
        registered = f"{package}>{obj.__name__ if name is None else name}"
        _global_objects[registered] = obj
        _global_names[obj] = registered
        return obj

    return register


def get_registered_name(obj):
    """Name under which a class or function goes in files: `package>name` if registered, else its own."""
    obj = as_written(obj)
    return _global_names.get(obj, obj.__name__)


def as_written(cls):
    """The class itself for a variant of it that a backend made (a layer that is a `torch.nn.Module` too)."""
    while "_is_module_class" in getattr(cls, "__dict__", ()):
        cls = cls.__bases__[0]
    return cls


def get_registered_object(name, custom_objects=None, module_objects=None):
    """The class or function that was registered under a name, or `None`.

    Looked up in the scopes in force, then among all registered, then in `custom_objects`, then in
    `module_objects`.
    """
    for known in (_scoped_objects.get(), _global_objects, custom_objects, module_objects):
        if known and name in known:
            return known[name]
    return None


def registered_by_bare_name(name):
    """The function that is registered as `package>name` in just one package, or `None`: older files leave the package out."""
    found = [o for key, o in _global_objects.items() if key.rpartition(">")[2] == name and not isinstance(o, type)]
    return found[0] if len(found) == 1 else None


def get_custom_objects():
    """The dict of everything registered; what is put into it is registered for the process."""
    return _global_objects


def custom_objects_in_scope():
    """Everything that the scopes in force add."""
    return _scoped_objects.get() or {}


class CustomObjectScope:
    """Within the block, these names stand for these classes and functions.

    Args:
        custom_objects: `{name: class or function}`.

    >>> import kerata
    >>> with kerata.saving.custom_object_scope({"twice": lambda x: 2 * x}):
    ...     kerata.saving.get_registered_object("twice")(4)
    8
    """

    def __init__(self, custom_objects):
        self.custom_objects = custom_objects or {}
        self._tokens = []

    def __enter__(self):
        self._tokens.append(_scoped_objects.set({**custom_objects_in_scope(), **self.custom_objects}))
        return self

    def __exit__(self, *exception):
        _scoped_objects.reset(self._tokens.pop())


custom_object_scope = CustomObjectScope


def public_name(cls):
    """`(module, name)` under which Keras's files know a class of this library, or `None`.

    A user's class has none; nor has a class of this library that isn't part of its public face.
    """
    cls = as_written(cls)
    if not is_library(cls.__module__):
        return None
    name = vars(cls).get("_public_name", cls.__name__)
    if name in _UNLISTED:
        return _UNLISTED[name][0], name
    if name in _TOP_LEVEL:
        return "keras", name
    own = cls.__module__.split(".")[1:]
    own_areas = [area for area in (".".join(own[:2]), own[0] if own else "") if area in AREAS]
    for area in (*own_areas, *AREAS):
        if member(area, name) is cls:
            return f"keras.{area}", name
    return None


def public_class(module, name):
    """The class of this library that a file means by a module and a class name, or `None`.

    Takes public modules of Keras and of this library (`keras.layers`), old ones (`keras.layers.core`) and
    the internal ones that Keras sometimes writes (`keras.src.optimizers.adam`,
    `keras.src.backend.torch.optimizers.torch_adam`): what counts is the area that is mentioned in it, and
    the name. Only classes with a config come back, so a file can't name anything that acts.
    """
    parts = module.split(".") if module else ["keras"]
    if not isinstance(name, str):
        return None
    if parts[0] not in ("keras", "kerata", "tf_keras"):
        return None
    if name in _UNLISTED:
        return getattr(importlib.import_module(_UNLISTED[name][1]), name)
    for area in _areas_named(parts):
        found = member(area, name)
        if inspect.isclass(found) and hasattr(found, "from_config"):
            return found
    return None


def public_function(name, module=None):
    """The function of this library that a file means by a name, or `None`."""
    if not isinstance(name, str) or name in _NO_FUNCTIONS:
        return None
    area = module.partition(".")[2] if module else ""
    for candidate in (area,) if area in FUNCTION_AREAS else FUNCTION_AREAS:
        found = member(candidate, name)
        if found is not None and not inspect.isclass(found) and callable(found):
            return found
    return None


def public_class_names():
    """Names of all classes that a file may name, for a message's suggestion."""
    return sorted({name for area in AREAS for name in _face(area) if name[:1].isupper()})


def is_library(module):
    """Whether a module is part of this library."""
    return module == "kerata" or module.startswith("kerata.")


def _areas_named(parts):
    """Areas in the order in which a module path suggests them."""
    if "schedules" in parts or "learning_rate_schedule" in parts:
        return ("optimizers.schedules", *AREAS)
    if "functional" in parts or "sequential" in parts:
        return ("models", *AREAS)
    named = [area for area in AREAS if area in parts[1:]]
    # "keras.src.backend.torch.optimizers.…" names its area last; "keras.layers.…" first. They agree.
    return (*named, *AREAS)


def member(area, name):
    """What an area's public name stands for, or `None`."""
    if name not in _face(area):
        return None
    return getattr(importlib.import_module(f"kerata.{area}"), name)


def _face(area):
    """Public names of an area; none where the area isn't part of this installation."""
    module = f"kerata.{area}"
    try:
        return getattr(importlib.import_module(module), "__all__", ())
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        return ()


def import_face(area):
    """The module `kerata.<area>`, for lower floors that meet its objects and may not import it by name."""
    return importlib.import_module(f"kerata.{area}".rstrip("."))
