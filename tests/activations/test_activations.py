"""Activations, regularizers and constraints beside Keras's; their configs, names, errors."""

import numpy as np
import pytest

from kerata import activations, backends, constraints, ops, regularizers

X = np.random.default_rng(2).normal(scale=3, size=(4, 6)).astype("float32")
W = np.random.default_rng(3).normal(scale=2, size=(4, 3)).astype("float32")

LOOKUP = {"get", "serialize", "deserialize"}
ACTIVATIONS = [
    # Keras's sparsemax is wrong for rows as spread as these: its results don't sum to one.
    *[(name, {}) for name in sorted(set(activations.__all__) - {*LOOKUP, "threshold", "sparsemax"})],
    ("threshold", {"threshold": 0.3, "default_value": -1.0}),
    ("relu", {"negative_slope": 0.2}),
    ("relu", {"max_value": 6.0}),
    ("relu", {"max_value": 2.0, "threshold": 0.7, "negative_slope": 0.1}),
    ("gelu", {"approximate": True}),
    ("elu", {"alpha": 0.5}),
    ("celu", {"alpha": 0.5}),
    ("leaky_relu", {"negative_slope": 0.4}),
    ("softmax", {"axis": 0}),
    ("log_softmax", {"axis": 0}),
    ("glu", {"axis": 0}),
    ("hard_shrink", {"threshold": 1.0}),
    ("soft_shrink", {"threshold": 1.0}),
    ("squareplus", {"b": 2}),
]
REGULARIZERS = [
    ("L1", {"l1": 0.3}),
    ("L2", {"l2": 0.3}),
    ("L1L2", {"l1": 0.2, "l2": 0.3}),
    ("L1L2", {}),
    ("OrthogonalRegularizer", {"factor": 0.5}),
]
CONSTRAINTS = [
    ("NonNeg", {}),
    ("MaxNorm", {"max_value": 1.5}),
    ("MaxNorm", {"max_value": 1.5, "axis": 1}),
    ("MinMaxNorm", {"min_value": 3.0, "max_value": 4.0, "rate": 0.3}),
    ("UnitNorm", {}),
    ("UnitNorm", {"axis": [0, 1]}),
]


def _same(found, wanted):
    np.testing.assert_allclose(ops.convert_to_numpy(found), np.asarray(wanted), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "arguments"), ACTIVATIONS)
def test_activations_as_keras(backend, real_keras, name, arguments):
    wanted = getattr(real_keras.activations, name)(real_keras.ops.convert_to_tensor(X), **arguments)
    _same(getattr(activations, name)(ops.convert_to_tensor(X), **arguments), wanted)


@pytest.mark.parametrize(("name", "arguments"), REGULARIZERS)
def test_regularizers_as_keras(backend, real_keras, name, arguments):
    ours, theirs = (
        getattr(regularizers, name)(**arguments),
        getattr(real_keras.regularizers, name)(**arguments),
    )
    _same(ours(ops.convert_to_tensor(W)), theirs(W))
    _configs(regularizers, real_keras.regularizers, ours, theirs)


@pytest.mark.parametrize(("name", "arguments"), CONSTRAINTS)
def test_constraints_as_keras(backend, real_keras, name, arguments):
    ours, theirs = getattr(constraints, name)(**arguments), getattr(real_keras.constraints, name)(**arguments)
    _same(ours(ops.convert_to_tensor(W)), theirs(W))
    _configs(constraints, real_keras.constraints, ours, theirs)


def _configs(module, keras_module, ours, theirs):
    again = module.deserialize(keras_module.serialize(theirs))
    back = keras_module.deserialize(module.serialize(ours))
    assert type(again) is type(ours) and type(back) is type(theirs)
    for name, value in theirs.get_config().items():
        # Keras rounds some to float32 first.
        value = pytest.approx(value, rel=1e-6) if isinstance(value, float) else value
        for config in (ours.get_config(), again.get_config(), back.get_config()):
            assert config[name] == value


def test_orthogonal_columns(backend):
    """Keras divides rows by the columns' norms here."""
    wide = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]], "float32")
    cosines = [0.5**0.5, 0.0, 0.5**0.5]
    _same(regularizers.OrthogonalRegularizer(1.0, "columns")(ops.convert_to_tensor(wide)), np.mean(cosines))


def test_names(real_keras):
    assert activations.get(None) is activations.linear
    assert activations.get("swish") is activations.silu and activations.get("hard_swish") is activations.hard_silu
    for name in set(activations.__all__) - LOOKUP:
        function = getattr(activations, name)
        assert activations.get(name) is function
        assert activations.serialize(function) == real_keras.activations.serialize(
            getattr(real_keras.activations, name)
        )
        assert activations.deserialize(activations.serialize(function)) is function
    for name, cls in (
        ("l1", "L1"),
        ("L2", "L2"),
        ("l1l2", "L1L2"),
        ("orthogonal_regularizer", "OrthogonalRegularizer"),
    ):
        assert type(regularizers.get(name)).__name__ == cls
    for name, cls in (("max_norm", "MaxNorm"), ("NonNeg", "NonNeg"), ("unit_norm", "UnitNorm")):
        assert type(constraints.get(name)).__name__ == cls
    assert regularizers.get(None) is None and constraints.get(None) is None

    def own(x):
        return x

    assert activations.get(own) is own and regularizers.get(own) is own


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: activations.get("rleu"), "Did you mean 'relu'"),
        (lambda: activations.get(3), "identifier: 3"),
        (lambda: regularizers.get("l1l3"), "Did you mean"),
        (lambda: regularizers.L1(-1.0), "l1.*non-negative"),
        (lambda: regularizers.L2(float("nan")), "l2.*non-negative"),
        (lambda: regularizers.L1L2(l1="a"), "l1.*'a'"),
        (lambda: regularizers.OrthogonalRegularizer(mode="x"), "mode"),
        (lambda: regularizers.OrthogonalRegularizer()(np.ones(3)), "rank 2"),
        (lambda: constraints.get("maxnrom"), "Did you mean"),
    ],
)
def test_errors(action, message):
    with backends.use_backend("numpy"), pytest.raises(ValueError, match=message):
        action()
