"""Losses: values beside Keras's, formulas in float64, reductions, weights, masks, names, errors."""

import itertools

import numpy as np
import pytest

from kerata import backends, losses, ops
from kerata.core.masks import set_mask
from kerata.losses.reduction import same_rank

_random = np.random.default_rng(3)


def _probabilities(*shape):
    x = _random.uniform(0.05, 1, shape)
    return (x / x.sum(-1, keepdims=True)).astype("float32")


def _reals(*shape):
    return _random.normal(size=shape).astype("float32")


def _bits(*shape):
    return _random.integers(0, 2, shape).astype("float32")


def _one_hot(n, *shape):
    return np.eye(n, dtype="float32")[_random.integers(0, n, shape)]


def _unit(*shape):
    x = _reals(*shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


CLASSES = _random.integers(0, 5, (6,))
# class, arguments, targets, predictions
TABLE = [
    ("MeanSquaredError", {}, _reals(6, 3), _reals(6, 3)),
    ("MeanSquaredError", {}, _reals(6), _reals(6, 1)),
    ("MeanSquaredError", {}, _reals(6, 1), _reals(6)),
    ("MeanSquaredError", {}, _bits(6, 2, 3).astype("int64"), _reals(6, 2, 3)),
    ("MeanAbsoluteError", {}, _reals(6, 3), _reals(6, 3)),
    ("MeanAbsolutePercentageError", {}, _reals(6, 3), _reals(6, 3)),
    ("MeanSquaredLogarithmicError", {}, _probabilities(6, 3), _reals(6, 3)),
    ("Huber", {}, _reals(6, 3), _reals(6, 3)),
    ("Huber", {"delta": 0.3}, _reals(6, 3), _reals(6, 3)),
    ("LogCosh", {}, _reals(6, 3), _reals(6, 3)),
    ("LogCosh", {}, _reals(6, 3), 60 * _reals(6, 3)),
    ("Hinge", {}, _bits(6, 3), _reals(6, 3)),
    ("Hinge", {}, 2 * _bits(6, 3) - 1, _reals(6, 3)),
    ("SquaredHinge", {}, _bits(6, 3), _reals(6, 3)),
    ("CategoricalHinge", {}, _one_hot(4, 6), _reals(6, 4)),
    ("KLDivergence", {}, _probabilities(6, 4), _probabilities(6, 4)),
    ("Poisson", {}, _bits(6, 4) * 3, _probabilities(6, 4)),
    ("CosineSimilarity", {}, _reals(6, 4), _reals(6, 4)),
    ("CosineSimilarity", {"axis": 1}, _reals(6, 4, 2), _reals(6, 4, 2)),
    ("Dice", {}, _bits(6, 4, 4, 1), _probabilities(6, 4, 4, 1)),
    ("Dice", {"axis": (1, 2, 3)}, _bits(6, 4, 4, 2), _probabilities(6, 4, 4, 2)),
    ("Tversky", {}, _bits(6, 4, 4, 2), _probabilities(6, 4, 4, 2)),
    (
        "Tversky",
        {"alpha": 0.2, "beta": 0.7, "axis": (1, 2, 3)},
        _bits(6, 4, 4, 2),
        _probabilities(6, 4, 4, 2),
    ),
    ("BinaryCrossentropy", {}, _bits(6, 3), _probabilities(6, 3)),
    ("BinaryCrossentropy", {"from_logits": True}, _bits(6, 3), 2 * _reals(6, 3)),
    ("BinaryCrossentropy", {"label_smoothing": 0.2}, _bits(6, 1), _probabilities(6, 2)[:, :1]),
    ("BinaryCrossentropy", {"axis": 1}, _bits(6, 3, 2), _probabilities(6, 3, 2)),
    ("BinaryFocalCrossentropy", {}, _bits(6, 3), _probabilities(6, 3)),
    (
        "BinaryFocalCrossentropy",
        {"apply_class_balancing": True, "gamma": 1.5},
        _bits(6, 3),
        _probabilities(6, 3),
    ),
    ("BinaryFocalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, _bits(6, 3), _reals(6, 3)),
    ("CategoricalCrossentropy", {}, _one_hot(5, 6), _probabilities(6, 5)),
    ("CategoricalCrossentropy", {"from_logits": True}, _one_hot(5, 6), 5 * _reals(6, 5)),
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, _one_hot(5, 6, 2), _probabilities(6, 2, 5)),
    ("CategoricalCrossentropy", {"axis": 1}, _probabilities(6, 2, 5).swapaxes(1, 2), _probabilities(6, 5, 2)),
    ("CategoricalFocalCrossentropy", {}, _one_hot(5, 6), _probabilities(6, 5)),
    ("CategoricalFocalCrossentropy", {"from_logits": True, "alpha": 0.5}, _one_hot(5, 6), _reals(6, 5)),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.7}, CLASSES, _probabilities(6, 5)),
    ("SparseCategoricalCrossentropy", {}, CLASSES, _probabilities(6, 5)),
    ("SparseCategoricalCrossentropy", {}, CLASSES[:, None], _probabilities(6, 5)),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, CLASSES.astype("float32"), 5 * _reals(6, 5)),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}, CLASSES, _probabilities(6, 5)),
    (
        "SparseCategoricalCrossentropy",
        {"ignore_class": -1},
        np.array([0, -1, 1, 2, -1, 4]),
        _probabilities(6, 5),
    ),
    ("Circle", {}, CLASSES, _unit(6, 3)),
    ("Circle", {"gamma": 8.0, "margin": 0.2, "remove_diagonal": False}, CLASSES, _unit(6, 3)),
    ("CTC", {}, np.array([[1, 2, 0], [3, 3, 0], [1, 4, 2]]), _reals(3, 8, 5)),
]
IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(TABLE)]


