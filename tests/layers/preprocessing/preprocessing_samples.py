"""Layers for categories, text and sound, and what they are called on: one line, one case."""

import numpy as np

SAMPLES = []


def sample(name, *inputs, adapt=None, tolerance=0, call=None, **arguments):
    """A layer's name, its input (several: a list of them), data to adapt to, and the constructor's arguments."""
    given = list(inputs) if len(inputs) > 1 else inputs[0]
    SAMPLES.append((name, arguments, given, adapt, tolerance, call or {}))


WORDS = np.array(["a", "b", "zebra", "a", "c", "ü", "", "the quick brown fox jumps over it", "a", "b", "c", "x"])
NUMBERS = np.array([1, 2, 3, 3, 7, -4, 0, 123456, 2, 1, 99, 1])
TEXTS = np.array(["foo bar", "baz, Foo! qux", "", "  ÄB  c\tfoo\nfoo ", "a.b-c_d [x] 'y'"])
MORE = np.array(["foo bar baz", "baz bada boom", "Foo foo, bar."])
NUMERIC = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")

SHAPES = [(12,), (3, 4), (12, 1), (2, 3, 2)]
for shape in SHAPES:
    n = int(np.prod(shape))
    numbers, words = NUMBERS[:n].reshape(shape), WORDS[:n].reshape(shape)
    for mode in ("one_hot", "multi_hot", "count"):
        sample("CategoryEncoding", np.abs(numbers) % 6, num_tokens=5, output_mode=mode)
    for mode in ("int", "one_hot", "multi_hot", "count"):
        sample("Hashing", words, num_bins=4, output_mode=mode)
        sample("Hashing", numbers, num_bins=4, output_mode=mode)
        sample("Discretization", numbers.astype("float32"), bin_boundaries=[0.0, 1.0, 3.0], output_mode=mode)
        sample("StringLookup", words, vocabulary=["a", "c", "ü"], output_mode=mode)
        sample("IntegerLookup", numbers, vocabulary=[3, 1, 7], output_mode=mode)

sample("CategoryEncoding", np.array([[0, 1], [1, 1]]), num_tokens=3, output_mode="count",
       call={"count_weights": np.array([[0.5, 1.0], [2.0, 3.0]], "float32")}, tolerance=1e-6)  # fmt: skip
sample("Hashing", WORDS, num_bins=1000)
sample("Hashing", WORDS, num_bins=1000, salt=[133, 137])
sample("Hashing", NUMBERS, num_bins=1000, salt=7)
sample("Hashing", WORDS, num_bins=5, mask_value="a")
sample("Hashing", NUMBERS, num_bins=5, mask_value=1)
sample("Hashing", NUMBERS, num_bins=1, mask_value=1)
sample("HashedCrossing", WORDS, NUMBERS, num_bins=1000)
sample("HashedCrossing", NUMBERS, NUMBERS[::-1].copy(), num_bins=1000)
sample("HashedCrossing", WORDS, NUMBERS, WORDS[::-1].copy(), num_bins=1000)
sample("HashedCrossing", WORDS[:, None], NUMBERS[:, None], num_bins=7, output_mode="one_hot")
sample("HashedCrossing", np.array("a"), np.array(3), num_bins=7)

for oov in (1, 3):
    for mask in (None, "b"):
        sample("StringLookup", WORDS, vocabulary=["a", "c"], num_oov_indices=oov, mask_token=mask)
        sample("StringLookup", WORDS, vocabulary=["a", "c"], num_oov_indices=oov, mask_token=mask, output_mode="count")
    for mask in (None, 0):
        sample("IntegerLookup", NUMBERS, vocabulary=[7, 3], num_oov_indices=oov, mask_token=mask)
        sample("IntegerLookup", NUMBERS, vocabulary=[7, 3], num_oov_indices=oov, mask_token=mask, oov_method="farmhash")
sample("StringLookup", WORDS, vocabulary=["a", "c"], num_oov_indices=3, salt=[5, 6])
sample("IntegerLookup", NUMBERS, vocabulary=[7, 3], num_oov_indices=3, salt=5, oov_method="farmhash")
sample("IntegerLookup", NUMBERS, vocabulary=[7, 3, 10**6, -(10**6)])
sample("IntegerLookup", NUMBERS[:4], vocabulary=[1, 2, 3], num_oov_indices=0)
sample("IntegerLookup", np.array([0, 1, 2, 3, 9, -1]), vocabulary=[7, 3], invert=True)
sample("StringLookup", WORDS, vocabulary=["[UNK]", "c", "a"])
sample("StringLookup", WORDS, vocabulary=["a", "c"], output_mode="multi_hot", max_tokens=6, pad_to_max_tokens=True)
sample("StringLookup", WORDS.reshape(3, 4), vocabulary=["a", "c"], idf_weights=[0.5, 2.0], output_mode="tf_idf",
       tolerance=1e-6)  # fmt: skip
sample("StringLookup", WORDS, vocabulary=["a", "c"], idf_weights=[0.5, 2.0], output_mode="tf_idf", num_oov_indices=2,
       mask_token="b", max_tokens=7, pad_to_max_tokens=True, tolerance=1e-6)  # fmt: skip
