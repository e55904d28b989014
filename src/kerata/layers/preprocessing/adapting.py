"""`adapt`: a layer looks at the data, batch by batch, before it's used."""

import numpy as np

from kerata import backends
from kerata.core.changes import changes
from kerata.core.errors import short_traceback

# Rows of an array that are looked at together.
_ROWS = 65536


class Adapting:
    """Mixin of layers whose state comes from data: `reset_state`, `update_state(batch)` and `finalize_state`, run by `adapt`."""

    @short_traceback
    def adapt(self, data, steps=None):
        """Learn the layer's state from data, forgetting what it had learnt before.

        Memory for one batch is enough: data are streamed.

        Args:
            data: array, tensor or list; or batches of them: a list of arrays, a `tf.data.Dataset`, `PyDataset`, torch
                `DataLoader`, generator or another iterable. Of batches that are tuples the first part is taken.
            steps: how many batches to look at; by default all of them.

        Raises:
            ValueError: there are no data, or they don't fit the layer.
        """
        self._adapt(batches(data, self._where(), steps))

    def _adapt(self, stream):
        self.reset_state()
        for batch in stream:
            self.update_state(batch)
        self.finalize_state()
        # Calls compiled before know the old state.
        changes.count += 1


def batches(data, where, steps=None, rows=None):
    """NumPy arrays of the data's batches, one after the other.

    Args:
        data: see `Adapting.adapt`.
        where: names the layer in errors.
        steps: at most so many.
        rows: cut whole arrays into so many rows.

    Raises:
        ValueError: no batch.
        TypeError: a batch that is no array.
    """
    count = 0
    for batch in _stream(data, where, rows or _ROWS):
        if steps is not None and count >= steps:
            break
        count += 1
        yield batch
    if not count:
        raise ValueError(
            f"{where}: `adapt` got no data: an empty iterable ({type(data).__name__}), or an iterator that is used up. "
            "At least one batch is needed."
        )


def _stream(data, where, rows):
    whole = _whole(data, where)
    if whole is not None:
        if not whole.shape:
            whole = whole.reshape(1)
        for start in range(0, len(whole), rows):
            yield whole[start : start + rows]
        return
    for item in _items(data, where):
        yield _batch(item, where)


def _whole(data, where):
    """The data as one array, if they are no iterable of batches."""
    if isinstance(data, (str, bytes, int, float)):
        return np.asarray(data)
    if isinstance(data, (list, tuple)):
        if len(data) and (_is_array(data[0]) or isinstance(data[0], tuple)) and np.ndim(_first(data[0])):
            return None
        return np.asarray(_regular(data, where)) if len(data) else None
    return host_array(data) if _is_array(data) else None


def _regular(data, where):
    lengths = {len(row) if isinstance(row, (list, tuple)) else None for row in data}
    if len(lengths) > 1:
        raise ValueError(
            f"{where}: the rows of a list given to `adapt` must be of one length, but there are {sorted(map(str, lengths))}."
        )
    return data


def _is_array(x):
    return isinstance(x, (np.ndarray, np.generic)) or (hasattr(x, "shape") and hasattr(x, "dtype"))


def _items(data, where):
    if not hasattr(data, "__iter__") and hasattr(data, "__getitem__") and hasattr(data, "__len__"):
        return (data[i] for i in range(len(data)))
    if hasattr(data, "num_batches") and hasattr(data, "__getitem__"):
        # A `PyDataset`.
        return _of_pydataset(data)
    try:
        return iter(data)
    except TypeError:
        raise TypeError(
            f"{where}: `adapt` takes an array, a tensor, a list, or an iterable of batches, but {type(data).__name__} was given."
        ) from None


def _of_pydataset(data):
    count, i = data.num_batches, 0
    while count is None or i < count:
        try:
            item = data[i]
        except (IndexError, StopIteration):
            return
        yield item
        i += 1


def _first(item):
    return item[0] if isinstance(item, tuple) else item


def _batch(item, where):
    item = _first(item)
    if isinstance(item, (list, str, bytes)):
        item = np.asarray(item)
    if not hasattr(item, "shape"):
        raise TypeError(
            f"{where}: each batch given to `adapt` must be an array, tensor or list (something with a `.shape`), but "
            f"{item!r} ({type(item).__name__}) was given."
        )
    return host_array(item)


def host_array(x):
    """NumPy array of any framework's tensor; ragged tensors flat, since only what's in them counts."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(type(x), "_is_kerata_variable"):
        return x.numpy()
    if hasattr(x, "flat_values"):
        x = x.flat_values
    elif hasattr(x, "dense_shape"):
        x = x.values
    b = backends.current()
    if b.is_tensor(x):
        return b.to_numpy(x)
    if hasattr(x, "detach"):
        return x.detach().cpu().numpy()
    return np.asarray(x)
