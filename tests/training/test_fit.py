"""`fit`, `evaluate`, `predict` and single batches: the loop does what it says on each backend."""

import signal
import threading

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 4)).astype("float32")
Y = (X.sum(1, keepdims=True) > 0).astype("float32")


def classifier(**options):
    kerata.utils.set_random_seed(3)
    model = kerata.Sequential(
        [kerata.Input((4,)), layers.Dense(8, "tanh"), layers.BatchNormalization(), layers.Dense(1, "sigmoid")]
    )
    settings = {"optimizer": kerata.optimizers.Adam(0.01), "loss": "binary_crossentropy", "metrics": ["accuracy"]}
    model.compile(**(settings | options))
    return model


def numbers(history):
    return {k: np.array(v) for k, v in history.history.items()}


def test_history_and_evaluation(training_backend):
    model = classifier()
    history = numbers(model.fit(X, Y, batch_size=16, epochs=4, validation_split=0.2, verbose=0))
    assert set(history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert history["loss"][-1] < history["loss"][0] and int(model.optimizer.iterations) == 4 * 4
    got = model.evaluate(X[56:], Y[56:], verbose=0, return_dict=True)
    np.testing.assert_allclose(got["loss"], history["val_loss"][-1], rtol=1e-4)
    p = np.clip(model.predict(X[56:], verbose=0), 1e-7, 1 - 1e-7)
    t = Y[56:]
    np.testing.assert_allclose(got["loss"], -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p)), rtol=1e-4)
    np.testing.assert_allclose(got["accuracy"], np.mean((p > 0.5) == t), rtol=1e-6)


@pytest.mark.parametrize("option", [{"steps_per_execution": 3}, {"run_eagerly": True}, {"steps_per_execution": "auto"}])
def test_however_it_runs_the_numbers_are_the_same(training_backend, option):
    want = numbers(classifier().fit(X, Y, batch_size=8, epochs=2, verbose=0))
    got = numbers(classifier(**option).fit(X, Y, batch_size=8, epochs=2, verbose=0))
    for name in want:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-4)


@pytest.mark.parametrize("steps, epochs, message", [(None, 1, "after 1 of 3 epochs"), (2, 2, "got 0 batches instead")])
def test_a_generator_that_ends_early(training_backend, tmp_path, steps, epochs, message):
    batches = ((X[i : i + 4], Y[i : i + 4]) for i in range(0, 16, 4))
    save = kerata.callbacks.ModelCheckpoint(str(tmp_path / "{epoch}-{loss:.3f}.weights.h5"), save_weights_only=True)
    with pytest.warns(UserWarning, match=message):
        history = classifier(run_eagerly=True).fit(
            batches, epochs=3, steps_per_epoch=steps, verbose=0, validation_data=(X, Y), callbacks=[save]
        )
    # An epoch without batches is none: nothing is validated, saved or logged.
    assert {len(values) for values in history.history.values()} == {len(history.epoch)} == {epochs}
    assert len(list(tmp_path.iterdir())) == epochs


@pytest.mark.parametrize(
    "size, began, ended", [(3, [0, 3], [2, 5]), (10, [0], [9]), (1, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4])]
)
def test_hooks_are_called_once_an_execution(training_backend, size, began, ended):
    seen = {}

    class Noting(kerata.callbacks.Callback):
        def note(self, hook, batch):
            seen.setdefault(hook, []).append(batch)

    for hook in (f"on_{mode}_batch_{at}" for mode in ("train", "test", "predict") for at in ("begin", "end")):
        setattr(Noting, hook, lambda self, batch, logs=None, hook=hook: self.note(hook, batch))
    model = classifier(steps_per_execution=size)
    model.fit(X, Y, batch_size=16, verbose=0, callbacks=[Noting()])
    model.evaluate(X, Y, batch_size=16, verbose=0, callbacks=[Noting()])
    model.predict(X, batch_size=16, verbose=0, callbacks=[Noting()])
    assert len(seen) == 6
    for hook, batches in seen.items():
        assert batches == (began if hook.endswith("begin") else ended), hook


@pytest.mark.parametrize("size, shapes", [(3, [(48, 1), (22, 1)]), (1, [(16, 1)] * 4 + [(6, 1)])])
def test_predict_hooks_get_the_outputs_of_their_execution(backend, size, shapes):
    seen = []
    look = kerata.callbacks.LambdaCallback()
    look.on_predict_batch_end = lambda batch, logs: seen.append(np.asarray(kerata.ops.convert_to_numpy(logs["outputs"])))
    found = classifier(steps_per_execution=size).predict(X, batch_size=16, verbose=0, callbacks=[look])
    assert [a.shape for a in seen] == shapes
    np.testing.assert_array_equal(np.concatenate(seen), found)


