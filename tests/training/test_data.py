"""Sources: what they give for every kind of data, in which order, and how they fail."""

import contextlib
import gc
import threading
import time
import warnings

import numpy as np
import pytest

from kerata import backends
from kerata.training import data
from kerata.training.data import make_source, prefetch

X = np.arange(20.0, dtype="float32").reshape(10, 2)
Y = np.arange(10, dtype="int64")


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


def targets(batches):
    return [np.asarray(y).ravel().tolist() for _, y, _ in batches]


# JAX, once imported by another test, warns of forks; the processes here use NumPy only.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")


def threads():
    return [t for t in threading.enumerate() if t.name.startswith("kerata")]


# ---- arrays


def test_arrays_come_in_order_with_a_smaller_last_batch():
    source = make_source(X, Y, batch_size=4)
    assert (source.num_batches, source.batch_size) == (3, 4)
    assert (source.has_partial_batch, source.partial_batch_size) == (True, 2)
    assert source.steps_in(0) == 3
    batches = list(source.epoch(0))
    assert targets(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert all(w is None for *_, w in batches)
    np.testing.assert_array_equal(batches[1][0], X[4:8])
    assert np.shares_memory(batches[1][0], X)  # unshuffled batches are views


def test_default_batch_size():
    assert make_source(np.zeros((100, 1))).batch_size == 32
    assert make_source(np.zeros((100, 1)), steps=3).batch_size == 34


@pytest.mark.parametrize(
    ("given", "fed"),
    [
        ("float64", "float32"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("int64", "int64"),
        ("uint8", "uint8"),
        ("bool", "bool"),
        ("complex64", "complex64"),
    ],
)
def test_dtypes(given, fed):
    source = make_source(np.ones((4, 2), given))
    ((x, y, w),) = source.epoch()
    assert x.dtype == fed and y is None and w is None
    assert source.batch_spec() == (data.Spec((None, 2), fed), None, None)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(["a", "b"]), "Invalid dtype.*text"),
        (np.array([[1], [1, 2]], dtype=object), "Python objects.*padded"),
        (np.array(["2020-01-01"], "datetime64[D]"), "dates"),
        ("abc", "Unrecognized data type"),
        (["a", "b"], "Unrecognized data type"),
        (object(), "Expected all elements of `x` to be array-like"),
        ([[1, 2], [3]], "different lengths"),
        (np.float32(3), "axis of samples"),
        (np.zeros((0, 3)), "no samples"),
        ({}, "no data"),
        (None, "no data"),
    ],
)
def test_what_is_no_data_is_told(value, message):
    with pytest.raises(ValueError, match=message):
        make_source(value)


def test_structures_keep_their_form():
    source = make_source({"b": X, "a": [X, (Y,)]}, (Y, {"z": X}), batch_size=4)
    (x, y, w) = next(source.epoch())
    assert list(x) == ["b", "a"] and isinstance(x["a"], list) and isinstance(x["a"][1], tuple)
    assert x["a"][1][0].tolist() == [0, 1, 2, 3] and y[1]["z"].shape == (4, 2)
    assert len(source.arrays) == 5


def test_lists_of_numbers_are_arrays():
    (x, y, w) = next(make_source([[1.0, 2.0], [3.0, 4.0]], [0, 1], sample_weight=[1, 2]).epoch())
    assert x.shape == (2, 2) and x.dtype == "float32" and y.tolist() == [0, 1]
    assert w.dtype == "float32" and w.tolist() == [1, 2]
    (x, *_) = next(make_source([X, X], Y).epoch())
    assert isinstance(x, list) and len(x) == 2


def test_sizes_that_differ_are_listed():
    with pytest.raises(ValueError, match="ambiguous.*'x' sizes: 10, 8; 'y' sizes: 7"):
        make_source([X, X[:8]], Y[:7])
    with pytest.raises(ValueError, match="'sample_weight' sizes: 9"):
        make_source(X, Y, sample_weight=np.ones(9))


@pytest.mark.parametrize("batch_size", [0, -1, 2.5, "3", True])
def test_batch_sizes_that_are_none(batch_size):
    with pytest.raises(ValueError, match="`batch_size` must be a positive integer"):
        make_source(X, Y, batch_size=batch_size)


def test_odd_layouts_are_read_right():
    wide = np.arange(40.0, dtype="float32").reshape(2, 20).T[::2]
    assert not wide.flags.c_contiguous
    source = make_source(wide, batch_size=10, shuffle=True, seed=1)
    (x, *_) = next(source.epoch())
    np.testing.assert_array_equal(x, wide[source.order(0)])


# ---- order


