"""The three parts of a batch: inputs, targets, sample weights."""


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """Put inputs, targets and weights into the form in which `fit` hands them to `train_step`.

    Args:
        x: inputs.
        y: targets, if there are any.
        sample_weight: a weight for each sample, if there are any.

    Returns:
        `x` itself when it is alone and neither a list nor a tuple; else a tuple `(x,)`, `(x, y)` or
        `(x, y, sample_weight)`.

    >>> import kerata
    >>> kerata.utils.pack_x_y_sample_weight("inputs", "targets")
    ('inputs', 'targets')
    """
    if sample_weight is not None:
        return (x, y, sample_weight)
    if y is not None:
        return (x, y)
    return (x,) if isinstance(x, (list, tuple)) else x


def unpack_x_y_sample_weight(data):
    """Inputs, targets and weights from what `train_step` got, with `None` for parts that are missing.

    Args:
        data: `x`, `(x,)`, `(x, y)` or `(x, y, sample_weight)`.

    Returns:
        `(x, y, sample_weight)`.

    >>> import kerata
    >>> kerata.utils.unpack_x_y_sample_weight(("inputs", "targets"))
    ('inputs', 'targets', None)
    """
    if not isinstance(data, (tuple, list)):
        return (data, None, None)
    if not 1 <= len(data) <= 3:
        raise ValueError(
            "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, but a "
            f"{type(data).__name__} of {len(data)} elements was found."
        )
    return (*data, *(None,) * (3 - len(data)))
