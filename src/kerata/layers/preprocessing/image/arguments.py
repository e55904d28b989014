"""Arguments that image layers share: ranges to draw from, ranges of pixel values."""

from kerata.core.errors import one_of

INTERPOLATIONS = ("nearest", "bilinear")
FILL_MODES = ("reflect", "wrap", "constant", "nearest")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number_range(value, name, layer, low, high, symmetric=False):
    """`(lower, upper)`: a pair as given, sorted; a number `f` as `(low, f)`, or `(-f, f)` if symmetric.

    Raises:
        ValueError: neither a number nor two, or outside [low, high].
    """
    if is_number(value):
        pair = (-abs(value), abs(value)) if symmetric else (low, value) if value >= low else None
    elif isinstance(value, (list, tuple)) and len(value) == 2 and all(map(is_number, value)):
        pair = tuple(sorted(value))
    else:
        pair = None
    if pair is None or pair[0] < low or pair[1] > high:
        raise ValueError(
            f"{layer._where()}: The `{name}` argument should be a number, or two of them, within [{low}, {high}], "
            f"but {value!r} was given."
        )
    return pair


def pixel_range(value, layer):
    """`value_range`, checked: two numbers, the first the smaller."""
    good = isinstance(value, (list, tuple)) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]
    if not good:
        raise ValueError(
            f"{layer._where()}: The `value_range` argument should be a list of two numbers, the lowest and the "
            f"highest value a pixel can have, but {value!r} was given."
        )
    return value


def choice(value, choices, name, layer):
    return one_of(value, choices, name, layer._where())


def probability(value, name, layer):
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{layer._where()}: `{name}` must be a number from 0 to 1, but {value!r} was given.")
    return value
