"""Callbacks: when they are called, what they get, what they do and how they fail."""

import contextlib
import copy
import io
import json
import logging
import pickle
import time

import numpy as np
import pytest

import kerata
from kerata import backends, callbacks
from kerata.callbacks import progbar
from kerata.callbacks.logs import LazyLogs, as_numbers


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


class Model:
    stop_training = False
    metrics = ()


HOOKS = [f"on_{mode}_{at}" for mode in ("train", "test", "predict") for at in ("begin", "end")]
BATCH_HOOKS = [f"on_{mode}_batch_{at}" for mode in ("train", "test", "predict") for at in ("begin", "end")]
EPOCH_HOOKS = ["on_epoch_begin", "on_epoch_end"]


# ---- lists


def test_every_hook_reaches_every_callback_in_order():
    calls = []

    def make(name):
        hooks = {h: (lambda logs, h=h: calls.append((name, h, logs))) for h in HOOKS}
        hooks |= {h: (lambda n, logs, h=h: calls.append((name, h, n, logs))) for h in [*BATCH_HOOKS, *EPOCH_HOOKS]}
        return callbacks.LambdaCallback(**hooks)

    both = callbacks.CallbackList([make("a"), make("b")])
    for hook in HOOKS:
        getattr(both, hook)()
        assert calls == [("a", hook, {}), ("b", hook, {})]
        calls.clear()
    for hook in [*BATCH_HOOKS, *EPOCH_HOOKS]:
        getattr(both, hook)(3, {"loss": 1.0})
        assert calls == [("a", hook, 3, {"loss": 1.0}), ("b", hook, 3, {"loss": 1.0})]
        calls.clear()


def test_the_hooks_of_training_batches_have_two_names():
    calls = []

    class Old(callbacks.Callback):
        def on_batch_begin(self, batch, logs=None):
            calls.append(("begin", batch))

        def on_batch_end(self, batch, logs=None):
            calls.append(("end", batch, logs))

    both = callbacks.CallbackList(Old())
    assert both.batch_hooks("train") and not both.batch_hooks("test")
    both.on_train_batch_begin(1)
    both.on_batch_end(1, {"loss": 2.0})
    assert calls == [("begin", 1), ("end", 1, {"loss": 2.0})]


