"""Objects as plain data and back, in the form that Keras's files have.

An object is `{"module", "class_name", "config", "registered_name"}`, where it applies also
`"build_config"`, `"compile_config"` and `"shared_object_id"`. Plain data stands for itself; what JSON
can't say is an object with a class name in double underscores (`__tensor__`, `__slice__`, ...).

Reading builds only classes and functions that are the library's own, registered, or handed over in
`custom_objects`. A file never makes this module import anything. Code in a file (`__lambda__`) is
refused unless the caller says `safe_mode=False`.
"""

import base64
import binascii
import inspect
import marshal
import types
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from kerata.core import config as settings
from kerata.core import dtypes, errors, registry

_PLAIN = (bool, int, float, str)

_safe_mode = ContextVar("kerata_safe_mode", default=None)
_written = ContextVar("kerata_objects_written", default=None)
_read = ContextVar("kerata_objects_read", default=None)


class DeserializationError(TypeError, ValueError):
    """A config that doesn't become an object; the message says which and why.

    Keras raises one or the other of its bases.
    """


# Writing ---------------------------------------------------------------------------------------


def serialize_keras_object(obj):
    """An object as plain data that JSON can hold.

    Args:
        obj: plain data, arrays, tensors, anything with `get_config`, named functions, nested as you like.

    >>> import kerata
    >>> kerata.saving.serialize_keras_object(slice(0, 2))
    {'class_name': '__slice__', 'config': {'start': 0, 'stop': 2, 'step': None}}
    """
    # `np.float64` is a float and `np.str_` a string; JSON should not depend on it.
    if isinstance(obj, np.generic):
        return _scalar(obj)
    if obj is None or isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, (list, tuple)):
        items = [serialize_keras_object(item) for item in obj]
        return tuple(items) if isinstance(obj, tuple) else items
    if isinstance(obj, dict):
        # What was written already stays the same dict: its number may still be to come (`_numbered`).
        written = _written.get()
        if written is not None and id(obj) in written.results:
            return obj
        return {key: serialize_keras_object(value) for key, value in obj.items()}
    special = _special(obj)
    if special is not None:
        return special
    if inspect.isclass(obj):
        raise TypeError(f"{obj!r} is a class; only its instances can be serialized.")
    if has_config(obj):
        return _object(obj)
    if callable(obj) and hasattr(obj, "__name__") and not inspect.ismethod(obj):
        return _function(obj)
    raise TypeError(
        f"Can't serialize {obj!r} ({type(obj).__module__}.{type(obj).__name__}): it is no plain data and has "
        "no `get_config()`. Give its class `get_config()`, which returns the constructor's arguments."
    )


def has_config(obj):
    """Whether an object (not a class) says itself how it can be made again."""
    return hasattr(obj, "get_config") and not inspect.isclass(obj)


def simple_function_name(function):
    """The bare name by which Keras's configs call an activation of the library; `None` for others."""
    name = getattr(function, "__name__", "")
    own = registry.is_library(getattr(function, "__module__", None) or "")
    return name if own and registry.public_function(name, "keras.activations") else None


@contextmanager
def sharing():
    """Within the block, an object that is written more than once gets a number, and is read as one object."""
    written = _written.set(_Written() if _written.get() is None else _written.get())
    read = _read.set(_Read() if _read.get() is None else _read.get())
    try:
        yield
    finally:
        _written.reset(written)
        _read.reset(read)


@contextmanager
def apart():
    """Within the block, objects are written and read without regard to the file that is being written or read around it:
    the numbers of its shared objects are others."""
    written, read = _written.set(None), _read.set(None)
    try:
        yield
    finally:
        _written.reset(written)
        _read.reset(read)


def _scalar(value):
    item = value.item()
    return item if isinstance(item, _PLAIN) else _tensor(np.asarray(value))


def _special(obj):
    if isinstance(obj, bytes):
        return _marked("bytes", value=obj.decode("latin-1"))
    if obj is Ellipsis:
        return _marked("ellipsis")
    if isinstance(obj, slice):
        start, stop, step = (serialize_keras_object(v) for v in (obj.start, obj.stop, obj.step))
        return _marked("slice", start=start, stop=stop, step=step)
    if isinstance(obj, np.ndarray):
        return _array("numpy", obj)
    if type(obj).__name__ == "TensorShape" and obj.rank is not None:  # TensorFlow's
        return obj.as_list()
    if type(obj).__name__ == "DType" and hasattr(obj, "as_numpy_dtype"):  # TensorFlow's
        return obj.name
    if isinstance(obj, np.dtype):
        return dtypes.standardize_dtype(obj.name)
    if isinstance(obj, types.FunctionType) and obj.__name__ == "<lambda>":
        return _lambda(obj)
    if type(obj).__name__ == "KerasTensor":
        # Which node made it, its model writes.
        return _marked("keras_tensor", shape=list(obj.shape), dtype=obj.dtype, keras_history=None)
    if _is_tensor(obj):
        return _tensor(_ops().convert_to_numpy(obj))
    return None


