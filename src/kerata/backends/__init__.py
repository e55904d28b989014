"""Backends as values: load one, make it current, enter it for a block.

A backend is the module `kerata.backends.<name>`: a namespace of native functions by op name, and a
handful of capabilities (see `docs/architecture.md`). Nothing is imported until a backend is used.
"""

import importlib
import importlib.metadata
import importlib.util
import re
from contextlib import contextmanager

from kerata.core import config
from kerata.core.errors import nearest
from kerata.core.slots import Slot

# The oldest framework releases that have what the natives call.
MINIMUM = {
    "tensorflow": "2.16.1",
    "jax": "0.4.20",
    "torch": "2.1.0",
    "openvino": "2025.3",
    "onnxruntime": "1.17",
    "numpy": "1.26",
}
TRAINING = ("jax", "torch", "tensorflow")
_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tf-nightly")}
_INSTALL = {
    "jax": 'pip install "kerata[jax]"',
    "torch": 'pip install "kerata[torch]"',
    "tensorflow": 'pip install "kerata[tensorflow]"',
    "openvino": 'pip install "kerata[openvino]"',
    "onnxruntime": 'pip install "kerata[onnx]"',
    "numpy": "pip install numpy",
}


class _Unloaded:
    """Stands where the default backend will be: no type is native to it, so ops go the slow path, which loads it."""

    TENSOR = None
    TYPES = frozenset()
    FLOATS = frozenset()
    WIDE_FLOATS = WIDE_INTEGERS = frozenset()
    NAME = None

    @staticmethod
    def is_tensor(x):
        return False


class _Process:
    backend = _Unloaded


selected = Slot("backend")
process = _Process()
_loaded = {}


def load(name):
    """The backend of this name, imported if need be.

    Raises:
        ValueError: unknown name.
        ImportError: the framework is missing or older than the minimum; the message gives the command.
    """
    backend = _loaded.get(name)
    if backend is None:
        if name not in MINIMUM:
            raise ValueError(f"Unknown backend {name!r}.{nearest(name, MINIMUM)} Known: {', '.join(MINIMUM)}.")
        check_installed(name)
        backend = _loaded[name] = importlib.import_module(f"kerata.backends.{name}")
    return backend


def check_installed(name):
    """Raise the `ImportError` that says how to get the framework, unless it's there and new enough."""
    version = installed_version(name)
    if version is None:
        raise ImportError(f"The backend {name!r} needs the package {name!r}, which isn't installed: {_INSTALL[name]}")
    if _parts(version) < _parts(MINIMUM[name]):
        raise ImportError(
            f"The backend {name!r} needs {name} {MINIMUM[name]} or newer, but {version} is installed: "
            f"{_INSTALL[name].replace('install', 'install --upgrade', 1)}"
        )


def installed_version(name):
    """Version of the installed framework from its metadata (no import), or `None`."""
    if importlib.util.find_spec(name) is None:
        return None
    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    # Importable without metadata (a source tree): taken at its word.
    return MINIMUM[name]


def _parts(version):
    return tuple(int(n) for n in re.findall(r"\d+", version.split("+")[0])[:3])


def installed():
    """Names of the backends whose framework is installed and new enough."""
    found = []
    for name in MINIMUM:
        try:
            check_installed(name)
        except ImportError:
            continue
        found.append(name)
    return found


def current():
    """The backend in force in this context; loads the default one on first use."""
    backend = selected.get() or process.backend
    if backend is _Unloaded:
        name = config.default_backend()
        try:
            backend = load(name)
        except (ImportError, ValueError) as error:
            raise type(error)(
                f"{error}\n(The backend {name!r} comes from {config.default_backend_reason()}.)"
            ) from None
        process.backend = backend
    return backend


def current_name():
    """Name of the current backend; imports no framework."""
    backend = selected.get() or process.backend
    return config.default_backend() if backend is _Unloaded else backend.NAME


def set_backend(backend):
    """Make a backend the current one, at once and for the whole process.

    Models and tensors made before stay on theirs.

    Args:
        backend: `"jax"`, `"torch"`, `"tensorflow"`, `"numpy"`, `"openvino"` or `"onnxruntime"`.

    Raises:
        ValueError: unknown name.
        ImportError: its framework is missing or too old.
    """
    process.backend = load(backend)
    if selected.get() is not None:
        selected.set(process.backend)


@contextmanager
def use_backend(name):
    """Within the block, work on this backend.

    >>> import kerata
    >>> with kerata.config.use_backend("numpy"):
    ...     type(kerata.ops.ones(2)).__name__
    'ndarray'
    """
    token = selected.set(load(name) if isinstance(name, str) else name)
    try:
        yield selected.get()
    finally:
        selected.reset(token)