def test_who_needs_each_batch():
    class Epochs(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            pass

    class Tests(callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            pass

    def needs(*these, **kwargs):
        both = callbacks.CallbackList(list(these), **kwargs)
        return tuple(both.batch_hooks(mode) for mode in ("train", "test", "predict"))

    assert needs(Epochs(), add_history=True, add_progbar=True, verbose=1) == (False, False, False)
    assert needs(Tests()) == (False, True, False)
    assert needs(callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: None)) == (
        True,
        False,
        False,
    )
    assert needs(callbacks.LambdaCallback(on_epoch_end=print)) == (False, False, False)
    assert needs(callbacks.ModelCheckpoint("a.keras")) == (False, False, False)
    assert needs(callbacks.ModelCheckpoint("a.keras", save_freq=5)) == (True, False, False)
    assert needs(callbacks.BackupAndRestore("a")) == (False, False, False)
    assert needs(callbacks.BackupAndRestore("a", save_freq=5)) == (True, False, False)
    assert needs(callbacks.EarlyStopping(), callbacks.TerminateOnNaN()) == (False, False, False)
    assert callbacks.CallbackList([callbacks.TerminateOnNaN()]).wants_progress("train")
    assert not callbacks.CallbackList([Epochs()], add_history=True).wants_progress("train")


def test_hooks_set_on_an_object_are_found_when_a_run_begins():
    late = callbacks.Callback()
    both = callbacks.CallbackList([late])
    seen = []
    late.on_train_batch_end = lambda batch, logs=None: seen.append(batch)
    both.on_train_begin()
    both.on_train_batch_end(4)
    assert seen == [4] and both.batch_hooks("train")


def test_defaults_are_added_once():
    both = callbacks.CallbackList(None, add_history=True, add_progbar=True, model=Model(), epochs=2, steps=3)
    assert [type(c).__name__ for c in both.callbacks] == ["History", "ProgbarLogger"]
    assert both.params == {"epochs": 2, "steps": 3} == both.callbacks[0].params
    assert both.model.history is both.history is both.callbacks[0]
    own = callbacks.History()
    both = callbacks.CallbackList([own], add_history=True)
    assert both.callbacks == [own] and both.history is own
    both.append(callbacks.TerminateOnNaN())
    assert len(both.callbacks) == 2 and both.wants_progress()


@pytest.mark.parametrize("wrong", [callbacks.EarlyStopping, "EarlyStopping", [object()]])
def test_what_is_no_callback(wrong):
    with pytest.raises(ValueError, match="must hold `Callback` objects"):
        callbacks.CallbackList([wrong])


def test_a_list_without_batch_hooks_costs_next_to_nothing():
    both = callbacks.CallbackList([callbacks.EarlyStopping()], add_history=True)
    began = time.perf_counter()
    for batch in range(10_000):
        both.on_train_batch_begin(batch)
        both.on_train_batch_end(batch)
    assert (time.perf_counter() - began) / 10_000 < 5e-6  # measured: 0.5 us


# ---- logs


class Reader:
    def __init__(self, **numbers):
        self.numbers, self.reads = numbers, 0

    def __call__(self):
        self.reads += 1
        return self.numbers


def test_lazy_logs_are_fetched_once_and_only_to_be_read():
    read = Reader(loss=np.float32(0.5), acc=np.array(0.25))
    logs = LazyLogs(read, ("loss", "acc"))
    assert "loss" in logs and "mae" not in logs and len(logs) == 2 and logs and list(logs) == ["loss", "acc"]
    assert logs.get("mae") is None and logs.get("mae", 1) == 1 and list(logs.keys()) == ["loss", "acc"]
    logs["rate"] = 0.1
    assert read.reads == 0
    assert logs["loss"] == 0.5 and type(logs["loss"]) is float
    assert list(logs.items()) == [("loss", 0.5), ("acc", 0.25), ("rate", 0.1)]
    assert read.reads == 1


def test_logs_without_names_are_lazy_too():
    read = Reader(**PLAIN)
    logs = LazyLogs(read)
    logs["rate"] = 0.1
    assert read.reads == 0 and list(logs) == ["loss", "acc", "rate"] and len(logs) == 3 and read.reads == 1


PLAIN = {"loss": 0.5, "acc": 0.25}


@pytest.mark.parametrize(
    "use",
    [
        dict,
        lambda logs: {**logs},
        lambda logs: (lambda **k: k)(**logs),
        lambda logs: logs.copy(),
        copy.copy,
        copy.deepcopy,
        lambda logs: pickle.loads(pickle.dumps(logs)),
        lambda logs: json.loads(json.dumps(logs)),
        lambda logs: eval(repr(logs)),
        lambda logs: logs | {},
        lambda logs: {} | logs,
        lambda logs: dict(zip(logs.keys(), logs.values())),
        lambda logs: {name: logs.get(name) for name in logs},
        lambda logs: logs,
    ],
)
@pytest.mark.parametrize("names", [None, ("loss", "acc")])
def test_lazy_logs_are_dicts(use, names):
    assert use(LazyLogs(Reader(**PLAIN), names)) == PLAIN
    assert isinstance(LazyLogs(Reader()), dict)


def test_changing_lazy_logs():
    logs = LazyLogs(Reader(**PLAIN), ("loss", "acc"))
    logs["loss"] = 7.0
    assert logs.pop("acc") == 0.25 and logs.pop("acc", None) is None and dict(logs) == {"loss": 7.0}
    assert logs.setdefault("loss", 1) == 7.0
    del logs["loss"]
    with pytest.raises(KeyError):
        logs["loss"]
    assert logs != PLAIN


def test_numbers_of_any_kind():
    logs = {"a": np.float32(1), "b": {"c": np.array(2), "d": 3}, "e": "text", "f": np.ones(2)}
    numbers = as_numbers(logs)
    assert [type(numbers[n]) for n in "acd"] == [float] * 3 and numbers["e"] == "text" and numbers["f"].shape == (2,)


def test_history_keeps_what_others_added():
    class Adds(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["rate"] = epoch * 1.0

    both = callbacks.CallbackList([Adds()], add_history=True, model=Model())
    both.on_train_begin()
    for epoch in range(2):
        both.on_epoch_end(epoch, LazyLogs(Reader(loss=0.5)))
    assert both.history.history == {"loss": [0.5, 0.5], "rate": [0.0, 1.0]} and both.history.epoch == [0, 1]


# ---- monitors


class Metric:
    def __init__(self, name, direction=None, metrics=None):
        self.name, self._direction = name, direction
        if metrics is not None:
            self.metrics = metrics


@pytest.mark.parametrize(
    ("monitor", "mode", "up"),
    [
        ("loss", "auto", False),
        ("val_loss", "auto", False),
        ("decoder_loss", "auto", False),
        ("acc", "auto", True),
        ("val_acc", "auto", True),
        ("val_decoder_acc", "auto", True),
        ("mae", "auto", False),
        ("anything", "max", True),
        ("val_acc", "min", False),
    ],
)
def test_directions(monitor, mode, up):
    model = Model()
    model.metrics = [
        Metric("loss"),
        Metric("compiled", metrics=[Metric("acc", "up"), Metric("mae", "down"), Metric("own")]),
    ]
    callback = callbacks.MonitorCallback(monitor, mode)
    callback.set_model(model)
    callback._set_monitor_op()
    assert callback.monitor_op is (kerata.ops.greater if up else kerata.ops.less)
    for unknown in ("own", "nothing"):
        callback = callbacks.EarlyStopping(unknown)
        callback.set_model(model)
        with pytest.raises(ValueError, match=f"monitor='{unknown}'.*maximized or minimized"):
            callback.on_epoch_end(0, {unknown: 1.0})


def test_early_stopping_forgets_the_run_before():
    stopper = callbacks.EarlyStopping("loss", patience=1, restore_best_weights=True)
    stopper.best, stopper.wait, stopper.best_weights = 0.1, 3, object()
    stopper.on_train_begin()
    assert (stopper.best, stopper.wait, stopper.best_weights) == (None, 0, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: callbacks.ReduceLROnPlateau(factor=1.0), "factor >= 1.0"),
        (lambda: callbacks.ModelCheckpoint("a.foo"), "must end in `.keras`"),
        (lambda: callbacks.ModelCheckpoint("a.h5", save_weights_only=True), "must end in `.weights.h5`"),
        (lambda: callbacks.ModelCheckpoint("a.keras", save_freq=2.5), "Unrecognized save_freq"),
        (lambda: callbacks.ModelCheckpoint("a.keras", save_freq=0), "Unrecognized save_freq"),
        (lambda: callbacks.BackupAndRestore(""), "Empty `backup_dir`"),
        (lambda: callbacks.BackupAndRestore(None), "Empty `backup_dir`"),
        (lambda: callbacks.BackupAndRestore("a", save_freq="batch"), "Invalid value"),
        (lambda: callbacks.BackupAndRestore("a", save_freq=0.15), "Invalid value"),
    ],
)
def test_arguments_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_unknown_arguments_are_told():
    with pytest.raises(TypeError, match="pattience"):
        callbacks.ReduceLROnPlateau(pattience=3)
    with pytest.warns(UserWarning, match="mode 'best' is unknown"):
        callbacks.EarlyStopping(mode="best")


