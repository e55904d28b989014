"""`keras.config`: settings of the process, and the current backend."""

from kerata.backends import current_name as backend
from kerata.backends import installed, set_backend, use_backend
from kerata.core.config import (
    disable_flash_attention,
    disable_interactive_logging,
    disable_traceback_filtering,
    enable_flash_attention,
    enable_interactive_logging,
    enable_traceback_filtering,
    enable_unsafe_deserialization,
    epsilon,
    floatx,
    image_data_format,
    is_flash_attention_enabled,
    is_interactive_logging_enabled,
    is_nnx_enabled,
    is_traceback_filtering_enabled,
    max_epochs,
    max_steps_per_epoch,
    rng_mode,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_max_epochs,
    set_max_steps_per_epoch,
    set_rng,
)
from kerata.core.lazy import attach

__getattr__, _dir, _names = attach(__name__, {"kerata.dtype_policies": ["dtype_policy", "set_dtype_policy"]})

__all__ = [
    "backend",
    "disable_flash_attention",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",  # noqa: F822
    "enable_flash_attention",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "enable_unsafe_deserialization",
    "epsilon",
    "floatx",
    "image_data_format",
    "installed",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_nnx_enabled",
    "is_traceback_filtering_enabled",
    "max_epochs",
    "max_steps_per_epoch",
    "rng_mode",
    "set_backend",
    "set_dtype_policy",  # noqa: F822
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_max_epochs",
    "set_max_steps_per_epoch",
    "set_rng",
    "use_backend",
]


def __dir__():
    return list(__all__)
