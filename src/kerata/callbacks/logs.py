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

    Writing fetches nothing; nor, if the names were given, does asking for them (`in`, `keys()`, iterating).

    Args:
        read: function without arguments that gives the dict.
        names: its keys, if known beforehand.
    """

    __slots__ = ("_nameless", "_read")

    def __init__(self, read, names=None):
        # Never empty: code written in C (`json`) looks at a dict's size before it asks for anything.
        super().__init__(dict.fromkeys((_UNREAD,) if names is None else names, _UNREAD))
        self._read = read
        self._nameless = names is None

    def _fetch(self):
        if self._read is not None:
            read, self._read = self._read, None
            written = {name: value for name, value in dict.items(self) if value is not _UNREAD}
            dict.clear(self)
            dict.update(self, as_numbers(read()))
            dict.update(self, written)  # what was written since stands
        return self

    def _named(self):
        return self._fetch() if self._nameless else self

    def __contains__(self, name):
        return dict.__contains__(self._named(), name)

    def __len__(self):
        return dict.__len__(self._named())

    def __iter__(self):
        return dict.__iter__(self._named())

    def keys(self):
        return dict.keys(self._named())

    def __getitem__(self, name):
        value = dict.__getitem__(self._named(), name)
        return dict.__getitem__(self._fetch(), name) if value is _UNREAD else value

    def get(self, name, default=None):
        return self[name] if name in self else default  # noqa: SIM401  (this is `get`)

    def values(self):
        return dict.values(self._fetch())

    def items(self):
        return dict.items(self._fetch())

    def pop(self, name, *default):
        return dict.pop(self._fetch(), name, *default)

    def popitem(self):
        return dict.popitem(self._fetch())

    def setdefault(self, name, default=None):
        return dict.setdefault(self._fetch(), name, default)

    def __delitem__(self, name):
        dict.__delitem__(self._fetch(), name)

    def copy(self):
        return dict(self.items())

    def __or__(self, other):
        return self.copy() | other

    def __ror__(self, other):
        return other | self.copy()

    def __eq__(self, other):
        return dict.__eq__(self._fetch(), other._fetch() if isinstance(other, LazyLogs) else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __repr__(self):
        return dict.__repr__(self._fetch())

    def __reduce__(self):
        return dict, (self.copy(),)


_UNREAD = object()