def test_names_in_a_checkpoints_path_must_exist(tmp_path):
    checkpoint = callbacks.ModelCheckpoint(tmp_path / "{epoch}-{val_loss}.keras")
    checkpoint.set_model(Model())
    with pytest.raises(KeyError, match="Failed to format.*val_loss.*there are: epoch, loss"):
        checkpoint.on_epoch_end(0, {"loss": 1.0})


# ---- rates


class Optimizer:
    def __init__(self, rate):
        self.learning_rate = rate


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        (lambda epoch: 1.0 / (1 + epoch), [1.0, 0.5]),
        (lambda epoch, rate: rate / 2, [0.05, 0.025]),
        (lambda epoch, rate=None: np.float32(0.5), [0.5, 0.5]),
    ],
)
def test_learning_rate_scheduler(schedule, rates, capsys):
    model = Model()
    model.optimizer = Optimizer(0.1)
    scheduler = callbacks.LearningRateScheduler(schedule, verbose=1)
    scheduler.set_model(model)
    for epoch, rate in enumerate(rates):
        scheduler.on_epoch_begin(epoch)
        logs = {}
        scheduler.on_epoch_end(epoch, logs)
        assert logs == {"learning_rate": rate} and type(logs["learning_rate"]) is float
    assert "Epoch 2: LearningRateScheduler setting learning rate to" in capsys.readouterr().out


