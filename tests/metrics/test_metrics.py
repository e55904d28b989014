"""Metrics beside Keras's over several batches, weighted and not; state, configs, names, errors."""

import copy
import pickle

import numpy as np
import pytest

from kerata import backends, metrics, ops
from kerata.core.masks import set_mask
from kerata.metrics.accuracy import resolve_accuracy
from kerata.metrics.thresholds import DIRECT, confusion_counts
from kerata.state import Variable

_random = np.random.default_rng(5)
N = 8


def _reals(*shape):
    return _random.normal(size=shape).astype("float32")


def _bits(*shape):
    return _random.integers(0, 2, shape).astype("float32")


def _unit_interval(*shape):
    # Away from the thresholds that metrics use, where rounding decides.
    return (_random.integers(0, 1000, shape) / 1000 + 0.0003).astype("float32")


def _probabilities(*shape):
    x = _random.uniform(0.05, 1, shape)
    return (x / x.sum(-1, keepdims=True)).astype("float32")


def _one_hot(n, *shape):
    return np.eye(n, dtype="float32")[_random.integers(0, n, shape)]


def _classes(n, *shape):
    return _random.integers(0, n, shape).astype("int32")


def binary(*shape):
    return lambda: (_bits(*shape), _unit_interval(*shape))


def numbers(*shape):
    return lambda: (_reals(*shape), _reals(*shape))


def one_hot(classes, *shape):
    return lambda: (_one_hot(classes, *shape), _probabilities(*shape, classes))


def sparse(classes, *shape, column=False):
    return lambda: (_classes(classes, *shape, *([1] if column else [])), _probabilities(*shape, classes))


