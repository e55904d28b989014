"""Preprocessing layers inside models, in input pipelines, without TensorFlow; adapted from any source; in files of both sides."""

import subprocess
import sys

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
X = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
WORDS = np.array(["a", "b", "c", "a", "q", "b"])

# Layer, its input's shape and dtype, and an input: numbers, which compiled functions take on every backend.
INSIDE = {
    "normalization": (lambda: layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0]), X),
    "discretization": (lambda: layers.Discretization([0.0, 0.5], output_mode="count"), X),
    "category_encoding": (lambda: layers.CategoryEncoding(5, output_mode="multi_hot"), np.array([[0, 4], [2, 2]])),
    "hashing": (lambda: layers.Hashing(6, salt=3, mask_value=1), np.array([[0, 1, 12345, -9]])),
    "crossing": (lambda: layers.HashedCrossing(9, output_mode="one_hot"), [np.array([1, 2, -3]), np.array([4, 5, 6])]),
    "integer_lookup": (lambda: layers.IntegerLookup(vocabulary=[5, 9], num_oov_indices=2), np.array([[5, 9, 4, 3]])),
    "integer_farm": (
        lambda: layers.IntegerLookup(
            vocabulary=[5, 10**6], num_oov_indices=2, oov_method="farmhash", output_mode="count"
        ),
        np.array([[5, 10**6, 4, 3]]),
    ),
    "mel": (lambda: layers.MelSpectrogram(fft_length=16, sequence_stride=8, num_mel_bins=4), X.reshape(2, 36)),
    "stft": (lambda: layers.STFTSpectrogram(frame_length=8), X.reshape(2, 36, 1)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside_models(name, backend):
    make, x = INSIDE[name]
    layer = make()
    parts = x if isinstance(x, list) else [x]
    inputs = [kerata.Input(p.shape[1:], dtype=str(p.dtype).replace("64", "32")) for p in parts]
    outputs = layer(inputs if isinstance(x, list) else inputs[0])
    model = kerata.Model(inputs if isinstance(x, list) else inputs[0], outputs)
    parts = [p.astype(i.dtype) for p, i in zip(parts, inputs, strict=True)]
    x = parts if isinstance(x, list) else parts[0]
    eager = ops.convert_to_numpy(layer(x))
    for _ in range(3):  # the call is compiled by then
        np.testing.assert_allclose(ops.convert_to_numpy(model(x)), eager, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.predict(x, verbose=0), eager, rtol=1e-4, atol=1e-4)


def test_in_fit(training_backend):
    inputs = kerata.Input((3,), dtype="int32")
    x = layers.Concatenate()(
        [
            layers.Hashing(5, output_mode="count")(inputs),
            layers.IntegerLookup(vocabulary=[1, 2, 3], output_mode="count")(inputs),
            layers.Normalization(mean=2.0, variance=2.0)(inputs),
        ]
    )
    model = kerata.Model(inputs, layers.Dense(1)(x))
    model.compile("sgd", "mse")
    data = np.random.default_rng(0).integers(0, 5, size=(32, 3)).astype("int32")
    losses = model.fit(data, (data == 2).sum(1), epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_adapted_anew_inside_a_model(backend):
    layer = layers.IntegerLookup()
    layer.adapt([1, 1, 2])
    inputs = kerata.Input((2,), dtype="int32")
    model = kerata.Model(inputs, layer(inputs))
    x = np.array([[1, 2]], "int32")
    for _ in range(3):
        assert ops.convert_to_numpy(model(x)).tolist() == [[1, 2]]
    layer.adapt([2, 2, 1])
    assert ops.convert_to_numpy(model(x)).tolist() == [[2, 1]]


# ------------------------------------------------------------------ text in models


def test_text_in_models_on_tensorflow():
    pytest.importorskip("tensorflow")
    with backends.use_backend("tensorflow"):
        vectorize = layers.TextVectorization(vocabulary=["good", "bad"], output_sequence_length=3)
        model = kerata.Sequential(
            [kerata.Input((1,), dtype="string"), vectorize, layers.Embedding(4, 2), layers.Flatten(), layers.Dense(1)]
        )
        texts = np.array([["good film"], ["so bad"]] * 8)
        model.compile("adam", "mse")
        import tensorflow as tf

        data = tf.data.Dataset.from_tensor_slices((texts, np.array([1.0, 0.0] * 8))).batch(4)
        losses = model.fit(data, epochs=3, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
        assert model.predict(texts, verbose=0).shape == (16, 1)
        lookup = layers.StringLookup(vocabulary=["a", "b"])
        model = kerata.Sequential([kerata.Input((1,), dtype="string"), lookup])
        assert model(np.array([["b"], ["x"]])).numpy().tolist() == [[2], [0]]


@pytest.mark.parametrize("name", ("jax", "torch"))
@pytest.mark.parametrize(
    "make", (lambda: layers.StringLookup(vocabulary=["a"]), lambda: layers.TextVectorization(vocabulary=["a"]))
)
def test_text_in_compiled_models_is_refused(name, make):
    pytest.importorskip(name)
    with backends.use_backend(name) as b:
        layer = make()
        numbers = b.convert(np.array([1, 2]))
        with pytest.raises(TypeError, match=f'"{layer.name}".*(strings|texts|text)'):
            layer(numbers)
        from kerata.graph.tensor import KerasTensor
        from kerata.graph.trace import trace

        with pytest.raises(TypeError, match=rf'"{layer.name}".*on the {name} backend.*dataset.map'):
            trace(layer, KerasTensor((None, 1), "string"))


# ------------------------------------------------------------------ pipelines


def test_in_tf_data(backend):
    tf = pytest.importorskip("tensorflow")
    normalize = layers.Normalization()
    normalize.adapt(X)
    vectorize = layers.TextVectorization(vocabulary=["a", "b"], output_sequence_length=4)
    lookup = layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=2)
    hashed, crossed = layers.Hashing(7), layers.HashedCrossing(7)
    cases = [
        (normalize, X[:6]),
        (layers.Discretization([0.0, 1.0]), X[:6]),
        (layers.CategoryEncoding(4, output_mode="count"), np.array([[0, 1], [2, 2]])),
        (layers.IntegerLookup(vocabulary=[1, 2]), np.array([[0, 1], [2, 2]])),
        (lookup, WORDS),
        (hashed, WORDS),
        (vectorize, WORDS),
        (layers.TextVectorization(vocabulary=["a", "b"], output_mode="count"), WORDS),
        (layers.MelSpectrogram(fft_length=16, sequence_stride=8, num_mel_bins=4), X.reshape(2, 36)),
        (layers.STFTSpectrogram(frame_length=8), X.reshape(2, 36, 1)),
    ]
    for layer, x in cases:
        (found,) = tf.data.Dataset.from_tensor_slices(x).batch(6).map(layer)
        assert isinstance(found, tf.Tensor)
        np.testing.assert_allclose(found.numpy(), ops.convert_to_numpy(layer(x)), rtol=1e-4, atol=1e-4)
    data = tf.data.Dataset.from_tensor_slices((WORDS, np.arange(6))).batch(6).map(lambda a, b: crossed((a, b)))
    assert next(iter(data)).numpy().tolist() == ops.convert_to_numpy(crossed((WORDS, np.arange(6)))).tolist()


def test_in_a_torch_dataset(backend):
    torch = pytest.importorskip("torch")
    lookup = layers.StringLookup(vocabulary=["a", "b"], output_mode="count")

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return len(WORDS)

        def __getitem__(self, i):
            return ops.convert_to_numpy(lookup(WORDS[i : i + 1]))

    rows = np.concatenate([batch.numpy() for batch in torch.utils.data.DataLoader(Data(), batch_size=2)])
    assert rows.argmax(1).tolist() == [1, 2, 0, 1, 0, 2]


WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ImportError(f"blocked: {{name}}")

sys.meta_path.insert(0, Blocked())
import numpy as np
import kerata
from kerata import layers, ops

text = layers.TextVectorization(ngrams=2)
text.adapt(["The cat, the dog.", "A dog!"])
assert text.get_vocabulary()[:3] == ["", "[UNK]", "the"], text.get_vocabulary()
assert ops.convert_to_numpy(text(["the dog"])).shape == (1, 3)
lookup = layers.StringLookup(output_mode="tf_idf", num_oov_indices=2)
lookup.adapt(np.array([["a", "b"], ["a", "c"]]))
assert ops.convert_to_numpy(lookup([["a", "x"]])).shape == (1, 5)
assert ops.convert_to_numpy(layers.Hashing(3)([["A"], ["B"], ["E"]])).tolist() == [[1], [0], [2]]
assert ops.convert_to_numpy(layers.HashedCrossing(5)((["A", "B"], [101, 101]))).tolist() == [1, 4]
assert ops.convert_to_numpy(layers.IntegerLookup(vocabulary=[4, 2])([2, 4])).tolist() == [2, 1]
assert not set(sys.modules) & set({blocked})
"""


@pytest.mark.parametrize("name", ("numpy", "jax", "torch"))
def test_without_other_frameworks(name):
    pytest.importorskip(name)
    blocked = [n for n in ("tensorflow", "torch", "jax", "keras") if n != name]
    program = f"import os; os.environ['KERAS_BACKEND'] = {name!r}\n" + WITHOUT.format(blocked=blocked)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ adapt


class Batches(kerata.utils.PyDataset):
    def __init__(self, data, labels=False):
        super().__init__()
        self.data, self.labels = data, labels

    def __len__(self):
        return 4

    def __getitem__(self, i):
        n = len(self.data) // 4
        batch = self.data[i * n : (i + 1) * n]
        return (batch, np.zeros(len(batch))) if self.labels else batch


def sources(data):
    parts = np.split(data, 4)
    yield data
    yield data.tolist()
    yield parts
    yield (p for p in parts)
    yield [(p, np.zeros(len(p))) for p in parts]
    yield Batches(data)
    yield Batches(data, labels=True)
    if "tensorflow" in backends.installed():
        import tensorflow as tf

        yield tf.data.Dataset.from_tensor_slices(data).batch(5)
        yield tf.data.Dataset.from_tensor_slices((data, np.zeros(len(data)))).batch(7)
    if "torch" in backends.installed() and data.dtype.kind != "U":
        import torch

        yield torch.utils.data.DataLoader(torch.from_numpy(data), batch_size=6)


@pytest.mark.parametrize("name", ("numpy", "torch"))
def test_adapt_from_any_source(name):
    texts = np.array(["a b", "b c", "b", "d a"] * 6)
    with backends.use_backend(name):
        for data in sources(X):
            layer = layers.Normalization()
            layer.adapt(data)
            np.testing.assert_allclose(ops.convert_to_numpy(layer.mean)[0], X.astype("float64").mean(0), atol=1e-6)
            np.testing.assert_allclose(ops.convert_to_numpy(layer.variance)[0], X.astype("float64").var(0), rtol=1e-5)
        for data in sources(X[:, 0].copy()):
            layer = layers.Discretization(num_bins=2)
            layer.adapt(data)
            assert abs(layer.bin_boundaries[0] - np.median(X[:, 0])) < 0.3
        for data in sources(texts):
            layer = layers.TextVectorization()
            layer.adapt(data)
            assert layer.get_vocabulary() == ["", "[UNK]", "b", "a", "d", "c"]
        for data in sources(np.array([1, 2, 2, 3, 2, 1] * 4)):
            layer = layers.IntegerLookup()
            layer.adapt(data)
            assert layer.get_vocabulary() == [-1, 2, 1, 3]


def test_adapt_streams():
    with backends.use_backend("numpy"):
        layer = layers.Normalization()
        layer.adapt(iter([X[:8], X[8:]] * 10_000), steps=2)
        np.testing.assert_allclose(layer.mean[0], X.mean(0), atol=1e-6)
        # In float32 the sum of squares would be lost beside the mean.
        layer.adapt(X + 10_000)
        np.testing.assert_allclose(layer.variance[0], (X + 10_000).astype("float64").var(0), rtol=1e-6)
        layer.reset_state()
        layer.update_state(X[:8])
        layer.update_state(X[8:])
        layer.finalize_state()
        np.testing.assert_allclose(layer.mean[0], X.mean(0), atol=1e-6)


# ------------------------------------------------------------------ files


def in_a_model(keras, layer, dtype, shape=(3,)):
    return keras.Sequential([keras.Input(shape, dtype=dtype), layer])


@pytest.mark.parametrize("kept", ("adapted", "given", "from_file"))
def test_files_of_both_sides(kept, real_keras, tmp_path):
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("b\na\n")

    def made(keras, kind, data):
        given = {"adapted": {}, "given": {"vocabulary": ["b", "a"]}, "from_file": {"vocabulary": str(vocabulary)}}[kept]
        layer = getattr(keras.layers, kind)(name="lookup", **given)
        if kept == "adapted":
            layer.adapt(data)
        return layer

    words = np.array(["b", "a", "b", "c"])
    with backends.use_backend("numpy"):
        for name in ("StringLookup", "TextVectorization"):
            for ours, theirs in ((kerata, real_keras), (real_keras, kerata)):
                layer = made(ours, name, words)
                path = str(tmp_path / f"{name}.keras")
                in_a_model(ours, layer, "string", (1,)).save(path)
                again = theirs.saving.load_model(path).get_layer("lookup")
                assert list(again.get_vocabulary()) == list(layer.get_vocabulary())
                given = words[:, None].tolist()
                assert np.array_equal(np.asarray(again(given)), np.asarray(layer(given)))


def test_states_in_files_of_both_sides(real_keras, tmp_path):
    with backends.use_backend("numpy"):
        for ours, theirs in ((kerata, real_keras), (real_keras, kerata)):
            inputs = ours.Input((3,))
            normalize, discretize = (
                ours.layers.Normalization(name="n"),
                ours.layers.Discretization(num_bins=4, name="d"),
            )
            lookup = ours.layers.IntegerLookup(output_mode="tf_idf", name="i")
            normalize.adapt(X)
            discretize.adapt(X)
            lookup.adapt(np.array([[1, 2, 2], [5, 5, 1]]))
            stft = ours.layers.STFTSpectrogram(frame_length=3, name="s")
            whole = ours.layers.Reshape((3, 1))(inputs)
            model = ours.Model(inputs, [normalize(inputs), discretize(inputs), lookup(discretize(inputs)), stft(whole)])
            model.save(str(tmp_path / "m.keras"))
            again = theirs.saving.load_model(str(tmp_path / "m.keras"))
            for a, b in zip(again(X), model(X), strict=True):
                np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


def test_idf_weights_in_files(tmp_path):
    with backends.use_backend("numpy"):
        layer = layers.TextVectorization(output_mode="tf_idf", name="t")
        layer.adapt(["a b", "b c"])
        in_a_model(kerata, layer, "string", (1,)).save(tmp_path / "m.keras")
        again = kerata.saving.load_model(tmp_path / "m.keras").get_layer("t")
        assert np.array_equal(again(["b b x"]), layer(["b b x"]))


# ------------------------------------------------------------------ mistakes

MISTAKES = {
    "`num_tokens` must be >= 1": lambda: layers.CategoryEncoding(0),
    "Unknown arg for output_mode": lambda: layers.CategoryEncoding(3, output_mode="hot"),
    "`count_weights` must have the inputs' shape": lambda: layers.CategoryEncoding(3, "count")(
        np.array([[1, 2]]), count_weights=np.ones(3)
    ),
    "Both `num_bins` and `bin_boundaries`": lambda: layers.Discretization([1.0], 2),
    "`bin_boundaries` must ascend": lambda: layers.Discretization([1.0, 0.0]),
    "You need to call `adapt`": lambda: layers.Discretization(num_bins=2)([1.0]),
    "Discretization.*NaN": lambda: layers.Discretization(num_bins=2).adapt([1.0, np.nan]),
    "Normalization.*NaN": lambda: layers.Normalization().adapt([[1.0, np.nan]]),
    "Normalization.*can't adapt": lambda: layers.Normalization(mean=1.0, variance=1.0).adapt(X),
    "Normalization.*incompatible shape": lambda: layers.Normalization().adapt([X, X[:, :2]]),
    "Normalization.*no data": lambda: layers.Normalization().adapt([]),
    "`num_bins` for `Hashing`": lambda: layers.Hashing(0),
    "output_mode.*Did you mean 'one_hot'": lambda: layers.Hashing(3, output_mode="onehot"),
    "`salt`": lambda: layers.Hashing(3, salt="x"),
    "at least two inputs": lambda: layers.HashedCrossing(3)([X]),
    "inputs should have shape": lambda: layers.HashedCrossing(3)((np.ones((1, 2), int), np.ones((1, 2), int))),
    "StringLookup.*`output_mode` must be one of": lambda: layers.StringLookup(output_mode="hot"),
    "Vocabulary file nowhere.txt does not exist": lambda: layers.StringLookup(vocabulary="nowhere.txt"),
    "repeated.*'b'": lambda: layers.StringLookup(vocabulary=["a", "b", "b"]),
    "vocabulary must hold integers.*'x'": lambda: layers.IntegerLookup(vocabulary=["x"]),
    "larger than `max_tokens`": lambda: layers.StringLookup(vocabulary=["a", "b"], max_tokens=2),
    "`idf_weights` must be the same length": lambda: layers.StringLookup(
        vocabulary=["a"], idf_weights=[1.0, 2.0], output_mode="tf_idf"
    ),
    "can't adapt.*`vocabulary` was given": lambda: layers.StringLookup(vocabulary=["a"]).adapt(["b"]),
    "has no vocabulary yet": lambda: layers.StringLookup()(["a"]),
    "these aren't: \\['z'\\]": lambda: layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(["a", "z"]),
    "must be strings, but their dtype is int64": lambda: layers.StringLookup(vocabulary=["a"])(np.array([1])),
    "must be texts": lambda: layers.TextVectorization(vocabulary=["a"])(np.array([1])),
    "shape \\(batch,\\) or \\(batch, 1\\)": lambda: layers.TextVectorization(vocabulary=["a"])([["a", "b"]]),
    "regular nest": lambda: layers.StringLookup(vocabulary=["a"])([["a", "b"], ["a"]]),
    "`ngrams` must be": lambda: layers.TextVectorization(ngrams="x"),
    "`split` must be one of": lambda: layers.TextVectorization(split="words"),
    "`ragged=True` cannot be used with the numpy": lambda: layers.TextVectorization(ragged=True),
    "`sparse=True` cannot be used with the numpy": lambda: layers.CategoryEncoding(3, sparse=True),
    "`fft_length` must be greater": lambda: layers.MelSpectrogram(fft_length=4, sequence_length=8),
    "\\(samples,\\) or \\(batch, samples\\)": lambda: layers.MelSpectrogram()(np.ones((1, 1, 9), "float32")),
    "`frame_step` must be between": lambda: layers.STFTSpectrogram(frame_step=1024),
    "unknown `window` 'x'": lambda: layers.STFTSpectrogram(window="x"),
    "floating signal": lambda: layers.STFTSpectrogram()(np.ones((1, 999, 1), int)),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    with backends.use_backend("numpy"), pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        MISTAKES[message]()
