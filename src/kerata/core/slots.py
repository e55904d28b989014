"""`Slot`: a context variable that compilers of Python code can see into."""

from contextvars import ContextVar

# All slots, and who is to be told of each that's made later: backends whose compilers must know.
slots, listeners = [], []


class _Mirror:
    """By slot name, the value last set in the process: plain attributes, which compilers can read and set."""


mirror = _Mirror()
# What a compiler takes in the places of a slot's `get`, `bind` and `unbind`. Functions of globals alone.
_TRACED = """
def get(): return mirror.{0}
def bind(value): return mirror.{0}
def unbind(token): mirror.{0} = token
"""


class Slot:
    """A `ContextVar` with default `None`: threads and tasks don't see each other's values.

    `get`, `bind` and `unbind` are the variable's own methods, always the same objects: a compiler goes by these.
    """

    __slots__ = ("bind", "get", "name", "unbind")

    def __init__(self, name):
        variable = ContextVar(f"kerata_{name}", default=None)
        self.name = name
        self.get, self.bind, self.unbind = variable.get, variable.set, variable.reset
        setattr(mirror, name, None)
        slots.append(self)
        for hear in listeners:
            hear(self)

    def set(self, value):
        """Set the value; returns what `reset` takes."""
        token = self.bind(value)
        setattr(mirror, self.name, value)
        return token

    def reset(self, token):
        """Give back the value from before `set`."""
        self.unbind(token)
        setattr(mirror, self.name, self.get())

    def traced(self):
        """Pairs of the methods and of what means the same to a compiler."""
        namespace = {"mirror": mirror}
        exec(_TRACED.format(self.name), namespace)
        return [(self.get, namespace["get"]), (self.bind, namespace["bind"]), (self.unbind, namespace["unbind"])]
