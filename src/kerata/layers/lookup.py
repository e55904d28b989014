"""Layers to configs and back."""

from kerata.core import serialization


def serialize(layer):
    """A layer as plain data.

    >>> import kerata
    >>> kerata.layers.serialize(kerata.layers.ReLU())["class_name"]
    'ReLU'
    """
    return serialization.serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer that plain data stands for.

    Args:
        config: what `serialize` returned.
        custom_objects: `{name: class or function}` that the config may name besides the registered ones.

    Raises:
        ValueError: the config is of something else than a layer.

    >>> import kerata
    >>> layer = kerata.layers.deserialize(kerata.layers.serialize(kerata.layers.ReLU(max_value=1.0)))
    >>> layer.max_value
    1.0
    """
    from kerata.layers.layer import Layer

    layer = serialization.deserialize_keras_object(config, custom_objects=custom_objects)
    if not isinstance(layer, Layer):
        raise ValueError(f"layers.deserialize: the config is of {layer!r}, which is no layer.")
    return layer