def test_a_callback_that_looks_at_batches_changes_nothing(training_backend):
    seen = []

    class Look(kerata.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append((batch, float(logs["loss"])))

    want = numbers(classifier().fit(X, Y, batch_size=16, epochs=1, verbose=0))
    got = numbers(classifier().fit(X, Y, batch_size=16, epochs=1, verbose=0, callbacks=[Look()]))
    assert [b for b, _ in seen] == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(got["loss"], want["loss"], rtol=1e-5)
    np.testing.assert_allclose(seen[-1][1], got["loss"][0], rtol=1e-5)


def test_weights_of_samples_and_classes(training_backend):
    weight = np.where(Y[:, 0] > 0, 3.0, 1.0)
    losses = [
        numbers(classifier().fit(X, Y, epochs=2, verbose=0, **how))["loss"]
        for how in ({"sample_weight": weight}, {"class_weight": {0: 1.0, 1: 3.0}}, {})
    ]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    assert not np.allclose(losses[0], losses[2], rtol=1e-2)


def test_single_batches(training_backend):
    model = classifier()
    first = model.train_on_batch(X[:8], Y[:8])
    assert len(first) == 2
    again = model.test_on_batch(X[:8], Y[:8], return_dict=True)
    assert set(again) == {"loss", "accuracy"}
    # Of this batch alone, not a mean that runs on.
    other = model.test_on_batch(X[8:24], Y[8:24])
    np.testing.assert_allclose(other, model.evaluate(X[8:24], Y[8:24], verbose=0), rtol=1e-5)
    assert model.predict_on_batch(X[:3]).shape == (3, 1) and int(model.optimizer.iterations) == 1


def test_several_outputs(training_backend):
    inputs = kerata.Input((4,))
    hidden = layers.Dense(8, "relu")(inputs)
    model = kerata.Model(inputs, [layers.Dense(1, name="a")(hidden), layers.Dense(3, "softmax", name="b")(hidden)])
    model.compile(
        "adam",
        loss={"a": "mse", "b": "sparse_categorical_crossentropy"},
        loss_weights={"a": 0.5, "b": 2.0},
        metrics={"b": ["accuracy"]},
    )
    labels = RNG.integers(0, 3, len(X))
    logs = model.fit(X, {"a": Y, "b": labels}, epochs=1, verbose=0).history
    assert set(logs) == {"loss", "a_loss", "b_loss", "b_accuracy"}
    got = model.evaluate(X, [Y, labels], verbose=0, return_dict=True)
    np.testing.assert_allclose(got["loss"], 0.5 * got["a_loss"] + 2 * got["b_loss"], rtol=1e-4)
    a, b = model.predict(X, verbose=0)
    np.testing.assert_allclose(got["a_loss"], np.mean((a - Y) ** 2), rtol=1e-3)
    np.testing.assert_allclose(got["b_accuracy"], np.mean(b.argmax(1) == labels), rtol=1e-5)


def test_compute_metrics_may_be_overridden(training_backend):
    class Own(kerata.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            return super().compute_metrics(x, y, y_pred, sample_weight) | {"extra": kerata.ops.mean(y_pred)}

    model = Own()
    model.compile("sgd", "mse", metrics=["mae"])
    assert set(model.fit(X, Y, verbose=0).history) == {"loss", "mae", "extra"}
    assert set(model.evaluate(X, Y, verbose=0, return_dict=True)) == {"loss", "mae", "extra"}


def test_all_frozen(training_backend):
    model = classifier()
    model.trainable = False
    before = model.get_weights()
    assert np.isfinite(model.fit(X, Y, verbose=0).history["loss"][0])
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_regularization_and_add_loss(training_backend):
    class Penalty(layers.Layer):
        def call(self, x):
            self.add_loss(0.5 * kerata.ops.mean(kerata.ops.square(x)))
            return x

    inputs = kerata.Input((4,))
    model = kerata.Model(inputs, layers.Dense(1, kernel_regularizer=kerata.regularizers.L2(0.1))(Penalty()(inputs)))
    model.compile("sgd", "mse")
    kernel = model.layers[-1].get_weights()[0]
    want = np.mean((model.predict(X, verbose=0) - Y) ** 2) + 0.5 * np.mean(X**2) + 0.1 * np.sum(kernel**2)
    np.testing.assert_allclose(model.evaluate(X, Y, batch_size=70, verbose=0), want, rtol=1e-4)
    assert int(model.optimizer.iterations) == 0
    model.fit(X, Y, batch_size=70, verbose=0)


def test_early_stopping_restores(training_backend):
    model = classifier()
    stop = kerata.callbacks.EarlyStopping(monitor="loss", mode="max", patience=1, restore_best_weights=True)
    history = model.fit(X, Y, epochs=10, verbose=0, callbacks=[stop])
    assert len(history.epoch) == 2 and stop.stopped_epoch == 1


def test_learning_rate_set_between_epochs(training_backend):
    model = classifier()
    schedule = kerata.callbacks.LearningRateScheduler(lambda epoch, rate: 0.0 if epoch else rate)
    model.fit(X, Y, epochs=1, verbose=0, callbacks=[schedule])
    before = model.get_weights()[0]
    model.fit(X, Y, epochs=3, initial_epoch=1, verbose=0, callbacks=[schedule])
    np.testing.assert_array_equal(model.get_weights()[0], before)
    assert float(model.optimizer.learning_rate) == 0.0


def test_frozen_layers_stay(training_backend):
    model = classifier()
    model.fit(X, Y, verbose=0)
    model.layers[0].trainable = False
    before = [w.numpy() for w in model.layers[0].weights], model.layers[2].get_weights()
    model.fit(X, Y, verbose=0)
    for w, value in zip(model.layers[0].weights, before[0], strict=True):
        np.testing.assert_array_equal(w.numpy(), value)
    assert not np.array_equal(model.layers[2].get_weights()[0], before[1][0])


def test_partial_batches_count_by_samples(training_backend):
    model = classifier(optimizer=kerata.optimizers.SGD(0.0), metrics=["mae"])
    history = model.fit(X, Y, batch_size=64, epochs=1, shuffle=False, verbose=0).history
    whole = model.evaluate(X, Y, batch_size=7, verbose=0)
    np.testing.assert_allclose(model.evaluate(X, Y, batch_size=70, verbose=0), whole, rtol=1e-4)
    assert 0 < history["mae"][0] < 1


def test_interrupt_leaves_the_state_whole(training_backend):
    class Press(kerata.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread")
    # (Processes started in the background may ignore it.)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    model = classifier()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[Press()])
    assert int(model.optimizer.iterations) == 3 and np.all(np.isfinite(model.get_weights()[0]))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    model.fit(X, Y, batch_size=8, verbose=0)
    assert int(model.optimizer.iterations) == 3 + 9


def test_an_error_in_a_callback_leaves_the_state_whole(training_backend):
    class Fail(kerata.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                raise OSError("disk full")

    model = classifier()
    with pytest.raises(OSError, match="disk full"):
        model.fit(X, Y, epochs=2, verbose=0, callbacks=[Fail()])
    assert int(model.optimizer.iterations) == 3
    model.predict(X, verbose=0)


BAD_CALLS = [
    (lambda m: m.fit(X, Y[:10], verbose=0), "same number of samples"),
    (lambda m: m.fit(X[:, :3], Y, verbose=0), r"axis -1 to have size 4"),
    (lambda m: m.fit(X, Y, batch_size=0, verbose=0), "batch_size"),
    (lambda m: m.fit(X, verbose=0), "(?s)targets|y_true|loss"),
    (lambda m: m.compile("adamm", "mse"), "adamm.*adam"),
    (lambda m: m.compile("adam", "msee"), "msee.*mse"),
    (lambda m: (m.compile("adam", "mse", metrics=["nope"]), m.fit(X, Y, verbose=0)), "nope"),
    (lambda m: m.compile("adam", "mse", metrics="mae"), "metrics"),
    (lambda m: m.compile("adam", "mse", jit_compile=True, run_eagerly=True), "run_eagerly"),
    (lambda m: m.compile("adam", "mse", steps_per_execution=0), "steps_per_execution"),
    (lambda m: m.evaluate(X, Y, bogus=1), "bogus"),
    (lambda m: kerata.Sequential([layers.Dense(1)]).fit(X, Y, verbose=0), "compile"),
]


@pytest.mark.parametrize("call, message", BAD_CALLS)
def test_bad_calls_say_what_to_do_and_change_nothing(training_backend, call, message):
    model = classifier()
    before = model.get_weights()
    with pytest.raises((ValueError, TypeError), match=message):
        call(model)
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_inference_backends_say_where_to_train():
    with kerata.config.use_backend("numpy"):
        model = classifier()
        with pytest.raises(ValueError, match="jax, torch, tensorflow"):
            model.fit(X, Y, verbose=0)
        assert len(model.evaluate(X, Y, verbose=0)) == 2


def test_steps_of_the_users_own_in_any_form(training_backend):
    """However the parameters are called, and wherever the method is set."""

    class Data(kerata.Sequential):
        def train_step(this, data):  # noqa: N805
            return {"seen": kerata.ops.mean(data[0])}

    class Patched(kerata.Sequential):
        pass

    model = Data([layers.Dense(1)])
    patched = Patched([layers.Dense(1)])
    patched.train_step = lambda data: {"seen": kerata.ops.mean(data[0])}
    for m in (model, patched):
        m.compile("sgd", "mse")
        assert m._own_train_step == "data"
        np.testing.assert_allclose(m.fit(X, Y, batch_size=70, verbose=0).history["seen"], [X.mean()], rtol=1e-4)
    if training_backend.NAME == "jax":

        class State(kerata.Sequential):
            def train_step(this, state, data):  # noqa: N805
                return {"seen": data[0].mean()}, state

        model = State([layers.Dense(1)])
        model.compile("sgd", "mse")
        assert model._own_train_step == "state"
        np.testing.assert_allclose(model.fit(X, Y, batch_size=70, verbose=0).history["seen"], [X.mean()], rtol=1e-4)


def test_pure_steps_may_call_the_librarys(training_backend):
    """As JAX users write them, where steps are pure; the numbers are those of the library's own."""
    if training_backend.STEP != "functional":
        pytest.skip("steps have state here")

    class Counting(kerata.Sequential):
        def train_step(self, state, data):
            logs, state = super().train_step(state, data)
            return {**logs, "more": 10.0}, state

        def test_step(self, state, data):
            logs, state = super().test_step(state, data)
            return {**logs, "more": 5.0}, state

    results = []
    for kind in (Counting, kerata.Sequential):
        kerata.utils.set_random_seed(3)
        model = kind([kerata.Input((4,)), layers.Dense(1), layers.BatchNormalization()])
        model.compile(kerata.optimizers.Adam(0.01), "mse", metrics=["mae"])
        logs = model.fit(X, Y, batch_size=16, epochs=2, verbose=0, shuffle=False).history
        results.append((logs, model.evaluate(X, Y, verbose=0, return_dict=True)))
    (ours, tested), (plain, plainly) = results
    assert ours.pop("more") == [10.0, 10.0] and tested.pop("more") == 5.0
    for name in ("loss", "mae"):
        np.testing.assert_allclose(ours[name], plain[name], rtol=1e-5)
        np.testing.assert_allclose(tested[name], plainly[name], rtol=1e-5)


def test_a_callback_ends_its_own_kind_of_run(training_backend):
    """`stop_training` is no business of evaluation and prediction, which have words of their own."""
    model = classifier()
    whole = model.evaluate(X, Y, batch_size=10, verbose=0)
    model.stop_training = True
    np.testing.assert_allclose(model.evaluate(X, Y, batch_size=10, verbose=0), whole, rtol=1e-6)
    seen = []

    class Stop(kerata.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            seen.append(batch)
            self.model.stop_evaluating = batch == 1

        def on_predict_batch_end(self, batch, logs=None):
            self.model.stop_predicting = batch == 2

    got = model.evaluate(X, Y, batch_size=10, verbose=0, callbacks=[Stop()])
    assert seen == [0, 1]
    np.testing.assert_allclose(got, model.evaluate(X[:20], Y[:20], verbose=0), rtol=1e-5)
    assert len(model.predict(X, batch_size=10, verbose=0, callbacks=[Stop()])) == 30
    assert len(model.predict(X, batch_size=10, verbose=0)) == len(X)


def test_data_sets_hear_of_every_pass(training_backend):
    heard = []

    class Data(kerata.utils.PyDataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return X[index::2], Y[index::2]

        def on_epoch_begin(self):
            heard.append("begin")

        def on_epoch_end(self):
            heard.append("end")

    model = classifier()
    for run in (model.evaluate, model.predict, lambda data, verbose: model.fit(X, Y, validation_data=data, verbose=0)):
        heard.clear()
        run(Data(), verbose=0)
        assert heard == ["begin", "end"]


def test_what_auto_comes_to(training_backend):
    model = kerata.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    assert model.jit_compile == (training_backend.NAME != "torch")
    assert model.get_compile_config()["jit_compile"] == "auto"
    model.compile("sgd", "mse", run_eagerly=True)
    assert model.jit_compile is False
    model.compile("sgd", "mse", jit_compile=True)
    assert model.jit_compile is True


def test_metrics_in_order_and_built_by_shapes(training_backend):
    model = classifier(metrics=["accuracy"])
    model.own = kerata.metrics.Mean(name="own")
    model._symbolic_build(data_batch=(X[:4], Y[:4]))
    assert model.metrics == [model._loss_tracker, model._compile_metrics, model.own]
    assert list(model.evaluate(X, Y, verbose=0, return_dict=True)) == ["loss", "accuracy", "own"]


def test_a_layer_with_the_trainer_is_a_model(training_backend):
    class Own(kerata.Model.__mro__[1], layers.Dense):
        def __init__(self):
            layers.Dense.__init__(self, 1)
            kerata.Model.__mro__[1].__init__(self)

    model = Own()
    model.compile("sgd", "mse", metrics=["mae"])
    logs = model.fit(X, Y, epochs=2, verbose=0).history
    assert set(logs) == {"loss", "mae"} and logs["loss"][1] < logs["loss"][0]
    assert model.predict(X, verbose=0).shape == Y.shape


def test_metrics_of_a_model_within_a_model_are_its_own():
    inner = kerata.Sequential([kerata.Input((4,)), layers.Dense(2)])
    inner.compile("sgd", "mse", metrics=["mae"])
    outer = kerata.Sequential([inner, layers.Dense(1)])
    outer.compile("sgd", "mse", metrics=["mse"])
    assert [m.name for m in outer.metrics] == outer.metrics_names == ["loss", "compile_metrics"]


def test_compute_loss_without_a_phase(training_backend):
    class Own(kerata.Sequential):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            return 2 * super().compute_loss(x, y, y_pred, sample_weight)

    model = Own([layers.Dense(1)])
    model.compile("sgd", "mse")
    plain = float(np.mean((model.predict(X, verbose=0) - Y) ** 2))
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(2 * plain, rel=1e-4)


def test_ragged_arrays():
    """The sum of a row's embeddings is the product of how often it has each number with the table."""
    tf = pytest.importorskip("tensorflow")
    given = [RNG.integers(0, 10, n).tolist() for n in RNG.integers(1, 7, 24)]
    counts = np.stack([np.bincount(row, minlength=10) for row in given]).astype("float32")
    y, table = RNG.normal(size=(24, 1)), RNG.normal(size=(10, 1))
    traced = []

    class Sum(layers.Layer):
        def __init__(self):
            super().__init__()
            self.table = layers.Embedding(10, 1, weights=table)

        def call(self, x):
            traced.append(x)
            return ops.sum(self.table(x), axis=1)

    with backends.use_backend("tensorflow"):
        ragged = kerata.Sequential([Sum()])
        plain = kerata.Sequential([layers.Dense(1, use_bias=False, kernel_initializer=lambda *_, **__: table)])
        data = {ragged: tf.ragged.constant(given), plain: counts}
        for model in data:
            model.compile(kerata.optimizers.SGD(0.01), "mse")
        kerata.utils.set_random_seed(1)
        runs = [model.fit(x, y, batch_size=3, epochs=2, verbose=0, shuffle=False) for model, x in data.items()]
        np.testing.assert_allclose(*(run.history["loss"] for run in runs), rtol=1e-5)
        np.testing.assert_allclose(*(model.predict(x, verbose=0) for model, x in data.items()), rtol=1e-4)
        assert len(traced) < 8, "traced for single batches"
        same = kerata.Sequential([layers.Embedding(10, 1)]).predict(data[ragged], batch_size=5, verbose=0)
    assert isinstance(same, tf.RaggedTensor) and same.row_lengths().numpy().tolist() == [len(row) for row in given]


def test_batches_of_different_lengths(training_backend):
    traced = []

    class Mean(layers.Layer):
        def call(self, x):
            traced.append(x)
            return ops.mean(x, axis=1)

    def batches():
        yield from ((np.full((2, n, 3), n, "float32"), np.zeros((2, 3), "float32")) for n in range(1, 13))

    model = kerata.Sequential(
        [kerata.Input((None, 3)), Mean(), layers.Dense(3, use_bias=False, kernel_initializer="identity")]
    )
    model.compile(kerata.optimizers.SGD(0.0), "mse")
    history = model.fit(batches(), verbose=0)
    assert history.history["loss"][0] == pytest.approx(np.mean(np.arange(1, 13) ** 2.0))
    if training_backend.NAME == "tensorflow":
        assert len(traced) < 12, "traced for single batches"
    model = kerata.Sequential([kerata.Input((None, 3)), layers.Dense(2)])
    model.compile("sgd", "mse")
    if training_backend.NAME == "tensorflow":
        assert model.predict(batches(), verbose=0).shape.as_list() == [24, None, 2]
    else:
        with pytest.raises(ValueError, match="predict_on_batch"):
            model.predict(batches(), verbose=0)