def test_shuffling_is_a_permutation_that_only_seed_and_epoch_decide():
    source = make_source(X, Y, batch_size=3, shuffle=True, seed=5)
    first, second = (sum(targets(source.epoch(e)), []) for e in (0, 1))
    assert sorted(first) == sorted(second) == list(range(10)) and first != second
    assert first == data.permutation(5, 0, 10).tolist() == source.order(0).tolist()
    again = make_source(X, Y, batch_size=3, shuffle=True, seed=5)
    assert sum(targets(again.epoch(1)), []) == second
    assert sum(targets(make_source(X, Y, batch_size=3, shuffle=True, seed=6).epoch(0)), []) != first


def test_the_recipe_of_the_order_is_fixed():
    # A run that was interrupted goes on with another release: the recipe can't change.
    assert data.permutation(1, 0, 8).tolist() == [0, 5, 4, 1, 2, 6, 3, 7]
    assert data.permutation(2**63 + 5, 7, 5).tolist() == [1, 4, 3, 0, 2]


def test_the_seed_comes_from_the_global_one():
    import kerata

    orders = []
    for seed in (1, 1, 2):
        kerata.utils.set_random_seed(seed)
        orders.append(make_source(X, Y, shuffle=True).order(0).tolist())
    assert orders[0] == orders[1] != orders[2]


def test_shuffling_inside_batches():
    source = make_source(X, Y, batch_size=4, shuffle="batch", seed=0)
    batches = targets(source.epoch(0))
    assert [sorted(b) for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert sum(batches, []) != list(range(10))
    with pytest.raises(ValueError, match='True, False or "batch"'):
        make_source(X, shuffle="batches")


def test_an_epoch_can_be_entered_in_its_middle():
    source = make_source(X, Y, batch_size=3, shuffle=True, seed=5)
    whole = targets(source.epoch(4))
    fresh = make_source(X, Y, batch_size=3, shuffle=True, seed=0)
    fresh.restore(source.state())
    assert targets(fresh.epoch(4, start=2)) == whole[2:]


# ---- several batches at once


@pytest.mark.parametrize("shuffle", [False, True])
def test_take_steps_stacks_full_batches(shuffle):
    source = make_source({"a": X}, Y, batch_size=3, shuffle=shuffle, seed=2)
    batches = list(source.epoch(1))
    assert source.full_steps(1, 0) == 3 and source.full_steps(1, 2) == 1
    x, y, w = source.take_steps(1, 1, 2)
    assert x["a"].shape == (2, 3, 2) and y.shape == (2, 3) and w is None
    for i in range(2):
        np.testing.assert_array_equal(x["a"][i], batches[1 + i][0]["a"])
        np.testing.assert_array_equal(y[i], batches[1 + i][1])
    with pytest.raises(ValueError, match="no full batch"):
        source.take_steps(1, 2, 2)


def flat_targets(chunks):
    result = []
    for first, count, (_, y, _) in chunks:
        assert first == len(result)
        result += [v.tolist() for v in y] if count > 1 else [y.tolist()]
    return result


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("kind", ["arrays", "generator", "PyDataset"])
def test_chunks_are_the_same_batches(kind, size):
    x, y = np.zeros((23, 2), "float32"), np.arange(23)
    whole = [y[i : i + 2].tolist() for i in range(0, 23, 2)]
    if kind == "arrays":
        source = make_source(x, y, batch_size=2)
    elif kind == "generator":
        source = make_source((x[i : i + 2], y[i : i + 2]) for i in range(0, 23, 2))
    else:
        source = make_source(Batches(x, y, 2))
    chunks = list(source.chunks(0, 0, size))
    assert flat_targets(chunks) == whole
    assert {count for _, count, _ in chunks} <= {1, size}
    assert sum(count == size for _, count, _ in chunks) >= 11 // size


def test_the_size_of_chunks_may_change_on_the_way():
    source = make_source(np.zeros((40, 1)), np.arange(40), batch_size=2)
    sizes = iter([1, 4, 8, 8])
    chunks = list(source.chunks(0, 0, lambda: next(sizes, 2)))
    assert [count for _, count, _ in chunks][:3] == [1, 4, 8]
    assert sum(flat_targets(chunks), []) == list(range(40))


def test_chunks_of_changing_shapes_are_not_stacked():
    shapes = [(2, 3), (2, 3), (2, 4), (2, 4), (2, 4), (1, 4)]
    source = make_source((np.zeros(s, "float32"), np.zeros(s[0])) for s in shapes)
    got = [(first, count, batch[0].shape) for first, count, batch in source.chunks(0, 0, 2)]
    assert got == [(0, 2, (2, 2, 3)), (2, 2, (2, 2, 4)), (4, 1, (2, 4)), (5, 1, (1, 4))]


# ---- epochs of a given number of steps


@pytest.mark.parametrize("kind", ["arrays", "PyDataset", "function"])
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (2, [[0, 1], [2, 3], [0, 1]]),
        (3, [[0, 1, 2], [3], [0, 1, 2]]),
        (6, [[0, 1, 2, 3]] * 3),
        (4, [[0, 1, 2, 3]] * 3),
    ],
)
def test_steps_go_on_in_the_same_pass(kind, steps, expected):
    x, y = np.zeros((8, 1), "float32"), np.arange(8) // 2

    def generate():
        for i in range(4):
            yield x[2 * i : 2 * i + 2], y[2 * i : 2 * i + 2]

    source = {
        "arrays": lambda: make_source(x, y, batch_size=2, steps=steps),
        "PyDataset": lambda: make_source(Batches(x, y, 2), steps=steps),
        "function": lambda: make_source(generate, steps=steps),
    }[kind]()
    for epoch, batches in enumerate(expected):
        short = len(batches) < steps
        with pytest.warns(UserWarning, match="Your input ran out of data") if short else contextlib.nullcontext():
            got = [int(y[0]) for _, y, _ in source.epoch(epoch)]
        assert got == batches, epoch
        if kind != "function":
            assert source.steps_in(epoch) == len(batches)


