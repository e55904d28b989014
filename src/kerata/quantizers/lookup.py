"""Quantizers and quantization configs by name and config."""

from kerata.core.family import Family

_family = Family("quantizer", "kerata.quantizers", "Quantizer")


def get(identifier, **kwargs):
    """A quantizer from its name, config, class or instance; `None` stays `None`.

    Args:
        identifier: `"abs_max_quantizer"`, `"AbsMaxQuantizer"`, a config, a class or an instance.
        **kwargs: arguments for the constructor, where a name is given.

    Raises:
        ValueError: for an unknown name.

    >>> from kerata import quantizers
    >>> quantizers.get("abs_max_quantizer", axis=-1).axis
    (-1,)
    """
    if isinstance(identifier, str) and kwargs:
        return _family.named(identifier)(**kwargs)
    return _family.get(identifier)


def serialize(initializer):
    """Config of a quantizer or quantization config.

    Args:
        initializer: the object (the name is Keras's).
    """
    return _family.serialize(initializer)


def deserialize(config, custom_objects=None):
    """The object that a config describes.

    Args:
        config: what `serialize` returned.
        custom_objects: `{name: class}` of what the config may need.
    """
    return _family.deserialize(config, custom_objects)