# class, arguments, batches
TABLE = [
    ("MeanSquaredError", {}, numbers(N, 3)),
    ("MeanSquaredError", {}, lambda: (_reals(N), _reals(N, 1))),
    ("RootMeanSquaredError", {}, numbers(N, 3)),
    ("MeanAbsoluteError", {}, numbers(N, 3)),
    ("MeanAbsolutePercentageError", {}, numbers(N, 3)),
    ("MeanSquaredLogarithmicError", {}, numbers(N, 3)),
    ("LogCoshError", {}, numbers(N, 3)),
    ("CosineSimilarity", {}, numbers(N, 3)),
    ("CosineSimilarity", {"axis": 1}, numbers(N, 3)),
    ("R2Score", {}, numbers(N, 2)),
    ("R2Score", {"class_aggregation": None}, numbers(N, 2)),
    ("R2Score", {"class_aggregation": "variance_weighted_average", "num_regressors": 2}, numbers(N, 2)),
    ("Hinge", {}, binary(N, 3)),
    ("SquaredHinge", {}, binary(N, 3)),
    ("CategoricalHinge", {}, one_hot(4, N)),
    ("KLDivergence", {}, lambda: (_probabilities(N, 3), _probabilities(N, 3))),
    ("Poisson", {}, binary(N, 3)),
    ("BinaryCrossentropy", {}, binary(N, 3)),
    ("BinaryCrossentropy", {"label_smoothing": 0.1}, binary(N, 1)),
    ("CategoricalCrossentropy", {}, one_hot(4, N)),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, one_hot(4, N)),
    ("SparseCategoricalCrossentropy", {}, sparse(4, N)),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}, sparse(4, N)),
    ("PearsonCorrelation", {}, numbers(N, 5)),
    ("ConcordanceCorrelation", {}, numbers(N, 5)),
    ("Accuracy", {}, lambda: (_classes(3, N, 1), _classes(3, N, 1))),
    ("Accuracy", {}, lambda: (_classes(3, N), _classes(3, N))),
    ("BinaryAccuracy", {}, binary(N, 1)),
    ("BinaryAccuracy", {"threshold": 0.2}, binary(N, 3)),
    ("BinaryAccuracy", {}, lambda: (_bits(N), _unit_interval(N, 1))),
    ("CategoricalAccuracy", {}, one_hot(4, N)),
    ("CategoricalAccuracy", {}, one_hot(4, N, 2)),
    ("SparseCategoricalAccuracy", {}, sparse(4, N)),
    ("SparseCategoricalAccuracy", {}, sparse(4, N, column=True)),
    ("TopKCategoricalAccuracy", {"k": 2}, one_hot(5, N)),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, sparse(5, N)),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, sparse(5, N, column=True)),
    (
        "SparseTopKCategoricalAccuracy",
        {"k": 2, "from_sorted_ids": True},
        lambda: (_classes(5, N), np.argsort(_reals(N, 5), -1).astype("int32")),
    ),
    ("TruePositives", {}, binary(N)),
    ("FalsePositives", {"thresholds": [0.2, 0.7]}, binary(N)),
    ("TrueNegatives", {"thresholds": [0.7, 0.2, 0.4]}, binary(N, 2)),
    ("FalseNegatives", {"thresholds": 0.3}, binary(N)),
    ("Precision", {}, binary(N)),
    ("Precision", {"thresholds": [0.2, 0.6]}, binary(N, 2)),
    ("Precision", {"top_k": 2}, binary(N, 4)),
    ("Precision", {"top_k": 2, "class_id": 1}, binary(N, 4)),
    ("Recall", {}, binary(N)),
    ("Recall", {"thresholds": [0.1, 0.5, 0.9]}, binary(N, 1)),
    ("Recall", {"class_id": 2}, binary(N, 4)),
    ("Recall", {"top_k": 3, "thresholds": 0.3}, binary(N, 4)),
    ("SensitivityAtSpecificity", {"specificity": 0.6}, binary(N)),
    ("SpecificityAtSensitivity", {"sensitivity": 0.6, "num_thresholds": 50}, binary(N)),
    ("PrecisionAtRecall", {"recall": 0.7}, binary(N)),
    ("RecallAtPrecision", {"precision": 0.7}, binary(N)),
    ("RecallAtPrecision", {"precision": 0.5, "class_id": 1, "num_thresholds": 1}, binary(N, 3)),
    *[
        ("AUC", {"curve": curve, "summation_method": method}, binary(N))
        for curve in ("ROC", "PR", "PRGAIN")
        for method in ("interpolation", "majoring", "minoring")
    ],
    ("AUC", {"thresholds": [0.2, 0.5, 0.8]}, binary(N)),
    ("AUC", {"num_thresholds": 7}, binary(N, 2)),
    ("AUC", {"from_logits": True, "num_thresholds": 20}, lambda: (_bits(N), _reals(N))),
    ("AUC", {"multi_label": True}, binary(N, 3)),
    ("AUC", {"multi_label": True, "num_labels": 3, "label_weights": [0.2, 0.5, 0.3]}, binary(N, 3)),
    ("AUC", {"multi_label": True, "curve": "PR"}, binary(N, 3)),
    ("AUC", {"label_weights": [0.2, 0.5, 0.3]}, binary(N, 3)),
    ("F1Score", {}, one_hot(3, N)),
    ("F1Score", {"average": "micro", "threshold": 0.4}, binary(N, 3)),
    ("FBetaScore", {"average": "macro", "beta": 2.0}, one_hot(3, N)),
    ("FBetaScore", {"average": "weighted", "beta": 0.5, "threshold": 0.3}, binary(N, 3)),
    ("IoU", {"num_classes": 3, "target_class_ids": [0, 2]}, lambda: (_classes(3, N), _classes(3, N))),
    ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.3}, binary(N, 2)),
    ("MeanIoU", {"num_classes": 3, "ignore_class": 1}, lambda: (_classes(3, N), _classes(3, N))),
    ("MeanIoU", {"num_classes": 3, "dtype": "float32"}, lambda: (_classes(3, N, 2), _classes(3, N, 2))),
    ("OneHotIoU", {"num_classes": 3, "target_class_ids": [1]}, one_hot(3, N)),
    ("OneHotMeanIoU", {"num_classes": 3}, one_hot(3, N)),
]
TABLE = [(name, arguments, [batch() for _ in range(3)]) for name, arguments, batch in TABLE]
IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(TABLE)]
TABLE_ONLY = pytest.mark.parametrize(("name", "arguments", "batches"), TABLE, ids=IDS)
UNWEIGHTED = ("R2Score",)


def weights_of(name, batches):
    """A weight for each sample of each batch, in the shape that Keras takes with this metric."""
    for y_true, y_pred in batches:
        rank = 1 if name not in ("IoU", "BinaryIoU", "MeanIoU", "AUC") else np.ndim(y_true)
        weight = np.linspace(0.5, 2, len(y_pred)).astype("float32").reshape(-1, *[1] * (rank - 1))
        yield np.broadcast_to(weight, np.shape(y_true)) if rank > 1 else weight