def test_steps_must_be_positive():
    with pytest.raises(ValueError, match="`steps_per_epoch` must be a positive integer"):
        make_source(X, steps=0)


# ---- weights


@pytest.mark.parametrize(
    ("y", "weights", "expected"),
    [
        ([0, 1, 0, 2], {0: 1.0, 1: 2.0, 2: 3.0}, [1, 2, 1, 3]),
        (np.eye(3)[[0, 1, 0, 2]], {0: 1.0, 1: 2.0, 2: 3.0}, [1, 2, 1, 3]),
        ([0, 3, 0, 2], {0: 5.0, 2: 3.0}, [5, 1, 5, 3]),
        ([[0], [1], [0], [2]], {0: 1.0, 1: 2.0, 2: 3.0}, [1, 2, 1, 3]),
        ([[0.0], [1.0]], {np.int64(1): 2}, [1, 2]),
        ([0, 1], {}, [1, 1]),
    ],
)
def test_class_weights(y, weights, expected):
    np.testing.assert_array_equal(data.class_weight_to_sample_weights(y, weights), expected)
    y = np.asarray(y)
    (_, _, w) = next(make_source(np.zeros((len(y), 1)), y, class_weight=weights).epoch())
    np.testing.assert_array_equal(w, expected)
    assert w.dtype == "float32"
    (_, _, w) = next(make_source(iter([(np.zeros((len(y), 1)), y)]), class_weight=weights).epoch())
    np.testing.assert_array_equal(w, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": Y, "class_weight": {0: 1.0}, "sample_weight": np.ones(10)}, "at the same time"),
        ({"y": [Y, Y], "class_weight": {0: 1.0}}, "Models with a single output"),
        ({"class_weight": {0: 1.0}}, "no targets"),
        ({"y": Y, "class_weight": {"0": 1.0}}, "must map class numbers"),
        ({"y": Y, "class_weight": {0: "heavy"}}, "must map class numbers"),
        ({"y": Y, "class_weight": "balanced"}, "must be a dict"),
        (
            {"y": {"a": Y, "b": Y}, "sample_weight": {"a": np.ones(10)}},
            "one `sample_weight` array per output",
        ),
        (
            {"y": [Y, Y], "sample_weight": np.ones((10, 2))},
            "For a model with multiple outputs, when providing",
        ),
    ],
)
def test_weights_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_source(X, **arguments)


def test_sample_weights_of_several_outputs():
    w1, w2 = np.arange(10.0), np.arange(10, 20)
    (_, _, w) = next(make_source(X, [Y, Y], sample_weight=w1).epoch())
    assert isinstance(w, list) and [v.tolist() for v in w] == [w1.tolist()] * 2
    (_, _, w) = next(make_source(X, {"a": Y, "b": Y}, sample_weight={"a": w1, "b": w2}).epoch())
    assert w["b"].tolist() == w2.tolist() and w["b"].dtype == "float32"
    (_, _, w) = next(make_source(X, [Y, Y], sample_weight=[w1, None]).epoch())
    assert w[1] is None
    (_, _, w) = next(make_source(X, Y, sample_weight=np.ones((10, 3))).epoch())
    assert w.shape == (10, 3)


# ---- validation


