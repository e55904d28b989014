"""A part of a file that looks like a file of its own."""

import io
import os


class Window(io.RawIOBase):
    """Reads and writes a file from an offset on, without copying.

    HDF5 calls these methods from C, where an exception is turned into a message without type or cause. So the
    first one is kept, and `check` raises it; later writes are dropped, that HDF5 may close in peace.

    Args:
        file: unbuffered binary file.
        start: offset at which the window begins.
        size: its size; `None`: it grows by writing.
    """

    def __init__(self, file, start=0, size=None):
        self._file = file
        self._start = start
        self._at = 0
        self.size = 0 if size is None else size
        self._error = None
        self._dropping = False

    def check(self):
        """Raise what went wrong inside HDF5, as it was."""
        if self._error is not None:
            raise self._error

    def swallow(self):
        """From now on, drop what is written."""
        self._dropping = True

    def readable(self):
        return True

    writable = seekable = readable

    def seek(self, offset, whence=os.SEEK_SET):
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = base + offset
        return self._at

    def tell(self):
        return self._at

    def truncate(self, size=None):
        self.size = self._at if size is None else size
        return self.size

    def flush(self):
        pass

    def readinto(self, buffer):
        view = memoryview(buffer).cast("B")[: max(0, self.size - self._at)]
        self._file.seek(self._start + self._at)
        done = 0
        while done < len(view):
            count = self._file.readinto(view[done:])
            if not count:
                break
            done += count
        self._at += done
        return done

    def write(self, data):
        view = memoryview(data).cast("B")
        if self._error is None and not self._dropping:
            try:
                self._write_all(view)
            except BaseException as error:
                self._error = error
        self._at += len(view)
        self.size = max(self.size, self._at)
        return len(view)

    def _write_all(self, view):
        self._file.seek(self._start + self._at)
        done = 0
        while done < len(view):
            done += self._file.write(view[done:])
