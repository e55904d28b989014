"""Callbacks in real training, on each backend that trains."""

import numpy as np
import pytest

import kerata as keras
from kerata import callbacks

X = np.random.default_rng(0).normal(size=(96, 6)).astype("float32")
Y = (X @ np.arange(6) / 10)[:, None].astype("float32")


def make(**settings):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
    model.compile(**{"optimizer": keras.optimizers.SGD(0.05), "loss": "mse", "metrics": ["mae"]} | settings)
    return model


class Record(callbacks.Callback):
    def __init__(self):
        self.batches, self.weights = [], []

    def on_train_batch_end(self, batch, logs=None):
        self.batches.append((batch, logs["loss"]))

    def on_epoch_end(self, epoch, logs=None):
        self.weights.append([w.copy() for w in self.model.get_weights()])


class Interrupt(callbacks.Callback):
    def __init__(self, after):
        self.left = after

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if not self.left:
            raise RuntimeError("interrupted")


def assert_equal(these, those):
    for a, b in zip(these, those, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_best_weights_come_back(training_backend):
    model, record = make(), Record()
    # A rate that grows until training falls apart.
    worse = callbacks.LearningRateScheduler(lambda epoch: [0.1, 0.1, 5.0, 50.0, 50.0][epoch])
    stop = callbacks.EarlyStopping(patience=1, restore_best_weights=True)
    history = model.fit(X, Y, epochs=5, validation_split=0.25, verbose=0, callbacks=[worse, record, stop]).history
    best = int(np.argmin(history["val_loss"]))
    assert best < len(history["val_loss"]) - 1
    assert_equal(model.get_weights(), record.weights[best])


def test_weights_that_were_got_stay(training_backend):
    model = make()
    before = model.get_weights()
    kept = [w.copy() for w in before]
    model.fit(X, Y, verbose=0)
    assert_equal(before, kept)


def test_batch_logs_are_the_means_so_far(training_backend):
    model, record = make(), Record()
    history = model.fit(X, Y, batch_size=16, verbose=0, callbacks=[record]).history
    assert [b for b, _ in record.batches] == list(range(6))
    assert record.batches[-1][1] == pytest.approx(history["loss"][0], rel=1e-6)


def test_looking_at_batches_changes_nothing(training_backend):
    plain = make()
    plain.fit(X, Y, epochs=2, verbose=0)
    watched = make()
    watched.fit(X, Y, epochs=2, verbose=0, callbacks=[Record()])
    for a, b in zip(plain.get_weights(), watched.get_weights()):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_nan_ends_training(training_backend):
    y = Y.copy()
    y[50] = np.nan
    assert len(make().fit(X, y, epochs=5, verbose=0, callbacks=[callbacks.TerminateOnNaN()]).epoch) == 1
    with pytest.raises(RuntimeError, match="NaN or Inf loss encountered at batch"):
        make().fit(X, y, verbose=0, callbacks=[callbacks.TerminateOnNaN(raise_error=True)])


@pytest.mark.parametrize("kind", ["EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint"])
def test_what_is_watched_may_not_be_there(backend, tmp_path, kind):
    path = tmp_path / "it.weights.h5"
    extra = (
        {"filepath": str(path), "save_best_only": True, "save_weights_only": True} if kind == "ModelCheckpoint" else {}
    )
    callback = getattr(callbacks, kind)(monitor="val_loss", **extra)
    model = make()
    model.build((None, X.shape[1]))
    callback.set_model(model)
    callback.on_train_begin()
    for logs, words in (
        ({"loss": 1.0, "acc": 2.0}, r"`val_loss` is not available \(available: loss, acc[^)]*\)"),
        (None, "available: (nothing|learning_rate)"),
        ({"val_loss": np.ones(3)}, r"no single number \(its shape is \(3,\)\)"),
    ):
        with pytest.warns(UserWarning, match=f"{kind}: .*{words}"):
            callback.on_epoch_end(0, logs)
    assert path.exists() == (kind == "ModelCheckpoint") and not model.stop_training


@pytest.mark.parametrize("swap_on_epoch", [False, True])
def test_averages_are_evaluated(training_backend, swap_on_epoch):
    model = make(optimizer=keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.9))
    swap = callbacks.SwapEMAWeights(swap_on_epoch)
    history = model.fit(X, Y, epochs=2, validation_data=(X, Y), verbose=0, callbacks=[swap]).history
    assert model.evaluate(X, Y, verbose=0)[0] == pytest.approx(history["val_loss"][-1], rel=1e-6)
    plain = make(optimizer=keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.9))
    # Training itself goes on with the weights, not with their averages.
    assert plain.fit(X, Y, epochs=2, verbose=0).history["loss"] == pytest.approx(history["loss"], rel=1e-5)


def test_reduced_rates(training_backend):
    model = make()
    reduce = callbacks.ReduceLROnPlateau("loss", patience=1, factor=0.1, min_delta=100)
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[reduce])
    assert float(model.optimizer.learning_rate.numpy()) == pytest.approx(0.05 * 0.01)
    scheduled = make(optimizer=keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)))
    with pytest.raises(TypeError, match="learning rate"):
        scheduled.fit(X, Y, epochs=3, verbose=0, callbacks=[reduce])


@pytest.mark.parametrize(
    ("kind", "save_freq", "after"), [("arrays", "epoch", 9), ("arrays", 4, 10), ("PyDataset", 4, 12)]
)
def test_an_interrupted_fit_resumes_bit_for_bit(training_backend, tmp_path, save_freq, after, kind):
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return X[16 * i : 16 * i + 16], Y[16 * i : 16 * i + 16]

    def fit(model, *these):
        data = (X, Y) if kind == "arrays" else (Batches(),)
        arguments = {"batch_size": 16} if kind == "arrays" else {}
        return model.fit(*data, epochs=4, verbose=0, callbacks=list(these), **arguments)

    def settings():
        return {"optimizer": keras.optimizers.Adam(0.01)}

    whole = make(**settings())
    fit(whole, callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: None))
    broken = make(**settings())
    with pytest.raises(RuntimeError, match="interrupted"):
        fit(broken, callbacks.BackupAndRestore(tmp_path / "backup", save_freq), Interrupt(after))
    again = make(**settings())
    keras.utils.set_random_seed(99)  # the order of the samples comes from the backup
    history = fit(again, callbacks.BackupAndRestore(tmp_path / "backup", save_freq), Interrupt(100))
    assert_equal(again.get_weights(), whole.get_weights())
    assert history.epoch[-1] == 3 and len(history.epoch) < 5
    assert not (tmp_path / "backup").exists()


def test_checkpoints_hold_what_was_best(training_backend, tmp_path):
    model = make()
    path = tmp_path / "deep" / "{epoch}.weights.h5"
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[callbacks.ModelCheckpoint(path, save_weights_only=True)])
    other = make()
    other.load_weights(tmp_path / "deep" / "2.weights.h5")
    assert_equal(other.get_weights(), model.get_weights())
    assert (tmp_path / "deep" / "1.weights.h5").exists()
