"""Throughput of preprocessing layers beside Keras's on the same backend: how many times as much Kerata gets through.

    python benchmarks/preprocessing.py [--how eager pipeline adapt] [--backends torch jax tensorflow] [--only StringLookup Resizing]

Both get the same data, layers of the same arguments, and turns in one process for each backend, timed in CPU time; the fastest of the
rounds counts. Called eagerly, text comes as NumPy arrays, `(tensor)` as TensorFlow's tensors; images as tensors of the backend. In a
pipeline the layer is mapped over a `tf.data.Dataset`; it adapts to arrays and to batches of a dataset. Give the frameworks one thread each.
"""

import argparse
import functools
import math
import os
import subprocess
import sys
import time

import numpy as np

BACKENDS = ("torch", "jax", "tensorflow")
ROUNDS = 21
SECONDS = 0.03  # of each side of a round: many short ones, of which some are undisturbed
WORDS, ROWS, COLUMNS = 20_000, 2048, 8
IMAGES = (8, 96, 96, 3)


def words(rng, shape=None):
    """Words of the lengths of words, some of them often; without a shape every other one there is."""
    known = np.array([f"{'abcdefghij'[i % 10] * (i % 9)}{i}" for i in range(WORDS)])
    return known[::2] if shape is None else known[(WORDS * rng.random(shape) ** 3).astype("int64")]


