"""Layers for categories, text and sound give Keras's results on every backend; hashes are TensorFlow's."""

import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

from kerata import backends, layers, ops
from kerata.core import dtypes
from kerata.core.fingerprint import Packed, fingerprint64, siphash
from kerata.graph.tensor import KerasTensor
from kerata.ops.counting import category_counts

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from preprocessing_samples import SAMPLES

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
every_sample = pytest.mark.parametrize("index", range(len(SAMPLES)), ids=[f"{s[0]}-{i}" for i, s in enumerate(SAMPLES)])


def made(index, layers):
    name, arguments, _, adapt, _, _ = SAMPLES[index]
    layer = getattr(layers, name)(**arguments)
    if adapt is not None:
        layer.adapt(adapt)
    return layer


@pytest.fixture(scope="module")
def keras_results(tmp_path_factory):
    """For each sample Keras's output, config and vocabulary."""
    pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    path = tmp_path_factory.mktemp("keras") / "results.pickle"
    program = pathlib.Path(__file__).with_name("keras_reference.py")
    subprocess.run([sys.executable, str(program), str(path)], check=True, capture_output=True)
    return pickle.loads(path.read_bytes())


@every_sample
def test_same_as_keras(index, backend, keras_results):
    _, _, inputs, _, tolerance, call = SAMPLES[index]
    wanted, _, vocabulary = keras_results[index]
    layer = made(index, layers)
    output = layer(inputs, **call)
    assert backend.is_tensor(output)
    found = ops.convert_to_numpy(output)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.astype("float64"), wanted.astype("float64"), rtol=tolerance, atol=tolerance)
    assert getattr(layer, "get_vocabulary", list)() == list(vocabulary)
    if getattr(layer, "output_mode", "int") == "int":
        assert found.dtype.kind == wanted.dtype.kind


@every_sample
def test_config(index, keras_results):
    with backends.use_backend("numpy"):
        layer = made(index, layers)
        ours, theirs = (
            {k: _plain(v) for k, v in c.items() if k not in ("name", "bin_boundaries")}
            for c in (layer.get_config(), keras_results[index][1])
        )
        assert ours == theirs
        again = type(layer).from_config(layer.get_config())
        assert again.get_config() == layer.get_config()


def _plain(value):
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


@every_sample
def test_symbolic_is_eager(index):
    _, _, inputs, _, _, call = SAMPLES[index]
    with backends.use_backend("numpy"):
        layer = made(index, layers)
        eager = layer(inputs, **call)
        if isinstance(inputs, list):
            symbols = [_symbol(x) for x in inputs]
        else:
            symbols = _symbol(inputs)
        spec = layer(symbols, **{k: _symbol(v) for k, v in call.items()})
    assert len(spec.shape) == len(eager.shape)
    assert all(s in (None, e) for s, e in zip(spec.shape, eager.shape, strict=True))
    assert spec.dtype == dtypes.standardize_dtype(eager.dtype)


def _symbol(x):
    shape = (None, *x.shape[1:]) if x.ndim else ()
    return KerasTensor(shape, "string" if x.dtype.kind == "U" else x.dtype.name)


# ------------------------------------------------------------------ hashes


def test_hashes_are_tensorflows():
    tf = pytest.importorskip("tensorflow")
    rng = np.random.default_rng(0)
    lengths = [*range(140), 191, 192, 193, 255, 256, 257, 1000, 4097]
    strings = [rng.integers(0, 256, n, dtype=np.uint8).tobytes() for n in rng.permutation(lengths)]
    packed, tensor, most = Packed.of(strings), tf.constant(strings), 2**62 + 1
    found = fingerprint64(packed) % np.uint64(most)
    assert np.array_equal(found, tf.strings.to_hash_bucket_fast(tensor, most).numpy())
    found = siphash(packed, (133, 137)) % np.uint64(most)
    assert np.array_equal(found, tf.strings.to_hash_bucket_strong(tensor, most, [133, 137]).numpy())
    numbers = np.array(
        [0, 1, -1, 9, 10, 99, 100, 12345678901, -(2**63), 2**63 - 1, *rng.integers(-(2**63), 2**63 - 1, 99)]
    )
    found = fingerprint64(Packed.of_integers(numbers)) % np.uint64(most)
    assert np.array_equal(found, tf.strings.to_hash_bucket_fast(tf.strings.as_string(numbers), most).numpy())


def test_siphash_is_the_papers():
    # J.-P. Aumasson and D. J. Bernstein, SipHash (2012), appendix A.
    key = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    assert siphash(Packed.of([bytes(range(15))]), key)[0] == 0xA129CA6149BE45E5


# ------------------------------------------------------------------ strings


def test_inverted_strings(backend):
    layer = layers.StringLookup(vocabulary=["a", "ü"], invert=True, mask_token="", num_oov_indices=1)
    found = layer(np.array([[0, 1], [2, 3], [9, -1]]))
    found = found if isinstance(found, list) else np.asarray(found).tolist()
    found = [[t.decode() if isinstance(t, bytes) else t for t in row] for row in found]
    assert found == [["", "[UNK]"], ["a", "ü"], ["[UNK]", "[UNK]"]]


def test_kinds_of_strings(backend):
    layer = layers.StringLookup(vocabulary=["a", "ü"])
    for given in (
        ["ü", "a", "x"],
        np.array(["ü", "a", "x"]),
        np.array(["ü", "a", "x"], object),
        ["ü".encode(), b"a", b"x"],
    ):
        assert ops.convert_to_numpy(layer(given)).tolist() == [2, 1, 0]


