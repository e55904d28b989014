"""Data that can only be gone through in order: generators, `tf.data.Dataset`, torch `DataLoader`, grain."""

import sys
import warnings
from itertools import islice

from kerata.core import tree
from kerata.core.dtypes import standardize_dtype
from kerata.core.errors import positive_int
from kerata.training.data import weights
from kerata.training.data.source import Converted, Source, Spec, as_parts, native_framework, specs


class Stream(Source):
    """Base of sources that go through an iterator.

    Args:
        open_pass: function without arguments that begins a pass and returns its iterator.
        owner: what the user calls the data, for messages.
        once: whether there is only one pass.
    """

    def __init__(self, open_pass, owner, steps=None, class_weight=None, once=False):
        self.steps = None if steps is None else positive_int(steps, "steps_per_epoch", "fit")
        self._open_pass = open_pass
        self._once = once
        self._iterator = None
        self._peeked = []
        self._taken = 0  # in this pass
        self._to_skip = 0
        if class_weight is not None:
            class_weight = weights.check_class_weight(class_weight)
        self._converted = Converted(owner, class_weight)

    def epoch(self, index=0, start=0, raw=False):
        native = native_framework()
        convert = self._converted.raw if raw else self._converted.parts
        taken = start
        for batch in self._epoch_of_items(start):
            taken += 1
            yield convert(batch, native)
        self._warn_if_short(taken)

    def _epoch_of_items(self, start):
        if self._iterator is None:
            self._begin()
        left = None if self.steps is None else self.steps - start
        before = self._taken
        yield from islice(self._items(), left)
        # The epoch before had used the pass up to its last batch, which shows only now.
        if self._iterator is None and self._taken == before > 0 and not self._once:
            self._begin()
            yield from islice(self._items(), left)

    def _begin(self):
        self._iterator = iter(()) if self.exhausted else iter(self._open_pass())
        self._taken = 0
        if self._to_skip:
            skip, self._to_skip = self._to_skip, 0
            for _ in islice(self._items(), skip):
                pass

    def _items(self):
        while True:
            if self._peeked:
                item = self._peeked.pop()
            else:
                try:
                    item = next(self._iterator)
                except StopIteration:
                    self._iterator = None
                    self.exhausted = self._once
                    return
            self._taken += 1
            yield item

    def peek(self):
        """The next batch, as the user's iterable gave it; it will come again."""
        if not self._peeked:
            if self._iterator is None:
                self._begin()
            first = next(self._iterator, self)
            if first is self:
                raise ValueError(
                    f"There is no data: {self._converted.owner} must yield at least one batch, and yielded none."
                )
            self._peeked.append(first)
        return self._peeked[0]

    def batch_spec(self):
        return specs(self._converted.parts(self.peek(), native_framework()))

    def state(self):
        return {} if self._once or self._iterator is None else {"taken": self._taken}

    def restore(self, state):
        self.reset()
        self._to_skip = int(state.get("taken", 0))

    def reset(self):
        if not self._once:
            self._iterator, self._peeked, self._taken = None, [], 0

    def close(self):
        self._iterator, self._peeked = None, []


class GeneratorSource(Stream):
    """Batches of an iterator, gone through once, or of a generator function, begun anew each pass."""

    def __init__(self, generator, steps=None, class_weight=None):
        once = not callable(generator)
        super().__init__((lambda: generator) if once else generator, "the generator", steps, class_weight, once)
        if once:
            self.peek()  # an empty one is told at once

    def close(self):
        """Leaves the user's generator open: it may be used further."""


class TensorFlowSource(Stream):
    """Batches of a `tf.data.Dataset`, as TensorFlow's tensors on that backend, as NumPy arrays on others."""

    def __init__(self, dataset, steps=None, class_weight=None):
        super().__init__(lambda: iter(dataset), "the tf.data.Dataset", steps, class_weight)
        self._element = dataset.element_spec
        number = int(dataset.cardinality())
        self.num_batches = number if number >= 0 else None  # -1: endless, -2: unknown
        first = tree.flatten(self._element)[0].shape
        self.batch_size = first[0] if first.rank else None
        if number == 0:
            raise ValueError("There is no data: the tf.data.Dataset has no elements.")

    def batch_spec(self):
        def spec(element):
            shape = tuple(element.shape)
            return Spec((None, *shape[1:]) if shape else (), standardize_dtype(element.dtype))

        x, y, sample_weight = as_parts(self._element, self._converted.owner)
        return tree.map_structure(lambda e: None if e is None else spec(e), (x, y, sample_weight))


class TorchSource(Stream):
    """Batches of a torch `DataLoader`, as torch tensors on that backend, as NumPy arrays on others."""

    def __init__(self, loader, steps=None, class_weight=None):
        super().__init__(lambda: _tuples(loader), "the DataLoader", steps, class_weight)
        self.batch_size = loader.batch_size
        try:
            self.num_batches = len(loader)
        except TypeError:  # an IterableDataset without a length
            return
        if self.num_batches == 0:
            raise ValueError("There is no data: the DataLoader has no batches.")
        if self.batch_size:
            self.partial_batch_size = 0 if loader.drop_last else len(loader.dataset) % self.batch_size
            self.has_partial_batch = self.partial_batch_size > 0


class GrainSource(Stream):
    """Batches of a `MapDataset`, `IterDataset` or `DataLoader` of grain."""

    def __init__(self, dataset, steps=None, class_weight=None):
        super().__init__(lambda: _tuples(dataset), "the grain data set", steps, class_weight)
        try:
            number = len(dataset)
        except TypeError:  # only a MapDataset knows
            return
        if number == 0:
            raise ValueError("There is no data: the grain data set has no batches.")
        self.num_batches = number if number < sys.maxsize else None  # repeated without end


def _tuples(loader):
    # The default way of collating gives lists.
    for batch in loader:
        yield tuple(batch) if isinstance(batch, list) else batch


def warn_exhausted(source, done, epochs):
    """Say that training ends because a generator has nothing more to give, unless it was said of an epoch cut short.

    Args:
        source: the generator's source.
        done, epochs: how many epochs were trained, and were to be.
    """
    if source.steps is None:
        warnings.warn(
            f"Your input ran out of data: training ends after {done} of {epochs} epochs. A generator is gone through once: "
            "let it yield for ever and give `steps_per_epoch`, or pass a `PyDataset` or a generator function.",
            stacklevel=2,
        )
