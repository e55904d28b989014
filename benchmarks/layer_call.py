"""Time eager calls of layers beside the framework's own calls that they must make, and print the microseconds between them.

    python benchmarks/layer_call.py --backend torch [--only Dense MultiHeadAttention] [--rounds 41]

The native side is what one would write by hand for the same weights in the same layout. Both are timed in turn, in CPU
time, and the fastest round of each counts: a busy machine only adds. Small tensors, so that it's the calls that count.
Give the frameworks one thread each.
"""

import argparse
import functools
import os
import time

import numpy as np

SECONDS = 0.02  # of each side of a round: short ones, so that both meet the same load
WARMUP = 100


def samples(k):
    """`{name: (layer, input shape, how often the input is given)}`."""
    layers = k.layers
    return {
        "Dense": (layers.Dense(8, activation="relu"), (8, 8), 1),
        "Conv2D": (layers.Conv2D(8, 3, activation="relu"), (2, 8, 8, 4), 1),
        "Conv2D same": (layers.Conv2D(8, 3, padding="same"), (2, 8, 8, 4), 1),
        "DepthwiseConv2D": (layers.DepthwiseConv2D(3), (2, 8, 8, 4), 1),
        "LayerNormalization": (layers.LayerNormalization(), (8, 16), 1),
        "BatchNormalization": (layers.BatchNormalization(), (8, 16), 1),
        "MultiHeadAttention": (layers.MultiHeadAttention(2, 8), (2, 6, 16), 2),
    }


def torch_calls():
    import torch
    import torch.nn.functional as F

    def conv(padding, activation):
        def call(x, kernel, bias):
            y = F.conv2d(x.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), bias, 1, padding).permute(0, 2, 3, 1)
            return torch.relu(y) if activation else y

        return call

    def depthwise(x, kernel, bias):
        kernel = kernel.reshape(3, 3, 1, 4).permute(3, 2, 0, 1)
        return F.conv2d(x.permute(0, 3, 1, 2), kernel, None, 1, 0, 1, 4).permute(0, 2, 3, 1) + bias

    def batch_norm(x, gamma, beta, mean, variance):
        inverse = torch.rsqrt(variance + 1e-3) * gamma
        return torch.addcmul(beta, x - mean, inverse)

    def attention(x, query, bq, key, bk, value, bv, out, bo):
        def projected(kernel, bias):
            y = F.linear(x, kernel.reshape(16, 16).t(), bias.reshape(16))
            return y.reshape(2, 6, 2, 8).transpose(1, 2)

        q, k, v = projected(query, bq), projected(key, bk), projected(value, bv)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(2, 6, 16)
        return F.linear(y, out.reshape(16, 16).t(), bo)

    return {
        "Dense": lambda x, kernel, bias: torch.relu(torch.addmm(bias, x, kernel)),
        "Conv2D": conv(0, True),
        "Conv2D same": conv(1, False),
        "DepthwiseConv2D": depthwise,
        "LayerNormalization": lambda x, gamma, beta: F.layer_norm(x, (16,), gamma, beta, 1e-3),
        "BatchNormalization": batch_norm,
        "MultiHeadAttention": attention,
    }