def test_own_functions(backend):
    def standardize(text):
        assert isinstance(text, np.ndarray) or backend.NAME == "tensorflow"
        if backend.NAME == "tensorflow":
            import tensorflow as tf

            return tf.strings.regex_replace(text, "-", " ")
        return np.char.replace(text, "-", " ")

    def split(text):
        if backend.NAME == "tensorflow":
            import tensorflow as tf

            return tf.strings.split(text, "|")
        return [t.split("|") for t in text]

    layer = layers.TextVectorization(standardize=standardize, vocabulary=["foo", "bar"])
    assert ops.convert_to_numpy(layer(["foo-bar", "bar"])).tolist() == [[2, 3], [3, 0]]
    layer = layers.TextVectorization(standardize=None, split=split, vocabulary=["foo", "bar x"])
    assert ops.convert_to_numpy(layer(["bar x|foo", "foo"])).tolist() == [[3, 2], [2, 0]]


def test_sparse_and_ragged_tensors():
    tf = pytest.importorskip("tensorflow")
    with backends.use_backend("tensorflow"):
        lookup = layers.StringLookup(vocabulary=["a", "b"])
        assert lookup(tf.ragged.constant([["a"], ["b", "q"]])).to_list() == [[1], [2, 0]]
        sparse = tf.SparseTensor([[0, 0], [1, 2]], ["b", "q"], (2, 3))
        assert lookup(sparse).values.numpy().tolist() == [2, 0]
        assert layers.Hashing(3)(sparse).values.numpy().tolist() == layers.Hashing(3)(["b", "q"]).numpy().tolist()
        counted = layers.StringLookup(vocabulary=["a", "b"], output_mode="count", sparse=True)
        assert isinstance(counted([["a", "a", "q"]]), tf.SparseTensor)
        assert ops.convert_to_numpy(counted(tf.ragged.constant([["a", "a"], ["b"]]))).tolist() == [[0, 2, 0], [0, 0, 1]]
        text = layers.TextVectorization(vocabulary=["a", "b"], ragged=True)
        assert text(["a b", "b"]).to_list() == [[2, 3], [3]]
        assert layers.TextVectorization(vocabulary=["a", "b"], ragged=True, output_sequence_length=1)(
            ["a b"]
        ).to_list() == [[2]]


@pytest.mark.parametrize("name", ("jax", "tensorflow"))
def test_sparse_encodings(name):
    pytest.importorskip(name)
    with backends.use_backend(name) as b:
        for mode, wanted in (("count", [[1, 2, 0]]), ("multi_hot", [[1, 1, 0]]), ("one_hot", np.eye(3)[[[0, 1, 1]]])):
            found = layers.CategoryEncoding(3, output_mode=mode, sparse=True)(np.array([[0, 1, 1]]))
            assert b.is_composite(found)
            assert np.array_equal(ops.convert_to_numpy(found), wanted)


def test_many_strings_are_found_as_one_is(monkeypatch):
    """Tables of arrays, of any width and kind, and of strings whose hashes are the same."""
    from kerata.backends.numpy import text

    tokens = [f"{'xyz'[i % 3] * (i % 7)}{i}" for i in range(0, 900, 2)] + ["", "\u00e9\ud800", "end\0", "long" * 99]
    table = text.TextTable(tokens, list(range(len(tokens))))
    words = np.array([*tokens, *(f"{'xyz'[i % 3] * (i % 7)}{i}" for i in range(900))], dtype=object)
    plain = words[[len(w) < 99 for w in words]].astype("U")
    cases = [
        plain.reshape(2, -1) if len(plain) % 2 == 0 else plain,
        plain.astype("U40"),
        plain.astype("U2"),
        words.astype("U"),
    ]
    cases += [plain.astype(">U9"), np.array([w.encode("utf-8", "surrogatepass") for w in plain])]
    for _ in range(2):
        for x in cases:
            wanted = [table.table.get(w, -1) for w in x.ravel().tolist()]
            np.testing.assert_array_equal(table.find(x).ravel(), wanted)
        monkeypatch.setattr(text, "hashes", lambda x: np.zeros(len(x), np.uint64))
        table = text.TextTable(tokens, list(range(len(tokens))))


@pytest.mark.parametrize("hot", [False, True])
def test_counts_of_tensors(backend, hot):
    """By the backend's kernel or the body, for any rank; what's outside counts nowhere."""
    numbers = np.random.default_rng(0).integers(-2, 7, (2, 3, 6)).astype("int32")
    for x in (numbers, numbers[0], numbers[0, 0]):
        wanted = (x[..., None] == np.arange(5)).sum(-2)
        for dtype in ("float32", "int64", "uint8"):
            found = ops.convert_to_numpy(category_counts(ops.convert_to_tensor(x), 5, dtype, hot))
            np.testing.assert_array_equal(found, np.minimum(wanted, 1) if hot else wanted)


@pytest.mark.parametrize("vocabulary", [[5, -3, 2**40], [2**63 - 1, -(2**63), 7], list(range(50))], ids=["far", "limits", "dense"])
def test_integers_of_all_sizes_are_looked_up(vocabulary, backend):
    layer = layers.IntegerLookup(vocabulary=vocabulary, num_oov_indices=1, mask_token=-1)
    asked = np.array([*vocabulary, -1, 0, 4, 6, 2**31, 2**62, -(2**62), 2**63 - 2, -(2**63) + 1], "int64")
    places = {n: i + 2 for i, n in enumerate(vocabulary)} | {-1: 0}
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(asked)), [places.get(int(n), 1) for n in asked])
