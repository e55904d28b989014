"""Labels, sequences and splits."""

import numpy as np
import pytest

import kerata
from kerata import backends, utils


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


# ---- labels


@pytest.mark.parametrize("shape", [(1,), (3,), (4, 3), (5, 4, 3), (3, 1), (3, 2, 1), ()])
def test_to_categorical(shape):
    labels = np.random.default_rng(0).integers(0, 5, shape)
    rows = utils.to_categorical(labels.tolist(), 5)
    assert rows.shape == (shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape) + (5,)
    assert (rows.sum(-1) == 1).all() and rows.dtype == "float64"
    np.testing.assert_array_equal(rows.argmax(-1).reshape(shape), labels)


def test_the_number_of_classes_is_found():
    assert utils.to_categorical([0, 2, 5]).shape == (3, 6)
    assert utils.to_categorical([], 3).shape == (0, 3)
    with pytest.raises(ValueError, match="give `num_classes`"):
        utils.to_categorical([])


@pytest.mark.parametrize(("labels", "error"), [([3], IndexError), ([-1, 0], IndexError), (["a"], ValueError)])
def test_labels_that_are_none(labels, error):
    with pytest.raises(error):
        utils.to_categorical(labels, 2)


def test_to_categorical_of_tensors(backend):
    labels = backend.convert(np.array([[0], [2]], "int32"))
    for rows in (utils.to_categorical(labels, 3), utils.to_categorical(labels)):
        assert backend.is_tensor(rows)
        assert backend.to_numpy(rows).tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("order", [1, 2, 3, np.inf])
@pytest.mark.parametrize("axis", [-1, 0])
def test_normalize(order, axis, backend):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    x[1] = 0
    length = np.linalg.norm(x, order, axis, keepdims=True)
    expected = x / np.where(length == 0, 1, length)
    np.testing.assert_allclose(utils.normalize(x, axis, order), expected, rtol=1e-6)
    given = utils.normalize(backend.convert(x), axis, order)
    assert backend.is_tensor(given)
    np.testing.assert_allclose(backend.to_numpy(given), expected, rtol=1e-5)


# ---- sequences


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [[0, 0, 1], [0, 1, 2], [1, 2, 3]]),
        ({"padding": "post"}, [[1, 0, 0], [1, 2, 0], [1, 2, 3]]),
        ({"maxlen": 2}, [[0, 1], [1, 2], [2, 3]]),
        ({"maxlen": 2, "truncating": "post"}, [[0, 1], [1, 2], [1, 2]]),
        ({"maxlen": 4, "value": 9}, [[9, 9, 9, 1], [9, 9, 1, 2], [9, 1, 2, 3]]),
        ({"maxlen": 0}, [[], [], []]),
    ],
)
def test_pad_sequences(arguments, expected):
    padded = utils.pad_sequences([[1], [1, 2], [1, 2, 3]], **arguments)
    assert padded.tolist() == expected and padded.dtype == "int32"


