"""Optimizers inside `fit`: traced on PyTorch, compiled on JAX and TensorFlow; all end at the same weights."""

import numpy as np
import pytest

import kerata
from kerata import backends, optimizers

_random = np.random.default_rng(4)
X = _random.normal(size=(24, 5)).astype("float32")
Y = (X[:, :1] * X[:, 1:2]).astype("float32")


class Heavy(optimizers.Optimizer):
    """Written as for Keras."""

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.speeds = [self.add_variable_from_reference(v, name="speed") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        speed = self.speeds[self._get_variable_index(variable)]
        self.assign(speed, 0.5 * speed + learning_rate * gradient)
        self.assign_sub(variable, speed)


CASES = {
    "sgd": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optimizers.Adam(0.01),
    "adamw": lambda: optimizers.AdamW(0.01, weight_decay=0.1, global_clipnorm=0.5),
    "rmsprop": lambda: optimizers.RMSprop(0.01, momentum=0.5, centered=True, epsilon=1e-3),
    "lion": lambda: optimizers.Lion(0.01, clipvalue=0.1),
    "nadam": lambda: optimizers.Nadam(0.01),
    "average": lambda: optimizers.Adam(0.01, use_ema=True, ema_momentum=0.7, ema_overwrite_frequency=2),
    "average at the end": lambda: optimizers.SGD(0.1, use_ema=True, ema_momentum=0.7),
    "accumulation": lambda: optimizers.Adam(0.05, gradient_accumulation_steps=2, clipnorm=0.5),
    "schedule": lambda: optimizers.SGD(optimizers.schedules.CosineDecay(0.1, 10)),
    "static scale": lambda: optimizers.Adam(0.01, loss_scale_factor=128.0),
    "dynamic scale": lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1), dynamic_growth_steps=2),
    "several": lambda: optimizers.MultiOptimizer(
        optimizers.OptimizerMap(optimizers.SGD(0.1), {".*head.*": optimizers.Adam(0.01)})
    ),
    "by hand": lambda: Heavy(0.1, weight_decay=0.01),
}

# Compiling takes seconds there; these go through every part of a step.
ON_TENSORFLOW = ("adamw", "average", "accumulation", "dynamic scale", "by hand")


def trained(name, make):
    with backends.use_backend(name):
        kerata.utils.set_random_seed(0)
        model = kerata.Sequential(
            [
                kerata.Input((5,)),
                kerata.layers.Dense(4, "tanh", name="body"),
                kerata.layers.Dense(1, kernel_constraint="max_norm", name="head"),
            ]
        )
        model.compile(make(), "mse")
        losses = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]
        state = [v.numpy() for v in model.optimizer.variables]
        return losses, [w.numpy() for w in model.weights], state


@pytest.mark.parametrize("case", CASES)
def test_same_on_every_backend(case):
    wanted = None
    for name in (b for b in ("jax", "torch", "tensorflow") if b in backends.installed()):
        if name == "tensorflow" and case not in ON_TENSORFLOW:
            continue
        found = trained(name, CASES[case])
        assert all(np.isfinite(v).all() for part in found for v in part)
        if wanted is None:
            wanted = found
        for ours, theirs in zip(found, wanted):
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5, err_msg=name)
