"""Event files: what TensorBoard shows. Written with the `tensorboard` package's messages; no framework is needed."""

import itertools
import os
import socket
import struct
import time
import zlib

import numpy as np

HISTOGRAM_BUCKETS = 30
# Images of one tensor that are shown at most.
MOST_IMAGES = 3
_numbers = itertools.count()


class EventFile:
    """A file of events in a directory; both are made when there is something to write.

    Args:
        directory: where TensorBoard looks for it.
    """

    def __init__(self, directory):
        self.directory = directory
        self._file = None

    def add(self, step, *values):
        """Write what was seen at a step: a few of the values that the functions below make."""
        if self._file is None:
            self._open()
        proto = _proto()
        self._write(proto.Event(wall_time=time.time(), step=int(step), summary=proto.Summary(value=values)))

    def flush(self):
        if self._file is not None:
            self._file.flush()

    def close(self):
        if self._file is not None:
            self._file.close()
        self._file = None

    def _open(self):
        os.makedirs(self.directory, exist_ok=True)
        # Files are read in the order of their names, also those of one second, host and process.
        number = f"{next(_numbers):06d}"
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{number}.v2"
        self._file = open(os.path.join(self.directory, name), "wb")  # noqa: SIM115 - open over many calls
        self._write(_proto().Event(wall_time=time.time(), file_version="brain.Event:2"))

    def _write(self, event):
        from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

        data = event.SerializeToString()
        size = struct.pack("<Q", len(data))
        checks = [struct.pack("<I", masked_crc32c(part)) for part in (size, data)]
        self._file.write(size + checks[0] + data + checks[1])


def scalar(tag, value):
    """A number."""
    return _tensor(tag, "scalars", "DT_FLOAT", (), float_val=[float(value)])


def histogram(tag, values):
    """How a tensor's finite entries are spread."""
    values = np.asarray(values, "float64").ravel()
    counts, edges = np.histogram(values[np.isfinite(values)], HISTOGRAM_BUCKETS)
    rows = np.stack([edges[:-1], edges[1:], counts], axis=1)
    return _tensor(tag, "histograms", "DT_DOUBLE", rows.shape, double_val=rows.ravel().tolist())


def image(tag, values):
    """A tensor in grey: a vector is a row, a kernel an image for each of its first outputs."""
    pictures = [_grey(picture) for picture in _pictures(np.asarray(values, "float64"))[:MOST_IMAGES]]
    height, width = pictures[0].shape
    strings = [str(width).encode(), str(height).encode(), *map(_png, pictures)]
    return _tensor(tag, "images", "DT_STRING", (len(strings),), string_val=strings)


def keras_model(tag, json):
    """A model's architecture, for the tab of graphs."""
    return _tensor(tag, "graph_keras_model", "DT_STRING", (), b"1", string_val=[json.encode()])


def _tensor(tag, plugin, dtype, shape, content=b"", **values):
    proto = _proto()
    dims = [proto.TensorShapeProto.Dim(size=n) for n in shape]
    tensor = proto.TensorProto(dtype=getattr(proto, dtype), tensor_shape=proto.TensorShapeProto(dim=dims), **values)
    metadata = proto.SummaryMetadata(plugin_data=proto.SummaryMetadata.PluginData(plugin_name=plugin, content=content))
    return proto.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)


def _pictures(values):
    """A tensor as a list of matrices."""
    if values.ndim <= 2:
        return [np.atleast_2d(values)]
    if values.ndim == 3:
        return list(np.moveaxis(values, -1, 0))
    # A kernel: height and width come first, outputs last.
    return list(np.moveaxis(values.reshape(*values.shape[:2], -1), -1, 0))


def _grey(picture):
    low, high = picture.min(), picture.max()
    return np.uint8(np.round((picture - low) / ((high - low) or 1.0) * 255))


def _png(picture):
    """A matrix of bytes as a PNG file. Source: W3C, Portable Network Graphics, 2nd edition."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits of grey
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


class _Proto:
    """The messages that events are made of."""

    def __init__(self):
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
        except ImportError as error:
            raise ImportError("TensorBoard needs the `tensorboard` package: pip install tensorboard") from error
        for module in (event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2):
            self.__dict__.update({name: value for name, value in vars(module).items() if name[0] != "_"})


def _proto():
    global _loaded
    _loaded = _loaded or _Proto()
    return _loaded


_loaded = None
