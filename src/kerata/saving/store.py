"""HDF5 files of variables: one group of numbered datasets for each object.

An object at `layers/dense` has its variables in `layers/dense/vars/0`, `/1`, …; a dtype that HDF5 lacks
(bfloat16) is stored as raw bytes with its name in the attribute `dtype`. A large file may be in shards,
with an index in JSON.
"""

import json
import os
from collections.abc import Mapping, MutableMapping

import numpy as np

from kerata.core import dtypes
from kerata.saving.window import Window

# Deflate can't shrink anything to less than this part of its size; what claims to be smaller is a trap.
_LARGEST_RATIO = 1032
_BYTES_PER_GB = 1024**3
_ALIGNMENT = 64


class Store(MutableMapping):
    """What `save_own_variables` writes into: `store["0"] = variable or array`."""

    def __init__(self, writer, path):
        self._writer = writer
        self._path = path
        self._written = {}

    def __setitem__(self, key, value):
        array = host_array(value)
        self._writer.write(self._path, key, array)
        self._written[key] = array.shape

    def __getitem__(self, key):
        raise TypeError("The store that `save_own_variables` gets can only be written to.")

    def __delitem__(self, key):
        raise TypeError("What was written to a file stays there.")

    def __contains__(self, key):
        return key in self._written

    def __iter__(self):
        return iter(self._written)

    def __len__(self):
        return len(self._written)


class Writer:
    """Writes one HDF5 file into a window of an open file.

    Args:
        file: unbuffered binary file, readable and writable.
        start: where in it the HDF5 file begins.
    """

    def __init__(self, file, start=0):
        import h5py

        self._window = Window(file, start)
        self._file = h5py.File(self._window, "w")

    def store(self, path, name):
        """The store of an object's variables."""
        group = self._file.require_group(_group(path))
        if name is not None:
            group.attrs["name"] = name
        return Store(self, path)

    def write(self, path, key, array):
        write_dataset(self._file.require_group(_group(path)), key, array)
        self._window.check()

    def close(self):
        """Finish the file. Returns its size."""
        self._file.close()
        self._window.check()
        return self._window.size

    def abandon(self):
        """Let go of a file that isn't wanted any more, whatever state it is in."""
        self._window.swallow()
        self._file.close()


class ShardedWriter:
    """Writes shards of at most `max_shard_size` GB, and the index that says what is where.

    Args:
        open_shard: called with a number; returns `(file name for the index, open file)`.
        max_shard_size: in GB; one tensor that is larger has a shard of its own.
    """

    def __init__(self, open_shard, max_shard_size):
        self._open_shard = open_shard
        self._limit = max_shard_size * _BYTES_PER_GB
        self._writer = None
        self._count = self._filled = self._total = 0
        self._index = {}
        self._next_shard()

    def store(self, path, name):
        self._writer.store(path, name)
        return Store(self, path)

    def write(self, path, key, array):
        if self._filled and self._filled + array.nbytes > self._limit:
            self._writer.close()
            self._next_shard()
        self._writer.write(path, key, array)
        self._filled += array.nbytes
        self._total += array.nbytes
        shards = self._index.setdefault(f"/{_group(path)}", [])
        if self._name not in shards:
            shards.append(self._name)

    def close(self):
        """Finish the last shard. Returns the index as JSON text."""
        self._writer.close()
        return json.dumps({"metadata": {"total_size": self._total}, "weight_map": self._index}, indent=4)

    def abandon(self):
        self._writer.abandon()

    def _next_shard(self):
        self._name, file = self._open_shard(self._count)
        self._writer = Writer(file)
        self._count += 1
        self._filled = 0