def jax_calls():
    import jax
    import jax.numpy as jnp
    from jax import lax

    # Eager ones take many times as long: they prepare for their gradients.
    relu, attend = jax.jit(jax.nn.relu), jax.jit(jax.nn.dot_product_attention)

    def conv(padding, activation):
        def call(x, kernel, bias):
            y = lax.conv_general_dilated(x, kernel, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias
            return relu(y) if activation else y

        return call

    def depthwise(x, kernel, bias):
        how = {"dimension_numbers": ("NHWC", "HWIO", "NHWC"), "feature_group_count": 4}
        return lax.conv_general_dilated(x, jnp.reshape(kernel, (3, 3, 1, 4)), (1, 1), "VALID", **how) + bias

    def layer_norm(x, gamma, beta):
        return jax.nn.standardize(x, epsilon=1e-3) * gamma + beta

    def batch_norm(x, gamma, beta, mean, variance):
        return (x - mean) * (lax.rsqrt(variance + 1e-3) * gamma) + beta

    def attention(x, query, bq, key, bk, value, bv, out, bo):
        q, k, v = (jnp.einsum("btd,dhs->bths", x, m) + b for m, b in ((query, bq), (key, bk), (value, bv)))
        return jnp.einsum("bths,hsd->btd", attend(q, k, v), out) + bo

    return {
        "Dense": lambda x, kernel, bias: relu(jnp.matmul(x, kernel) + bias),
        "Conv2D": conv("VALID", True),
        "Conv2D same": conv("SAME", False),
        "DepthwiseConv2D": depthwise,
        "LayerNormalization": layer_norm,
        "BatchNormalization": batch_norm,
        "MultiHeadAttention": attention,
    }


def tensorflow_calls():
    import tensorflow as tf

    def conv(padding, activation):
        def call(x, kernel, bias):
            y = tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, padding), bias)
            return tf.nn.relu(y) if activation else y

        return call

    def depthwise(x, kernel, bias):
        return tf.nn.bias_add(tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "VALID"), bias)

    def layer_norm(x, gamma, beta):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)

    def attention(x, query, bq, key, bk, value, bv, out, bo):
        def projected(kernel, bias):
            y = tf.matmul(tf.reshape(x, (12, 16)), tf.reshape(kernel, (16, 16)))
            return tf.reshape(tf.nn.bias_add(y, tf.reshape(bias, (16,))), (2, 6, 2, 8))

        q, k, v = projected(query, bq), projected(key, bk), projected(value, bv)
        scores = tf.nn.softmax(tf.einsum("btnh,bsnh->bnts", q * 8**-0.5, k))
        y = tf.reshape(tf.einsum("bnts,bsnh->btnh", scores, v), (12, 16))
        return tf.reshape(tf.nn.bias_add(tf.matmul(y, tf.reshape(out, (16, 16))), bo), (2, 6, 16))

    return {
        "Dense": lambda x, kernel, bias: tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias)),
        "Conv2D": conv("VALID", True),
        "Conv2D same": conv("SAME", False),
        "DepthwiseConv2D": depthwise,
        "LayerNormalization": layer_norm,
        "BatchNormalization": lambda x, gamma, beta, mean, variance: tf.nn.batch_normalization(
            x, mean, variance, beta, gamma, 1e-3
        ),
        "MultiHeadAttention": attention,
    }


NATIVE = {"torch": torch_calls, "jax": jax_calls, "tensorflow": tensorflow_calls}


def timed(function, count):
    start = time.process_time()
    for _ in range(count):
        function()
    return (time.process_time() - start) / count


def compare(ours, native, rounds):
    """Microseconds of both, and how many ours takes more."""
    for function in (ours, native):
        for _ in range(WARMUP):
            function()
    count = max(1, int(SECONDS / timed(native, 200)))
    pairs = [(timed(ours, count), timed(native, count)) for _ in range(rounds)]
    a, b = (1e6 * min(times) for times in zip(*pairs, strict=True))
    return a, b, a - b


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="torch", choices=list(NATIVE))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--rounds", type=int, default=41)
    args = parser.parse_args()
    os.environ["KERAS_BACKEND"] = args.backend
    import kerata

    natives = NATIVE[args.backend]()
    print(f"{'layer on ' + args.backend:32} {'ours, µs':>9} {'native':>9} {'above':>9}")
    for name, (layer, shape, times) in samples(kerata).items():
        if args.only and name not in args.only:
            continue
        x = kerata.ops.convert_to_tensor(np.random.default_rng(0).standard_normal(shape).astype("float32"))
        inputs = (x,) * times
        layer(*inputs)
        weights = [w.storage for w in layer.weights]
        ours, native = functools.partial(layer, *inputs), functools.partial(natives[name], x, *weights)
        both = [kerata.ops.convert_to_numpy(f()) for f in (ours, native)]
        np.testing.assert_allclose(*both, rtol=1e-4, atol=1e-5)
        a, b, above = compare(ours, native, args.rounds)
        print(f"{name:32} {a:9.1f} {b:9.1f} {above:9.1f}", flush=True)


if __name__ == "__main__":
    main()
