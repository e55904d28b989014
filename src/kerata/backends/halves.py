"""Functions that a framework hasn't got in the half precisions, of numbers that fit in them."""

import functools


def in_float32(halves, wide, cast):
    """Decorator of natives: operands in half precision are computed with in float32, and what comes out goes back to theirs.

    Args:
        halves: the framework's dtypes to do so with.
        wide: its float32.
        cast: `cast(x, dtype)`.
    """

    def decorate(native):
        @functools.wraps(native)
        def run(x, *rest):
            dtype = x.dtype
            if dtype not in halves:
                return native(x, *rest)
            result = native(*(cast(a, wide) if getattr(a, "dtype", None) in halves else a for a in (x, *rest)))
            # Integers and complex numbers stay what they are.
            back = lambda r: cast(r, dtype) if r.dtype == wide else r  # noqa: E731
            return tuple(map(back, result)) if isinstance(result, tuple) else back(result)

        return run

    return decorate