class Reader:
    """Reads an HDF5 file in which nothing but its own data counts.

    Args:
        file: path or binary file.
        shown: what errors call it.
    """

    def __init__(self, file, shown):
        import h5py

        self.shown = shown
        try:
            self._file = h5py.File(file, "r")
        except OSError as error:
            raise ValueError(
                f"{shown} can't be read as HDF5 weights: it is damaged, cut off, or something else ({error})."
            ) from error

    def entries(self, path):
        """`{key: Entry}` of an object's variables; empty if the file has none for it."""
        group = self._descend(_group(path))
        if group is None:
            return {}
        return {key: Entry(group, key, self) for key in group if self._is_dataset(group, key)}

    def paths(self):
        """Paths of the objects that have variables in the file."""
        found = []
        self._collect(self._file, "", found)
        return found

    def attributes(self):
        """Attributes of the whole file."""
        return dict(self._file.attrs)

    def group(self, *path):
        """A group by its path, or `None`."""
        return self._descend("/".join(part for part in path if part))

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _descend(self, path):
        import h5py

        group = self._file
        for part in filter(None, path.split("/")):
            if part == "layers" and part not in group:
                # What the first versions of the format called a model's layers.
                part = "_layer_checkpoint_dependencies"
            if part not in group and f"_{part}" in group:
                # Attributes that became public.
                part = f"_{part}"
            if part not in group:
                return None
            self._check_link(group, part)
            group = group[part]
            if not isinstance(group, h5py.Group):
                return None
        return group

    def _is_dataset(self, group, key):
        self._check_link(group, key)
        return group.get(key, getclass=True).__name__ == "Dataset"

    def _collect(self, group, path, found):
        for key in group:
            self._check_link(group, key)
            if group.get(key, getclass=True).__name__ != "Group":
                continue
            inner = group[key]
            if key == "vars" and len(inner):
                found.append(path)
            self._collect(inner, f"{path}/{key}" if path else key, found)

    def _check_link(self, group, key):
        import h5py

        link = group.get(key, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise ValueError(
                f"{self.shown}: {group.name}/{key} is a link to somewhere else "
                f"({type(link).__name__}), which no file that Keras or Kerata writes has. It is refused."
            )


class ShardedReader:
    """Reads shards by their index."""

    def __init__(self, path):
        self.shown = repr(os.fspath(path))
        folder = os.path.dirname(os.path.abspath(path))
        weight_map = _read_index(path, self.shown)
        names = {name for shards in weight_map.values() for name in shards}
        for name in names:
            # The index may only name its neighbours.
            if os.path.basename(name) != name or name in ("", ".", ".."):
                raise ValueError(f"{self.shown}: the shard {name!r} is outside the index's folder. It is refused.")
            if not os.path.exists(os.path.join(folder, name)):
                raise FileNotFoundError(f"{self.shown} needs the shard {os.path.join(folder, name)!r}; it is missing.")
        self._shards = {n: Reader(os.path.join(folder, n), repr(os.path.join(folder, n))) for n in sorted(names)}
        self._map = {key.strip("/"): shards for key, shards in weight_map.items()}

    def entries(self, path):
        found = {}
        for name in self._map.get(_group(path), ()):
            found.update(self._shards[name].entries(path))
        return found

    def paths(self):
        return list(dict.fromkeys(path for shard in self._shards.values() for path in shard.paths()))

    def close(self):
        for shard in self._shards.values():
            shard.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


class Entry:
    """One variable in a file: shape and dtype at once, the values when asked for."""

    def __init__(self, group, key, reader):
        self._dataset = dataset = group[key]
        self._where = f"{reader.shown}: {dataset.name}"
        self.shape = tuple(dataset.shape or ())
        self.dtype = self._named_dtype()
        self._check_place()

    def read(self):
        """The values, in memory of their own."""
        try:
            values = self._read()
        except OSError as error:
            raise ValueError(f"{self._where} can't be read: the file is damaged ({error}).") from error
        if self._dataset.dtype.kind == "V":
            values = values.view(dtypes.to_numpy_dtype(self.dtype))
        return values

    def _read(self):
        dataset = self._dataset
        if dataset.dtype.hasobject or not dataset.size:
            return np.asarray(dataset[()])
        values = _aligned(dataset.shape, dataset.dtype)
        dataset.read_direct(values)
        return values

    def probe(self):
        """Read what is packed once, so that damage shows before anything is changed."""
        if self._dataset.chunks is not None:
            self.read()

    def _named_dtype(self):
        name = self._dataset.attrs.get("dtype")
        if self._dataset.dtype.kind != "V":
            return self._dataset.dtype.name
        try:
            dtype = dtypes.to_numpy_dtype(dtypes.standardize_dtype(name))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._where} has values of the unknown dtype {name!r}.") from error
        if dtype.itemsize != self._dataset.dtype.itemsize:
            raise ValueError(f"{self._where} is said to be {name}, but its values have another size.")
        return name

    def _check_place(self):
        """That the values are in this file, all of them."""
        dataset = self._dataset
        if dataset.external or dataset.is_virtual:
            raise ValueError(f"{self._where} has its values in another file. It is refused.")
        if dataset.dtype.hasobject and not _is_text(dataset.dtype):
            raise ValueError(f"{self._where} holds Python objects or references. It is refused.")
        size, stored = dataset.size * dataset.dtype.itemsize, dataset.id.get_storage_size()
        packed = dataset.chunks is not None
        if size > stored * (_LARGEST_RATIO if packed else 1):
            raise ValueError(
                f"{self._where} claims to hold {size:,} bytes, but the file has {stored:,} for it. The file "
                "is damaged or made to exhaust memory."
            )


class ReadStore(Mapping):
    """What `load_own_variables` reads from."""

    def __init__(self, entries):
        self._entries = entries

    def __getitem__(self, key):
        return self._entries[key].read()

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return key in self._entries


def _aligned(shape, dtype):
    """Memory that frameworks can take over as it is: XLA wants addresses that are multiples of 64."""
    size = int(np.prod(shape)) * dtype.itemsize
    buffer = np.empty(size + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    return buffer[start : start + size].view(dtype).reshape(shape)


def write_dataset(group, key, array):
    """One array as a contiguous dataset."""
    import h5py

    if array.dtype.kind == "U":
        group.create_dataset(key, data=array.astype(h5py.string_dtype()))
    elif array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        raw = np.ascontiguousarray(array).view(f"V{array.dtype.itemsize}")
        group.create_dataset(key, data=raw).attrs["dtype"] = array.dtype.name
    else:
        group.create_dataset(key, data=array)


def host_array(value):
    """A variable's, tensor's or list's values on the host, without a copy where there need be none."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "_is_kerata_variable"):
        return value.numpy()
    if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, np.generic):
        from kerata import ops

        return ops.convert_to_numpy(value)
    return np.asarray(value)


def _group(path):
    return f"{path}/vars" if path else "vars"


def _is_text(dtype):
    import h5py

    return h5py.check_string_dtype(dtype) is not None


def _read_index(path, shown):
    try:
        with open(path, encoding="utf-8") as file:
            weight_map = json.load(file)["weight_map"]
        shards = [s for shards in weight_map.values() for s in ([shards] if isinstance(shards, str) else shards)]
        if not all(isinstance(s, str) for s in shards):
            raise TypeError("names of shards must be strings")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{shown} is no index of sharded weights: {error}.") from error
    return {k: [v] if isinstance(v, str) else v for k, v in weight_map.items()}
