"""Losses, weights and metrics of outputs that nest: which loss looks at what, and under which name it is shown."""

from collections import namedtuple

import numpy as np
import pytest

import kerata
from kerata import backends, layers

RNG = np.random.default_rng(3)
X = RNG.normal(size=(8, 3)).astype("float32")
A, B = (RNG.normal(size=(8, 1)).astype("float32") for _ in range(2))
Pair = namedtuple("Pair", ["first", "second"])


@pytest.fixture(autouse=True)
def on_numpy():
    """`evaluate` needs no gradients."""
    with backends.use_backend("numpy"):
        yield


def model_of(nest):
    x = kerata.Input((3,))
    return kerata.Model(x, nest(layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)))


def both(y_true, y_pred):
    """A loss of the outputs together."""
    true, pred = kerata.tree.flatten(y_true), kerata.tree.flatten(y_pred)
    return sum(abs(t - p) for t, p in zip(true, pred, strict=True))


def squared(model):
    a, b = (np.asarray(v) for v in kerata.tree.flatten(model.predict(X, verbose=0)))
    return np.mean((a - A) ** 2), np.mean((b - B) ** 2), np.mean(abs(a - A) + abs(b - B))


as_list, as_tuple, as_dict = lambda a, b: [a, b], lambda a, b: (a, b), lambda a, b: {"p": a, "q": b}

# Outputs, losses, weights, how the losses are shown, and the sum by the two squared errors and the loss of both.
CASES = [
    (as_list, "mse", None, {"a", "b"}, lambda a, b, both: a + b),
    (as_list, "mse", [1, 0.5], {"a", "b"}, lambda a, b, both: a + 0.5 * b),
    (as_list, ["mse", ["mse"]], {"b": 3}, {"a", "b"}, lambda a, b, both: a + 3 * b),
    (as_list, ["mse", ["mse", "mse"]], None, {"a", "b"}, lambda a, b, both: a + 2 * b),
    (as_list, {"b": ["mse"]}, None, set(), lambda a, b, both: b),
    (as_tuple, ["mse", "mse"], None, {"a", "b"}, lambda a, b, both: a + b),
    (as_tuple, [both, ("mse", "mse")], [2, (1, 3)], {"a_b", "a", "b"}, lambda a, b, both: 2 * both + a + 3 * b),
    (as_dict, [both, {"p": "mse"}], None, {"p_q", "p"}, lambda a, b, both: both + a),
    (as_dict, {"p": "mse", "q": ["mse"]}, [1, 2], {"p", "q"}, lambda a, b, both: a + 2 * b),
    (Pair, [both, Pair("mse", None)], None, {"a_b", "a"}, lambda a, b, both: both + a),
]


@pytest.mark.parametrize("nest, loss, weights, shown, total", CASES)
def test_which_loss_looks_at_what(nest, loss, weights, shown, total):
    model = model_of(nest)
    model.compile(loss=loss, loss_weights=weights)
    logs = model.evaluate(X, nest(A, B), verbose=0, return_dict=True)
    assert set(logs) == {"loss", *(f"{name}_loss" for name in shown)}
    np.testing.assert_allclose(logs["loss"], total(*squared(model)), rtol=1e-5)


class Split(kerata.Model):
    """Outputs without names."""

    def call(self, x):
        return [x, 2 * x]


@pytest.mark.parametrize(
    "loss, shown", [(["mse", "huber"], {"mean_squared_error", "huber"}), (["mse", "mse"], {"output_0", "output_1"})]
)
def test_outputs_without_names_are_shown_by_their_losses(loss, shown):
    model = Split()
    model.compile(loss=loss)
    logs = model.evaluate(X, [X, X], verbose=0, return_dict=True)
    assert set(logs) == {"loss", *(f"{name}_loss" for name in shown)}


def test_losses_of_outputs_nested_deeply(training_backend):
    x = kerata.Input((3,))
    a, b = layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)
    model = kerata.Model(x, {"one": (a, b), "two": {"in": a, "out": b}, "three": b})
    mae = kerata.losses.MeanAbsoluteError()
    model.compile("sgd", loss={"one": [both, (None, "mse")], "two": {"in": mae}, "three": "mse"})
    y = {"one": (A, B), "two": {"in": A, "out": B}, "three": B}
    logs = model.fit(X, y, verbose=0).history
    assert set(logs) == {"loss", "one_loss", "one/b_loss", "two/in_loss", "three_loss"}
    parts = [v[0] for k, v in logs.items() if k != "loss"]
    np.testing.assert_allclose(logs["loss"][0], sum(parts), rtol=1e-5)


def test_metrics_of_outputs_nested_deeply():
    x = kerata.Input((3,))
    a, b = layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)
    model = kerata.Model(x, {"one": [a, b], "two": a})
    model.compile(loss="mse", metrics={"one": [["mse"], ["mse", "mae"]]}, weighted_metrics={"one": ["mse", None]})
    logs = model.evaluate(X, {"one": [A, B], "two": A}, verbose=0, return_dict=True)
    assert {"a_mse", "a_weighted_mse", "b_mse", "b_mae"} <= set(logs)
    np.testing.assert_allclose([logs["a_mse"], logs["b_mse"]], squared(model_of_same(model))[:2], rtol=1e-5)


def model_of_same(model):
    """The model with the flat outputs."""
    return kerata.Model(model.inputs, list(model.outputs[:2]))


def test_a_weighted_metric_is_told_from_the_plain_one():
    model = model_of(as_list)
    model.compile(loss="mse", metrics=[["mse"], []], weighted_metrics=[["mse"], ["mse"]])
    weight = np.linspace(0, 1, 8).astype("float32")
    logs = model.evaluate(X, [A, B], sample_weight=weight, verbose=0, return_dict=True)
    assert {"a_mse", "a_weighted_mse", "b_mse"} <= set(logs)
    assert logs["a_mse"] != pytest.approx(logs["a_weighted_mse"])


@pytest.mark.parametrize(
    "nest, settings, message",
    [
        (as_list, {"loss": {"c": "mse"}}, r"output 'c'.*Expected keys: 'a', 'b'"),
        (as_dict, {"loss": {"z": "mse"}}, "'z', a key in the `loss` argument, can't be found"),
        (as_dict, {"loss": {"p": {"deep": "mse"}}}, r"'deep', but the part 'p'"),
        (as_list, {"loss": ["mse"]}, r"`loss` has 1 entries, but the model has 2"),
        (as_list, {"loss": ["mse", "mse"], "loss_weights": [1]}, "must match the number of losses"),
        (as_list, {"loss": "mse", "loss_weights": {"z": 1}}, "Invalid `loss_weights`.*'z'"),
        (as_list, {"loss": "mse", "metrics": {"c": ["mse"]}}, "(?s)Invalid `metrics`.*'c'"),
    ],
)
def test_settings_that_fit_no_output(nest, settings, message):
    model = model_of(nest)
    model.compile(**settings)
    with pytest.raises((ValueError, KeyError), match=message):
        model.evaluate(X, nest(A, B), verbose=0)
