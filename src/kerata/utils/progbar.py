"""`Progbar`, which callbacks use too."""

from kerata.callbacks.progbar import Progbar

__all__ = ["Progbar"]