sample("StringLookup", WORDS, adapt=WORDS)
sample("StringLookup", WORDS, adapt=WORDS, max_tokens=4, mask_token="")
sample("StringLookup", WORDS.reshape(3, 4), adapt=WORDS.reshape(3, 4), output_mode="tf_idf", tolerance=1e-6)
sample("IntegerLookup", NUMBERS, adapt=NUMBERS)
sample(
    "IntegerLookup",
    NUMBERS.reshape(3, 4),
    adapt=NUMBERS.reshape(3, 4),
    output_mode="tf_idf",
    max_tokens=5,
    tolerance=1e-6,
)

VOCABULARY = ["foo", "bar", "baz", "foo bar", "a", "f", " ", "Foo", "foo,"]
for extra in (
    {},
    {"standardize": None},
    {"standardize": "lower"},
    {"standardize": "strip_punctuation"},
    {"split": "character"},
    {"split": None},
    {"ngrams": 2},
    {"ngrams": (1, 3)},
    {"split": "character", "ngrams": (2,)},
    {"output_mode": "multi_hot"},
    {"output_mode": "count"},
    {"output_mode": "count", "max_tokens": 20, "pad_to_max_tokens": True},
    {"output_mode": "tf_idf", "idf_weights": [0.1 * i for i in range(9)]},
    {"output_sequence_length": 2},
    {"output_sequence_length": 9},
    {"split": None, "output_sequence_length": 3},
):
    near = 1e-6 if "idf_weights" in extra else 0
    sample("TextVectorization", TEXTS, vocabulary=VOCABULARY, tolerance=near, **extra)
    if "split" not in extra or extra["split"]:
        sample("TextVectorization", TEXTS[:, None], vocabulary=VOCABULARY, tolerance=near, **extra)
        sample("TextVectorization", np.array("foo, bar a"), vocabulary=VOCABULARY, tolerance=near, **extra)
sample("TextVectorization", TEXTS, adapt=MORE)
sample("TextVectorization", TEXTS, vocabulary=VOCABULARY, output_mode="one_hot")
sample("TextVectorization", TEXTS[:, None], vocabulary=VOCABULARY, output_mode="one_hot", split="character")
sample("TextVectorization", np.array([["foo"], ["bar"]]), vocabulary=VOCABULARY, output_mode="one_hot")
sample("TextVectorization", np.array([["foo"], ["bar"]]), vocabulary=VOCABULARY, output_mode="one_hot", split=None)
sample("TextVectorization", TEXTS, adapt=MORE, max_tokens=4, ngrams=2)
sample("TextVectorization", TEXTS, adapt=MORE, output_mode="tf_idf", tolerance=1e-6)

sample("Discretization", NUMERIC, adapt=NUMERIC, num_bins=4)
sample("Discretization", NUMERIC, adapt=NUMERIC, num_bins=7, epsilon=0.05)
sample("Normalization", NUMERIC, adapt=NUMERIC, tolerance=1e-5)
sample("Normalization", NUMERIC, adapt=NUMERIC, axis=None, tolerance=1e-5)
sample("Normalization", NUMERIC.reshape(8, 5, 3), adapt=NUMERIC.reshape(8, 5, 3), axis=(1, 2), tolerance=1e-5)
sample("Normalization", NUMERIC.reshape(8, 5, 3), adapt=NUMERIC.reshape(8, 5, 3), axis=1, invert=True, tolerance=1e-5)
sample("Normalization", NUMERIC, mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 0.0], tolerance=1e-5)
sample(
    "Normalization",
    NUMERIC.reshape(8, 5, 3),
    mean=[1.0, 2.0, 3.0],
    variance=[2.0, 2.0, 0.5],
    axis=(1, 2),
    tolerance=1e-5,
)

SOUND = np.random.default_rng(1).normal(size=(2, 120, 2)).astype("float32")
for mode in ("log", "magnitude", "psd", "real", "imag", "stft"):
    sample("STFTSpectrogram", SOUND, mode=mode, frame_length=16, tolerance=2e-4)
for extra in (
    {"window": "hamming", "periodic": True, "scaling": "spectrum"},
    {"window": None, "frame_step": 5, "padding": "same"},
    {"window": "blackman", "fft_length": 34, "frame_length": 13, "mode": "psd"},
    {"window": [0.5] * 16, "expand_dims": True, "scaling": None},
):
    sample("STFTSpectrogram", SOUND, tolerance=2e-4, **{"frame_length": 16, **extra})
sample("STFTSpectrogram", 0 * SOUND, frame_length=16, tolerance=2e-4)
MEL = {"num_mel_bins": 8, "fft_length": 64, "sequence_stride": 16, "sampling_rate": 1000}
for extra in ({}, {"window": "hamming", "sequence_length": 50}, {"power_to_db": False, "mag_exp": 1.0},
              {"top_db": 3.0}, {"ref_power": 2.0, "min_power": 1.0}, {"min_freq": 100.0, "max_freq": 300.0}):  # fmt: skip
    sample("MelSpectrogram", SOUND[..., 0], tolerance=2e-4, **MEL, **extra)
sample("MelSpectrogram", SOUND[0, :, 0], tolerance=2e-4, **MEL)
