"""The loop: epochs and batches around a step, the same on every backend.

It never waits for the device inside an epoch: metrics stay where they are and are read when a callback asks, or at most a few
times a second for the progress bar.
"""

import signal
import threading
import time
from contextlib import closing, contextmanager

from kerata import backends
from kerata.callbacks.callback_list import CallbackList
from kerata.callbacks.logs import LazyLogs, as_numbers
from kerata.core import config, tree
from kerata.ops.sparse_rules import kind_of, met
from kerata.training.data.make import make_source
from kerata.training.data.parts import pack_x_y_sample_weight
from kerata.training.data.split import train_validation_split, unpack_validation_data
from kerata.training.data.streams import warn_exhausted
from kerata.training.step import RUNS_TIMED

# With nothing to look at single batches, so many of them at most go into one call of the compiled step...
MOST_STEPS = 64
# ...and their arrays take at most so much memory.
MOST_BYTES = 2**26


def fit(
    model,
    x,
    y,
    batch_size,
    epochs,
    verbose,
    callbacks,
    validation_split,
    validation_data,
    shuffle,
    class_weight,
    sample_weight,
    initial_epoch,
    steps_per_epoch,
    validation_steps,
    validation_batch_size,
    validation_freq,
):
    """The body of `Model.fit`."""
    model._must_be_compiled("fit")
    if validation_split and validation_data is None:
        (x, y, sample_weight), validation_data = train_validation_split((x, y, sample_weight), validation_split)
    epochs, steps_per_epoch = _bounded(epochs, steps_per_epoch)
    source = make_source(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
    validation = None
    if validation_data is not None:
        vx, vy, vw = unpack_validation_data(validation_data)
        validation = make_source(vx, vy, vw, validation_batch_size or batch_size, validation_steps)
    verbose = _verbosity(verbose)
    callbacks = _callbacks(
        model, callbacks, verbose, add_history=True, epochs=epochs, steps=source.steps_in(initial_epoch)
    )
    model.stop_training = False
    run = Run(model, "train", source, callbacks)
    logs, first = {}, 0
    # What `BackupAndRestore` looks at, and what it leaves when there is something to resume.
    model.__dict__.update(_source=source, _resume=None)
    callbacks.on_train_begin()
    if model._resume is not None:
        initial_epoch, first = model._resume["epoch"], model._resume["step"]
        source.restore(model._resume["data"] or {})
    with interruptible() as interrupt:
        run.interrupt = interrupt
        try:
            for epoch in range(initial_epoch, epochs):
                model.reset_metrics()
                callbacks.on_epoch_begin(epoch)
                source.on_epoch_begin()
                found = run.epoch(epoch, first)
                if run.idle and not first and source.exhausted:
                    # Nothing was left for it: it was no epoch, and there's nothing new to validate, save or log.
                    break
                logs, first = found, 0
                source.on_epoch_end()
                if validation is not None and _validates(epoch, validation_freq):
                    logs = {
                        **logs,
                        **{f"val_{k}": v for k, v in _validate(model, validation, callbacks, run, epoch).items()},
                    }
                callbacks.on_epoch_end(epoch, logs)
                if model.stop_training:
                    break
                if source.exhausted:
                    if epoch + 1 < epochs:
                        warn_exhausted(source, epoch + 1, epochs)
                    break
        finally:
            run.finish()
            source.close()
            if validation is not None:
                validation.close()
    if model.optimizer is not None and epochs > initial_epoch:
        model.optimizer.finalize_variable_values(model.trainable_weights)
    callbacks.on_train_end(logs)
    return model.history


def evaluate(model, x, y, batch_size, verbose, sample_weight, steps, callbacks, return_dict, **kwargs):
    """The body of `Model.evaluate`."""
    if kwargs:
        raise ValueError(f"evaluate: unknown arguments {', '.join(kwargs)}.")
    model._must_be_compiled("evaluate")
    source = make_source(x, y, sample_weight, batch_size, steps)
    callbacks = _callbacks(model, callbacks, _verbosity(verbose), epochs=1, steps=source.steps_in(0))
    run = Run(model, "test", source, callbacks)
    with interruptible() as interrupt:
        run.interrupt = interrupt
        try:
            logs = run.whole()
        finally:
            run.finish()
            source.close()
    if return_dict:
        return logs
    return model._results(logs, False)


def predict(model, x, batch_size, verbose, steps, callbacks):
    """The body of `Model.predict`."""
    source = make_source(x, None, None, batch_size, steps)
    callbacks = _callbacks(model, callbacks, _verbosity(verbose), epochs=1, steps=source.steps_in(0))
    b = backends.current()
    outputs = []
    step = None
    model.stop_predicting = False
    with interruptible() as interrupt:
        callbacks.on_predict_begin()
        try:
            source.on_epoch_begin()
            executions = Executions(model, callbacks.on_predict_batch_begin, callbacks.on_predict_batch_end)
            looked_at = callbacks.batch_hooks("predict")

            def logs():
                several = looked_at and len(outputs) > executions.first + 1
                return {"outputs": _joined_outputs(b, outputs[executions.first :]) if several else outputs[-1]}

            for number, batch in enumerate(source.epoch(0)):
                interrupt.check()
                data = (batch[0],)
                step = step or model._step("predict", data)
                executions.begin(number)
                result = step.run(data)
                # Results stay native until the end, unless a callback wants each.
                outputs.append(result)
                executions.end(number + 1, logs)
                if model.stop_predicting:
                    break
            executions.close()
            source.on_epoch_end()
        finally:
            if step is not None:
                step.write_back()
            source.close()
        callbacks.on_predict_end()
    if not outputs:
        raise ValueError("predict: the data have no batches.")
    return _joined_outputs(b, outputs)


def _joined_outputs(b, outputs):
    return tree.map_structure(lambda *parts: joined(b, parts), *outputs)


def joined(b, parts):
    """One output of some batches, as an array, if it's a sparse tensor too; where its rows are of different lengths, as a ragged one.

    Args:
        b: the backend.
        parts: the output of each batch.

    Raises:
        ValueError: lengths differ, and the backend has no ragged tensors.
    """
    import numpy as np

    parts = [b.densify(part) if met(b, part) and kind_of(part) == "sparse" else part for part in parts]
    if not any(kind_of(part) == "ragged" for part in parts):
        parts = [b.to_numpy(part) for part in parts]
        if len(parts) == 1:
            return parts[0]
        shapes = {part.shape[1:] for part in parts}
        if len(shapes) == 1:
            return np.concatenate(parts)
        if not hasattr(b, "ragged"):
            raise ValueError(
                f"predict: the batches' outputs can't be put together into one array: but for their first axis they have shapes "
                f"{sorted(shapes)}. Use `predict_on_batch` on each, or pad the data to one length."
            )
    return b.ragged.joined(parts)


class Executions:
    """When the batch hooks are called: around each call of the step; with a `steps_per_execution` of the user's around so many
    batches, numbered, as in Keras, as if the last ones of an epoch were as many.

    Args:
        model: its `steps_per_execution` is read.
        on_begin, on_end: the hooks.
    """

    def __init__(self, model, on_begin, on_end):
        self.model, self.on_begin, self.on_end = model, on_begin, on_end
        self.first = self.last = None  # numbers of the first and last batch of the execution under way

    def begin(self, first):
        """Hear that a call begins with this batch."""
        size = self.model.steps_per_execution
        if size in (1, "auto"):
            self.first = first
            self.on_begin(first)
        elif self.last is None:
            self.first, self.last = first, first + size - 1
            self.on_begin(first)

    def end(self, done, logs):
        """Hear that so many batches of the epoch are done; `logs` gives what the hook gets."""
        self.logs = logs
        if self.last is None:
            self.on_end(done - 1, logs())
        elif done > self.last:
            self.close()

    def close(self):
        """Hear that there are no more."""
        if self.last is not None:
            last, self.last = self.last, None
            self.on_end(last, self.logs())


class Run:
    """One kind of step over a source, with its callbacks."""

    def __init__(self, model, kind, source, callbacks):
        self.model, self.kind, self.source, self.callbacks = model, kind, source, callbacks
        self.step = None
        self.interrupt = None
        mode = "train" if kind == "train" else "test"
        hooks = (getattr(callbacks, f"on_{mode}_batch_{at}") for at in ("begin", "end"))
        self.executions = Executions(model, *hooks)
        self.mode = mode
        # The attribute of the model by which a callback ends this kind of run, and no other.
        self.stop = "stop_training" if kind == "train" else "stop_evaluating"

    def epoch(self, index=0, start=0):
        """The batches of an epoch from a step on; returns the logs as numbers: none of an epoch without batches."""
        self.idle = True  # until there is a batch
        with closing(self.source.chunks(index, start, self.together)) as chunks:
            logs = self.steps(chunks)
        # An epoch that is resumed at its end has been run before.
        if self.step is None or (self.idle and not start):
            return {}
        logs = as_numbers(self.step.logs(logs))
        self.step.write_back()
        return logs

    def steps(self, chunks):
        """Run the step on each chunk of batches; returns the last logs."""
        logs = None
        for first, count, batch in chunks:
            self.interrupt.check()
            self.idle = False
            data = batch if count > 1 else _packed(batch)
            step = self.step
            if step is None or not step.usable():
                if step is not None:
                    step.write_back()
                one = data if count == 1 else tree.map_structure(lambda a: None if a is None else a[0], data)
                step = self.step = self.model._step(self.kind, _packed(one))
            self.executions.begin(first)
            if count > 1:
                logs = step.run_many(_packed(batch), count)
            elif step.runs < RUNS_TIMED:
                logs = _timed(step, data)
            else:
                logs = step.run(data)
            self.executions.end(first + count, lambda logs=logs, step=step: LazyLogs(lambda: step.logs(logs)))
            if getattr(self.model, self.stop):
                break
        self.executions.close()
        return logs

    def whole(self):
        """An evaluation: metrics anew, one pass."""
        self.model.reset_metrics()
        self.model.stop_evaluating = False
        self.callbacks.on_test_begin()
        self.source.on_epoch_begin()
        logs = self.epoch(0)
        self.source.on_epoch_end()
        self.callbacks.on_test_end(logs)
        return logs

    def together(self):
        """How many batches the next call of the step takes."""
        model, source = self.model, self.source
        steps = model.steps_per_execution
        if steps == "auto" or steps == 1:
            if self.callbacks.batch_hooks(self.mode) or model.run_eagerly:
                return 1
            step = self.step or model._steps.get(self.kind)
            if step is None or not step.takes_many or not step.usable():
                return 1
            size = getattr(source, "batch_bytes", None)
            if size is None:
                return 1
            full = source.full_steps(0)
            count = max(1, min(MOST_STEPS, int(MOST_BYTES // max(size, 1)), full))
            return _even(full, count)
        return steps

    def finish(self):
        if self.step is not None:
            self.step.write_back()


def _timed(step, data):
    start = time.perf_counter()
    logs = step.run(data)
    step.wait()
    step.note(time.perf_counter() - start)
    return logs


def _even(total, most):
    """A number of steps at most `most` that leaves the smallest rest of `total`, so few batches go one by one."""
    best = most
    for count in range(most, max(1, most // 2), -1):
        if total % count < total % best:
            best = count
            if total % count == 0:
                break
    return best


def _packed(batch):
    return pack_x_y_sample_weight(*batch) if isinstance(batch, tuple) and len(batch) == 3 else batch


def _validate(model, validation, callbacks, training, epoch):
    """An evaluation within `fit`; the training metrics have been read already."""
    if training.step is not None:
        training.step.write_back()
    if getattr(training, "validation", None) is None:
        training.validation = Run(model, "test", validation, callbacks)
        training.validation.interrupt = training.interrupt
    run = training.validation
    try:
        return run.whole()
    finally:
        run.finish()


def _validates(epoch, frequency):
    if isinstance(frequency, (list, tuple, set)):
        return epoch + 1 in frequency
    return (epoch + 1) % frequency == 0


def _callbacks(model, callbacks, verbose, add_history=False, **params):
    if isinstance(callbacks, CallbackList):
        return callbacks
    return CallbackList(
        callbacks, add_history=add_history, add_progbar=verbose != 0, model=model, verbose=verbose, **params
    )


def _verbosity(verbose):
    if verbose == "auto":
        return 1
    return int(verbose)


def announce_predict(verbose):
    """The progress line of a prediction that took a single batch."""
    from kerata.callbacks.progbar import Progbar

    bar = Progbar(1)
    bar.update(1, finalize=True)


def _bounded(epochs, steps):
    """`epochs` and `steps` within the process's limits (for trying scripts out)."""
    most_epochs, most_steps = config.max_epochs(), config.max_steps_per_epoch()
    if most_epochs is not None:
        epochs = min(epochs, most_epochs)
    if most_steps is not None:
        steps = most_steps if steps is None else min(steps, most_steps)
    return epochs, steps


class _Interrupt:
    """Ctrl-C noted, to be raised between steps, where the state is whole."""

    def __init__(self):
        self.asked = False

    def check(self):
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt

    def note(self, signum, frame):
        if self.asked:
            # Asked for twice: the step doesn't come back.
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interruptible():
    """Within the block Ctrl-C waits for the end of the step (a second one doesn't)."""
    interrupt = _Interrupt()
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.note)
    try:
        yield interrupt
        interrupt.check()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