def test_an_error_in_a_schedule_is_not_swallowed():
    def schedule(epoch, rate):
        raise TypeError("mine")

    model = Model()
    model.optimizer = Optimizer(0.1)
    scheduler = callbacks.LearningRateScheduler(schedule)
    scheduler.set_model(model)
    with pytest.raises(TypeError, match="mine"):
        scheduler.on_epoch_begin(0)
    for wrong in (lambda epoch: "x", lambda epoch: 1):
        scheduler = callbacks.LearningRateScheduler(wrong)
        scheduler.set_model(model)
        with pytest.raises(ValueError, match="should be a float"):
            scheduler.on_epoch_begin(0)
    model.optimizer = None
    with pytest.raises(ValueError, match="must have a `learning_rate`"):
        scheduler.on_epoch_begin(0)


# ---- nan


def terminate(losses, per_epoch=4, **arguments):
    callback = callbacks.TerminateOnNaN(**arguments)
    model = Model()
    model.stop_training = False
    callback.set_model(model)
    callback.set_params({"steps": per_epoch})
    callback.on_train_begin()
    for batch, loss in enumerate(losses):
        callback.on_train_batch_end(batch, logs=LazyLogs(lambda loss=loss: {"loss": loss}, ("loss",)))
    if not model.stop_training:
        callback.on_epoch_end(0, {"loss": losses[-1]})
    return model.stop_training


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_loss_that_is_no_number_ends_training(bad, capsys):
    assert terminate([1.0, bad, bad, bad])
    assert "Batch 3: Invalid loss, terminating training" in capsys.readouterr().out
    assert terminate([bad, bad], per_epoch=None)
    assert not terminate([1.0, 2.0])
    with pytest.raises(RuntimeError, match="NaN or Inf loss encountered at batch 0"):
        terminate([bad], raise_error=True)


def test_the_loss_is_not_read_after_every_batch():
    read = Reader(loss=1.0)
    callback = callbacks.TerminateOnNaN()
    callback.set_model(Model())
    callback.on_train_begin()
    for batch in range(1000):
        callback.on_train_batch_end(batch, logs=LazyLogs(read, ("loss",)))
    assert read.reads <= 3


# ---- averages


class Variable:
    def __init__(self, value):
        self.value = np.float32(value)

    def numpy(self):
        return self.value

    def assign(self, value):
        self.value = value


class Averaging:
    def __init__(self, use_ema=True):
        self.use_ema = use_ema
        self._trainable_variables = [Variable(1), Variable(2)]
        self._model_variables_moving_average = [Variable(10), Variable(20)]

    @property
    def weights(self):
        return [float(v.value) for v in self._trainable_variables]


@pytest.mark.parametrize("swap_on_epoch", [False, True])
@pytest.mark.parametrize("wrapped", [False, True])
def test_averages_stand_in_for_evaluation(swap_on_epoch, wrapped):
    model, inner = Model(), Averaging()
    model.optimizer = inner
    if wrapped:
        model.optimizer = type("LossScale", (), {"inner_optimizer": inner})()
    swap = callbacks.SwapEMAWeights(swap_on_epoch)
    swap.set_model(model)
    swap.on_train_begin()
    for epoch in range(2):
        swap.on_epoch_begin(epoch)
        assert inner.weights == [1, 2]
        swap.on_test_begin()
        assert inner.weights == [10, 20]
        swap.on_test_end()
        assert inner.weights == [1, 2]
        swap.on_epoch_end(epoch)
        assert inner.weights == ([10, 20] if swap_on_epoch else [1, 2])
    # The averages themselves were never touched: whatever ends training finds them.
    assert [float(v.value) for v in inner._model_variables_moving_average] == [10, 20]
    swap.on_train_end()
    swap.on_predict_begin()
    assert inner.weights == [10, 20]