def same(found, wanted, **tolerance):
    tolerance = {"rtol": 2e-5, "atol": 2e-6, **tolerance}
    np.testing.assert_allclose(ops.convert_to_numpy(found), np.asarray(wanted), **tolerance)


@pytest.mark.parametrize(("name", "arguments", "y_true", "y_pred"), TABLE, ids=IDS)
def test_as_keras(backend, real_keras, name, arguments, y_true, y_pred):
    ours, theirs = getattr(losses, name), getattr(real_keras.losses, name)
    for reduction in ("none", "sum", "sum_over_batch_size", "mean", "mean_with_sample_weight"):
        wanted = theirs(reduction=reduction, **arguments)(y_true, y_pred)
        same(ours(reduction=reduction, **arguments)(y_true, y_pred), wanted)
    if np.ndim(theirs(reduction="none", **arguments)(y_true, y_pred)) == 0:
        return
    rank = np.ndim(theirs(reduction="none", **arguments)(y_true, y_pred))
    weight = np.linspace(0, 2, len(y_true)).astype("float32").reshape(-1, *[1] * (rank - 1))
    for reduction in ("none", "sum", "sum_over_batch_size", "mean_with_sample_weight"):
        wanted = theirs(reduction=reduction, **arguments)(y_true, y_pred, sample_weight=weight)
        same(ours(reduction=reduction, **arguments)(y_true, y_pred, sample_weight=weight), wanted)


@pytest.mark.parametrize(("name", "arguments", "y_true", "y_pred"), TABLE, ids=IDS)
def test_config_makes_an_equal_loss(name, arguments, y_true, y_pred):
    loss = getattr(losses, name)(**arguments, name="other")
    again = losses.deserialize(losses.serialize(loss))
    assert type(again) is type(loss) and again.name == "other"
    assert again.get_config() == loss.get_config()
    with backends.use_backend("numpy"):
        same(again(y_true, y_pred), loss(y_true, y_pred))


@pytest.mark.parametrize(("name", "arguments", "y_true", "y_pred"), TABLE, ids=IDS)
def test_compiled_equals_eager(name, arguments, y_true, y_pred):
    with backends.use_backend("jax") as b:
        loss = getattr(losses, name)(**arguments)
        compiled = b.compile(lambda t, p: loss(t, p))
        same(compiled(b.convert(y_true, "float32"), b.convert(y_pred)), loss(y_true, y_pred))