def _marked(name, **config):
    return {"class_name": f"__{name}__", "config": config}


def _tensor(array):
    return _array("tensor", array)


def _array(kind, array):
    return _marked(kind, value=array.tolist(), dtype=dtypes.standardize_dtype(array.dtype.name))


def _is_tensor(obj):
    # Asked only of what looks like one: asking brings in the current framework. Variables have a path.
    looks_like_one = hasattr(obj, "dtype") and hasattr(obj, "shape") and not hasattr(obj, "path")
    return looks_like_one and _ops().is_tensor(obj)


def _ops():
    # The vocabulary stands above this floor; a tensor can only come from there, so it is loaded already.
    return registry.import_face("ops")


def _function(function):
    name = registry.get_registered_name(function) if _hashable(function) else function.__name__
    return {"module": "builtins", "class_name": "function", "config": name, "registered_name": "function"}


def _hashable(obj):
    try:
        hash(obj)
    except TypeError:
        return False
    return True


def _lambda(function):
    warnings.warn(
        f"{_source_of(function)} is a lambda. Files hold its bytecode, which other Python versions can't "
        "read, and which is only loaded with `safe_mode=False`. Use a named function registered with "
        "`keras.saving.register_keras_serializable()`.",
        stacklevel=4,
    )
    return _marked("lambda", value=function_code(function))


def _source_of(function):
    code = function.__code__
    return f"The function at {code.co_filename}:{code.co_firstlineno}"


def function_code(function):
    """`(base64 of the bytecode, defaults, values of the closure)`, as Keras's files hold lambdas."""
    # Base64 in lines, as Keras writes it.
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    closure = tuple(cell.cell_contents for cell in function.__closure__) if function.__closure__ else None
    return code, function.__defaults__, closure


def _object(obj):
    serialized = {**_identity(type(obj)), "config": None}
    # Order of keys as in Keras's files, for people who compare them.
    serialized["config"] = serialize_keras_object(obj.get_config())
    serialized["registered_name"] = serialized.pop("registered_name")
    for key, getter in (("build_config", "get_build_config"), ("compile_config", "get_compile_config")):
        extra = getattr(obj, getter)() if hasattr(obj, getter) else None
        if extra:
            serialized[key] = serialize_keras_object(extra)
    return _numbered(obj, serialized)


def _identity(cls):
    public = registry.public_name(cls)
    registered = registry.get_registered_name(cls)
    if public is not None and registered == cls.__name__:
        module, name = public
        # Keras calls classes outside its public face by their bare name as if they were registered.
        return {"module": module, "class_name": name, "registered_name": name if ".src." in module else None}
    module = None if cls.__module__ in ("__main__", "builtins") else cls.__module__
    return {"module": module, "class_name": cls.__name__, "registered_name": registered}


def _numbered(obj, serialized):
    written = _written.get()
    if written is None:
        return serialized
    if id(obj) in written.objects:
        _, first, number = written.objects[id(obj)]
        first["shared_object_id"] = serialized["shared_object_id"] = number
    else:
        written.objects[id(obj)] = (obj, serialized, len(written.objects) + 1)
    written.results[id(serialized)] = serialized
    return serialized


class _Written:
    """What has been written, by id. Objects and results are kept, so that no id is given again."""

    def __init__(self):
        self.objects = {}
        self.results = {}


# Reading ---------------------------------------------------------------------------------------


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs):
    """The object that plain data stands for.

    Args:
        config: what `serialize_keras_object` returned.
        custom_objects: `{name: class or function}` that the config may name besides the registered ones.
        safe_mode: refuse code in the config. An enclosing call's choice goes before this one.

    >>> import kerata
    >>> config = {"class_name": "__slice__", "config": {"start": 0, "stop": 2, "step": None}}
    >>> kerata.saving.deserialize_keras_object(config)
    slice(0, 2, None)
    """
    module_objects = kwargs.pop("module_objects", None)
    if kwargs:
        raise TypeError(f"deserialize_keras_object: unexpected arguments {sorted(kwargs)}.")
    names = {**(module_objects or {}), **(custom_objects or {})}
    with _mode(safe_mode), sharing(), registry.CustomObjectScope(names):
        if isinstance(config, str) and config in registry.custom_objects_in_scope():
            return registry.custom_objects_in_scope()[config]
        return _deserialized(config)


