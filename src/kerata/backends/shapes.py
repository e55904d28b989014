"""What a function of native tensors gives for shapes some of whose dimensions aren't known."""

# Tried in place of an unknown dimension. Long enough for windows, divisible by what reshapes divide by.
LENGTHS = (64, 96)


def with_unknown(run, specs):
    """Shapes and dtypes of results: a dimension that differs between two lengths of the unknown ones is unknown too.

    Args:
        run: function of a list of `(shape, dtype name)`, all known, returning such a list.
        specs: list of `(shape, dtype name)`; `None`: unknown.
    """
    if all(None not in shape for shape, _ in specs):
        return run(specs)
    shorter, longer = (
        run([(tuple(length if d is None else d for d in shape), dtype) for shape, dtype in specs]) for length in LENGTHS
    )
    return [
        (tuple(m if m == n else None for m, n in zip(a, b, strict=True)), dtype)
        for (a, dtype), (b, _) in zip(shorter, longer, strict=True)
    ]
