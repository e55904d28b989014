"""Objects that know how they were made.

Everything with a config (layers, losses, metrics, optimizers, initializers, …) descends from
`Constructed`. A config is the set of constructor arguments that makes an equal object again, so it
can be derived, and nobody has to write it:

- a class of this library keeps each constructor argument as an attribute of the same name; its
  config is read off these attributes when asked for, hence it shows later changes too;
- of a user's class nothing like that can be assumed; the arguments of the outermost call are
  recorded, and bound to names only when a config is asked for.

Either way a class that defines `get_config` itself is left alone.
"""

import inspect
from abc import ABCMeta

from kerata.core.registry import CustomObjectScope, is_library

RECORD = "_constructor_arguments"  # in the instance's __dict__; walkers of attributes skip it


class ConstructedMeta(ABCMeta):
    """Gives each class its config, and records the arguments with which users' classes are called.

    It is an `ABCMeta` so that users' classes may also descend from `abc.ABC`.
    """

    # Nothing is registered as a virtual subclass; the plain checks are several times as fast.
    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace, **kwargs)
        cls._is_library_class = is_library(cls.__module__)
        if "__init__" in namespace and "get_config" not in namespace:
            make = _config_from_attributes if cls._is_library_class else _config_from_record
            cls.get_config = make(cls)

    @property
    def __signature__(cls):
        # `inspect` would show that of `__call__` below.
        signature = inspect.signature(cls.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def __call__(cls, *args, **kwargs):
        instance = super().__call__(*args, **kwargs)
        if not cls._is_library_class and isinstance(instance, Constructed):
            # Straight into the dict: attribute tracking must not see the arguments.
            instance.__dict__.setdefault(RECORD, (args, kwargs))
        return instance


class Constructed(metaclass=ConstructedMeta):
    """Base of everything that has a config."""

    # Arguments that are left out of configs, as Keras does, while they have this value.
    _config_unless = {}

    def get_config(self):
        """The arguments that make an equal object again, as plain or serialized values."""
        return {}

    def common_config(self):
        """What every object of this kind takes by keyword, whatever its class (a layer: its name, ...).

        Kinds override it. It completes the recorded arguments of users' classes.
        """
        return {}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make an object from what `get_config` returned; `custom_objects` are the user's classes by name."""
        with CustomObjectScope(custom_objects):
            arguments = _revived(cls, config)
            try:
                return cls(**arguments)
            except ValueError as error:
                if type(error) is not ValueError:
                    raise
                # It says which config, and is the `TypeError` that Keras raises here too.
                raise _refusal(cls, config, error) from error


def _config_from_attributes(cls):
    own = _own_parameters(cls)

    def get_config(self):
        config = super(cls, self).get_config()
        for name in own:
            # What a base already says stands: a layer's `dtype` is a policy there, a string as attribute.
            if name not in config:
                value = getattr(self, _attribute(self, name))
                if name not in self._config_unless or value != self._config_unless[name]:
                    config[name] = _value_of(value)
        return _accepted(type(self), config) if type(self)._is_library_class else config

    return _derived(get_config, cls)


def _config_from_record(cls):
    def get_config(self):
        config = _accepted(type(self), self.common_config())
        for name, value in _recorded(self).items():
            # The name it picked itself, or a later change of `trainable`, goes before the argument.
            if name not in config:
                config[name] = _value_of(value)
        return config

    return _derived(get_config, cls)


def _derived(get_config, cls):
    get_config.is_derived = True
    get_config.__doc__ = Constructed.get_config.__doc__
    get_config.__qualname__ = f"{cls.__qualname__}.get_config"
    get_config.__module__ = cls.__module__
    return get_config


def _recorded(instance):
    """Recorded arguments by parameter name; variadic keyword arguments are merged in."""
    if RECORD not in instance.__dict__:
        raise NotImplementedError(
            f"{type(instance).__name__} was not made by calling its class, so its constructor's "
            "arguments are not known. Define `get_config()` on the class."
        )
    args, kwargs = instance.__dict__[RECORD]
    signature = inspect.signature(type(instance).__init__)
    bound = signature.bind(instance, *args, **kwargs).arguments
    config = {}
    for name, value in list(bound.items())[1:]:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            config.update(value)
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            if value:
                raise NotImplementedError(
                    f"{type(instance).__name__}.__init__ takes `*{name}`, which a config (arguments by name) "
                    "can't express. Define `get_config()` and `from_config()` on the class."
                )
        else:
            config[name] = value
    return config


def _value_of(value):
    """A value as configs hold it: objects serialized, plain data, tuples and arrays as they are."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    if isinstance(value, (tuple, list)):
        return _sequence_like(value, [_value_of(v) for v in value])
    if isinstance(value, dict):
        return {k: _value_of(v) for k, v in value.items()}
    from kerata.core import serialization

    if inspect.isfunction(value) and (name := serialization.simple_function_name(value)):
        return name
    if serialization.has_config(value) or callable(value):
        return serialization.serialize_keras_object(value)
    return value


def _sequence_like(original, items):
    if isinstance(original, tuple) and hasattr(original, "_fields"):
        return type(original)(*items)
    return tuple(items) if isinstance(original, tuple) else items


def _revived(cls, config):
    """Config with the serialized objects in it made into objects.

    A user's class that says itself what its config holds gets what it said, serialized objects as they
    are (as in Keras); only the dtype policy, which the base put there, is made.
    """
    from kerata.core import serialization

    by_hand = not is_library(cls.get_config.__module__) and not hasattr(cls.get_config, "is_derived")
    names = ("dtype",) if by_hand else config
    return {name: serialization.revive(v) if name in names else v for name, v in config.items()}


def _refusal(cls, config, error):
    from kerata.core import serialization

    return serialization.DeserializationError(
        f"{cls.__name__} can't be made from its config {serialization.shortened(config)}: {error}"
    )


def _accepted(cls, config):
    """The part of a config that `cls(...)` takes by keyword."""
    parameters = inspect.signature(cls.__init__).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return dict(config)
    return {name: value for name, value in config.items() if name in parameters}


def _own_parameters(cls):
    """Named parameters of the class's own constructor, without `self`, read off the code object (cheap)."""
    code = inspect.unwrap(cls.__dict__["__init__"]).__code__
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def _attribute(instance, name):
    if hasattr(instance, name):
        return name
    raise AttributeError(
        f"{type(instance).__name__} does not keep its constructor argument `{name}` as an attribute of that "
        "name, so its config can't be derived: keep it, or define `get_config()`."
    )
