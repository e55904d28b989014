"""A source: what the training loop takes batches from, whatever the user's data is.

A source gives `(x, y, sample_weight)` batches, epoch by epoch. One *pass* goes once through the data;
an *epoch* is a pass, or `steps` batches of one. As in Keras, epochs shorter than a pass go on where the
epoch before them stopped, a pass that ends early ends its epoch with a warning, and the next epoch begins a
new pass.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kerata.core import tree
from kerata.training.data import rows
from kerata.training.data.parts import pack_x_y_sample_weight
from kerata.training.data.weights import weigh_classes


@dataclass(frozen=True)
class Spec:
    """Shape (batch axis first, `None` where unknown) and dtype of one array of a batch."""

    shape: tuple
    dtype: str


class Source:
    """Base of all sources.

    Attributes:
        num_batches: batches in one pass; `None` when unknown or endless.
        batch_size: samples in a full batch, or `None`.
        has_partial_batch: whether a pass ends with a smaller batch; `None` when unknown.
        steps: steps in each epoch as asked for, or `None` for the whole pass.
        exhausted: whether no further epoch can be had from it.
    """

    num_batches = None
    batch_size = None
    has_partial_batch = None
    partial_batch_size = None
    steps = None
    exhausted = False

    def epoch(self, index=0, start=0, raw=False) -> Iterator:
        """Batches of one epoch, from step `start` on. Close it when stopping early: it may own a thread.

        Args:
            index: number of the epoch, from 0.
            start: step to begin with.
            raw: give batches in the form `train_step(self, data)` gets them, rather than as
                `(x, y, sample_weight)`.
        """
        raise NotImplementedError

    def chunks(self, index=0, start=0, size=1):
        """Batches of one epoch, several at once where that can be.

        Args:
            index, start: as for `epoch`.
            size: how many batches to put together, or a function that says so, asked before each chunk.

        Yields:
            `(first_step, count, batch)`. With a count of 1 the batch is as `epoch` gives it; otherwise
            every array has one more axis in front, of that length. Only `size` and 1 occur as counts.
        """
        how_many = size if callable(size) else lambda: size
        batches = self.epoch(index, start)
        try:
            yield from _stacked(batches, start, how_many)
        finally:
            batches.close()

    def steps_in(self, index=0):
        """Number of steps that epoch `index` will have, or `None` when unknown."""
        return self.steps if self.num_batches is None else self._span(index)[2] - self._span(index)[1]

    def batch_spec(self):
        """`(x, y, sample_weight)` with a `Spec` for each array."""
        raise NotImplementedError

    def on_epoch_begin(self):
        """To be called by the loop before each epoch."""

    def on_epoch_end(self):
        """To be called by the loop after each epoch."""

    def reset(self):
        """Begin a new pass with the next epoch."""

    def state(self):
        """What is needed, beside epoch and step, to get the same batches in another process (JSON-able)."""
        return {}

    def restore(self, state):
        """Take over a state."""

    def close(self):
        """Let go of threads and processes. Called by the loop when it is through with the source."""

    def _span(self, index):
        """`(pass, first, last)`: which batches of which pass make up epoch `index`."""
        if self.steps is None or self.steps >= self.num_batches:
            return index, 0, self.num_batches
        epochs_a_pass = -(-self.num_batches // self.steps)
        first = index % epochs_a_pass * self.steps
        return index // epochs_a_pass, first, min(first + self.steps, self.num_batches)

    def _warn_if_short(self, taken):
        if self.steps is not None and taken < self.steps:
            warnings.warn(
                f"Your input ran out of data: an epoch got {taken} batches instead of "
                f"`steps_per_epoch={self.steps}`. "
                "Give more data, a data set that repeats, or fewer steps.",
                stacklevel=3,
            )


def as_parts(batch, owner):
    """A user's batch as `(x, y, sample_weight)`. A list is refused, for it may mean several inputs."""
    if isinstance(batch, tuple) and 1 <= len(batch) <= 3 and not hasattr(batch, "_fields"):
        return (*batch, None, None)[:3] if len(batch) < 3 else batch
    if isinstance(batch, (tuple, list)):
        what = f"a tuple of {len(batch)} elements" if isinstance(batch, tuple) else "a list"
        raise ValueError(
            f"{owner} must return a tuple, either (inputs,) or (inputs, targets) or (inputs, targets, "
            f"sample_weights), or else an array or a dict of inputs, but {what} was found."
        )
    return batch, None, None


class Converted:
    """Turns batches from a user's own iterable into batches of a source."""

    def __init__(self, owner, class_weight=None):
        self.owner = owner
        self.class_weight = class_weight

    def parts(self, batch, native=None):
        if self._is_plain(batch):
            x, y, sample_weight = *batch, None
        else:
            x, y, sample_weight = self.arrays(as_parts(batch, self.owner), native)
        if self.class_weight is not None:
            host = y if native is None or y is None else tree.map_structure(_on_host, y)
            sample_weight = weigh_classes(host, sample_weight, self.class_weight)
        return x, y, sample_weight

    def raw(self, batch, native=None):
        if self.class_weight is not None:
            return pack_x_y_sample_weight(*self.parts(batch, native))
        return self.arrays(batch, native)

    def arrays(self, structure, native):
        return rows.map_arrays(lambda leaf: rows.batch_leaf(leaf, native), structure)

    def _is_plain(self, batch):
        # (array, array) of dtypes that stay: by far the most common, and nothing to do.
        return (
            type(batch) is tuple
            and len(batch) == 2
            and type(batch[0]) is np.ndarray is type(batch[1])
            and batch[0].dtype in rows.UNCHANGED
            and batch[1].dtype in rows.UNCHANGED
        )


def _on_host(value):
    return rows.to_host(value) if rows.framework(type(value)) else value


def native_framework():
    """Name of the framework whose tensors batches may hold: that of the current backend."""
    from kerata import backends

    return backends.current_name()


def specs(parts):
    """The spec of a batch, the batch axis left open."""

    def spec(value):
        if value is None:
            return None
        shape = tuple(value.shape)
        return Spec((None, *shape[1:]), rows.dtype_name(value)) if shape else Spec((), rows.dtype_name(value))

    return tree.map_structure(spec, parts)


def _stacked(batches, first, how_many):
    """Groups of batches of the same shapes, put together on the host."""
    group, shapes = [], None
    wanted = how_many()
    for batch in batches:
        leaves = tree.flatten(batch)
        if wanted > 1 and all(leaf is None or hasattr(leaf, "shape") for leaf in leaves):
            own = [None if leaf is None else tuple(leaf.shape) for leaf in leaves]
            if any(shape is not None and None in shape for shape in own):
                own = object()  # ragged: never like another
            if group and own != shapes:
                yield from _singly(group, first)
                first, group = first + len(group), []
            shapes = own
        group.append(batch)
        if len(group) >= wanted:
            yield first, len(group), _stack(group) if len(group) > 1 else group[0]
            first, group, wanted = first + len(group), [], how_many()
    yield from _singly(group, first)


def _singly(group, first):
    for i, batch in enumerate(group):
        yield first + i, 1, batch


def _stack(group):
    return tree.map_structure(
        lambda *leaves: None if leaves[0] is None else np.stack([_on_host(v) for v in leaves]), *group
    )
