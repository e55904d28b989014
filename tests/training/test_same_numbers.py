"""From one seed, the same training on every backend: initial weights and batch order in bits, losses within 1e-4."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers

TRAINING = [name for name in backends.TRAINING if name in backends.installed()]
RNG = np.random.default_rng(1)
FLAT = RNG.normal(size=(96, 8)).astype("float32")
IMAGES = RNG.normal(size=(64, 8, 8, 1)).astype("float32")


def mlp():
    return [kerata.Input((8,)), layers.Dense(16, "relu"), layers.Dropout(0.4), layers.Dense(3, "softmax")]


def convnet():
    return [
        kerata.Input((8, 8, 1)),
        layers.Conv2D(4, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.25),
        layers.Dense(3, "softmax"),
    ]


def run(name, make, x):
    labels = (np.abs(x).reshape(len(x), -1).sum(1) * 10).astype("int64") % 3
    with kerata.config.use_backend(name):
        kerata.utils.set_random_seed(11)
        model = kerata.Sequential(make())
        initial = model.get_weights()
        model.compile(kerata.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
        losses = model.fit(x, labels, batch_size=16, epochs=3, verbose=0).history["loss"]
        return initial, losses, model.get_weights()


@pytest.mark.parametrize("make, x", [(mlp, FLAT), (convnet, IMAGES)])
def test_training_agrees(make, x):
    results = {name: run(name, make, x) for name in TRAINING}
    (first, (initial, losses, final)), *others = results.items()
    for name, (other_initial, other_losses, other_final) in others:
        for a, b in zip(initial, other_initial, strict=True):
            assert a.tobytes() == b.tobytes(), (first, name)
        np.testing.assert_allclose(losses, other_losses, rtol=1e-4, err_msg=f"{first} {name}")
        for a, b in zip(final, other_final, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-4)


def test_order_of_samples_agrees():
    from kerata.training.data import make_source

    orders = []
    for name in TRAINING:
        with kerata.config.use_backend(name):
            kerata.utils.set_random_seed(11)
            source = make_source(FLAT, batch_size=16, shuffle=True)
            orders.append([source.order(epoch) for epoch in range(2)])
    for other in orders[1:]:
        for a, b in zip(orders[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(orders[0][0], orders[0][1])
