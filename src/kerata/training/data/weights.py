"""Weights of samples and classes, as one weight (or row of weights) a sample."""

import numpy as np

from kerata.core import config, tree
from kerata.core.dtypes import to_numpy_dtype


def class_weight_to_sample_weights(y, class_weight):
    """The weight of each sample's class; 1 for classes that have none.

    Args:
        y: class numbers, or one-hot rows.
        class_weight: `{class number: weight}`.
    """
    y = np.asarray(y)
    if y.ndim > 1:
        y = y.argmax(-1) if y.shape[-1] != 1 else y[..., 0]
    dtype = to_numpy_dtype(config.floatx())
    labels = np.round(y).astype(np.int64)
    result = np.ones(labels.shape, dtype)
    for label, weight in class_weight.items():
        result[labels == label] = weight
    return result


def check_class_weight(class_weight):
    """A copy with plain numbers as keys and values, or an error."""
    if not isinstance(class_weight, dict):
        raise ValueError(
            "`class_weight` must be a dict of class numbers and weights, such as `{0: 1.0, 1: 5.0}`, but "
            f"{class_weight!r} was given."
        )
    try:
        return {_class_number(label): float(weight) for label, weight in class_weight.items()}
    except (TypeError, ValueError):
        raise ValueError(
            "`class_weight` must map class numbers to weights, as in `{0: 1.0, 1: 5.0}`, but "
            f"{class_weight!r} was given."
        ) from None


def _class_number(label):
    if isinstance(label, str) or int(label) != label:
        raise ValueError
    return int(label)


def match_sample_weight(y, sample_weight):
    """One weight array for each target.

    Args:
        y: structure of target arrays.
        sample_weight: an array, or a structure like `y` whose leaves are arrays or `None`.
    """
    if sample_weight is None or y is None:
        return sample_weight
    targets = tree.flatten(y)
    if not tree.is_nested(sample_weight):
        if not tree.is_nested(y):
            return sample_weight
        if len(sample_weight.shape) != 1:
            raise ValueError(
                "For a model with multiple outputs, when providing a single `sample_weight` array, it must "
                "hold one number a sample, that is, have the shape `(samples,)`, but its shape is "
                f"{tuple(sample_weight.shape)}. To weight each output in its own way, give one array for "
                "each."
            )
        return tree.pack_sequence_as(y, [sample_weight] * len(targets))
    weights = tree.flatten(sample_weight)
    if len(targets) == 1 == len(weights) and not tree.is_nested(y):
        return weights[0]
    try:
        tree.assert_same_structure(y, sample_weight)
    except ValueError as error:
        raise ValueError(f"You should provide one `sample_weight` array per output in `y`. {error}") from None
    return sample_weight


def weigh_classes(y, sample_weight, class_weight):
    """Sample weights from class weights, checked against what else was given."""
    if sample_weight is not None:
        raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
    if y is None:
        raise ValueError("`class_weight` was given, but there are no targets `y` to look the classes up in.")
    targets = tree.flatten(y)
    if len(targets) > 1:
        raise ValueError(
            f"`class_weight` is only supported for Models with a single output, but there are {len(targets)} "
            "targets. Give `sample_weight` for each output instead."
        )
    return tree.pack_sequence_as(y, [class_weight_to_sample_weights(targets[0], class_weight)])
