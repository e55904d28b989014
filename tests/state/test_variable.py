"""Variables: values, assignment, scopes, conversions, on each backend."""

import copy
import pickle

import numpy as np
import pytest

import kerata
from kerata import backends, ops
from kerata.core.scopes import AutocastScope


def test_assignment_keeps_shape_and_dtype(backend):
    v = kerata.Variable([[1.0, 2.0]], name="v")
    v.assign(np.array([[3, 4]]))
    assert v.dtype == "float32" and v.numpy().tolist() == [[3.0, 4.0]]
    v.assign_add([[1.0, 1.0]])
    v.assign_sub([[0.0, 2.0]])
    assert v.numpy().tolist() == [[4.0, 3.0]]
    with pytest.raises(ValueError, match=r"'v'.*shape \(3,\).*\(1, 2\)"):
        v.assign([1.0, 2.0, 3.0])
    assert v.numpy().tolist() == [[4.0, 3.0]]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"initializer": "zeros"}, "shape"),
        ({"initializer": "zeros", "shape": (None, 2)}, "None"),
        ({"initializer": [1.0], "shape": (2,)}, "initial value"),
        ({"initializer": 1.0, "name": "a/b"}, "name"),
        ({"initializer": 1.0, "aggregation": "sideways"}, "aggregation"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        kerata.Variable(**arguments)


def test_stateless_scope_hides_assignment(backend):
    v = kerata.Variable(1.0)
    with kerata.StatelessScope([(v, ops.convert_to_tensor(5.0))]) as scope:
        v.assign_add(1.0)
        assert float(v.value) == 6.0
        with kerata.StatelessScope() as inner:
            assert float(v.value) == 6.0, "an inner scope sees the outer one's value"
            v.assign(0.0)
        assert float(inner.get_current_value(v)) == 0.0 and float(v.value) == 6.0
    assert float(scope.get_current_value(v)) == 6.0 and float(v) == 1.0


def test_autocast_reads_floats_only(backend):
    v, n = kerata.Variable(1.5), kerata.Variable(2, dtype="int32")
    with AutocastScope("bfloat16"):
        assert ops.dtype(v.value) == "bfloat16" and ops.dtype(n.value) == "int32"
    assert ops.dtype(v.value) == "float32"


def test_operators_agree_with_numpy(backend):
    a = np.array([1.0, -2.0, 3.0], "float32")
    v = kerata.Variable(a)
    x = ops.convert_to_tensor(np.array([2.0, 2.0, 2.0], "float32"))
    pairs = [
        (v + 1, a + 1),
        (1 - v, 1 - a),
        (v * x, a * 2),
        (x / v, 2 / a),
        (v**2, a**2),
        (-v, -a),
        (abs(v), abs(a)),
        (v[1:], a[1:]),
    ]
    pairs += [(x + v, 2 + a), (v > 0, a > 0), (v @ v, a @ a)]
    for got, want in pairs:
        np.testing.assert_allclose(ops.convert_to_numpy(got), want, rtol=1e-6)


def test_copies_are_independent(backend):
    v = kerata.Variable([1.0, 2.0], name="v", trainable=False)
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        other.assign([0.0, 0.0])
        assert v.numpy().tolist() == [1.0, 2.0] and other.path == v.path and not other.trainable


def test_reads_on_another_backend():
    with backends.use_backend("numpy"):
        v = kerata.Variable([1.0, 2.0])
    for name in backends.TRAINING:
        with backends.use_backend(name) as b:
            assert b.is_tensor(v.value)
            np.testing.assert_array_equal(ops.convert_to_numpy(v + 1), [2.0, 3.0])
    assert v.backend == "numpy"


def test_framework_functions_take_variables(training_backend):
    v = kerata.Variable([1.0, 4.0])
    if training_backend.NAME == "jax":
        import jax.numpy as jnp

        result = jnp.sqrt(jnp.asarray(v))
    elif training_backend.NAME == "torch":
        import torch

        result = torch.sqrt(v)
        assert isinstance(v.value, torch.nn.Parameter) and v.value.requires_grad
    else:
        import tensorflow as tf

        result = tf.sqrt(v)
    np.testing.assert_allclose(ops.convert_to_numpy(result), [1.0, 2.0])


def test_a_variable_given_to_a_scope_stands_for_its_value(training_backend):
    model = kerata.Sequential([kerata.layers.Input((3,)), kerata.layers.Dense(2)])
    x = np.ones((1, 3), "float32")
    outputs, updated = model.stateless_call(model.trainable_variables, model.non_trainable_variables, x)
    np.testing.assert_allclose(ops.convert_to_numpy(outputs), x @ model.layers[0].kernel.numpy(), rtol=1e-5)
    assert updated == []
