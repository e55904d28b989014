"""Floor 6: models in files, in Keras's layouts, written atomically and read with suspicion."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "models": ["load_model", "save_model"],
        "weights": ["load_weights", "save_weights"],
        "kerata.core.registry": [
            "CustomObjectScope",
            "custom_object_scope",
            "get_custom_objects",
            "get_registered_name",
            "get_registered_object",
            "register_keras_serializable",
        ],
        "kerata.core.serialization": ["deserialize_keras_object", "serialize_keras_object"],
    },
)
