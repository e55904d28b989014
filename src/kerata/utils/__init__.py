"""Small things that scripts use beside layers and models."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "data": ["pad_sequences", "split_dataset"],
        "numerical": ["normalize", "to_categorical"],
        "progbar": ["Progbar"],
        "py_dataset": ["PyDataset", "Sequence"],
        "kerata.backend": ["clear_session", "is_keras_tensor", "standardize_dtype"],
        "kerata.random.seeds": ["set_random_seed"],
        "kerata.training.data.parts": ["pack_x_y_sample_weight", "unpack_x_y_sample_weight"],
        "kerata.core.config": [
            "disable_interactive_logging",
            "enable_interactive_logging",
            "is_interactive_logging_enabled",
        ],
        "kerata.saving": [
            "CustomObjectScope",
            "custom_object_scope",
            "deserialize_keras_object",
            "get_custom_objects",
            "get_registered_name",
            "get_registered_object",
            "register_keras_serializable",
            "serialize_keras_object",
        ],
    },
    submodules=("bounding_boxes",),
)
