"""Messages that say what was wrong, where, what was found and what to do; and short tracebacks."""

import difflib
import functools
import operator
import os
import traceback

from kerata.core import config

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def nearest(name, choices):
    """A `Did you mean …?` clause for an unknown name, or an empty string."""
    close = difflib.get_close_matches(str(name), [str(c) for c in choices], n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""


def unknown(kind, name, choices, owner=""):
    """The `ValueError` for a name that nothing answers to."""
    choices = sorted(str(c) for c in choices)
    listed = ", ".join(choices) if len(choices) <= 12 else ", ".join(choices[:12]) + ", …"
    where = f"{owner}: " if owner else ""
    return ValueError(f"{where}unknown {kind} {name!r}.{nearest(name, choices)} Known: {listed}.")


def integer(value, name, owner, minimum=None):
    """`value` as an `int` (NumPy integers too), or an error that names argument and owner."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(
            f"{owner}: `{name}` must be {_expected(minimum)}, but {value!r} ({type(value).__name__}) was given."
        ) from None
    if minimum is not None and number < minimum:
        raise ValueError(f"{owner}: `{name}` must be {_expected(minimum)}, but {value!r} was given.")
    return number


def _expected(minimum):
    return {None: "an integer", 0: "a non-negative integer", 1: "a positive integer"}.get(
        minimum, f"an integer of at least {minimum}"
    )


def positive_int(value, name, owner):
    """`value` as a positive `int`, or a `ValueError`."""
    return integer(value, name, owner, minimum=1)


def int_tuple(value, length, name, owner, minimum=1):
    """An int or a sequence of `length` ints, as a tuple of ints."""
    if isinstance(value, (tuple, list)):
        if len(value) != length:
            raise ValueError(
                f"{owner}: `{name}` must be an integer or {length} integers, but {value!r} has {len(value)}."
            )
        return tuple(integer(v, name, owner, minimum) for v in value)
    return (integer(value, name, owner, minimum),) * length


def one_of(value, choices, name, owner):
    """`value` if it is one of `choices`, else a `ValueError` that lists them."""
    if value not in choices:
        listed = ", ".join(repr(c) for c in choices)
        raise ValueError(
            f"{owner}: `{name}` must be one of {listed}, but {value!r} was given.{nearest(value, choices)}"
        )
    return value


def short_traceback(function):
    """Drop Kerata's own frames from what a user sees of an error.

    The frames come back with `kerata.config.disable_traceback_filtering()`.
    """

    @functools.wraps(function)
    def filtered(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if config.is_traceback_filtering_enabled():
                error.__traceback__ = _users_frames(error.__traceback__)
            raise

    return filtered


def _users_frames(tb):
    frames = []
    while tb is not None:
        if not tb.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append(tb)
        tb = tb.tb_next
    outer = None
    for frame in reversed(frames):
        frame.tb_next = outer
        outer = frame
    return outer


def format_shapes(shapes):
    return ", ".join(str(tuple(s)) for s in shapes)


def describe_exception(error):
    """One line: type and message."""
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def wrong_value(kind):
    """Decorator for natives that raise `kind` for a matrix that can't be dealt with: a `ValueError`, as NumPy has it."""

    def decorate(native):
        @functools.wraps(native)
        def checked(*args):
            try:
                return native(*args)
            except kind as error:
                raise ValueError(str(error)) from error

        return checked

    return decorate
