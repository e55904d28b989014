"""Batches made ready by a thread while the device works on the one before.

Handing a batch from one thread to another costs 10 to 35 us (CPU, one and two cores, Python 3.11: most of it
waiting for the interpreter's lock), so it pays only from some work on a batch on: see `WORTH_SECONDS`.
"""

import contextvars
import queue
import threading
import time

# A batch that takes longer than this to make is worth a thread.
WORTH_SECONDS = 3e-4
DEPTH = 2


class prefetch:  # noqa: N801  (used as a function)
    """Iterate over `iterable`, up to `depth` items ahead.

    Errors of the iterable come out where its item would, with their own traceback. Leaving the `with` block,
    `close()`, or an error ends the thread: none is left over.

    Args:
        iterable: what to go through.
        depth: how many items may be ready.
        background: True for a thread, False for none, `"auto"` to begin without and start one when two items
            in a row took longer than a thread costs.
    """

    def __init__(self, iterable, depth=DEPTH, background=True):
        self._iterator = iter(iterable)
        self._depth = depth
        self._auto = background == "auto"
        self._slow = 0
        self._thread = None
        if background and not self._auto:
            self._start()

    def __iter__(self):
        if self._thread is None and not self._auto:
            return self._iterator  # no thread, and never one: no step through here either
        return self

    def __next__(self):
        if self._thread is not None:
            return self._next_ready()
        began = time.perf_counter()
        item = next(self._iterator)
        self._slow = self._slow + 1 if time.perf_counter() - began > WORTH_SECONDS else 0
        if self._auto and self._slow == 2:
            self._start()
        return item

    def _start(self):
        # SimpleQueue is written in C. The second one bounds the first: a token for each item that may be
        # made.
        self._ready, self._free, self._stopped = queue.SimpleQueue(), queue.SimpleQueue(), []
        for _ in range(self._depth):
            self._free.put(True)
        # In a copy of the context, so that the thread sees its starter's backend and scopes. Not a method:
        # the thread must not keep this object alive.
        work = (contextvars.copy_context().run, _fill, self._iterator, self._ready, self._free, self._stopped)
        self._thread = threading.Thread(target=work[0], args=work[1:], name="kerata-prefetch", daemon=True)
        self._thread.start()

    def _next_ready(self):
        if self._ready is None:
            raise StopIteration
        ok, item = self._ready.get()
        if ok:
            self._free.put(True)
            return item
        self._ready = None
        self._thread.join()
        raise StopIteration if item is None else item

    def close(self):
        """End the thread, after the item that it is making, and close the iterable."""
        self._stop()
        if self._thread is not None:
            self._thread.join()
        if hasattr(self._iterator, "close"):
            self._iterator.close()

    def _stop(self):
        if self._thread is not None:
            self._stopped.append(True)
            self._free.put(True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self._stop()  # without waiting: this may run in that very thread


def _fill(iterator, ready, free, stopped):
    try:
        while free.get() and not stopped:
            ready.put((True, next(iterator)))
    except StopIteration:
        ready.put((False, None))
    except BaseException as error:
        ready.put((False, error))
