"""Variables whose values a file is about to set: they need not be made twice."""

from contextlib import contextmanager
from contextvars import ContextVar

_waiting = ContextVar("kerata_waiting_variables", default=None)


@contextmanager
def values_follow():
    """Within the block, a new variable waits for its value instead of being initialized.

    Yields the list of those variables. Read before a value comes, one is initialized after all.
    """
    token = _waiting.set([])
    try:
        yield _waiting.get()
    finally:
        _waiting.reset(token)


def waiting():
    """The list that new variables enter which wait; `None`: they don't."""
    return _waiting.get()
