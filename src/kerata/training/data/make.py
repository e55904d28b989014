"""From what the user passes as data to a source."""

import collections.abc
import inspect

from kerata.training.data import rows
from kerata.training.data.arrays import ArraySource
from kerata.training.data.pydataset import PyDataset, PyDatasetSource
from kerata.training.data.source import Source
from kerata.training.data.streams import GeneratorSource, GrainSource, TensorFlowSource, TorchSource


def make_source(
    x, y=None, sample_weight=None, batch_size=None, steps=None, shuffle=False, class_weight=None, seed=None
):
    """A source of batches for the training loop.

    Args:
        x: arrays (NumPy, pandas, tensors of any framework, SciPy sparse, HDF5, lists of numbers; also in
            dicts, lists and tuples), `PyDataset`, generator or generator function, `tf.data.Dataset`, torch
            `DataLoader`, grain's `MapDataset`, `IterDataset` or `DataLoader`.
        y: targets; only with arrays.
        sample_weight: weights of samples; only with arrays.
        batch_size: samples in a batch of arrays, 32 unless given. Others come in batches.
        steps: batches in an epoch; the whole data unless given.
        shuffle: whether arrays, or the batches of a finite `PyDataset`, come in a new order each epoch;
            `"batch"` to shuffle arrays only inside each batch.
        class_weight: `{class number: weight}`.
        seed: of the order; drawn from the global seed unless given.

    Returns:
        A `Source`.
    """
    if isinstance(x, Source):
        return x
    kind = kind_of(x)
    if kind == "arrays":
        return ArraySource(x, y, sample_weight, batch_size, steps, shuffle, class_weight, seed)
    _refuse_separate_parts(kind, y, sample_weight)
    if kind == "PyDataset":
        return PyDatasetSource(x, steps, shuffle, class_weight, seed)
    make = {
        "generator": GeneratorSource,
        "tf.data.Dataset": TensorFlowSource,
        "torch DataLoader": TorchSource,
        "grain data set": GrainSource,
    }[kind]
    return make(x, steps, class_weight)


def kind_of(x):
    """Which kind of data `x` is, in the words of messages; no framework is imported to tell."""
    if isinstance(x, PyDataset):
        return "PyDataset"
    if isinstance(x, collections.abc.Iterator) or inspect.isgeneratorfunction(x):
        return "generator"
    if rows.family(type(x)) == "grain" and hasattr(x, "__iter__"):
        return "grain data set"
    framework = rows.framework(type(x))
    if framework == "tensorflow" and hasattr(x, "element_spec") and hasattr(x, "cardinality"):
        return "tf.data.Dataset"
    if framework == "torch" and hasattr(x, "collate_fn"):
        return "torch DataLoader"
    if framework == "torch" and not hasattr(x, "shape"):
        raise ValueError(
            f"Unrecognized data type: x is a {type(x).__name__}, a torch data set, which has no batches. "
            "Wrap it in `torch.utils.data.DataLoader(x, batch_size=32, shuffle=True)`."
        )
    return "arrays"


def _refuse_separate_parts(kind, y, sample_weight):
    for value, argument, noun in ((y, "y", "targets"), (sample_weight, "sample_weights", "sample weights")):
        if value is not None:
            raise ValueError(
                f"When providing `x` as a {kind}, `{argument}` should not be passed. Instead, the {noun} "
                f"should be included as part of the {kind}."
            )
