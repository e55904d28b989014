"""Arrays as a source: gathered by `take`, one call an array and batch, or for several batches at once."""

import math

from kerata.core import tree
from kerata.core.errors import positive_int
from kerata.training.data import rows, weights
from kerata.training.data.order import permutation, within_batches
from kerata.training.data.parts import pack_x_y_sample_weight
from kerata.training.data.prefetching import prefetch
from kerata.training.data.source import Source, specs

DEFAULT_BATCH_SIZE = 32
# Gathering a batch of this size takes about 60 us (18 GB/s), twice what a hand-over between threads costs.
PREFETCH_BYTES = 2**20


class ArraySource(Source):
    """Batches of arrays.

    Attributes:
        arrays: the arrays, flat, in the order of `tree.flatten((x, y, sample_weight))` without the `None`s.
        pack: turns a list of arrays in that order into `(x, y, sample_weight)`.
    """

    def __init__(
        self,
        x,
        y=None,
        sample_weight=None,
        batch_size=None,
        steps=None,
        shuffle=False,
        class_weight=None,
        seed=None,
    ):
        x, y = named_rows(x, "x"), named_rows(y, "y")
        sample_weight = weights.match_sample_weight(y, _weight_rows(sample_weight))
        if class_weight is not None:
            sample_weight = weights.weigh_classes(
                rows.map_arrays(lambda leaf: leaf[:], y),
                sample_weight,
                weights.check_class_weight(class_weight),
            )
        parts = (x, y, sample_weight)
        self.num_samples = cardinality(parts)
        leaves = tree.flatten(parts)
        self.arrays = [leaf for leaf in leaves if leaf is not None]
        self.pack = packer(parts)
        self._takes = [array.take for array in self.arrays]
        self._specs = specs(parts)
        self.steps = None if steps is None else positive_int(steps, "steps_per_epoch", "fit")
        self._set_batches(batch_size)
        self.shuffle = check_shuffle(shuffle)
        self.seed = seed
        if self.shuffle and seed is None:
            from kerata.random.seeds import make_default_seed

            self.seed = make_default_seed()
        self._order = None, None

    def _set_batches(self, batch_size):
        if batch_size is not None:
            size = positive_int(batch_size, "batch_size", "fit")
        else:
            size = DEFAULT_BATCH_SIZE if self.steps is None else -(-self.num_samples // self.steps)
        self.batch_size = size
        self.num_batches = -(-self.num_samples // size)
        self.partial_batch_size = self.num_samples % size
        self.has_partial_batch = self.partial_batch_size > 0
        # Rows of unknown length count nothing: they are neither gathered by NumPy nor stacked.
        self.batch_bytes = size * sum(math.prod(a.shape[1:]) * a.dtype.itemsize for a in self.arrays if _is_even(a))

    def batch_spec(self):
        return self._specs

    def order(self, index=0):
        """Order of the samples in the pass of epoch `index`: indices, or `None` for as they are."""
        return self._order_of_pass(self._span(index)[0])

    def _order_of_pass(self, number):
        if not self.shuffle:
            return None
        if self._order[0] != number:
            self._order = number, self._draw(number)
        return self._order[1]

    def _draw(self, number):
        if self.shuffle == "batch":
            return within_batches(self.seed, number, self.num_samples, self.batch_size)
        return permutation(self.seed, number, self.num_samples)

    def epoch(self, index=0, start=0, raw=False):
        number, first, last = self._span(index)
        batches = self._batches(self._order_of_pass(number), first + start, last)
        if raw:
            batches = (pack_x_y_sample_weight(*batch) for batch in batches)
        with prefetch(batches, background=self.batch_bytes >= PREFETCH_BYTES) as ready:
            yield from ready
        self._warn_if_short(last - first)

    def _batches(self, order, first, last):
        size, pack, takes = self.batch_size, self.pack, self._takes
        for at in range(first * size, last * size, size):
            if order is None:
                yield pack([array[at : at + size] for array in self.arrays])
            else:
                at = order[at : at + size]
                yield pack([take(at, 0) for take in takes])

    def full_steps(self, index=0, start=0):
        """How many full batches epoch `index` has from step `start` on that can be put together."""
        _, first, last = self._span(index)
        if not all(map(_is_even, self.arrays)):
            return 0
        return min(last, self.num_samples // self.batch_size) - first - start

    def take_steps(self, index, start, count):
        """`count` full batches at once: arrays of shape `(count, batch_size, ...)`."""
        number, first, _ = self._span(index)
        order, size = self._order_of_pass(number), self.batch_size
        begin, end = (first + start) * size, (first + start + count) * size
        if end > self.num_samples:
            raise ValueError(f"take_steps: step {start + count - 1} of epoch {index} is no full batch.")
        shape = (count, size)
        if order is None:
            return self.pack([array[begin:end].reshape(shape + array.shape[1:]) for array in self.arrays])
        at = order[begin:end]
        return self.pack([array.take(at, 0).reshape(shape + array.shape[1:]) for array in self.arrays])

    def chunks(self, index=0, start=0, size=1):
        how_many = size if callable(size) else lambda: size
        background = "auto" if callable(size) else self.batch_bytes * size >= PREFETCH_BYTES
        with prefetch(self._chunks(index, start, how_many), background=background) as ready:
            yield from ready
        _, first, last = self._span(index)
        self._warn_if_short(last - first)

    def _chunks(self, index, step, how_many):
        number, first, last = self._span(index)
        order, full = self._order_of_pass(number), self.full_steps(index)
        while step < last - first:
            count = how_many()
            if count > 1 and step + count <= full:
                yield step, count, self.take_steps(index, step, count)
                step += count
                continue
            # What is left of the epoch, or batches asked for one by one.
            stop = step + 1 if count == 1 else last - first
            for batch in self._batches(order, first + step, first + stop):
                yield step, 1, batch
                step += 1

    def state(self):
        return {"seed": self.seed} if self.shuffle else {}

    def restore(self, state):
        if self.shuffle and "seed" in state:
            self.seed = int(state["seed"])
            self._order = None, None


def _is_even(array):
    return None not in array.shape


def check_shuffle(shuffle):
    """`True`, `False` or `"batch"`."""
    if shuffle == "batch":
        return "batch"
    if isinstance(shuffle, str):
        raise ValueError(f'fit: `shuffle` must be True, False or "batch", but {shuffle!r} was given.')
    return bool(shuffle)


def named_rows(structure, name):
    """Every array of the structure as rows on the host."""
    return rows.map_arrays(lambda leaf: rows.rows(leaf, name), structure)


def _weight_rows(sample_weight):
    def one(leaf):
        array = rows.rows(leaf, "sample_weight")
        return array if array.dtype.kind == "f" else array[:].astype(rows.floatx_dtype())

    return rows.map_arrays(one, sample_weight)


def cardinality(parts):
    """The number of samples, which all arrays must share."""
    sizes = [[len(leaf) for leaf in tree.flatten(part) if leaf is not None] for part in parts]
    flat = {size for part in sizes for size in part}
    if len(flat) > 1:
        names = zip(("x", "y", "sample_weight"), sizes, strict=True)
        listed = "; ".join(f"'{name}' sizes: {', '.join(map(str, s))}" for name, s in names if s)
        raise ValueError(
            f"Data cardinality is ambiguous: all arrays must contain the same number of samples, but found {listed}."
        )
    if not sizes[0]:
        raise ValueError("There is no data: `x` holds no array.")
    if flat == {0}:
        raise ValueError("There is no data: the arrays have no samples (their first axis has length 0).")
    return flat.pop()


def packer(parts):
    """A fast function from the list of arrays to the structure `parts` had: an expression, compiled."""
    leaves = tree.flatten(parts)
    numbers = iter(range(len(leaves)))
    indexed = tree.pack_sequence_as(parts, [None if leaf is None else next(numbers) for leaf in leaves])
    names = {}
    # The text holds indices and names made here, nothing of the user's.
    return eval(f"lambda a: {_expression(indexed, names)}", names)


def _expression(node, names):
    if node is None:
        return "None"
    if isinstance(node, int):
        return f"a[{node}]"
    if isinstance(node, dict):
        pairs = [f"{_named(key, names)}: {_expression(value, names)}" for key, value in node.items()]
        return f"{{{', '.join(pairs)}}}"
    inside = "".join(f"{_expression(value, names)}, " for value in node)
    if isinstance(node, list):
        return f"[{inside}]"
    return f"({inside})" if type(node) is tuple else f"{_named(type(node), names)}({inside})"


def _named(value, names):
    name = f"k{len(names)}"
    names[name] = value
    return name
