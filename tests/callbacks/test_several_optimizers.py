"""Callbacks with a `MultiOptimizer`: each of its optimizers has a learning rate, and averages, of its own."""

import numpy as np
import pytest

import kerata
from kerata import backends, callbacks, layers, optimizers

X = np.ones((4, 1), "float32")


@pytest.fixture
def model():
    with backends.use_backend("numpy"):
        model = kerata.Sequential(
            [
                kerata.Input((1,)),
                layers.Dense(1, use_bias=False, name="one"),
                layers.Dense(1, use_bias=False, name="two"),
            ]
        )
        first = optimizers.SGD(0.1, name="first", use_ema=True)
        chosen = optimizers.OptimizerMap(optimizers.SGD(0.01, name="second"), {".*one/.*": first})
        model.compile(optimizers.MultiOptimizer(chosen), "mse")
        model.optimizer.build(model.trainable_variables)
        yield model


def rates(model):
    return [pytest.approx(float(o.learning_rate.numpy())) for o in model.optimizer.optimizers]


def test_each_rate_goes_by_the_schedule(model):
    callback = callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    callback.set_model(model)
    callback.on_epoch_begin(0)
    logs = {}
    callback.on_epoch_end(0, logs)
    assert rates(model) == [0.05, 0.005]
    assert {k: pytest.approx(v) for k, v in logs.items()} == {
        "learning_rate_first": 0.05,
        "learning_rate_second": 0.005,
    }


def test_each_rate_falls_on_a_plateau_until_it_is_low_enough(model):
    callback = callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_lr=0.008)
    callback.set_model(model)
    callback.on_train_begin()
    for epoch in range(3):
        callback.on_epoch_end(epoch, {"loss": 1.0})
    assert rates(model) == [0.025, 0.008]


def test_averages_of_those_that_have_them(model):
    one, two = (layer.kernel for layer in model.layers)
    before = one.numpy().copy(), two.numpy().copy()
    model.optimizer.optimizers[0]._model_variables_moving_average[0].assign([[9.0]])
    callback = callbacks.SwapEMAWeights()
    callback.set_model(model)
    callback.on_test_begin()
    assert one.numpy() == 9 and two.numpy() == before[1]
    callback.on_test_end()
    assert one.numpy() == before[0]