def test_formulas_in_float64():
    t, p = _random.uniform(0.1, 0.9, (2, 7, 4))
    e = t - p
    cases = {
        "mean_squared_error": (e**2).mean(-1),
        "mean_absolute_error": abs(e).mean(-1),
        "mean_absolute_percentage_error": 100 * (abs(e) / t).mean(-1),
        "mean_squared_logarithmic_error": (np.log((t + 1) / (p + 1)) ** 2).mean(-1),
        "huber": np.where(abs(e) <= 1, e**2 / 2, abs(e) - 0.5).mean(-1),
        "log_cosh": np.log(np.cosh(e)).mean(-1),
        "poisson": (p - t * np.log(p + 1e-7)).mean(-1),
        "kl_divergence": (t * np.log(t / p)).sum(-1),
        "binary_crossentropy": -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean(-1),
        "cosine_similarity": -(t * p).sum(-1) / np.linalg.norm(t, axis=-1) / np.linalg.norm(p, axis=-1),
    }
    with backends.use_backend("numpy"):
        for name, wanted in cases.items():
            np.testing.assert_allclose(getattr(losses, name)(t, p), wanted, rtol=1e-6, err_msg=name)


def test_circle_beside_its_formula(backend):
    """log(1 + sum exp(negative logits) * sum exp(positive logits)), and which samples count."""
    y, e = np.array([0, 0, 0, 1, 2]), _unit(5, 3).astype("float64")
    s, same_class = e @ e.T, y[:, None] == y[None]
    other = ~np.eye(5, dtype=bool)
    p = np.where(same_class & other, np.exp(-2 * np.maximum(1.4 - s, 0) * (s - 0.6)), 0).sum(1)
    n = np.where(~same_class, np.exp(2 * np.maximum(s + 0.4, 0) * (s - 0.4)), 0).sum(1)
    wanted = np.where(y == 0, np.log1p(p * n), 0)
    same(losses.Circle(gamma=2.0, reduction="none")(y, e), wanted, rtol=1e-4)
    same(losses.Circle(gamma=2.0)(y, e), wanted.sum() / 3, rtol=1e-4)


def test_stable_with_logits(training_backend):
    for loss, target in (
        (losses.BinaryCrossentropy(from_logits=True), [[1.0, 0.0]]),
        (losses.CategoricalCrossentropy(from_logits=True), [[1.0, 0.0]]),
        (losses.SparseCategoricalCrossentropy(from_logits=True), [0]),
    ):
        gradient = training_backend.value_and_grad(lambda p, loss=loss, target=target: (loss(target, p[0]), None))
        (value, _), (found,) = gradient([training_backend.convert(np.array([[-1e4, 1e4]]), "float32")])
        assert np.isfinite(ops.convert_to_numpy(value)) and np.isfinite(ops.convert_to_numpy(found)).all()


def test_nested_structures(backend):
    class Both(losses.Loss):
        def call(self, y_true, y_pred):
            return ops.abs(y_true["a"] - y_pred["a"]) + ops.abs(y_true["b"][0] - y_pred["b"][0])

    y = {"a": np.array([1.0, 2.0]), "b": (np.array([3.0, 4.0]),)}
    z = {"a": np.array([1.0, 2.0]), "b": (np.array([3.0, 6.0]),)}
    same(Both()(y, z), 1.0)


def _with_mask(y, mask):
    """A prediction with a mask, as a layer leaves it."""
    y = ops.convert_to_tensor(y)
    set_mask(y, ops.convert_to_tensor(mask))
    return y


