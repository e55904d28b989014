"""What a layer holds: its variables, sub-layers, seeds and metrics, found by being assigned as attributes."""

from kerata.core.construct import Constructed


class TrackedList(list):
    """A list in an attribute of a layer: what is put into it later belongs to the layer too."""

    def __init__(self, values, owner):
        super().__init__(values)
        self._owner = owner

    def append(self, value):
        self._owner._track(value)
        super().append(value)

    def insert(self, index, value):
        self._owner._track(value)
        super().insert(index, value)

    def extend(self, values):
        values = list(values)
        for value in values:
            self._owner._track(value)
        super().extend(values)

    def __setitem__(self, index, value):
        for old in self[index] if isinstance(index, slice) else [self[index]]:
            self._owner._untrack(old)
        for new in value if isinstance(index, slice) else [value]:
            self._owner._track(new)
        super().__setitem__(index, value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def remove(self, value):
        self._owner._untrack(value)
        super().remove(value)

    def pop(self, index=-1):
        value = super().pop(index)
        self._owner._untrack(value)
        return value

    def clear(self):
        for value in self:
            self._owner._untrack(value)
        super().clear()

    def __delitem__(self, index):
        for old in self[index] if isinstance(index, slice) else [self[index]]:
            self._owner._untrack(old)
        super().__delitem__(index)

    def __reduce__(self):
        return list, (list(self),)


class TrackedDict(dict):
    """A dict in an attribute of a layer."""

    def __init__(self, values, owner):
        super().__init__(values)
        self._owner = owner

    def __setitem__(self, key, value):
        if key in self:
            self._owner._untrack(self[key])
        self._owner._track(value)
        super().__setitem__(key, value)

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def pop(self, key, *default):
        value = super().pop(key, *default)
        self._owner._untrack(value)
        return value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def __delitem__(self, key):
        self._owner._untrack(self[key])
        super().__delitem__(key)

    def clear(self):
        for value in self.values():
            self._owner._untrack(value)
        super().clear()

    def __reduce__(self):
        return dict, (dict(self),)


def tracked(value, owner):
    """`value` with the lists and dicts in it replaced by tracking ones, and everything in it tracked."""
    kind = type(value)
    if kind is list:
        return TrackedList([tracked(v, owner) for v in value], owner)
    if kind is dict:
        return TrackedDict({k: tracked(v, owner) for k, v in value.items()}, owner)
    if kind is tuple:
        for v in value:
            tracked(v, owner)
        return value
    if isinstance(value, Constructed) or hasattr(kind, "_is_kerata_variable"):
        owner._track(value)
    return value


def stores(value):
    """Whether an attribute's value may hold something to track (a quick first look)."""
    return isinstance(value, (Constructed, list, tuple, dict)) or hasattr(type(value), "_is_kerata_variable")