def same(found, wanted, **tolerance):
    tolerance = {"rtol": 2e-5, "atol": 2e-6, **tolerance}
    np.testing.assert_allclose(ops.convert_to_numpy(found), np.asarray(wanted), **tolerance)


@TABLE_ONLY
def test_as_keras(backend, real_keras, name, arguments, batches):
    ours, theirs = getattr(metrics, name)(**arguments), getattr(real_keras.metrics, name)(**arguments)
    for y_true, y_pred in batches:
        theirs.update_state(y_true, y_pred)
        same(ours(ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)), theirs.result())
    assert [v.path.split("/")[-1] for v in ours.variables] == [v.path.split("/")[-1] for v in theirs.variables]
    for a, b in zip(ours.variables, theirs.variables):
        same(a.value, b.numpy(), rtol=1e-4)
    ours.reset_state()
    assert all(not v.numpy().any() for v in ours.variables)
    if name == "OneHotIoU" or np.ndim(batches[0][0]) > 2 or np.shape(batches[0][1])[1:] != np.shape(batches[0][0])[1:]:
        return
    theirs.reset_state()
    for (y_true, y_pred), weight in zip(batches, weights_of(name, batches)):
        theirs.update_state(y_true, y_pred, weight)
        ours.update_state(y_true, y_pred, sample_weight=weight)
    same(ours.result(), theirs.result(), rtol=1e-4)


@TABLE_ONLY
def test_stateless_and_compiled_equal_eager(name, arguments, batches):
    with backends.use_backend("jax") as b:
        metric = getattr(metrics, name)(**arguments)
        wanted = [metric(*batch) for batch in batches]
        for variable in metric.variables:
            assert b.is_tensor(variable.value)
        state = [b.convert(np.array(v)) for v in metric.stateless_reset_state()]
        before = [v.numpy() for v in metric.variables]
        step = b.compile(metric.stateless_update_state)
        for batch, value in zip(batches, wanted):
            state = step(state, *batch)
            same(metric.stateless_result(state), value, rtol=1e-4)
        for variable, value in zip(metric.variables, before):
            same(variable.value, value, rtol=0)


@TABLE_ONLY
def test_config_makes_an_equal_metric(real_keras, name, arguments, batches):
    with backends.use_backend("numpy"):
        metric = getattr(metrics, name)(**arguments, name="other")
        again = metrics.deserialize(metrics.serialize(metric))
        assert type(again) is type(metric) and again.get_config() == metric.get_config()
        theirs = getattr(real_keras.metrics, name)(**arguments, name="other")
        ours = metrics.deserialize(real_keras.metrics.serialize(theirs))
        for y_true, y_pred in batches:
            same(again(y_true, y_pred), metric(y_true, y_pred))
            same(ours(y_true, y_pred), theirs(y_true, y_pred))
        back = real_keras.metrics.deserialize(metrics.serialize(metric)).get_config()
        assert repr(back) == repr(theirs.get_config())


def test_mean_and_sum(backend):
    mean = metrics.Mean()
    mean.update_state([1, 3, 5, 7])
    same(mean.result(), 4.0)
    mean.reset_state()
    same(mean.result(), 0.0)
    mean.update_state([[1, 3], [5, 7]], sample_weight=[[1, 1], [1, 0]])
    same(mean.result(), 3.0)
    same(metrics.Mean()([[1, 3], [5, 7]], sample_weight=[[1, 0]]), 3.0)
    same(metrics.Mean()([[1, 3], [5, 7]], sample_weight=[1, 3]), (2 + 18) / 4)
    same(metrics.Mean()(3.0, sample_weight=7), 3.0)
    same(metrics.Mean()([[1.0], [3.0]], sample_weight=[1, 0]), 1.0)
    same(metrics.Mean()([1.0, 3.0], sample_weight=[[1], [0]]), 1.0)
    same(metrics.Mean()([1, 3], sample_weight=[-1, -1]), 2.0)
    same(metrics.Sum()([1, 3, 5, 7], sample_weight=[1, 1, 0, 0]), 4.0)