def test_mask(backend):
    y_true, y_pred = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.1, 0.2, 0.3, 0.4])
    errors, weight = (y_true - y_pred) ** 2, np.array([0.4, 0.3, 0.2, 0.1])

    class Squared(losses.Loss):
        def call(self, y_true, y_pred):
            return ops.square(y_true - y_pred)

    kept = [True, False, True, True]
    places = [0, 2, 3]
    for mask in (kept, np.array(kept)[:, None]):
        same(Squared()(y_true, _with_mask(y_pred, mask)), errors[places].mean())
        found = Squared()(y_true, _with_mask(y_pred, mask), sample_weight=weight)
        same(found, (weight * errors)[places].sum() / 3)
    same(Squared("sum", "sum")(y_true, _with_mask(y_pred, kept)), errors[places].sum())
    found = Squared("m", "mean_with_sample_weight")(y_true, _with_mask(y_pred, kept), sample_weight=weight)
    same(found, (weight * errors)[places].sum() / weight[places].sum())
    same(Squared()(y_true, _with_mask(y_pred, [False] * 4)), 0.0)
    # A mask of steps beside a loss of samples and steps, and a weight of samples.
    found = losses.MeanSquaredError()(
        np.zeros((2, 3, 4)), _with_mask(np.ones((2, 3, 4)), [[1, 1, 0], [1, 0, 0]]), sample_weight=[1.0, 4.0]
    )
    same(found, (1 + 1 + 4) / 3)


def test_ignored_class_counts_in_no_mean(backend):
    y, p = np.array([[0, 2], [2, 2]]), _probabilities(2, 2, 3)
    found = losses.SparseCategoricalCrossentropy(ignore_class=2)(y, p)
    same(found, -np.log(p[0, 0, 0]))
    values = losses.SparseCategoricalCrossentropy(ignore_class=2, reduction="none")(y, p)
    assert np.count_nonzero(ops.convert_to_numpy(values)) == 1


def test_weights_align_from_the_batch(backend):
    y, p = np.zeros((2, 3, 4)), np.ones((2, 3, 4))
    for weight in ([1.0, 3.0], [[1.0], [3.0]], [[1.0] * 3, [3.0] * 3]):
        same(losses.MeanSquaredError()(y, p, sample_weight=weight), 2.0)


def test_dtype(backend):
    assert losses.MeanSquaredError().dtype == "float32"
    loss = losses.MeanSquaredError(dtype="float16")
    assert ops.dtype(loss([1.0, 2.0], [2.0, 2.0])) == "float16"
    # Class numbers that half precision can't count.
    p = np.full((1, 3000), 1e-4, "float32")
    p[0, 2049] = 0.7001
    found = losses.SparseCategoricalCrossentropy(dtype="float16")(np.array([2049]), p)
    same(found, -np.log(0.7001), rtol=2e-3)
    with pytest.raises(AttributeError):
        loss.dtype = "float32"


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ((3,), (3, 1), ((3, 1), (3, 1))),
        ((3, 1), (3,), ((3, 1), (3, 1))),
        ((3, 2), (3, 2, 1), ((3, 2), (3, 2))),
        ((3, 2, 1), (3, 2), ((3, 2), (3, 2))),
        ((3, 2), (3, 2, 5), ((3, 2), (3, 2, 5))),
    ],
)
def test_same_rank(first, second, wanted):
    with backends.use_backend("numpy"):
        assert tuple(x.shape for x in same_rank(np.ones(first), np.ones(second))) == wanted


def test_names(real_keras):
    for name in (
        "mse",
        "MSE",
        "mae",
        "mape",
        "msle",
        "bce",
        "BCE",
        "kld",
        "log_cosh",
        "huber",
        "poisson",
        "dice",
    ):
        assert losses.get(name).__name__ == real_keras.losses.get(name).__name__
    assert losses.get("mse") is losses.mean_squared_error
    assert isinstance(losses.get("MeanSquaredError"), losses.MeanSquaredError)
    assert isinstance(losses.get(losses.Huber), losses.Huber)
    assert losses.get(None) is None
    assert losses.get({"class_name": "Huber", "config": {"delta": 2.0}}).delta == 2.0
    assert losses.get(losses.serialize(losses.mean_squared_error)) is losses.mean_squared_error
    loss = losses.Huber()
    assert losses.get(loss) is loss