def test_averages_must_be_kept():
    model = Model()
    model.optimizer = Averaging(use_ema=False)
    swap = callbacks.SwapEMAWeights()
    swap.set_model(model)
    with pytest.raises(ValueError, match="SwapEMAWeights must be used when `use_ema=True` is set"):
        swap.on_train_begin()


# ---- backup


class Saves(Model):
    """Whose only weight counts the batches."""

    def __init__(self):
        self.weight = 0
        self._source = type("Source", (), {"state": lambda self: {"seed": 7}})()

    def save_weights(self, path, overwrite=True):
        import h5py

        with h5py.File(path, "w") as file:
            file["weight"] = self.weight

    def load_weights(self, path):
        import h5py

        with h5py.File(path, "r") as file:
            self.weight = int(file["weight"][()])


def train(model, callback, epochs, steps, stop_at=None):
    """What the loop does, as far as a backup sees it; returns the (epoch, step) pairs that it ran."""
    model._initial_epoch, model._resume = 0, None
    callback.set_model(model)
    callback.set_params({"steps": steps, "epochs": epochs})
    callback.on_train_begin()
    done = []
    first = (model._resume or {}).get("step", 0)
    for epoch in range(model._initial_epoch, epochs):
        callback.on_epoch_begin(epoch)
        for step in range(first, steps):
            model.weight += 1
            done.append((epoch, step))
            callback.on_train_batch_end(step, logs={})
            if (epoch, step) == stop_at:
                return done
        first = 0
        callback.on_epoch_end(epoch, {})
    callback.on_train_end()
    return done


@pytest.mark.parametrize("save_freq", ["epoch", 1, 2, 3, 5])
@pytest.mark.parametrize("stop_at", [(0, 0), (0, 2), (1, 0), (1, 1), (2, 2)])
@pytest.mark.parametrize("double_checkpoint", [False, True])
def test_an_interrupted_run_ends_like_one_that_was_not(tmp_path, save_freq, stop_at, double_checkpoint):
    folder = tmp_path / "backup"

    def make():
        return callbacks.BackupAndRestore(folder, save_freq, double_checkpoint)

    first = train(Saves(), make(), 4, 3, stop_at)
    model = Saves()
    second = train(model, make(), 4, 3)
    assert model.weight == 4 * 3
    assert second == [(e, s) for e in range(4) for s in range(3)][12 - len(second) :]
    lost = len(first) + len(second) - 12
    assert 0 <= lost < (4 if save_freq == "epoch" else save_freq)  # after the last batch, before the epoch's end
    if model._resume:
        assert model._resume["data"] == {"seed": 7}
    assert not folder.exists()


def test_a_backup_can_be_kept_and_is_of_one_piece(tmp_path):
    model = Saves()
    train(model, callbacks.BackupAndRestore(tmp_path, 2, delete_checkpoint=False), 2, 3, (1, 1))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["latest.weights.h5", "training_metadata.json"]
    # The state is in the weights' file: without the other one it still goes on in the right place.
    (tmp_path / "training_metadata.json").write_text('{"epoch": 100, "batch": 0}')
    again = callbacks.BackupAndRestore(tmp_path)
    again.set_model(model)
    again.on_train_begin()
    assert model._resume == {"epoch": 1, "step": 1, "data": {"seed": 7}} and model.weight == 4


def test_a_backup_of_keras_is_taken_up(tmp_path):
    model = Saves()
    model.weight = 5
    model.save_weights(tmp_path / "latest.weights.h5")
    (tmp_path / "training_metadata.json").write_text('{"epoch": 2, "batch": 0}')
    callback = callbacks.BackupAndRestore(tmp_path)
    callback.set_model(model)
    callback.on_train_begin()
    assert model._initial_epoch == 2 and model._resume["step"] == 0


