"""Sequences of one length, and data sets in two parts."""

import sys
from itertools import islice

import numpy as np

from kerata import backends
from kerata.core import tree
from kerata.training.data.rows import framework


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences of different lengths as one array.

    Args:
        sequences: list of sequences of numbers, or of vectors of one shape.
        maxlen: length to bring all to; that of the longest unless given.
        dtype: of the array; `object` for texts of different lengths.
        padding: `"pre"` or `"post"`: where shorter ones are filled up.
        truncating: `"pre"` or `"post"`: where longer ones are cut.
        value: what is filled in.

    Returns:
        Array of shape `(len(sequences), maxlen, ...)`.

    >>> import kerata
    >>> kerata.utils.pad_sequences([[1], [2, 3]])
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for name, given in (("Padding", padding), ("Truncating", truncating)):
        if given not in ("pre", "post"):
            raise ValueError(f'{name} type "{given}" not understood: it must be "pre" or "post".')
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {sequence!r}")
    if maxlen is None:
        maxlen = max((len(sequence) for sequence in sequences), default=0)
    first = next((sequence for sequence in sequences if len(sequence)), None)
    shape = () if first is None else np.asarray(first).shape[1:]
    _check_value(value, dtype)
    result = np.full((len(sequences), maxlen, *shape), value, dtype)
    for position, (row, sequence) in enumerate(zip(result, sequences, strict=True)):
        part = np.asarray(_cut(sequence, maxlen, truncating), dtype)
        if not len(part):
            continue
        if part.shape[1:] != shape:
            raise ValueError(
                f"Shape of sample {part.shape[1:]} of sequence at position {position} is different from "
                f"expected shape {shape}"
            )
        if padding == "post":
            row[: len(part)] = part
        else:
            row[maxlen - len(part) :] = part
    return result


def _cut(sequence, maxlen, truncating):
    if truncating == "post":
        return sequence[:maxlen]
    return sequence[max(len(sequence) - maxlen, 0) :]


def _check_value(value, dtype):
    takes_text = np.issubdtype(dtype, np.str_) or dtype in (object, "object")
    if isinstance(value, str) and not takes_text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}. You should set "
            "`dtype=object` for variable length strings."
        )


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None):
    """Split a data set in two, for training and for testing.

    Args:
        dataset: array, list or tuple of arrays of one length, `tf.data.Dataset` or torch `Dataset`.
        left_size: samples of the left part, as a fraction or a number; what is left over unless given.
        right_size: the same for the right part.
        shuffle: whether to shuffle before splitting.
        seed: of the shuffling.
        preferred_backend: `"tensorflow"` for `tf.data.Dataset`s, `"torch"` for torch `Dataset`s as results.
            By default what the data set is itself; for arrays torch's on that backend, TensorFlow's on
            others.

    Returns:
        Two data sets.
    """
    kind, samples, count, batch_size = _samples(dataset)
    left, right = _sizes(left_size, right_size, count)
    order = np.random.default_rng(seed).permutation(count) if shuffle else np.arange(count)
    parts = order[:left], order[left : left + right]
    default = kind or ("torch" if backends.current_name() == "torch" else "tensorflow")
    target = preferred_backend or default
    if target == "torch":
        return tuple(_torch_part(dataset if kind == "torch" else None, samples, part) for part in parts)
    if target != "tensorflow":
        raise ValueError(
            f'split_dataset: `preferred_backend` must be "tensorflow" or "torch", not {preferred_backend!r}.'
        )
    return tuple(_tensorflow_part(samples, part, batch_size) for part in parts)


def _samples(dataset):
    """`(framework, function of indices to stacked samples, number of samples, size of batches)`."""
    if isinstance(dataset, np.ndarray):
        return None, lambda at: dataset[at], len(dataset), None
    if isinstance(dataset, (list, tuple)):
        return None, *_of_arrays(dataset), None
    if hasattr(dataset, "element_spec"):
        batch_size = _batch_size(dataset)
        rows = list((dataset.unbatch() if batch_size else dataset).as_numpy_iterator())
        return "tensorflow", _stacker(rows), len(rows), batch_size
    if (
        framework(type(dataset)) == "torch"
        and hasattr(dataset, "__getitem__")
        and not hasattr(dataset, "shape")
    ):
        return (
            "torch",
            lambda at: _stacker([_on_host(dataset[int(i)]) for i in at])(range(len(at))),
            len(dataset),
            None,
        )
    if (
        framework(type(dataset)) == "torch"
        and not hasattr(dataset, "shape")
        and not hasattr(dataset, "collate_fn")
    ):
        rows = [_on_host(sample) for sample in dataset]
        return "tensorflow", _stacker(rows), len(rows), None
    raise TypeError(
        f"Unsupported dataset type: {type(dataset)}. Give an array, a list or tuple of arrays, a "
        "tf.data.Dataset or a torch Dataset."
    )