def test_validation_takes_the_last_samples():
    train, valid = data.train_validation_split((X, {"o": Y}, None), 0.25)
    assert train[1]["o"].tolist() == list(range(7)) and valid[1]["o"].tolist() == [7, 8, 9]
    assert train[2] is None and np.shares_memory(train[0], X)


@pytest.mark.parametrize("fraction", [0, 1, 1.0, -0.2, 1.5])
def test_validation_split_must_be_a_fraction(fraction):
    with pytest.raises(ValueError, match="between 0 and 1"):
        data.train_validation_split((X, Y, None), fraction)


def test_validation_split_that_leaves_nothing():
    with pytest.raises(ValueError, match="contains 10 samples.*not sufficient"):
        data.train_validation_split((X, Y, None), 0.999)
    for x, name in ((iter(()), "generator"), (Batches(X, Y, 2), "PyDataset")):
        with pytest.raises(ValueError, match=f"only supported for tensors or NumPy arrays.*{name}"):
            data.train_validation_split((x, None, None), 0.2)


def test_validation_data_is_unpacked():
    assert data.unpack_validation_data((1, 2)) == (1, 2, None)
    assert data.unpack_validation_data([1, 2, 3]) == (1, 2, 3)
    source = Batches(X, Y, 2)
    assert data.unpack_validation_data(source) == (source, None, None)
    with pytest.raises(ValueError, match="tuple of 4"):
        data.unpack_validation_data((1, 2, 3, 4))


def test_packing():
    assert data.pack_x_y_sample_weight(1) == 1 and data.pack_x_y_sample_weight([1]) == ([1],)
    assert data.pack_x_y_sample_weight(1, 2) == (1, 2) and data.pack_x_y_sample_weight(1, 2, 3) == (1, 2, 3)
    assert data.unpack_x_y_sample_weight({"a": 1}) == ({"a": 1}, None, None)


# ---- arrays of other libraries


class FakeFrame:
    """Stands for pandas, which needn't be installed: what matters is where the type comes from."""

    def __init__(self, values):
        self.values = values

    def to_numpy(self, dtype=None):
        return self.values if dtype is None else self.values.astype(dtype)


FakeFrame.__module__ = "pandas.core.frame"


def test_pandas():
    frame = FakeFrame(np.asfortranarray(np.arange(20.0).reshape(10, 2)))
    source = make_source(frame, FakeFrame(np.arange(10)), batch_size=4, shuffle=True, seed=0)
    (x, y, _) = next(source.epoch())
    assert x.dtype == "float32" and y.shape == (4, 1)  # a series is a column
    np.testing.assert_array_equal(x[:, 0], y[:, 0] * 2)
    mixed = FakeFrame(np.array([[1, 2.5], [True, 3]], object))
    assert next(make_source(mixed).epoch())[0].tolist() == [[1, 2.5], [1, 3]]
    with pytest.raises(ValueError, match="pandas FakeFrame.*hold no numbers"):
        make_source(FakeFrame(np.array([["a"], ["b"]], object)))


def test_real_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10)})
    (x, y, w) = next(make_source(frame, frame["b"], pd.Series(np.ones(10)), batch_size=4).epoch())
    assert x.shape == (4, 2) and y.shape == (4, 1) and w.shape == (4, 1)


def test_scipy_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    dense = X * (X % 3 == 0)
    for form in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array):
        source = make_source(form(dense), Y, batch_size=4, shuffle=True, seed=3)
        for x, y, _ in source.epoch():
            np.testing.assert_array_equal(x, dense[y])
        assert source.take_steps(0, 0, 2)[0].shape == (2, 4, 2)
    train, valid = data.train_validation_split((sparse.csr_matrix(dense), Y, None), 0.3)
    np.testing.assert_array_equal(next(make_source(*valid).epoch())[0], dense[7:])


