"""Kerata's own version, and the Keras release whose public API it offers."""

__version__ = "0.1.0"

# Packages branch on `keras.__version__`; under the `keras` alias (kerata.compat) they get this one.
KERAS_API_VERSION = "3.15.1"


def version():
    """Kerata's version, as `keras.version()` gives Keras's."""
    return __version__
