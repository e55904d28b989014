"""Logs that stay on the device until someone reads them."""


def as_numbers(logs):
    """A flat dict of Python numbers from a dict of scalars of any kind, nested or not."""
    flat = {}
    for name, value in logs.items():
        if isinstance(value, dict):
            flat.update(as_numbers(value))
        else:
            flat[name] = as_number(value)
    return flat


def as_number(value):
    """A scalar of any kind as a Python float; what is no scalar is left as it is."""
    if type(value) is float or getattr(value, "ndim", 0):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


class LazyLogs(dict):
    """A dict of numbers that are fetched, all together and once, when one is read.

    Asking for names alone (`in`, `keys()`, `len`) fetches nothing, and writing another name neither.

    Args:
        read: function without arguments that gives the dict.
        names: its keys, if known beforehand.
    """

    __slots__ = ("_names", "_read")

    def __init__(self, read, names=None):
        super().__init__()
        self._read = read
        self._names = None if names is None else tuple(names)

    def _fetch(self):
        if self._read is not None:
            read, self._read = self._read, None
            written = list(dict.items(self))  # it stands, in its place after what is read
            dict.clear(self)
            dict.update(self, as_numbers(read()))
            dict.update(self, written)
        return self

    def keys(self):
        if self._read is not None and self._names is not None:
            return dict.fromkeys((*self._names, *dict.keys(self))).keys()
        return dict.keys(self._fetch())

    def __contains__(self, name):
        return name in self.keys()

    def __len__(self):
        return len(self.keys())

    def __iter__(self):
        return iter(self.keys())

    def __missing__(self, name):
        if self._read is None:
            raise KeyError(name)
        return self._fetch()[name]

    def get(self, name, default=None):
        return self[name] if name in self else default  # noqa: SIM401  (this is `get`)

    def pop(self, name, *default):
        return dict.pop(self._fetch(), name, *default)

    def __delitem__(self, name):
        dict.__delitem__(self._fetch(), name)

    def setdefault(self, name, default=None):
        return dict.setdefault(self._fetch(), name, default)

    def copy(self):
        return dict(self.items())

    def __eq__(self, other):
        return dict.__eq__(self._fetch(), other._fetch() if isinstance(other, LazyLogs) else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __or__(self, other):
        return self.copy() | other

    def __ror__(self, other):
        return other | self.copy()

    def __repr__(self):
        return dict.__repr__(self._fetch())

    def __reduce__(self):
        return dict, (self.copy(),)

    def values(self):
        return dict.values(self._fetch())

    def items(self):
        return dict.items(self._fetch())

    def popitem(self):
        return dict.popitem(self._fetch())

    def clear(self):
        self._read = None
        super().clear()