def test_a_spoilt_backup(tmp_path):
    train(Saves(), callbacks.BackupAndRestore(tmp_path, double_checkpoint=True), 5, 3, (3, 0))
    (tmp_path / "latest.weights.h5").write_text("0")
    model = Saves()
    callback = callbacks.BackupAndRestore(tmp_path, double_checkpoint=True)
    callback.set_model(model)
    with pytest.warns(UserWarning, match="taking the one before"):
        callback.on_train_begin()
    assert model._initial_epoch == 2 and model.weight == 6
    callback = callbacks.BackupAndRestore(tmp_path)
    callback.set_model(model)
    with pytest.raises(ValueError, match="can't be restored.*Delete the folder"):
        callback.on_train_begin()


# ---- progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(progbar.time, "time", lambda: now[0])
    return now


@contextlib.contextmanager
def on_terminal():
    # Not a fixture: pytest takes `sys.stdout` back between setup and test.
    terminal = Terminal()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(terminal):
        patch.setenv("TERM", "xterm")
        yield terminal


def test_a_terminal_gets_a_bar_that_is_drawn_over(clock):
    with on_terminal() as screen:
        bar = kerata.utils.Progbar(4, interval=0.05)
        for step in range(1, 5):
            clock[0] += 0.1
            bar.update(step, [("loss", 0.5)])
    frames = screen.getvalue().split("\r")[1:]
    assert len(frames) == 4 and frames[-1].endswith("\n")
    assert "\x1b[1m2/4\x1b[0m" in frames[1] and "━━━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━" in frames[1]
    assert "100ms/step - loss: 0.5000" in frames[-1]


def test_it_draws_no_more_often_than_asked(clock):
    with on_terminal() as screen:
        bar = kerata.utils.Progbar(1000, interval=0.1)
        for step in range(1, 1000):
            clock[0] += 0.001
            bar.update(step)
    assert 9 <= screen.getvalue().count("\r") <= 11


def test_lines_are_cut_to_the_terminal(clock, monkeypatch):
    monkeypatch.setattr(progbar, "_columns", lambda: 40)
    with on_terminal() as screen:
        bar = kerata.utils.Progbar(1000)
        clock[0] += 1
        bar.update(1, [("a_metric_with_a_long_name", 1.0), ("another_one", 2.0)])
    text = screen.getvalue().strip("\r")
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[37m"):
        text = text.replace(code, "")
    assert len(text) == 40


def test_a_file_gets_plain_lines_now_and_then(clock, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("sys.stdout", file)
    bar = kerata.utils.Progbar(100)
    for step in range(1, 101):
        clock[0] += 0.3
        bar.update(step, [("loss", 0.5)])
    lines = file.getvalue().splitlines()
    assert len(lines) == 3 and "\x1b" not in file.getvalue() and "\r" not in file.getvalue()
    assert lines[-1] == "100/100 ━━━━━━━━━━━━━━━━━━━━ 30s 300ms/step - loss: 0.5000"


@pytest.mark.parametrize(
    ("lists", "shown"),
    [
        ({"stateful_metrics": []}, "1."),
        ({"stateless_metrics": ["value"]}, "1."),
        ({"stateless_metrics": []}, "2."),
        ({"stateful_metrics": ["value"]}, "2."),
        ({}, "1."),
    ],
)
def test_what_is_averaged(lists, shown, capsys):
    bar = kerata.utils.Progbar(3, interval=0.0, **lists)
    bar.update(1, [("value", 0.0)])
    capsys.readouterr()
    bar.update(2, [("value", 2.0)])
    assert f"value: {shown}" in capsys.readouterr().out
    bar.add(1, [("value", [3.0, 5.0])])
    assert "value: 4." in capsys.readouterr().out
    with pytest.raises(ValueError, match="Only one of"):
        kerata.utils.Progbar(1, stateful_metrics=[], stateless_metrics=[])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "0s"), (59, "59s"), (61, "1:01"), (3600, "60:00"), (3661, "1:01:01"), (360000, "100:00:00")],
)
def test_durations(seconds, text):
    assert progbar._duration(seconds) == text


def test_the_first_steps_time_is_left_out_of_the_pace(clock, capsys):
    bar = kerata.utils.Progbar(20, verbose=2)
    clock[0] += 10  # compiling
    bar.update(8)
    clock[0] += 0.12
    bar.update(20)
    assert capsys.readouterr().out == "20/20 - 10s - 10ms/step\n"