def revive(value):
    """Plain data with the serialized objects in it made into objects; the rest stays the same object."""
    if isinstance(value, (list, tuple)):
        items = [revive(item) for item in value]
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return type(value)(items) if changed else value
    if not isinstance(value, dict):
        return value
    if is_serialized_object(value):
        return deserialize_keras_object(value)
    items = {key: revive(item) for key, item in value.items()}
    return items if any(items[key] is not value[key] for key in value) else value


def is_serialized_object(value):
    """Whether plain data stands for an object."""
    return isinstance(value, dict) and "class_name" in value and "config" in value


def in_safe_mode():
    """Whether an object is being made from a config whose code must not be trusted.

    Classes that take paths, pickles or code in their config ask this in `from_config` or `__init__`.
    """
    return bool(_safe_mode.get())


def refuses_code(safe_mode=None):
    """Whether a class whose config holds code has to refuse it.

    The caller's choice goes first, then that of the reading in progress. Outside of one, code is refused.
    """
    if safe_mode is None:
        safe_mode = _safe_mode.get()
    return not settings.unsafe_deserialization_enabled() if safe_mode is None else bool(safe_mode)


@contextmanager
def _mode(safe_mode):
    outer = _safe_mode.get()
    mode = outer if outer is not None else bool(safe_mode) and not settings.unsafe_deserialization_enabled()
    token = _safe_mode.set(mode)
    try:
        yield
    finally:
        _safe_mode.reset(token)


def _deserialized(config):
    if isinstance(config, (list, tuple)):
        return [_deserialized(item) for item in config]
    if config is None or isinstance(config, (*_PLAIN, bytes)):
        return config
    if not isinstance(config, dict):
        raise DeserializationError(f"A config is plain data, but this holds a {type(config).__name__}.")
    if config.get("class_name") == "__tuple__" and "items" in config:
        return tuple(_deserialized(item) for item in config["items"])
    if not is_serialized_object(config):
        return {key: _deserialized(item) for key, item in config.items()}
    if isinstance(config["class_name"], str) and config["class_name"] in _SPECIAL:
        return _read_special(config)
    if config["class_name"] == "function":
        return _find_function(config)
    return _read_object(config)


