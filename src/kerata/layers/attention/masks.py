"""Which places attend to which: padding, causality and windows as one boolean mask."""

from kerata import ops


def combined(*masks):
    """Where all masks that there are hold; `None` if there are none."""
    result = None
    for mask in masks:
        if mask is not None:
            mask = ops.cast(mask, "bool")
            result = mask if result is None else ops.logical_and(result, mask)
    return result


def padding_mask(query_mask, value_mask, key_mask):
    """`(batch, T, S)` from the masks of the steps."""
    rows = None if query_mask is None else ops.expand_dims(query_mask, -1)
    columns = [None if m is None else ops.expand_dims(m, -2) for m in (value_mask, key_mask)]
    return combined(rows, *columns)


def causal_mask(rows, columns):
    """`(1, T, S)`: no place attends to later ones."""
    return ops.expand_dims(_places(rows, 1) >= _places(columns, 0), 0)


def window_mask(rows, columns, window):
    """`(1, T, S)`: places attend only to those fewer than `window` steps away."""
    return ops.expand_dims(ops.abs(_places(rows, 1) - _places(columns, 0)) < window, 0)


def _places(n, axis):
    return ops.expand_dims(ops.arange(n, dtype="int32"), axis)
