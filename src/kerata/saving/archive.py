"""The `.keras` archive: a zip of stored (not packed) files, or a folder of the same files.

`metadata.json`, `config.json`, `model.weights.h5`, and what objects keep as files of their own under
`assets/`.
"""

import contextlib
import os
import shutil
import tempfile
import time
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

from kerata.saving.store import Reader, Writer
from kerata.saving.window import Window

METADATA = "metadata.json"
CONFIG = "config.json"
WEIGHTS = "model.weights.h5"
ASSETS = "assets"

# The same model gives the same bytes: entries have the earliest date that zip knows.
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o600 << 16
# What unpacks to more than this many times its size is a trap; what is small may be anything.
_LARGEST_RATIO = 100
_SMALL = 16 * 1024**2
_CHUNK = 1024**2
# Small enough to stay in a processor's cache between reading and summing.
_SUM_CHUNK = 128 * 1024


def write_zip(path, texts, fill_weights, fill_assets):
    """Write an archive.

    Args:
        path: of the file.
        texts: `{name: text}`.
        fill_weights: called with the `Writer` of the weights.
        fill_assets: called with a folder to put files into.
    """
    with open(path, "w+b", buffering=0) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, text in texts.items():
                archive.writestr(_entry(name), text)
            _write_weights(archive, file, fill_weights)
            with tempfile.TemporaryDirectory() as folder:
                fill_assets(folder)
                for name in _files_in(folder):
                    with open(os.path.join(folder, name), "rb") as source:
                        with archive.open(_entry(f"{ASSETS}/{name}"), "w") as target:
                            shutil.copyfileobj(source, target, _CHUNK)


def write_folder(folder, texts, fill_weights, fill_assets):
    """Write the same as files in an existing folder."""
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    write_weights_file(os.path.join(folder, WEIGHTS), fill_weights)
    assets = os.path.join(folder, ASSETS)
    os.mkdir(assets)
    fill_assets(assets)
    if not _files_in(assets):
        shutil.rmtree(assets)


def write_weights_file(path, fill_weights):
    """Write a `.weights.h5` file."""
    with open(path, "w+b", buffering=0) as file:
        _write_window(file, 0, fill_weights)


