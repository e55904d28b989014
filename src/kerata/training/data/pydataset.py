"""`PyDataset`: data from the user's own Python code, batch by batch; and how it is fed."""

import warnings
from itertools import count

from kerata.core.errors import integer, positive_int
from kerata.training.data import weights
from kerata.training.data.order import permutation
from kerata.training.data.prefetching import prefetch
from kerata.training.data.source import Converted, Source, native_framework, specs
from kerata.training.data.workers import Workers


class PyDataset:
    """A data set written in Python, whose batches can be made in parallel.

    Write `__getitem__(self, index)`, which returns a whole batch `(inputs,)`, `(inputs, targets)` or
    `(inputs, targets, sample_weights)`, and `__len__(self)`, the number of batches. To change the data
    between epochs, write `on_epoch_begin` or `on_epoch_end`. For a data set without end, set `num_batches`
    to `None` in place of `__len__`.

    Args:
        workers: threads (or processes) that make batches. With 0 they are made in the main thread; with 1 a
            thread is used when batches take long enough to make it pay.
        use_multiprocessing: use processes instead, each with a copy of the data set. It must be possible to
            pickle it unless processes are forked.
        max_queue_size: how many batches may be ready or on their way.

    ```python
    class Images(kerata.utils.PyDataset):
        def __init__(self, files, labels, batch_size, **kwargs):
            super().__init__(**kwargs)
            self.files, self.labels, self.batch_size = files, labels, batch_size

        def __len__(self):
            return math.ceil(len(self.files) / self.batch_size)

        def __getitem__(self, index):
            at = slice(index * self.batch_size, (index + 1) * self.batch_size)
            return np.stack([imread(f) for f in self.files[at]]), self.labels[at]

    model.fit(Images(files, labels, 32, workers=4))
    ```
    """

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    @property
    def workers(self):
        """Number of threads or processes."""
        return self._setting("_workers", 1)

    @workers.setter
    def workers(self, value):
        self._workers = integer(value, "workers", type(self).__name__, minimum=0)

    @property
    def use_multiprocessing(self):
        """Whether processes are used instead of threads."""
        return self._setting("_use_multiprocessing", False)

    @use_multiprocessing.setter
    def use_multiprocessing(self, value):
        self._use_multiprocessing = bool(value)

    @property
    def max_queue_size(self):
        """How many batches may be ready or on their way."""
        return self._setting("_max_queue_size", 10)

    @max_queue_size.setter
    def max_queue_size(self, value):
        self._max_queue_size = integer(value, "max_queue_size", type(self).__name__, minimum=0)

    def _setting(self, name, default):
        if name not in self.__dict__:
            warnings.warn(
                f"Your `PyDataset` class {type(self).__name__} should call `super().__init__(**kwargs)` in "
                "its constructor, where `**kwargs` may hold `workers`, `use_multiprocessing` and "
                "`max_queue_size`. The "
                "defaults are used.",
                stacklevel=4,
            )
            PyDataset.__init__(self)
        return self.__dict__.get(name, default)

    def __getitem__(self, index):
        """The batch at `index`."""
        raise NotImplementedError(
            f"{type(self).__name__} must define `__getitem__(self, index)`, which returns a batch."
        )

    @property
    def num_batches(self):
        """Number of batches, or `None` for a data set without end."""
        if hasattr(self, "__len__"):
            return len(self)
        raise NotImplementedError(
            f"{type(self).__name__} must define `__len__(self)`, or `num_batches` (`None` for a data set without end)."
        )

    def on_epoch_begin(self):
        """Called before each epoch."""

    def on_epoch_end(self):
        """Called after each epoch."""

    def __iter__(self):
        try:
            number = self.num_batches
        except NotImplementedError:
            number = None
        for index in count() if number is None else range(number):
            yield self[index]


class PyDatasetSource(Source):
    """Batches of a `PyDataset`."""

    def __init__(self, dataset, steps=None, shuffle=False, class_weight=None, seed=None):
        self.dataset = dataset
        self.steps = None if steps is None else positive_int(steps, "steps_per_epoch", "fit")
        self.num_batches = dataset.num_batches
        if self.num_batches == 0:
            raise ValueError(f"There is no data: {type(dataset).__name__} has no batches (its length is 0).")
        # An endless data set says itself what comes next.
        self.shuffle = bool(shuffle) and self.num_batches is not None
        self.seed = seed
        if self.shuffle and seed is None:
            from kerata.random.seeds import make_default_seed

            self.seed = make_default_seed()
        if class_weight is not None:
            class_weight = weights.check_class_weight(class_weight)
        self._converted = Converted(f"{type(dataset).__name__}.__getitem__()", class_weight)
        self._workers = self._make_workers()
        self._peeked = {}

    def _make_workers(self):
        dataset = self.dataset
        if dataset.workers < 2 and not (dataset.workers and dataset.use_multiprocessing):
            return None
        kind = type(dataset)
        changes = kind.on_epoch_begin is not PyDataset.on_epoch_begin or kind.on_epoch_end is not PyDataset.on_epoch_end
        return Workers(dataset, dataset.workers, dataset.use_multiprocessing, dataset.max_queue_size, changes)

    def epoch(self, index=0, start=0, raw=False):
        indices = self._indices(index, start)
        native = native_framework()
        convert = self._converted.raw if raw else self._converted.parts
        taken = start
        # Threads of their own: no other one on top. With `workers=0` the user wants the main thread.
        background = "auto" if self._workers is None and self.dataset.workers else False
        with prefetch(self._fetched(indices), background=background) as ready:
            for batch in ready:
                taken += 1
                yield convert(batch, native)
        self._warn_if_short(taken)

    def _indices(self, index, start):
        if self.num_batches is None:
            if self.steps is None:
                return count(start)
            return range(index * self.steps + start, (index + 1) * self.steps)
        number, first, last = self._span(index)
        if not self.shuffle:
            return range(first + start, last)
        return permutation(self.seed, number, self.num_batches)[first + start : last].tolist()

    def _fetched(self, indices):
        if self._workers is not None:
            yield from self._workers.fetch(indices)
            return
        for index in indices:
            yield self._peeked.pop(index) if index in self._peeked else self.dataset[index]

    def batch_spec(self):
        first = next(iter(self._indices(0, 0)))
        batch = self.dataset[first]
        self._peeked = {first: batch}
        return specs(self._converted.parts(batch, native_framework()))

    def on_epoch_begin(self):
        self.dataset.on_epoch_begin()

    def on_epoch_end(self):
        self._peeked = {}
        self.dataset.on_epoch_end()
        self._follow_length()

    def _follow_length(self):
        number = self.dataset.num_batches
        if number is not None and self.num_batches is not None:
            self.num_batches = number

    def state(self):
        return {"seed": self.seed} if self.shuffle else {}

    def restore(self, state):
        if self.shuffle and "seed" in state:
            self.seed = int(state["seed"])

    def close(self):
        if self._workers is not None:
            self._workers.close()