def test_mask(backend):
    y_true, y_pred = (
        np.zeros((2, 3, 1)),
        ops.convert_to_tensor(np.arange(6.0).reshape(2, 3, 1).astype("float32")),
    )
    set_mask(y_pred, ops.convert_to_tensor(np.array([[True, True, False], [True, False, False]])))
    same(metrics.MeanAbsoluteError()(y_true, y_pred), (0 + 1 + 3) / 3)
    same(metrics.MeanAbsoluteError()(y_true, y_pred, sample_weight=np.array([1.0, 2.0])), (0 + 1 + 6) / 4)


def test_auc_over_many_predictions_equals_sklearn(backend):
    """Beyond `DIRECT` comparisons predictions are sorted into bins."""
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    y_pred = (_random.integers(0, 199, 4000) / 199 + 0.001).astype("float32")
    y_true = (_random.random(4000) < y_pred).astype("int32")
    assert len(y_pred) * 200 > DIRECT
    same(metrics.AUC()(y_true, y_pred), sklearn_metrics.roc_auc_score(y_true, y_pred), rtol=1e-4)
    weight = _random.random(4000).astype("float32")
    wanted = sklearn_metrics.roc_auc_score(y_true, y_pred, sample_weight=weight)
    same(metrics.AUC()(y_true, y_pred, sample_weight=weight), wanted, rtol=1e-4)


def test_bins_equal_comparisons(backend, monkeypatch):
    from kerata.metrics import thresholds as module

    y_true, y_pred, weight = _bits(50, 3), _unit_interval(50, 3), _unit_interval(50)
    limits = [0.7, 0.1, 0.1, 0.9]
    for labels in (False, True):
        direct = confusion_counts(y_true, y_pred, limits, weight, multi_label=labels)
        monkeypatch.setattr(module, "DIRECT", 0)
        binned = confusion_counts(y_true, y_pred, limits, weight, multi_label=labels)
        monkeypatch.undo()
        for a, b in zip(direct, binned):
            same(a, ops.convert_to_numpy(b), rtol=1e-5)


def test_own_metric(backend):
    class Largest(metrics.Metric):
        def __init__(self, floor=0.0, **kwargs):
            super().__init__(**kwargs)
            self.floor = floor
            self.largest = self.add_weight(name="largest")
            self.parts = {"mean": metrics.Mean(name="part"), "list": 3}
            self.more = [metrics.Sum(name="more")]

        def update_state(self, values):
            self.largest.assign(ops.maximum(self.largest, ops.max(values)))
            self.parts["mean"].update_state(values)
            self.more[0].update_state(values)

        def result(self):
            return {
                "largest": self.largest.value,
                "mean": self.parts["mean"].result(),
                "sum": self.more[0].result(),
            }

    metric = Largest(floor=2.0, name="l")
    assert [v.name for v in metric.variables] == ["largest", "total", "count", "total"]
    found = metric(np.array([1.0, 5.0]))
    same(found["largest"], 5.0)
    same(found["sum"], 6.0)
    state = metric.stateless_update_state([v.value for v in metric.variables], np.array([7.0]))
    same(metric.stateless_result(state)["largest"], 7.0)
    same(metric.result()["largest"], 5.0)
    assert metric.get_config() == {"name": "l", "dtype": "float32", "floor": 2.0}
    metric.reset_state()
    same(metric.result()["largest"], 0.0)


def test_wrapper_of_a_function(backend):
    from kerata.core.registry import CustomObjectScope

    def distance(y_true, y_pred, power=1):
        return ops.abs(y_true - y_pred) ** power

    metric = metrics.MeanMetricWrapper(distance, power=2)
    assert metric.name == "distance"
    same(metric(np.array([1.0, 2.0]), np.array([2.0, 4.0])), 2.5)
    with CustomObjectScope({"distance": distance}):
        again = metrics.deserialize(metrics.serialize(metric))
    same(again(np.array([1.0, 2.0]), np.array([2.0, 4.0])), 2.5)


def test_dtype(backend):
    metric = metrics.Mean(dtype="float16")
    assert ops.dtype(metric([1.0, 2.0])) == "float16" and metric.dtype == "float16"
    assert metric.get_config()["dtype"] == "float16"
    with pytest.raises(AttributeError):
        metric.dtype = "float32"
    assert metrics.MeanIoU(2).dtype == "int32"


def test_boolean_predictions(backend):
    y = np.array([[True], [False], [True]])
    same(metrics.BinaryAccuracy()(y, ops.convert_to_tensor(y)), 1.0)