def test_hdf5_is_read_a_batch_at_a_time(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"], file["y"] = X.astype("float64"), Y
        source = make_source(file["x"], file["y"], batch_size=4, shuffle=True, seed=3)
        for x, y, _ in source.epoch():
            assert x.dtype == "float32"
            np.testing.assert_array_equal(x, X[y])
        train, valid = data.train_validation_split((file["x"], file["y"], None), 0.3)
        assert targets(make_source(*valid, batch_size=2).epoch()) == [[7, 8], [9]]
        assert len(train[0]) == 7 and not isinstance(train[0], np.ndarray)


def test_a_memory_map_stays_on_disk(tmp_path):
    stored = np.memmap(tmp_path / "x", "float32", "w+", shape=(10, 2))
    stored[:] = X
    source = make_source(stored, batch_size=5)
    assert np.shares_memory(source.arrays[0], stored)
    np.testing.assert_array_equal(next(source.epoch())[0], X[:5])


def test_large_arrays_are_converted_a_batch_at_a_time(monkeypatch):
    from kerata.training.data import rows

    monkeypatch.setattr(rows, "AT_ONCE_BYTES", 10)
    source = make_source(X.astype("float64"), np.asfortranarray(X), batch_size=4, shuffle=True, seed=1)
    assert [type(a).__name__ for a in source.arrays] == ["CastRows", "StridedRows"]
    for x, y, _ in source.epoch():
        assert x.dtype == "float32"
        np.testing.assert_array_equal(x, y)


def framework_data(name):
    if name == "torch":
        torch = pytest.importorskip("torch")
        return torch.from_numpy, torch.Tensor
    if name == "jax":
        jax = pytest.importorskip("jax")
        return jax.numpy.asarray, jax.Array
    tf = pytest.importorskip("tensorflow")
    return tf.constant, tf.Tensor


@pytest.mark.parametrize("name", ["torch", "jax", "tensorflow"])
def test_tensors_of_any_framework(name):
    tensor, kind = framework_data(name)
    (x, y, _) = next(make_source(tensor(X), tensor(Y.astype("int32")), batch_size=4).epoch())
    assert type(x) is np.ndarray and x.dtype == "float32" and y.tolist() == [0, 1, 2, 3]
    # In batches of one's own they stay what they are on their own backend only.
    (x, *_) = next(make_source(iter([(tensor(X), tensor(Y))])).epoch())
    assert type(x) is np.ndarray
    with backends.use_backend(name):
        (x, y, w) = next(make_source(iter([(tensor(X), tensor(np.arange(10)))]), class_weight={1: 3.0}).epoch())
        assert isinstance(x, kind)
        assert w.tolist() == [1, 3, *[1] * 8]


def test_sparse_tensors_are_made_dense():
    torch = pytest.importorskip("torch")
    (x, *_) = next(make_source(torch.from_numpy(X).to_sparse()).epoch())
    np.testing.assert_array_equal(x, X)


# ---- generators


def test_a_generator_is_gone_through_once():
    source = make_source((X[i : i + 5], Y[i : i + 5]) for i in (0, 5))
    assert source.num_batches is None and source.steps_in(0) is None
    assert source.batch_spec() == (data.Spec((None, 2), "float32"), data.Spec((None,), "int64"), None)
    assert targets(source.epoch(0)) == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
    ]  # the first batch, looked at before, too
    assert source.exhausted and list(source.epoch(1)) == []


def test_a_generator_function_begins_anew():
    def generate():
        yield X, Y

    source = make_source(generate)
    assert [len(list(source.epoch(e))) for e in range(3)] == [1, 1, 1] and not source.exhausted


def test_no_more_is_taken_from_an_endless_generator_than_the_steps():
    taken = []

    def forever():
        while True:
            taken.append(1)
            yield X, Y

    source = make_source(forever(), steps=3)
    for epoch in range(2):
        assert len(list(source.epoch(epoch))) == 3
    assert len(taken) == 6
    source.close()


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ((X,), (X, None, None)),
        (X, (X, None, None)),
        ({"a": X}, ({"a": X}, None, None)),
        ((X, None), (X, None, None)),
        ((X, Y, None), (X, Y, None)),
        (([X, X], Y), ([X, X], Y, None)),
        ((X, Y.tolist()), (X, Y, None)),
    ],
)
def test_forms_of_batches(batch, expected):
    (got,) = make_source(iter([batch])).epoch()
    np.testing.assert_equal(got, expected)


@pytest.mark.parametrize("batch", [[X, Y], (X, Y, Y, Y), ()])
def test_forms_that_are_ambiguous(batch):
    with pytest.raises(ValueError, match="must return a tuple"):
        list(make_source(iter([batch])).epoch())


def test_raw_batches_are_in_the_users_own_form():
    four = (X, Y, Y, Y)
    (got,) = make_source(iter([four])).epoch(raw=True)
    assert len(got) == 4
    assert isinstance(next(make_source(X).epoch(raw=True)), np.ndarray)
    assert len(next(make_source(X, Y).epoch(raw=True))) == 2


@pytest.mark.parametrize("batch", [("abc",), (np.array(["a"]),), (object(),)])
def test_batches_that_hold_no_arrays(batch):
    with pytest.raises(ValueError, match="Unrecognized data type|Invalid dtype"):
        list(make_source(iter([batch])).epoch())


def test_an_empty_generator():
    with pytest.raises(ValueError, match="must yield at least one batch"):
        make_source(iter([]))