def _read_special(config):
    try:
        return _SPECIAL[config["class_name"]](config["config"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DeserializationError):
            raise
        raise DeserializationError(
            f"{config['class_name']}: the config {shortened(config['config'])} can't be read: "
            f"{errors.describe_exception(error)}"
        ) from error


def _read_array(config):
    dtype = dtypes.to_numpy_dtype(dtypes.standardize_dtype(config["dtype"]))
    # Objects would come back as pointers or pickles; only numbers and strings are values.
    if dtype.hasobject:
        raise DeserializationError(f"An array of dtype {config['dtype']!r} is no plain data.")
    return np.array(config["value"], dtype=dtype)


def _read_tensor(config):
    array = _read_array(config)
    return array if array.dtype.kind in "USO" else _ops().convert_to_tensor(array, dtype=config["dtype"])


def _read_keras_tensor(config):
    graph = registry.import_face("graph.tensor")
    return graph.KerasTensor(tuple(config["shape"]), dtype=config["dtype"])


def _read_lambda(config):
    if in_safe_mode():
        raise DeserializationError(
            "The file holds a Python lambda, that is, code which the model would run (arbitrary code execution). If you "
            "trust the file, load it with `safe_mode=False`."
        )
    parts = config["value"] if "value" in config else [config[k] for k in ("code", "defaults", "closure")]
    code, defaults, closure = parts
    return function_from_code(code, defaults, closure)


def function_from_code(code, defaults=None, closure=None):
    """The function that `function_code` took apart. Never call it on data that isn't trusted."""
    try:
        compiled = marshal.loads(base64.decodebytes(code.encode("ascii")))
    except (ValueError, EOFError, TypeError, binascii.Error) as error:
        raise DeserializationError(
            "The bytecode of a lambda can't be read: it was written by another version of Python."
        ) from error
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    defaults = tuple(tuple(d) if isinstance(d, list) else d for d in defaults) if defaults else None
    names = {"__builtins__": __builtins__, "keras": registry.import_face(""), "np": np}
    return types.FunctionType(compiled, {**names, **registry.custom_objects_in_scope()}, "<lambda>", defaults, cells)


_SPECIAL = {
    "__tensor__": _read_tensor,
    "__numpy__": _read_array,
    "__keras_tensor__": _read_keras_tensor,
    "__lambda__": _read_lambda,
    "__bytes__": lambda config: config["value"].encode("latin-1"),
    "__ellipsis__": lambda config: Ellipsis,
    "__slice__": lambda config: slice(*(_deserialized(config[key]) for key in ("start", "stop", "step"))),
}


def _find_function(config):
    name = config["config"]
    if isinstance(name, dict):
        # Keras 2 wrapped the name once more.
        name = name.get("config", name)
    if not isinstance(name, str):
        raise DeserializationError(
            f"function: Expected 'config' to be a non-null str, the function's name, not {name!r}."
        )
    found = registry.get_registered_object(name) or registry.registered_by_bare_name(name)
    if found is None:
        found = registry.public_function(name, config.get("module"))
        _check_named_alike(config, name, found)
    if found is None:
        raise DeserializationError(
            f"The config names a function {name!r} that is neither Kerata's own nor registered. "
            "Decorate it with `@keras.saving.register_keras_serializable()` before loading, or give "
            f"`custom_objects={{{name!r}: ...}}`."
        )
    return found


def _read_object(config):
    known = _known_instance(config)
    if known is not None:
        return known
    cls = find_class(config)
    instance = _made(cls, config)
    unbuilt = hasattr(instance, "build_from_config") and not getattr(instance, "built", False)
    # A model that wasn't built says so by shapes that are all `None`.
    if unbuilt and any(v is not None for v in (config.get("build_config") or {}).values()):
        instance.build_from_config(_deserialized(config["build_config"]))
    if config.get("compile_config") and hasattr(instance, "compile_from_config"):
        instance.compile_from_config(config["compile_config"])
    if _read.get() is not None:
        _read.get().add(config, instance)
    return instance


def _known_instance(config):
    number = config.get("shared_object_id")
    return None if number is None or _read.get() is None else _read.get().find(config, number)


class _Read:
    """What has been read, for objects that a file has in several places."""

    def __init__(self):
        self._numbered = {}
        self._named = {}

    def add(self, config, instance):
        number = config.get("shared_object_id")
        if number is not None:
            self._numbered[number] = instance
        elif isinstance(config["config"], dict) and "name" in config["config"]:
            self._named.setdefault(config["config"]["name"], []).append((config, instance))

    def find(self, config, number):
        """The object that was read before under the same number.

        Keras numbers an object only from its second place on; the first is the one with an equal config.
        """
        if number in self._numbered:
            return self._numbered[number]
        name = config["config"].get("name") if isinstance(config["config"], dict) else None
        for other, instance in self._named.get(name, ()) if name else ():
            if _without_numbers(other) == _without_numbers(config):
                return instance
        return None


def _without_numbers(value):
    if isinstance(value, dict):
        dropped = ("shared_object_id", "inbound_nodes", "compile_config")
        return {k: _without_numbers(v) for k, v in value.items() if k not in dropped}
    if isinstance(value, list):
        return [_without_numbers(v) for v in value]
    return value


def _check_named_alike(config, name, found):
    """Refuse one of the library's own under the registered name of something else."""
    registered = config.get("registered_name")
    if found is not None and registered not in (None, "", "function", name):
        raise DeserializationError(
            f"The config names {name!r}, registered as {registered!r}, but nothing is registered by that name: it resolved "
            f"to a Keras built-in, {name!r}, which is never registered. The file was made by hand or is damaged; or "
            "register what it means before loading it."
        )


def find_class(config):
    """The class that a serialized object names: registered or handed over, or the library's own."""
    module, name = config.get("module"), config["class_name"]
    registered = config.get("registered_name")
    for known in dict.fromkeys(n for n in (registered, name) if isinstance(n, str)):
        # A public class of Keras says so by having no registered name, whatever is called alike here.
        if registered is None and module is not None and registry.public_class(module, name) is not None:
            break
        found = registry.get_registered_object(known)
        if inspect.isclass(found):
            return found
    found = registry.public_class(module, name)
    _check_named_alike(config, name, found)
    if found is None:
        similar = errors.nearest(name, registry.public_class_names()) if registered in (None, name) else ""
        raise DeserializationError(
            f"The config names a class {registered or name!r} (module {module!r}) that is neither Kerata's "
            f"own nor registered.{similar} Decorate it with `@keras.saving.register_keras_serializable()` "
            f"and import it before loading, or give `custom_objects={{{name!r}: ...}}`."
        )
    return found


def _made(cls, config):
    inner = config["config"]
    if not isinstance(inner, dict):
        raise DeserializationError(f"{cls.__name__}: Expected 'config' to be a dict, not {shortened(inner)}.")
    if not hasattr(cls, "from_config"):
        raise DeserializationError(
            f"Unable to reconstruct an instance of {cls.__name__}: it has no `from_config()`, so a config can't make it."
        )
    try:
        return cls.from_config(dict(inner))
    except DeserializationError:
        raise
    except (TypeError, KeyError, AttributeError) as error:
        raise DeserializationError(
            f"{cls.__name__} can't be made from its config {shortened(inner)}: "
            f"{errors.describe_exception(error)}. `get_config()` has to return what `from_config()`, by "
            "default the constructor, takes; see to it that objects within are explicitly deserialized."
        ) from error


def shortened(value, limit=300):
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"
