"""Items of a data set fetched by several threads or processes, handed out in order."""

import contextvars
import multiprocessing
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool


class Workers:
    """Fetches `dataset[i]` ahead of need. One pool serves all epochs of a run.

    Args:
        dataset: object with `__getitem__`.
        count: number of threads or processes.
        processes: whether to use processes.
        ahead: how many items may be on their way or ready.
        changes: whether the data set may change between epochs, so that processes, which have copies, must be
            started anew.
    """

    def __init__(self, dataset, count, processes=False, ahead=10, changes=False):
        self._dataset = dataset
        self._count = count
        self._processes = processes
        self._ahead = max(ahead, count)
        self._renewed = processes and changes
        self._pool = None

    def fetch(self, indices):
        """Items at `indices`, in that order. An error of an item is raised in its place."""
        if self._renewed:
            self.close()
        if self._pool is None:
            self._pool = self._start()
        pending = deque()
        try:
            for index in indices:
                pending.append(self._submit(index))
                if len(pending) >= self._ahead:
                    yield _result(pending.popleft())
            while pending:
                yield _result(pending.popleft())
        finally:
            for future in pending:
                future.cancel()

    def _start(self):
        if self._processes:
            # Python's default way to start processes, which the user may set
            # (`multiprocessing.set_start_method`).
            return ProcessPoolExecutor(self._count, multiprocessing.get_context(), _keep, (self._dataset,))
        return ThreadPoolExecutor(self._count, thread_name_prefix="kerata-data")

    def _submit(self, index):
        if self._processes:
            return self._pool.submit(_item_of_kept, index)
        # In a copy of the context, so that the thread sees its starter's backend and scopes.
        return self._pool.submit(contextvars.copy_context().run, self._dataset.__getitem__, index)

    def close(self):
        """End the threads or processes, after what they are doing."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _result(future):
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "A worker process of a PyDataset ended before it was done (killed for memory, or it crashed; or "
            "it could not be started because the script's main part isn't under `if __name__ == "
            '"__main__":`).'
        ) from error


_kept = None


def _keep(dataset):
    global _kept
    _kept = dataset
    # Ctrl-C reaches all processes of a terminal; the main one ends these.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _item_of_kept(index):
    return _kept[index]