def test_configs_that_keras_keeps_short():
    said = {"name": "l", "reduction": "sum"}
    assert losses.Huber(**said).get_config() == losses.LogCosh(**said).get_config() == said
    assert losses.Huber(delta=2.0, dtype="float16", **said).get_config() == {**said, "delta": 2.0, "dtype": "float16"}


def test_keras_reads_our_configs_and_we_its(real_keras):
    for name, arguments, *_ in TABLE:
        theirs = getattr(real_keras.losses, name)(**arguments)
        ours = losses.deserialize(real_keras.losses.serialize(theirs))
        assert type(ours).__name__ == name
        if name == "CategoricalGeneralizedCrossEntropy":
            continue  # Keras doesn't read back what it writes of it
        back = real_keras.losses.deserialize(losses.serialize(ours))
        assert back.get_config() == theirs.get_config()


def test_wrapper_of_a_function(backend):
    from kerata.losses.function_loss import LossFunctionWrapper

    loss = LossFunctionWrapper(losses.huber, delta=0.5)
    assert loss.name == "huber"
    same(loss([[1.0]], [[3.0]]), 0.875)
    again = LossFunctionWrapper.from_config(loss.get_config())
    same(again([[1.0]], [[3.0]]), 0.875)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.get("mze"), "'mze'.*Did you mean.*'mse'"),
        (lambda: losses.get(3), "identifier: 3"),
        (
            lambda: losses.MeanSquaredError(reduction="sum_over_batchsize"),
            "reduction.*Did you mean 'sum_over_batch_size'",
        ),
        (lambda: losses.CategoricalGeneralizedCrossEntropy(q=1.0), "interval"),
        (lambda: losses.CategoricalCrossentropy(axis="x")(np.ones((2, 3)), np.ones((2, 3))), "axis"),
        (lambda: losses.CategoricalCrossentropy()(np.ones((2, 3)), np.ones((2, 4))), "shape"),
        (lambda: losses.SparseCategoricalCrossentropy()(np.ones(3), np.ones((2, 4))), "shape"),
        (lambda: losses.MeanSquaredError()(np.ones((2, 3)), np.ones((2, 4))), "shape"),
        (lambda: losses.ctc([1, 2], np.ones((1, 2, 3))), "shape"),
        (lambda: losses.deserialize({"no": 1}), "class_name"),
    ],
)
def test_errors(backend, make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_ctc_sums_over_alignments(backend):
    logits = _reals(2, 5, 4)
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))

    def summed(label, log_p):
        total = 0.0
        for path in itertools.product(range(4), repeat=5):
            collapsed = [k for k, _ in itertools.groupby(path) if k]
            total += np.exp(sum(log_p[t, k] for t, k in enumerate(path))) if collapsed == label else 0
        return -np.log(total)

    wanted = [summed([1, 1], log_p[0]), summed([3], log_p[1])]
    same(losses.ctc(np.array([[1, 1], [3, 0]]), logits), wanted, rtol=1e-4)


def test_one_class_warns():
    with backends.use_backend("numpy"), pytest.warns(SyntaxWarning, match="binary_crossentropy"):
        losses.categorical_crossentropy(np.ones((2, 1)), np.ones((2, 1)))


def test_a_loss_without_call():
    with pytest.raises(NotImplementedError, match="Bare must define"):
        type("Bare", (losses.Loss,), {})()([1.0], [1.0])


def test_crossentropies_scale_probabilities_that_do_not_sum_to_one(backend):
    p, rows = np.array([[0.5, 0.9], [0.3, 0.2]], "float32"), np.arange(2)
    wanted = -np.log((p / p.sum(1, keepdims=True))[rows, rows])
    same(losses.sparse_categorical_crossentropy(rows, p), wanted, rtol=1e-5)
    same(losses.categorical_crossentropy(np.eye(2, dtype="float32"), p), wanted, rtol=1e-5)
