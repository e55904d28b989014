"""A training step written once, which `fit` runs on every training backend: KERAS_BACKEND=torch python examples/custom_train_step.py"""

import numpy as np

import kerata as keras
from kerata import ops, transforms


class Robust(keras.Model):
    """Trains on the loss of the better half of each batch, so that outliers don't pull."""

    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(1)
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        return self.out(self.hidden(inputs))

    @property
    def metrics(self):
        return [self.tracker]

    def train_step(self, data):
        x, y = data

        def loss():
            errors = ops.sort(ops.abs(self(x) - y)[:, 0])
            return ops.mean(errors[: len(x) // 2])

        value, gradients = transforms.value_and_grad(loss, self.trainable_variables)()
        self.optimizer.apply(gradients, self.trainable_variables)
        self.tracker.update_state(value)
        return {"loss": self.tracker.result()}


if __name__ == "__main__":
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1024, 5)).astype("float32")
    y = x.sum(1, keepdims=True)
    y[rng.random(1024) < 0.2] += 20.0
    model = Robust()
    model.compile(keras.optimizers.Adam(0.01))
    model.fit(x, y, batch_size=64, epochs=10, verbose=2)