@pytest.mark.parametrize(("make", "name"), [(lambda: iter([X]), "generator"), (lambda: Batches(X, Y, 2), "PyDataset")])
def test_parts_apart_from_a_data_set_are_refused(make, name):
    with pytest.raises(ValueError, match=f"When providing `x` as a {name}, `y` should not be passed"):
        make_source(make(), Y)
    with pytest.raises(ValueError, match=f"`x` as a {name}, `sample_weights` should not be passed"):
        make_source(make(), sample_weight=Y)


def test_an_error_in_a_generator_comes_out_with_its_traceback():
    def broken():
        yield X, Y
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        list(make_source(broken()).epoch())
    assert caught.traceback[-1].name == "broken"


# ---- PyDataset


class Batches(data.PyDataset):
    def __init__(self, x, y, size, delay=0.0, fails_at=None, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.size, self.delay, self.fails_at = x, y, size, delay, fails_at
        self.seen, self.begun, self.ended = [], 0, 0

    def __len__(self):
        return -(-len(self.x) // self.size)

    def __getitem__(self, i):
        self.seen.append(i)
        time.sleep(self.delay)
        if i == self.fails_at:
            raise ZeroDivisionError("on purpose")
        at = slice(i * self.size, (i + 1) * self.size)
        return self.x[at], self.y[at]

    def on_epoch_begin(self):
        self.begun += 1

    def on_epoch_end(self):
        self.ended += 1


class Endless(Batches):
    num_batches = None

    def __getitem__(self, i):
        return super().__getitem__(i % 5)


WORKERS = [
    {"workers": 0},
    {"workers": 1},
    {"workers": 3},
    {"workers": 3, "max_queue_size": 1},
    {"workers": 2, "use_multiprocessing": True},
]


@pytest.mark.parametrize("settings", WORKERS, ids=str)
@pytest.mark.parametrize("shuffle", [False, True])
def test_pydataset_gives_every_batch_in_order(settings, shuffle):
    dataset = Batches(X, Y, 3, delay=0.002, **settings)
    source = make_source(dataset, shuffle=shuffle, seed=4)
    assert source.num_batches == 4
    for epoch in range(2):
        source.on_epoch_begin()
        order = data.permutation(4, epoch, 4) if shuffle else range(4)
        assert targets(source.epoch(epoch)) == [Y[3 * i : 3 * i + 3].tolist() for i in order]
        source.on_epoch_end()
    assert (dataset.begun, dataset.ended) == (2, 2)
    source.close()
    assert not threads()


@pytest.mark.parametrize("settings", WORKERS, ids=str)
def test_an_error_in_a_pydataset_comes_out_in_its_place(settings):
    source = make_source(Batches(X, Y, 2, delay=0.002, fails_at=2, **settings))
    batches = source.epoch()
    next(batches), next(batches)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        next(batches)
    source.close()
    assert not threads()


@pytest.mark.parametrize("settings", WORKERS[:4], ids=str)
def test_stopping_early_leaves_no_thread(settings):
    source = make_source(Endless(X, Y, 2, delay=0.002, **settings))
    batches = source.epoch()
    for _ in range(4):
        next(batches)
    batches.close()
    source.close()
    assert not threads()


def test_workers_work_at_the_same_time():
    dataset = Batches(np.zeros((40, 1)), np.arange(40), 2, delay=0.03, workers=5)
    source = make_source(dataset)
    began = time.perf_counter()
    assert len(list(source.epoch())) == 20
    assert time.perf_counter() - began < 0.4  # 0.6 s one by one
    source.close()


def test_one_thread_runs_ahead_when_batches_take_long():
    source = make_source(Batches(np.zeros((30, 1)), np.arange(30), 2, delay=0.01))
    began = time.perf_counter()
    for _ in source.epoch():
        time.sleep(0.01)
    assert time.perf_counter() - began < 0.27  # 0.3 s one after the other
    assert not threads()


def test_workers_see_the_backend_of_their_starter():
    class Looks(Batches):
        def __getitem__(self, i):
            time.sleep(0.001)
            return X, np.array([backends.current_name() == "numpy"])

    for workers in (1, 2):
        source = make_source(Looks(X, Y, 1, workers=workers))
        assert all(y[0] for _, y, _ in source.epoch())
        source.close()


def test_an_endless_pydataset_counts_on():
    dataset = Endless(X, Y, 2, workers=2)
    source = make_source(dataset, steps=3, shuffle=True)
    for epoch in range(2):
        assert len(list(source.epoch(epoch))) == 3
    assert sorted(dataset.seen) == [0, 0, 1, 2, 3, 4]  # 0 to 5, and not one more
    source.close()


def test_processes_see_what_changed_between_epochs():
    class Moving(Batches):
        def __getitem__(self, i):
            return X, np.array([self.ended])

    source = make_source(Moving(X, Y, 5, workers=2, use_multiprocessing=True))
    got = []
    for epoch in range(2):
        got += targets(source.epoch(epoch))
        source.on_epoch_end()
    source.close()
    assert got == [[0], [0], [1], [1]]


def test_the_spec_of_a_pydataset_costs_no_batch():
    dataset = Batches(X, Y, 2)
    source = make_source(dataset)
    assert source.batch_spec()[0] == data.Spec((None, 2), "float32")
    list(source.epoch())
    assert dataset.seen == [0, 1, 2, 3, 4]


def test_a_pydataset_that_forgets_its_base():
    class Forgets(Batches):
        def __init__(self):
            self.x, self.y, self.size, self.delay, self.fails_at, self.seen = X, Y, 5, 0, None, []

    with pytest.warns(UserWarning, match=r"super\(\).__init__"):
        source = make_source(Forgets())
    assert len(list(source.epoch())) == 2


def test_a_pydataset_without_length():
    class NoLength(data.PyDataset):
        def __getitem__(self, i):
            return X, Y

    with pytest.raises(NotImplementedError, match="must define `__len__"):
        make_source(NoLength())
    assert len([None for _, _ in zip(range(4), NoLength())]) == 4
    assert len(list(Batches(X, Y, 3))) == 4
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.PyDataset()[0]
    with pytest.raises(ValueError, match="no batches"):
        make_source(Batches(X[:0], Y, 2))
    with pytest.raises(ValueError, match="`workers` must be a non-negative integer"):
        Batches(X, Y, 2, workers=-1)


def test_a_pydataset_may_grow():
    class Grows(Batches):
        def on_epoch_end(self):
            self.x = np.concatenate([self.x, self.x])
            self.y = np.concatenate([self.y, self.y])

    source = make_source(Grows(X, Y, 5), shuffle=True, seed=1)
    assert len(list(source.epoch(0))) == 2
    source.on_epoch_end()
    assert len(list(source.epoch(1))) == 4


# ---- grain


@pytest.mark.parametrize("kind", ["map", "iter", "loader"])
def test_grain(kind):
    grain = pytest.importorskip("grain")
    pairs = list(zip(X, Y, strict=True))
    if kind == "loader":
        sampler = grain.samplers.IndexSampler(len(pairs), num_epochs=1)
        data = grain.DataLoader(data_source=pairs, sampler=sampler, operations=[grain.transforms.Batch(4)])
    else:
        data = grain.MapDataset.source(pairs)
        data = (data if kind == "map" else data.to_iter_dataset()).batch(4)
    source = make_source(data)
    assert source.num_batches == (-(-len(X) // 4) if kind == "map" else None)
    for _ in range(2):
        got = list(source.epoch())
        np.testing.assert_array_equal(np.concatenate([np.asarray(x) for x, _, _ in got]), X)
        np.testing.assert_array_equal(np.concatenate([np.asarray(y) for _, y, _ in got]), Y)
    with pytest.raises(ValueError, match="`x` as a grain data set, `y` should not"):
        make_source(data, Y)


# ---- tf.data and torch


def test_tf_data():
    tf = pytest.importorskip("tensorflow")
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    source = make_source(dataset)
    assert (source.num_batches, source.steps_in(0)) == (3, 3)
    assert source.batch_spec() == (data.Spec((None, 2), "float32"), data.Spec((None,), "int64"), None)
    for epoch in range(2):
        batches = list(source.epoch(epoch))
        assert type(batches[0][0]) is np.ndarray
        assert targets(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    endless = make_source(dataset.repeat(), steps=4)
    assert endless.num_batches is None
    assert targets(endless.epoch(0))[3] == [0, 1, 2, 3] and targets(endless.epoch(1))[0] == [4, 5, 6, 7]
    with backends.use_backend("tensorflow"):
        assert isinstance(next(source.epoch(0))[0], tf.Tensor)
    with pytest.raises(ValueError, match="`x` as a tf.data.Dataset, `y` should not"):
        make_source(dataset, Y)
    weighted = make_source(dataset, class_weight={0: 2.0})
    assert next(weighted.epoch())[2].tolist() == [2, 1, 1, 1]


def test_torch_loader():
    torch = pytest.importorskip("torch")
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    loader = torch.utils.data.DataLoader(dataset, batch_size=4)
    source = make_source(loader)
    assert (source.num_batches, source.batch_size, source.partial_batch_size) == (3, 4, 2)
    for epoch in range(2):
        batches = list(source.epoch(epoch))
        assert type(batches[0][0]) is np.ndarray
        assert targets(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    with backends.use_backend("torch"):
        assert isinstance(next(make_source(loader).epoch(0))[0], torch.Tensor)
    with pytest.raises(ValueError, match="`x` as a torch DataLoader, `y` should not"):
        make_source(loader, Y)
    with pytest.raises(ValueError, match="Wrap it in `torch.utils.data.DataLoader"):
        make_source(dataset)

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield from dataset

    source = make_source(torch.utils.data.DataLoader(Stream(), batch_size=4))
    assert source.num_batches is None and len(list(source.epoch())) == 3


@pytest.mark.parametrize("kind", ["tf", "torch", "function"])
def test_streams_resume_where_they_were(kind):
    def generate():
        for i in range(0, 10, 2):
            yield X[i : i + 2], Y[i : i + 2]

    def make():
        if kind == "tf":
            tf = pytest.importorskip("tensorflow")
            return make_source(tf.data.Dataset.from_tensor_slices((X, Y)).batch(2))
        if kind == "torch":
            torch = pytest.importorskip("torch")
            dataset = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
            return make_source(torch.utils.data.DataLoader(dataset, batch_size=2))
        return make_source(generate)

    source = make()
    batches = source.epoch(3)
    next(batches), next(batches)
    fresh = make()
    fresh.restore(source.state())
    assert targets(fresh.epoch(3, start=2)) == [[4, 5], [6, 7], [8, 9]]
    assert len(list(fresh.epoch(4))) == 5


def test_reset_begins_a_new_pass():
    def generate():
        yield from ((X, Y),) * 3

    source = make_source(generate, steps=2)
    list(source.epoch(0))
    source.reset()
    assert len(list(source.epoch(0))) == 2


# ---- prefetching


@pytest.mark.parametrize("background", [True, False, "auto"])
def test_prefetch_gives_everything_in_order(background):
    def slow():
        for i in range(10):
            time.sleep(0.001)
            yield i

    with prefetch(slow(), 3, background) as ready:
        assert list(ready) == list(range(10))
    assert not threads()


def test_prefetch_holds_no_more_than_its_depth():
    made = []

    def numbers():
        for i in range(100):
            made.append(i)
            yield i

    with prefetch(numbers(), 3) as ready:
        iterator = iter(ready)
        next(iterator)
        time.sleep(0.05)
        assert len(made) <= 5
    assert not threads()


def test_prefetch_passes_errors_on():
    def broken():
        yield 1
        raise ZeroDivisionError("here")

    ready = prefetch(broken())
    assert next(ready) == 1
    with pytest.raises(ZeroDivisionError, match="here") as caught:
        next(ready)
    assert "broken" in [entry.name for entry in caught.traceback]
    with pytest.raises(StopIteration):
        next(ready)
    assert not threads()


def test_prefetch_ends_its_thread_when_the_loop_fails():
    closed = []

    def numbers():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    with pytest.raises(KeyboardInterrupt), prefetch(numbers()) as ready:
        for _ in ready:
            raise KeyboardInterrupt
    assert closed and not threads()


def test_prefetch_that_is_forgotten_ends_too():
    ready = prefetch(iter(range(100)))
    next(ready)
    del ready
    gc.collect()
    for _ in range(100):
        if not threads():
            return
        time.sleep(0.01)
    raise AssertionError("the thread goes on")


def test_large_batches_are_gathered_ahead():
    big = np.zeros((64, 2**16), "float32")  # 256 KiB a row
    source = make_source(big, batch_size=8, shuffle=True, seed=0)
    batches = source.epoch()
    next(batches)
    assert threads()
    batches.close()
    assert not threads()
    small = make_source(X, batch_size=2, shuffle=True, seed=0).epoch()
    next(small)
    assert not threads()


# ---- cost


def best(function, repeats=7):
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def test_a_batch_costs_no_more_than_indexing():
    x, y = np.zeros((6400, 32), "float32"), np.zeros((6400, 1), "float32")
    source = make_source(x, y, batch_size=32, shuffle=True, seed=0)
    order = source.order(0)

    def index():
        for i in range(0, 6400, 32):
            at = order[i : i + 32]
            x[at], y[at]

    def ours():
        for _ in source.epoch():
            pass

    def at_once():
        for i in range(0, 192, 32):
            source.take_steps(0, i, 32)

    assert best(ours) < 1.2 * best(index)
    assert best(at_once) < 0.5 * best(index)


def test_nothing_warns_in_the_plain_case():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(make_source(X, Y, batch_size=3, shuffle=True, seed=0).epoch())