def category_samples(rng):
    """`[(label, layer, arguments, inputs, data to adapt to)]`."""
    text, numbers = words(rng, (ROWS, COLUMNS)), rng.integers(0, WORDS, (ROWS, COLUMNS))
    floats = rng.standard_normal((ROWS, 16)).astype("float32")
    vocabulary = words(rng).tolist()
    sentences = np.array([" ".join(row) + ", And So On!" for row in words(rng, (ROWS // 4, 20))])
    pair = [text[:, :1], numbers[:, :1]]
    return [
        ("StringLookup", "StringLookup", {"vocabulary": vocabulary}, text, None),
        ("StringLookup, 3 oov", "StringLookup", {"vocabulary": vocabulary, "num_oov_indices": 3}, text, None),
        ("StringLookup, counts", "StringLookup", {"vocabulary": vocabulary[:500], "output_mode": "count"}, text, None),
        ("IntegerLookup", "IntegerLookup", {"vocabulary": list(range(0, WORDS, 2))}, numbers, None),
        ("Hashing", "Hashing", {"num_bins": 1000}, text, None),
        ("Hashing, salted", "Hashing", {"num_bins": 1000, "salt": [1, 2]}, text, None),
        ("Hashing, integers", "Hashing", {"num_bins": 1000}, numbers, None),
        ("Hashing, integers, salted", "Hashing", {"num_bins": 1000, "salt": 133}, numbers, None),
        ("HashedCrossing", "HashedCrossing", {"num_bins": 1000}, pair, None),
        ("HashedCrossing, integers", "HashedCrossing", {"num_bins": 1000}, [pair[1], pair[1]], None),
        ("TextVectorization", "TextVectorization", {"vocabulary": vocabulary}, sentences, None),
        ("TextVectorization, counts", "TextVectorization", {"vocabulary": vocabulary[:500], "output_mode": "count"}, sentences, None),
        ("Normalization", "Normalization", {}, floats, floats),
        ("Discretization", "Discretization", {"bin_boundaries": np.linspace(-2, 2, 20).tolist()}, floats, None),
        ("CategoryEncoding", "CategoryEncoding", {"num_tokens": 500}, numbers % 500, None),
        ("CategoryEncoding, one-hot", "CategoryEncoding", {"num_tokens": 500, "output_mode": "one_hot"}, numbers[:, :1] % 500, None),
        ("CategoryEncoding, counts", "CategoryEncoding", {"num_tokens": 500, "output_mode": "count"}, numbers % 500, None),
        ("Rescaling", "Rescaling", {"scale": 1 / 255}, floats, None),
    ]  # fmt: skip


def image_samples(rng):
    images = rng.uniform(0, 255, IMAGES).astype("float32")
    labelled = {"images": images, "labels": np.eye(4, dtype="float32")[np.arange(len(images)) % 4]}
    layers = [
        ("Resizing", {"height": 64, "width": 80}),
        ("Resizing", {"height": 64, "width": 80, "crop_to_aspect_ratio": True}),
        ("CenterCrop", {"height": 64, "width": 64}),
        ("RandomCrop", {"height": 64, "width": 64}),
        ("RandomFlip", {}),
        ("RandomTranslation", {"height_factor": 0.2, "width_factor": 0.2}),
        ("RandomRotation", {"factor": 0.1}),
        ("RandomZoom", {"height_factor": 0.2}),
        ("RandomShear", {"x_factor": 0.2, "y_factor": 0.2}),
        ("RandomPerspective", {}),
        ("RandomBrightness", {"factor": 0.2}),
        ("RandomContrast", {"factor": 0.2}),
        ("RandomHue", {"factor": 0.2}),
        ("RandomSaturation", {"factor": 0.3}),
        ("RandomColorJitter", {"brightness_factor": 0.2, "contrast_factor": 0.2, "saturation_factor": 0.2, "hue_factor": 0.2}),
        ("RandomColorDegeneration", {"factor": 0.5}),
        ("RandomGrayscale", {}),
        ("RandomInvert", {"factor": 0.5}),
        ("RandomPosterization", {"factor": 4}),
        ("RandomSharpness", {"factor": 0.5}),
        ("RandomGaussianBlur", {"kernel_size": 3}),
        ("RandomErasing", {}),
        ("Solarization", {"addition_factor": 0.1, "threshold_factor": 0.5}),
        ("AutoContrast", {}),
        ("Equalization", {}),
        ("RandAugment", {}),
        ("AugMix", {}),
    ]  # fmt: skip
    mixed = [(name, name, {}, labelled, None) for name in ("MixUp", "CutMix")]
    return [(f"{name}{', cropped' if len(a) == 3 else ''}", name, a, images, None) for name, a in layers] + mixed


def received(module, data):
    """The data as tensors of the backend."""
    if isinstance(data, dict):
        return {k: received(module, v) for k, v in data.items()}
    if isinstance(data, list):
        return [received(module, v) for v in data]
    if data.dtype.kind == "U":
        import tensorflow as tf

        return tf.constant(data)
    return module.ops.convert_to_tensor(data)


def seconds(function, count):
    start = time.process_time()
    for _ in range(count):
        function()
    return (time.process_time() - start) / count


def compare(ours, theirs):
    """Seconds of both, the fastest of the rounds."""
    counts = []
    for function in (ours, theirs):
        for _ in range(2):
            function()
        counts.append(max(1, int(SECONDS / max(seconds(function, 1), 1e-6))))
    best = [math.inf, math.inf]
    for turn in range(ROUNDS):
        # Who comes first pays for the other's traces in caches and allocators.
        for which in (0, 1) if turn % 2 else (1, 0):
            best[which] = min(best[which], seconds((ours, theirs)[which], counts[which]))
    return best


def ready(backend, call):
    """The call, and waiting for its result."""
    if backend != "jax":
        return call
    import jax

    return lambda: jax.block_until_ready(call())


def eager_pairs(backend, categories, images):
    """`(label, name, function of a library that gives what is timed)`."""
    cases = [(*c, as_it_is) for c in categories] + [(*c, received) for c in images]
    if backend == "tensorflow":
        cases += [(f"{c[0]} (tensor)", *c[1:], received) for c in categories if holds_text(c[3])]
    for label, name, arguments, data, adapt, given in cases:

        def made(module, name=name, arguments=arguments, data=data, adapt=adapt, given=given):
            layer = layer_of(module, name, arguments, adapt)
            options = {} if given is as_it_is or holds_text(data) else {"training": True}
            return ready(backend, functools.partial(layer, given(module, data), **options))

        yield label, name, made


def pipeline_pairs(backend, categories, images):
    import tensorflow as tf

    def tensors(data):
        return tuple(map(tf.constant, data)) if isinstance(data, list) else tf.nest.map_structure(tf.constant, data)

    for cases, options in ((categories, {}), (images, {"training": True})):
        for label, name, arguments, data, adapt in cases:

            def made(module, name=name, arguments=arguments, data=data, adapt=adapt, options=options):
                layer = layer_of(module, name, arguments, adapt)
                if isinstance(data, list):
                    mapped = lambda *x: layer(list(x), **options)  # noqa: E731
                else:
                    mapped = lambda x: layer(x, **options)  # noqa: E731
                mapped = tf.autograph.experimental.do_not_convert(mapped)
                dataset = tf.data.Dataset.from_tensors(tensors(data)).repeat().map(mapped)
                plain = tf.data.Options()
                plain.threading.private_threadpool_size, plain.autotune.enabled = 1, False
                return functools.partial(next, iter(dataset.with_options(plain)))

            yield f"{label} (tf.data)", name, made


def adapt_pairs(backend, categories, images):
    import tensorflow as tf

    rng = np.random.default_rng(1)
    floats, numbers = rng.standard_normal((20_000, 16)).astype("float32"), rng.integers(0, 2000, (20_000, 4))
    text = words(rng, (5_000, 4))
    sentences = np.array([" ".join(row) + ", And So On!" for row in words(rng, (500, 20))])
    for name, arguments, data in (
        ("Normalization", {}, floats),
        ("Discretization", {"num_bins": 20}, floats),
        ("StringLookup", {}, text),
        ("StringLookup", {"output_mode": "tf_idf"}, text),
        ("IntegerLookup", {}, numbers),
        ("TextVectorization", {}, sentences),
    ):
        for form, given in (("array", data), ("dataset", tf.data.Dataset.from_tensor_slices(data).batch(512))):

            def made(module, name=name, arguments=arguments, given=given):
                return lambda: getattr(module.layers, name)(**arguments).adapt(given)

            mode = f", {arguments['output_mode']}" if "output_mode" in arguments else ""
            yield f"{name}{mode} adapts to {form}", name, made


def layer_of(module, name, arguments, adapt):
    layer = getattr(module.layers, name)(**arguments)
    if adapt is not None:
        layer.adapt(adapt)
    return layer


WAYS = {"eager": eager_pairs, "pipeline": pipeline_pairs, "adapt": adapt_pairs}


def measure(backend, ways, only, below):
    import keras

    import kerata

    kerata.config.set_backend(backend)
    rng = np.random.default_rng(0)
    samples = category_samples(rng), image_samples(rng)
    for way in ways:
        for label, name, made in WAYS[way](backend, *samples):
            if only and name not in only:
                continue
            try:
                a, b = compare(made(kerata), made(keras))
            except Exception as error:
                print(f"{backend:11} {label:42} {type(error).__name__}: {str(error)[:100]!r}", flush=True)
                continue
            if b / a < below:
                print(f"{backend:11} {label:42} {1e3 * a:9.3f} ms {1e3 * b:9.3f} ms {b / a:7.2f} x", flush=True)


def as_it_is(module, data):
    return data


def holds_text(data):
    return any(x.dtype.kind == "U" for x in (data if isinstance(data, list) else [data]) if hasattr(x, "dtype"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backends", nargs="*", default=BACKENDS, choices=BACKENDS)
    parser.add_argument("--how", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--only", nargs="*", help="names of layers")
    parser.add_argument("--below", type=float, default=float("inf"), help="show only what's below so many times")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return measure(args.child, args.how, args.only, args.below)
    print(f"{'backend':11} {'layer':42} {'Kerata':>12} {'Keras':>12} {'Keras / Kerata':>16}", flush=True)
    for backend in args.backends:
        command = [sys.executable, __file__, *sys.argv[1:], "--child", backend]
        subprocess.run(command, env=dict(os.environ, KERAS_BACKEND=backend, TF_CPP_MIN_LOG_LEVEL="3"))


if __name__ == "__main__":
    main()