def test_copies_and_pickles(backend):
    metric = metrics.AUC(name="a")
    metric.update_state([0, 1, 1], [0.2, 0.7, 0.1])
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        same(other.result(), ops.convert_to_numpy(metric.result()))
        other.update_state([0], [0.9])
        assert len(other.variables) == 4
        assert float(other.result()) != float(metric.result())


def test_names():
    for name, cls in (
        ("mse", "MeanSquaredError"),
        ("mean_squared_error", "MeanSquaredError"),
        ("AUC", "AUC"),
    ):
        assert type(metrics.get(name)).__name__ == cls
    assert isinstance(metrics.get("binary_accuracy"), metrics.BinaryAccuracy)
    assert isinstance(metrics.get(metrics.Mean), metrics.Mean)
    assert metrics.get(None) is None
    assert metrics.get(ops.mean) is ops.mean
    metric = metrics.Mean(name="m")
    assert metrics.get(metric) is metric and repr(metric) == "<Mean name=m>"
    assert metrics.get({"class_name": "BinaryAccuracy", "config": {"threshold": 0.25}}).threshold == 0.25


@pytest.mark.parametrize(
    ("y_true", "y_pred", "kind"),
    [
        ((None, 1), (None, 1), "Binary"),
        ((None,), (None, 1), "Binary"),
        ((None,), (None,), "Binary"),
        ((None,), (None, 10), "SparseCategorical"),
        ((None, 1), (None, 10), "SparseCategorical"),
        ((None, 10), (None, 10), "Categorical"),
        ((None, None), (None, None, 7), "SparseCategorical"),
        ((None, None, 7), (None, None, 7), "Categorical"),
    ],
)
def test_what_accuracy_means(y_true, y_pred, kind):
    assert resolve_accuracy(y_true, y_pred).__name__ == f"{kind}Accuracy"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: metrics.get("acuracy"), "'acuracy'.*Did you mean.*'accuracy'"),
        (lambda: metrics.get(3), "identifier: 3"),
        (lambda: metrics.AUC(curve="RCO"), '"RCO".*Did you mean .ROC.'),
        (lambda: metrics.AUC(summation_method="x"), "summation method"),
        (lambda: metrics.AUC(num_thresholds=1), "num_thresholds.*> 1"),
        (lambda: metrics.AUC(num_labels=2), "multi_label"),
        (lambda: metrics.AUC(multi_label=True)([1.0], [0.5]), "batch, labels"),
        (lambda: metrics.Precision(thresholds=[0.5, 2.0]), r"Threshold values must be in \[0, 1\].*2.0"),
        (lambda: metrics.Precision(class_id=1)([0, 1], [0.2, 0.7]), "samples, classes"),
        (lambda: metrics.SensitivityAtSpecificity(2.0), "specificity.*range"),
        (lambda: metrics.PrecisionAtRecall(0.5, num_thresholds=0), "num_thresholds"),
        (lambda: metrics.BinaryAccuracy(threshold=2), "threshold.*range"),
        (lambda: metrics.F1Score(average="mean"), "average"),
        (lambda: metrics.FBetaScore(beta=-1.0), "beta"),
        (lambda: metrics.FBetaScore(beta=1), "beta.*float"),
        (lambda: metrics.F1Score()([1.0], [1.0]), "2D"),
        (lambda: metrics.R2Score(class_aggregation="x"), "class_aggregation"),
        (lambda: metrics.R2Score(num_regressors=-1), "num_regressors"),
        (lambda: metrics.R2Score()([1.0], [1.0]), "2D"),
        (lambda: metrics.IoU(2, [2]), "out of range"),
        (lambda: metrics.MeanSquaredError()(np.ones((2, 3)), np.ones((2, 4))), "shape"),
        (lambda: metrics.Mean().stateless_update_state([1.0], [1.0]), "2 variables"),
        (lambda: metrics.Mean().stateless_result([]), "2 variables"),
    ],
)
def test_errors(backend, action, message):
    with pytest.raises(ValueError, match=message):
        action()


def test_a_metric_that_forgets_its_base():
    class Bare(metrics.Metric):
        def __init__(self):
            self.v = Variable(1.0)

    with pytest.raises(RuntimeError, match="super"):
        Bare()
    with pytest.raises(NotImplementedError, match="update_state"):
        metrics.Metric().update_state()
