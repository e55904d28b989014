"""Settings of the process: `floatx`, `epsilon`, image layout, the default backend and why, flags.

Values come from `keras.json` in `KERAS_HOME` (by default `~/.keras`) and are read on first use;
nothing is written. `KERAS_BACKEND` goes before the file.
"""

import importlib.util
import json
import os
from dataclasses import dataclass

BACKENDS = ("jax", "torch", "tensorflow", "numpy", "openvino", "onnxruntime")
# What the search for a default looks for, in this order.
DEFAULT_ORDER = ("jax", "torch", "tensorflow", "numpy")
FLOATX = ("float16", "bfloat16", "float32", "float64")
DATA_FORMATS = ("channels_last", "channels_first")


@dataclass
class _Settings:
    floatx: str = "float32"
    epsilon: float = 1e-7
    image_data_format: str = "channels_last"
    backend: str | None = None
    backend_reason: str = ""
    nnx_enabled: bool = False
    flash_attention: bool | None = None
    traceback_filtering: bool = True
    interactive_logging: bool = True
    unsafe_deserialization: bool = False
    rng: str = "threefry"
    max_epochs: int | None = None
    max_steps_per_epoch: int | None = None
    loaded: bool = False


_settings = _Settings()
# Called after `floatx`, `epsilon` or `image_data_format` was set.
watchers = []


def home():
    """The folder of `keras.json` and downloads: `KERAS_HOME`, else `~/.keras`."""
    return os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")


def _load():
    if _settings.loaded:
        return _settings
    _settings.loaded = True
    path = os.path.join(home(), "keras.json")
    stored = {}
    if os.path.exists(path):
        try:
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            if not isinstance(stored, dict):
                raise ValueError("it does not hold a JSON object")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} can't be read as settings: {error}. Mend it or delete it.") from None
    for key, setter in (("floatx", set_floatx), ("epsilon", set_epsilon), ("image_data_format", set_image_data_format)):
        if key in stored:
            setter(stored[key])
    _choose_backend(stored.get("backend"), path)
    return _settings


def _choose_backend(stored, path):
    named = os.environ.get("KERAS_BACKEND")
    if named:
        _settings.backend, _settings.backend_reason = named, "the environment variable KERAS_BACKEND"
    elif stored:
        _settings.backend, _settings.backend_reason = stored, path
    else:
        for name in DEFAULT_ORDER:
            if importlib.util.find_spec(name) is not None:
                _settings.backend = name
                _settings.backend_reason = f"the first installed of {', '.join(DEFAULT_ORDER)}"
                return


def default_backend():
    """Name of the backend that is used when none was set in the process."""
    return _load().backend


def default_backend_reason():
    """Where that name comes from, in words."""
    return _load().backend_reason


def floatx():
    """Default floating dtype, as a string.

    >>> import kerata
    >>> kerata.config.floatx()
    'float32'
    """
    return _load().floatx


def set_floatx(value):
    """Set the default floating dtype: `"bfloat16"`, `"float16"`, `"float32"` or `"float64"`."""
    if value not in FLOATX:
        raise ValueError(f"set_floatx: the dtype must be one of {', '.join(FLOATX)}, not {value!r}.")
    _load().floatx = str(value)  # read first, lest the file be read over it
    _tell_watchers()


def _tell_watchers():
    for watcher in watchers:
        watcher()


def epsilon():
    """The small number that keeps divisions and logarithms finite (1e-7 unless set)."""
    return _load().epsilon


def set_epsilon(value):
    """Set the value of `epsilon()`."""
    _load().epsilon = float(value)
    _tell_watchers()


def image_data_format():
    """Default layout of image batches: `"channels_last"` or `"channels_first"`."""
    return _load().image_data_format


def set_image_data_format(data_format):
    """Set the default layout of image batches."""
    _load().image_data_format = standardize_data_format(data_format)
    _tell_watchers()


def standardize_data_format(data_format):
    """The given layout checked, or the default one for `None`."""
    if data_format is None:
        return image_data_format()
    data_format = str(data_format).lower()
    if data_format not in DATA_FORMATS:
        raise ValueError(f"`data_format` must be one of {', '.join(DATA_FORMATS)}, not {data_format!r}.")
    return data_format


def is_traceback_filtering_enabled():
    """Whether errors leave out Kerata's own frames."""
    return _settings.traceback_filtering


def enable_traceback_filtering():
    """Leave Kerata's own frames out of errors (the default)."""
    _settings.traceback_filtering = True


def disable_traceback_filtering():
    """Show Kerata's own frames in errors."""
    _settings.traceback_filtering = False


def is_interactive_logging_enabled():
    """Whether progress goes to the terminal rather than to `logging`."""
    return _settings.interactive_logging


def enable_interactive_logging():
    """Write progress and summaries to the terminal (the default)."""
    _settings.interactive_logging = True


def disable_interactive_logging():
    """Write progress and summaries through `logging`."""
    _settings.interactive_logging = False


def enable_unsafe_deserialization():
    """Let files build lambdas and arbitrary objects in this process. Only for files you wrote yourself."""
    _settings.unsafe_deserialization = True


def unsafe_deserialization_enabled():
    return _settings.unsafe_deserialization


def enable_flash_attention():
    """Use the fused attention kernel wherever the framework has one."""
    _settings.flash_attention = True


def disable_flash_attention():
    """Don't use the fused attention kernel."""
    _settings.flash_attention = False


def is_flash_attention_enabled():
    """True, False, or None when it's left to the framework."""
    return _settings.flash_attention


def is_nnx_enabled():
    """Whether Flax NNX integration is on. Kerata has none: always False."""
    return _settings.nnx_enabled


def set_rng(mode):
    """Choose the generator: `"threefry"` (same bits on each backend) or `"native"` (the framework's own)."""
    if mode not in ("threefry", "native"):
        raise ValueError(f"set_rng: the generator must be 'threefry' or 'native', not {mode!r}.")
    _settings.rng = mode


def rng_mode():
    """The generator in use, `"threefry"` or `"native"`."""
    return _settings.rng


def max_epochs():
    """Upper bound on epochs of any `fit`, or None."""
    if _settings.max_epochs is None and os.environ.get("KERAS_MAX_EPOCHS"):
        return int(os.environ["KERAS_MAX_EPOCHS"])
    return _settings.max_epochs


def set_max_epochs(max_epochs):
    """Bound the number of epochs of any `fit` (for trying scripts out)."""
    _settings.max_epochs = max_epochs


def max_steps_per_epoch():
    """Upper bound on the steps of any epoch, or None."""
    if _settings.max_steps_per_epoch is None and os.environ.get("KERAS_MAX_STEPS_PER_EPOCH"):
        return int(os.environ["KERAS_MAX_STEPS_PER_EPOCH"])
    return _settings.max_steps_per_epoch


def set_max_steps_per_epoch(max_steps_per_epoch):
    """Bound the number of steps of any epoch (for trying scripts out)."""
    _settings.max_steps_per_epoch = max_steps_per_epoch
