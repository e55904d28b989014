"""Validation data: split off the end of the training data, or given apart."""

import math

from kerata.core import tree
from kerata.training.data import rows
from kerata.training.data.arrays import cardinality, named_rows
from kerata.training.data.make import kind_of
from kerata.training.data.parts import unpack_x_y_sample_weight


def train_validation_split(arrays, validation_split):
    """Split the last part of the samples off, before any shuffling.

    Args:
        arrays: `(x, y, sample_weight)`.
        validation_split: fraction of the samples that goes to validation, between 0 and 1.

    Returns:
        `((x, y, sample_weight), (x, y, sample_weight))`, for training and for validation.
    """
    if not 0 < validation_split < 1:
        raise ValueError(f"fit: `validation_split` must lie between 0 and 1, but {validation_split!r} was given.")
    names = ("x", "y", "sample_weight")
    for part in arrays:
        if kind_of(part) != "arrays":
            raise ValueError(
                "Argument `validation_split` is only supported for tensors or NumPy arrays, but a "
                f"{kind_of(part)} was given. Give `validation_data` instead."
            )
    parts = tuple(named_rows(part, name) for part, name in zip(arrays, names, strict=True))
    count = cardinality(parts)
    at = math.floor(count * (1.0 - validation_split))
    if at in (0, count):
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a validation "
            f"and training set as specified by `validation_split={validation_split}`: one of them would be "
            "empty. Provide more data, or another value."
        )
    return _part(parts, 0, at), _part(parts, at, count)


def _part(parts, start, stop):
    return tree.map_structure(lambda leaf: None if leaf is None else rows.window(leaf, start, stop), parts)


def unpack_validation_data(validation_data):
    """`(x, y, sample_weight)` of `validation_data`, a tuple of arrays or a data set (which is then `x`)."""
    if isinstance(validation_data, (tuple, list)):
        return unpack_x_y_sample_weight(validation_data)
    return validation_data, None, None
