"""Warnings that point at the user's line."""

import sys
import warnings

from kerata.core.registry import is_library


def warn(message):
    """Warn at the first caller outside the library, however deep the call came."""
    level, frame = 1, sys._getframe(0)
    while frame is not None and is_library(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