class Archive:
    """Reads an archive or folder.

    Args:
        path: of the file or folder.
        trusted: whether to believe sizes that look like a trap.
    """

    def __init__(self, path, trusted=False):
        self.path = os.fspath(path)
        self.shown = repr(self.path)
        self._trusted = trusted
        self._open = contextlib.ExitStack()
        self._zip = self._sum = None
        try:
            if not os.path.isdir(self.path):
                self._file = open(self.path, "rb", buffering=0)  # noqa: SIM115  (the stack closes it)
                self._open.callback(self._file.close)
                self._zip = self._open.enter_context(self._opened_zip())
            self.names = self._checked_names()
        except BaseException:
            self._open.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._open.close()

    def text(self, name):
        """Content of a text file."""
        self._must_have(name)
        try:
            if self._zip is None:
                with open(os.path.join(self.path, name), encoding="utf-8") as file:
                    return file.read()
            return self._zip.read(name).decode("utf-8")
        except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError, EOFError) as error:
            raise ValueError(f"{self.shown}: {name} is damaged ({error}).") from error

    def weights(self):
        """A `Reader` of the weights, read where they stand in the file."""
        self._must_have(WEIGHTS)
        shown = f"{self.shown} ({WEIGHTS})"
        if self._zip is None:
            return self._open.enter_context(Reader(os.path.join(self.path, WEIGHTS), shown))
        info = self._zip.getinfo(WEIGHTS)
        if info.compress_type != zipfile.ZIP_STORED:
            return self._open.enter_context(Reader(self._unpacked(info), shown))
        start = self._start_of(info)
        self._check_sum(info)
        return self._open.enter_context(Reader(Window(self._file, start, info.file_size), shown))

    @contextlib.contextmanager
    def assets(self):
        """A folder with the assets, for the time of the block; `None` if there are none."""
        names = [n for n in self.names if n.startswith(f"{ASSETS}/") and not n.endswith("/")]
        if not names:
            yield None
        elif self._zip is None:
            yield os.path.join(self.path, ASSETS)
        else:
            with tempfile.TemporaryDirectory() as folder:
                for name in names:
                    self._unpack(self._zip.getinfo(name), os.path.join(folder, *name.split("/")))
                yield os.path.join(folder, ASSETS)

    def _opened_zip(self):
        try:
            return zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
            raise ValueError(
                f"{self.shown} is no `.keras` file: it is damaged, cut off, or another kind of file ({error})."
            ) from error

    def _checked_names(self):
        if self._zip is None:
            return _files_in(self.path)
        names = [info.filename for info in self._zip.infolist()]
        for info in self._zip.infolist():
            self._check_entry(info, names)
        return names

    def _check_entry(self, info, names):
        name = info.filename
        parts = name.replace("\\", "/").split("/")
        if ".." in parts or parts[0] == "" or ":" in parts[0] or "\0" in name:
            raise ValueError(f"{self.shown}: the entry {name!r} is outside the archive. It is refused.")
        if (info.external_attr >> 16) & 0o170000 == 0o120000:
            raise ValueError(f"{self.shown}: the entry {name!r} is a link. It is refused.")
        if names.count(name) > 1:
            raise ValueError(f"{self.shown} has two entries {name!r}. It is refused.")
        if info.flag_bits & 1:
            raise ValueError(f"{self.shown}: the entry {name!r} is encrypted, which `.keras` files never are.")
        limit = max(_SMALL, info.compress_size * _LARGEST_RATIO)
        if info.file_size > limit and not self._trusted:
            raise ValueError(
                f"{self.shown}: the entry {name!r} has {info.compress_size:,} bytes and would become "
                f"{info.file_size:,}, as in files made to exhaust memory. If you trust it: `safe_mode=False`."
            )

    def _must_have(self, name):
        if name not in self.names:
            raise ValueError(f"{self.shown} is no model file: it has no {name!r}, but {sorted(self.names)[:9]}.")

    def _start_of(self, info):
        """Where an entry's data begin: after a header whose length only the header says."""
        self._file.seek(info.header_offset)
        header = self._file.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise ValueError(f"{self.shown}: the entry {info.filename!r} is not where the archive says.")
        name, extra = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
        start = info.header_offset + 30 + name + extra
        if start + info.file_size > os.fstat(self._file.fileno()).st_size:
            raise ValueError(f"{self.shown} is cut off: {info.filename!r} reaches beyond its end.")
        return start

    def begin_check(self):
        """Begin to compare the weights' check sum in the background: the model can be built meanwhile."""
        info = self._zip.NameToInfo.get(WEIGHTS) if self._zip is not None else None
        if info is None or info.compress_type != zipfile.ZIP_STORED:
            return
        start = self._start_of(info)
        pool = self._open.enter_context(ThreadPoolExecutor(1, thread_name_prefix="kerata-check-sum"))
        self._sum = pool.submit(_sum_of_path, self.path, start, info.file_size)

    def _check_sum(self, info):
        if self._sum is None:
            self.begin_check()
        if self._sum.result() != info.CRC:
            raise ValueError(
                f"{self.shown} is damaged: the check sum of {info.filename!r} does not agree with its "
                "content. Copy the file again, or save the model anew."
            )

    def _unpacked(self, info):
        folder = self._open.enter_context(tempfile.TemporaryDirectory())
        target = os.path.join(folder, WEIGHTS)
        self._unpack(info, target)
        return target

    def _unpack(self, info, target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            with self._zip.open(info) as source, open(target, "xb") as file:
                shutil.copyfileobj(source, file, _CHUNK)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise ValueError(f"{self.shown}: {info.filename!r} is damaged ({error}).") from error


def date_saved():
    """Now, as `metadata.json` has it."""
    return time.strftime("%Y-%m-%d@%H:%M:%S")


def _entry(name):
    info = zipfile.ZipInfo(name, _DATE)
    info.external_attr = _MODE
    return info


def _write_weights(archive, file, fill_weights):
    """Write the HDF5 file straight into its place in the archive: no second copy on disk or in memory."""
    info = _entry(WEIGHTS)
    info.header_offset = file.seek(0, os.SEEK_END)
    # Sizes and sum are filled in below, with room for 64 bits.
    info.CRC = 0
    file.write(info.FileHeader(zip64=True))
    start = file.tell()
    info.file_size = info.compress_size = _write_window(file, start, fill_weights)
    info.CRC = _sum_of(file, start, info.file_size)
    file.seek(info.header_offset)
    file.write(info.FileHeader(zip64=True))
    archive.filelist.append(info)
    archive.NameToInfo[info.filename] = info
    archive.start_dir = file.seek(start + info.file_size)


def _write_window(file, start, fill_weights):
    writer = Writer(file, start)
    try:
        fill_weights(writer)
        return writer.close()
    except BaseException:
        writer.abandon()
        raise


def _sum_of_path(path, start, size):
    with open(path, "rb", buffering=0) as file:
        return _sum_of(file, start, size)


def _sum_of(file, start, size):
    """CRC-32 of a part of a file."""
    buffer = memoryview(bytearray(_SUM_CHUNK))
    file.seek(start)
    total, left = 0, size
    while left:
        count = file.readinto(buffer[: min(left, _SUM_CHUNK)])
        if not count:
            break
        total = zlib.crc32(buffer[:count], total)
        left -= count
    return total


def _files_in(folder):
    """Paths of all files in a folder, relative, with `/`, in order."""
    found = []
    for inner, _, files in os.walk(folder):
        found += [os.path.relpath(os.path.join(inner, f), folder).replace(os.sep, "/") for f in files]
    return sorted(found)