def test_sequences_of_vectors_floats_and_texts():
    vectors = utils.pad_sequences([[[1, 1]], [[2, 1], [2, 2]], []])
    assert vectors.tolist() == [[[0, 0], [1, 1]], [[2, 1], [2, 2]], [[0, 0], [0, 0]]]
    assert utils.pad_sequences([[1.5], [1, 2.5]], dtype="float32").tolist() == [[0, 1.5], [1, 2.5]]
    texts = utils.pad_sequences([["a"], ["b", "c"]], dtype=object, value="pad")
    assert texts.tolist() == [["pad", "a"], ["b", "c"]]
    assert utils.pad_sequences([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("sequences", "arguments", "message"),
    [
        (5, {}, "must be iterable"),
        ([1, 2], {}, "Found non-iterable: 1"),
        ([[1]], {"padding": "middle"}, 'Padding type "middle" not understood'),
        ([[1]], {"truncating": "middle"}, 'Truncating type "middle" not understood'),
        ([[1]], {"value": "x"}, "`dtype` int32 is not compatible with"),
        ([[[1]], [[1, 2]]], {}, "is different from expected shape"),
    ],
)
def test_sequences_that_can_not_be_padded(sequences, arguments, message):
    with pytest.raises(ValueError, match=message):
        utils.pad_sequences(sequences, **arguments)


# ---- splits

X = np.arange(20.0).reshape(10, 2)
Y = np.arange(10)


def samples(dataset):
    return [[np.asarray(part).tolist() for part in sample] for sample in dataset]


@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
@pytest.mark.parametrize(
    ("left", "right", "sizes"),
    [
        (0.7, None, (7, 3)),
        (None, 0.3, (7, 3)),
        (3, None, (3, 7)),
        (3, 4, (3, 4)),
        (0.3, 0.4, (3, 4)),
        (0.25, 0.75, (2, 8)),
    ],
)
def test_split_of_arrays(framework, left, right, sizes):
    pytest.importorskip(framework)
    parts = utils.split_dataset((X, Y), left, right, preferred_backend=framework)
    assert tuple(map(len, parts)) == sizes
    assert [s[1] for part in parts for s in samples(part)] == list(range(sum(sizes)))
    assert samples(parts[1])[0] == [X[sizes[0]].tolist(), sizes[0]]


def test_split_shuffles_by_seed():
    pytest.importorskip("torch")

    def order(seed):
        return [
            int(s[0])
            for p in utils.split_dataset(Y, 0.5, shuffle=True, seed=seed, preferred_backend="torch")
            for s in p
        ]

    assert order(1) == order(1) != order(2) and sorted(order(1)) == list(range(10))


def test_split_of_tf_data():
    tf = pytest.importorskip("tensorflow")
    dataset = tf.data.Dataset.from_tensor_slices({"a": X, "b": (Y, Y)})
    left, right = utils.split_dataset(dataset, 0.7)
    assert (len(left), len(right)) == (7, 3) and int(next(iter(right))["b"][1]) == 7
    left, right = utils.split_dataset(dataset.batch(3), 0.7)
    assert [tuple(b["a"].shape) for b in left] == [(3, 2), (3, 2), (1, 2)]
    left, right = utils.split_dataset(dataset, 0.7, preferred_backend="torch")
    assert int(right[0]["b"][1]) == 7


def test_split_of_torch_data():
    torch = pytest.importorskip("torch")
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    left, right = utils.split_dataset(dataset, left_size=7)
    assert isinstance(left, torch.utils.data.Dataset)
    assert (len(left), len(right)) == (7, 3) and samples(right)[0] == [X[7].tolist(), 7]


@pytest.mark.parametrize(
    ("dataset", "sizes", "error", "message"),
    [
        (X, {}, ValueError, "At least one of"),
        (X, {"left_size": 1.5}, ValueError, "a float within the range"),
        (X, {"left_size": 0}, ValueError, "positive integer smaller than 10"),
        (X, {"left_size": 20}, ValueError, "positive integer smaller than 10"),
        (X, {"left_size": "a"}, TypeError, "Invalid `left_size` Type"),
        (X, {"left_size": 0.7, "right_size": 0.7}, ValueError, "greater than 1"),
        (X, {"left_size": 5, "right_size": 7}, ValueError, "should be smaller than the 10"),
        (X, {"left_size": 0.05}, ValueError, "left side dataset split will be empty"),
        ((X, Y[:4]), {"left_size": 0.5}, ValueError, "different lengths"),
        ([[1, 2]], {"left_size": 0.5}, ValueError, "`numpy.ndarray` objects"),
        ("abc", {"left_size": 0.5}, TypeError, "Unsupported dataset type"),
        ({"a": X}, {"left_size": 0.5}, TypeError, "Unsupported dataset type"),
    ],
)
def test_splits_that_can_not_be(dataset, sizes, error, message):
    with pytest.raises(error, match=message):
        utils.split_dataset(dataset, **sizes)


def test_names_that_are_one_object():
    assert kerata.utils.Sequence is kerata.utils.PyDataset