def fit_progress(verbose, epochs=2, steps=3, **params):
    read = Reader(loss=0.5)
    both = callbacks.CallbackList(None, add_progbar=True, model=Model(), verbose=verbose, epochs=epochs, steps=steps)
    both.on_train_begin()
    for epoch in range(epochs):
        both.on_epoch_begin(epoch)
        for batch in range(3):
            both.on_train_batch_end(batch, LazyLogs(read, ("loss",)))
        both.on_test_begin()
        both.on_test_batch_end(0, LazyLogs(read, ("loss",)))
        both.on_test_end(LazyLogs(read, ("loss",)))
        both.on_epoch_end(epoch, {"loss": 0.5, "val_loss": 0.25})
    both.on_train_end()
    return read.reads


def test_progress_of_fit(capsys, clock):
    assert fit_progress(0) == 0 and capsys.readouterr().out == ""
    assert fit_progress(2) == 0
    line = "3/3 - 0s - 0s/step - loss: 0.5000 - val_loss: 0.2500"
    assert capsys.readouterr().out.splitlines() == ["Epoch 1/2", line, "Epoch 2/2", line]
    fit_progress("auto", epochs=1, steps=None)
    assert capsys.readouterr().out == "3/3 ━━━━━━━━━━━━━━━━━━━━ 0s 0s/step - loss: 0.5000 - val_loss: 0.2500\n"


def test_progress_reads_numbers_only_to_draw_them(clock):
    read = Reader(loss=0.5)
    with on_terminal():
        both = callbacks.CallbackList(None, add_progbar=True, verbose=1, epochs=1, steps=1000)
        both.on_epoch_begin(0)
        for batch in range(1000):
            clock[0] += 0.001
            both.on_train_batch_end(batch, LazyLogs(read, ("loss",)))
    assert 9 <= read.reads <= 11


def test_progress_of_evaluate_and_predict(capsys, clock):
    both = callbacks.CallbackList(None, add_progbar=True, verbose=2, epochs=1, steps=2)
    both.on_test_begin()
    both.on_test_batch_end(1, {"loss": 1.0})
    both.on_test_end({"loss": 1.0})
    both.on_predict_begin()
    both.on_predict_batch_end(1, {"outputs": np.ones((4, 2))})
    both.on_predict_end()
    assert capsys.readouterr().out == "2/2 - 0s - 0s/step - loss: 1.0000\n2/2 - 0s - 0s/step\n"


def test_progress_can_go_to_the_log(caplog, capsys):
    kerata.config.disable_interactive_logging()
    try:
        with caplog.at_level(logging.INFO, logger="kerata"):
            kerata.utils.Progbar(1).update(1, [("loss", 0.5)])
    finally:
        kerata.config.enable_interactive_logging()
    assert "loss: 0.5000" in caplog.text and capsys.readouterr().out == ""


def test_the_face_has_keras_names(real_keras):
    missing = {n for n in dir(real_keras.callbacks) if not n.startswith("_")} - set(dir(callbacks))
    assert missing <= {"OrbaxCheckpoint", "RemoteMonitor", "TensorBoard"}


# ---- RemoteMonitor


def test_logs_are_posted_to_a_server():
    import http.server
    import threading
    import urllib.parse

    pytest.importorskip("requests")
    got = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            got.append((self.path, self.headers["X-Run"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    logs = {"loss": np.float32(0.5), "one": np.array([2]), "several": np.array([1.0, 2.0])}
    said = {"epoch": 3, "loss": 0.5, "one": 2, "several": [1.0, 2.0]}
    callbacks.RemoteMonitor(root, headers={"X-Run": "a"}, send_as_json=True).on_epoch_end(3, logs)
    callbacks.RemoteMonitor(root, "/p", field="f").on_epoch_end(3, logs)
    server.shutdown()
    server.server_close()
    (path, run, body), (path2, _, form) = got
    assert (path, run, json.loads(body)) == ("/publish/epoch/end/", "a", said)
    assert path2 == "/p" and json.loads(urllib.parse.parse_qs(form)["f"][0]) == said
    with pytest.warns(UserWarning, match="Could not reach RemoteMonitor root server at http"):
        callbacks.RemoteMonitor(root).on_epoch_end(0, logs)