def _of_arrays(arrays):
    for i, array in enumerate(arrays):
        if not isinstance(array, np.ndarray):
            raise ValueError(
                f"Expected a {type(arrays).__name__} of `numpy.ndarray` objects, Received: {type(array)} at "
                f"index {i}."
            )
        if len(array) != len(arrays[0]):
            raise ValueError(
                f"Received a {type(arrays).__name__} of NumPy arrays with different lengths. Mismatch found "
                f"at index {i}, Expected shape={arrays[0].shape} Received shape={array.shape}."
            )
    return lambda at: tuple(array[at] for array in arrays), len(arrays[0]) if arrays else 0


def _batch_size(dataset):
    """Size of the batches of a `tf.data.Dataset` that ends with batching, else `None`."""
    if "BatchDataset" not in type(dataset).__name__:
        return None
    first = next(iter(islice(dataset, 1)), None)
    return None if first is None else int(tree.flatten(first)[0].shape[0])


def _stacker(rows):
    return lambda at: tree.map_structure(lambda *leaves: np.stack(leaves), *[rows[int(i)] for i in at])


def _on_host(sample):
    return tree.map_structure(
        lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else np.asarray(leaf), sample
    )


def _sizes(left, right, count):
    if left is None and right is None:
        raise ValueError(
            "At least one of the `left_size` or `right_size` must be specified. Received: left_size=None and "
            "right_size=None"
        )
    sizes = {"left_size": left, "right_size": right}
    for name, size in sizes.items():
        _check_size(name, size, count)
    if isinstance(left, float) and isinstance(right, float) and left + right > 1:
        raise ValueError(
            "The sum of `left_size` and `right_size` is greater than 1. It must be less than or equal to 1."
        )
    # Fractions: the left part is rounded down, the right part up as far as there is room.
    if isinstance(left, float):
        left = int(left * count)
    if isinstance(right, float):
        right = min(int(np.ceil(right * count)), count - (left or 0))
    left = count - right if left is None else int(left)
    right = count - left if right is None else int(right)
    if left + right > count:
        raise ValueError(
            f"The sum of `left_size` and `right_size` should be smaller than the {count} samples that there "
            f"are. Received: {left} + {right}."
        )
    for name, size in (("left", left), ("right", right)):
        if size == 0:
            raise ValueError(
                f"With `dataset` of length={count}, `left_size`={left} and `right_size`={right}. Resulting "
                f"{name} side dataset split will be empty. Adjust any of the aforementioned parameters"
            )
    return left, right


def _check_size(name, size, count):
    if size is None:
        return
    if isinstance(size, bool) or not isinstance(size, (int, float, np.integer)):
        raise TypeError(f"Invalid `{name}` Type. Expected: int or float or None, Received: {type(size)}.")
    if size <= 0 or size >= (1 if isinstance(size, float) else count):
        raise ValueError(
            f"`{name}` should be either a positive integer smaller than {count}, or a float within the range "
            f"`[0, 1]`. Received: {name}={size}"
        )


def _tensorflow_part(samples, at, batch_size):
    backends.load("tensorflow")
    tf = sys.modules["tensorflow"]
    part = tf.data.Dataset.from_tensor_slices(samples(at))
    if batch_size is not None:
        part = part.batch(batch_size)
    return part.prefetch(tf.data.AUTOTUNE)


def _torch_part(dataset, samples, at):
    backends.load("torch")
    torch = sys.modules["torch"]
    if dataset is not None:
        return torch.utils.data.Subset(dataset, at.tolist())
    stacked = samples(at)
    if not isinstance(stacked, dict) and not any(map(tree.is_nested, stacked)):
        flat = stacked if isinstance(stacked, (tuple, list)) else (stacked,)
        return torch.utils.data.TensorDataset(
            *[torch.from_numpy(np.ascontiguousarray(array)) for array in flat]
        )
    rows = [
        tree.map_structure(lambda leaf, i=i: torch.from_numpy(np.asarray(leaf[i])), stacked)
        for i in range(len(at))
    ]
    return torch.utils.data.Subset(rows, range(len(rows)))
