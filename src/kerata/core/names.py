"""Names: automatic ones, and the path of the layer being called or built."""

import re
from collections import Counter
from contextlib import contextmanager

from kerata.core.slots import Slot

_counts = Counter()
_path = Slot("name_path")


def to_snake_case(name):
    """`"Conv2DTranspose"` -> `"conv2d_transpose"`."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(prefix):
    """The next free automatic name: `dense`, `dense_1`, …"""
    prefix = to_snake_case(prefix)
    number = _counts[prefix]
    _counts[prefix] = number + 1
    return f"{prefix}_{number}" if number else prefix


def uniquify(name):
    """`name` the first time, `name_1` the second, …"""
    number = _counts[name]
    _counts[name] = number + 1
    return f"{name}_{number}" if number else name


def reset_names():
    """Begin automatic names anew (part of `clear_session`)."""
    _counts.clear()


def get_uid(prefix=""):
    """Number of the next automatic name with this prefix, counted from 1."""
    _counts[prefix] += 1
    return _counts[prefix]


def name_scope(name):
    """Within the block, paths of new variables begin with `name`."""
    if not isinstance(name, str) or not name or "/" in name:
        raise ValueError(f"name_scope: `name` must be a string that isn't empty and has no `/` in it, not {name!r}.")
    return _name_scope(name)


@contextmanager
def _name_scope(name):
    token = _path.set((*path_parts(), name))
    try:
        yield name
    finally:
        _path.reset(token)


@contextmanager
def at_path(parts):
    """Within the block, paths begin with exactly these parts (for building a layer where it stands)."""
    token = _path.set(tuple(parts))
    try:
        yield
    finally:
        _path.reset(token)


def current_path():
    """Name scopes in force, joined by `/`."""
    return "/".join(path_parts())


def path_parts():
    return _path.get() or ()
