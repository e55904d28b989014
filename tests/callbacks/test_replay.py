"""Callbacks beside Keras's: the same logs replayed to both, and everything they did compared."""

import contextlib
import io
import random
import warnings
from functools import partial

import numpy as np
import pytest

from kerata import backends, callbacks


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


@pytest.fixture(scope="module")
def metrics(real_keras):
    """Metrics of a compiled model, which say whether up or down is better."""
    model = real_keras.Sequential([real_keras.Input((2,)), real_keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["acc", "mae"])
    model.evaluate(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    return model.metrics


class Optimizer:
    rate = 0.1

    @property
    def learning_rate(self):
        return np.float64(self.rate)

    @learning_rate.setter
    def learning_rate(self, value):
        self.rate = float(value)


class Model:
    """Whose weights are the number of batches it has seen."""

    def __init__(self, metrics):
        self.metrics = metrics
        self.optimizer = Optimizer()
        self.stop_training = False
        self.weights = 0
        self.saved = []

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.weights = weights

    def save(self, path, overwrite=True):
        self.saved.append(("model", str(path), self.weights))

    def save_weights(self, path, overwrite=True):
        self.saved.append(("weights", str(path), self.weights))


STATE = ("wait", "stopped_epoch", "best", "best_epoch", "cooldown_counter", "min_delta", "patience")


def run(callback, model, epochs, batches):
    callback.set_model(model)
    callback.set_params({"epochs": len(epochs), "steps": batches, "verbose": 0})
    callback.on_train_begin({})
    for epoch, logs in enumerate(epochs):
        logs = dict(logs)
        callback.on_epoch_begin(epoch, {})
        for batch in range(batches):
            model.weights += 1
            callback.on_train_batch_begin(batch, logs={})
            callback.on_train_batch_end(batch, logs=dict(logs))
        callback.on_epoch_end(epoch, logs)
        yield epoch, logs, model.weights, model.stop_training, model.optimizer.rate, list(model.saved)
        if model.stop_training:
            break
    callback.on_train_end({})
    yield model.weights, {name: vars(callback).get(name) for name in STATE}


def record(make, metrics, epochs, batches):
    """All that a callback did: its state, the model, what it printed, of what it warned, how it failed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            done = list(run(make(), Model(metrics), epochs, batches))
        except Exception as error:
            done = type(error).__name__
    return repr((done, printed.getvalue(), sum(w.category is UserWarning for w in warned)))


def number(draw):
    """An eighth: exact in float32, in which Keras compares on some backends, and in float64, on others."""
    return draw.randint(0, 8) / 8


def logs(draw):
    numbers = {name: number(draw) for name in ("loss", "acc", "mae")}
    if draw.random() < 0.9:
        numbers |= {"val_loss": number(draw), "val_acc": draw.choice([number(draw), float("nan")])}
    return numbers


def early_stopping(draw):
    return {
        "patience": draw.randint(0, 4),
        "min_delta": draw.choice([0, 0.125, -0.25]),
        "baseline": draw.choice([None, None, 0.5]),
        "restore_best_weights": draw.random() < 0.5,
        "start_from_epoch": draw.choice([0, 0, 1, 3]),
    }


def reduce_rate(draw):
    return {
        "patience": draw.randint(0, 3),
        "factor": draw.choice([0.1, 0.5, 1.0]),
        "min_delta": draw.choice([1e-4, 0.125]),
        "cooldown": draw.randint(0, 3),
        "min_lr": draw.choice([0, 0.05, 0.01]),
    }


def checkpoint(draw):
    weights_only = draw.random() < 0.5
    stem = draw.choice(["a", "a{epoch:02d}", "b{epoch}-{loss:.2f}", "{batch}"])
    return {
        "filepath": stem + (".weights.h5" if weights_only else ".keras"),
        "save_best_only": draw.random() < 0.6,
        "save_weights_only": weights_only,
        "save_freq": draw.choice(["epoch", "epoch", 1, 2, 3, 5]),
        "initial_value_threshold": draw.choice([None, None, 0.5]),
    }


KINDS = {"EarlyStopping": early_stopping, "ReduceLROnPlateau": reduce_rate, "ModelCheckpoint": checkpoint}


def differs_on_purpose(name, arguments):
    """Where Keras fails for no good reason."""
    if name != "ModelCheckpoint":
        return False
    unknown = arguments["monitor"] == "unknown"
    # It wants the direction of a number that it doesn't need, and compares before it has the direction.
    return (
        unknown and not arguments["save_best_only"] or arguments["save_best_only"] and arguments["save_freq"] != "epoch"
    )


@pytest.mark.parametrize("name", KINDS)
def test_does_what_keras_does(name, real_keras, metrics):
    draw = random.Random(name)
    compared = 0
    for _ in range(400):
        epochs, batches = [logs(draw) for _ in range(draw.randint(1, 9))], draw.randint(1, 4)
        arguments = {
            "monitor": draw.choice(["val_loss", "loss", "val_acc", "acc", "mae", "unknown"]),
            "mode": draw.choice(["auto", "auto", "min", "max", "bogus"]),
            "verbose": draw.randint(0, 1),
            **KINDS[name](draw),
        }
        if differs_on_purpose(name, arguments):
            continue
        theirs, ours = (
            record(partial(getattr(library, name), **arguments), metrics, epochs, batches)
            for library in (real_keras.callbacks, callbacks)
        )
        assert ours == theirs, (arguments, epochs, batches)
        compared += 1
    assert compared > 200


@pytest.mark.parametrize("verbose", [1, 2])
@pytest.mark.parametrize("target", [3, 1234])
def test_the_last_line_of_progress_reads_like_keras(verbose, target, real_keras, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr("time.time", lambda: clock[0])
    values = [("loss", 0.5), ("accuracy", 0.91234567), ("tiny", 1.23e-5), ("big", 12345.678), ("i", 3)]

    def last_line(kind):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            bar = kind(target, verbose=verbose)
            for step in range(1, 4):
                clock[0] += 0.02
                bar.update(step, values, finalize=step == 3)
        text = printed.getvalue().rstrip("\n").split("\r")[-1]
        for code in ("\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x08"):
            text = text.replace(code, "")
        return text.rstrip()

    import kerata

    assert last_line(kerata.utils.Progbar) == last_line(real_keras.utils.Progbar)


def test_csv_files_are_the_same(real_keras, tmp_path):
    runs = [
        [{"loss": 1.0, "acc": 2.0}, {"loss": 1.0, "acc": 2.0, "val_loss": 3, "val_acc": 2.0}],
        [{"loss": 1.0}, {"loss": np.float32(2.5), "foo": 1}],
        [{"loss": np.array([1.0, 2.0]), "z": "abc", "scalar": np.array(3.0)}, {}],
    ]
    for arguments in ({}, {"append": True}, {"separator": ";"}):
        texts = []
        for library in (callbacks, real_keras.callbacks):
            path = tmp_path / f"{library.__name__}.csv"
            for epochs in runs:
                logger = library.CSVLogger(str(path), **arguments)
                list(run(logger, Model([]), epochs, 0))
            texts.append(path.read_text())
            path.unlink()
        assert texts[0] == texts[1]
