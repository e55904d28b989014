"""Schedules beside Keras's, also traced; their configs."""

import numpy as np
import pytest

from kerata import ops
from kerata.optimizers import schedules

TABLE = [
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9}),
    (
        "ExponentialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9, "staircase": True},
    ),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9}),
    (
        "InverseTimeDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9, "staircase": True},
    ),
    ("PiecewiseConstantDecay", {"boundaries": [5, 11], "values": [0.1, 0.05, 0.01]}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 9}),
    (
        "PolynomialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 9, "power": 0.5, "end_learning_rate": 0.02},
    ),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 9, "cycle": True}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 9}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 9, "alpha": 0.2}),
    (
        "CosineDecay",
        {"initial_learning_rate": 0.0, "decay_steps": 9, "warmup_target": 0.1, "warmup_steps": 4},
    ),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 9, "warmup_target": 0.2}),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 4}),
    (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.1, "first_decay_steps": 4, "t_mul": 1.0, "m_mul": 0.5},
    ),
    (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.1, "first_decay_steps": 4, "t_mul": 1.5, "m_mul": 0.5, "alpha": 0.1},
    ),
]


@pytest.mark.parametrize(("name", "arguments"), TABLE)
def test_as_keras(backend, real_keras, name, arguments):
    ours = getattr(schedules, name)(**arguments)
    theirs = getattr(real_keras.optimizers.schedules, name)(**arguments)
    compiled = backend.compile(ours) if backend.NAME in ("jax", "tensorflow") else ours
    for step in range(25):
        wanted = float(theirs(step))
        for found in (ours(step), compiled(ops.convert_to_tensor(step, dtype="int32"))):
            assert ops.dtype(found) == "float32" and found.shape == ()
            np.testing.assert_allclose(ops.convert_to_numpy(found), wanted, rtol=2e-5, atol=1e-7, err_msg=str(step))
    assert ours.get_config() == theirs.get_config()
    again = schedules.deserialize(real_keras.optimizers.schedules.serialize(theirs))
    assert again.get_config() == ours.get_config()
    assert real_keras.optimizers.schedules.deserialize(schedules.serialize(ours)).get_config() == theirs.get_config()
