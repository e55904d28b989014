"""Convolution, pooling, normalization, attention and recurrence, with all sizes known and with none."""

import numpy as np
import pytest
from running import close, flat, kinds, ran, run, symbol, written

from kerata import backends, ops
from kerata.graph.tensor import KerasTensor
from kerata.ops import nn


def f(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


X1, X2, X3 = f(2, 9, 4), f(2, 9, 7, 4), f(2, 5, 6, 7, 4)
FIRST = np.moveaxis(X2, -1, 1).copy()


def conv(x, kernel, **options):
    return lambda x: ops.conv(x, kernel, **options)


CASES = {
    "conv1d": (X1, conv(X1, f(3, 4, 5))),
    "conv2d same": (X2, conv(X2, f(3, 2, 4, 5), padding="same")),
    "conv2d same strides": (X2, conv(X2, f(3, 2, 4, 5), padding="same", strides=2)),
    "conv2d dilated": (X2, conv(X2, f(3, 2, 4, 5), padding="same", dilation_rate=(2, 3))),
    "conv2d groups": (X2, conv(X2, f(3, 3, 2, 6), strides=(2, 1))),
    "conv2d first": (
        FIRST,
        conv(FIRST, f(3, 3, 4, 5), padding="same", strides=2, data_format="channels_first"),
    ),
    "conv2d pairs": (X2, conv(X2, f(3, 3, 4, 5), padding=((1, 2), (0, 1)))),
    "conv3d": (X3, conv(X3, f(2, 3, 2, 4, 5), padding="same", strides=(1, 2, 2))),
    "depthwise": (X2, lambda x: ops.depthwise_conv(x, f(3, 3, 4, 2), strides=2, padding="same")),
    "separable": (X2, lambda x: ops.separable_conv(x, f(3, 3, 4, 2), f(1, 1, 8, 3), padding="same")),
    "transpose": (X2, lambda x: ops.conv_transpose(x, f(3, 3, 5, 4), strides=2)),
    "transpose same": (X2, lambda x: ops.conv_transpose(x, f(3, 4, 5, 4), strides=(2, 3), padding="same")),
    "transpose output": (
        X2,
        lambda x: ops.conv_transpose(x, f(3, 3, 5, 4), strides=2, padding="same", output_padding=1),
    ),
    "transpose dilated": (X2, lambda x: ops.conv_transpose(x, f(3, 2, 5, 4), dilation_rate=2)),
    "transpose wide": (X1, lambda x: ops.conv_transpose(x, f(2, 5, 4), strides=3)),
    "max_pool": (X2, lambda x: ops.max_pool(x, (3, 2), strides=2, padding="same")),
    "max_pool ints": ((X2 * 9).astype("int32"), lambda x: ops.max_pool(x, 2)),
    "max_pool first": (FIRST, lambda x: ops.max_pool(x, 2, data_format="channels_first")),
    "average_pool": (X2, lambda x: ops.average_pool(x, (3, 2), strides=2, padding="same")),
    "average_pool 1d": (X1, lambda x: ops.average_pool(x, 3, strides=1)),
    "softmax": (X2, lambda x: ops.softmax(x, axis=1)),
    "softmax axes": (X2, lambda x: ops.softmax(x, axis=(1, 2))),
    "log_softmax": (X2, lambda x: ops.log_softmax(x)),
    "gelu": (X1, lambda x: ops.gelu(x, approximate=False)),
    "gelu tanh": (X1, lambda x: ops.gelu(x)),
    "layer_normalization": (X2, lambda x: ops.layer_normalization(x, f(4), f(4))),
    "layer_normalization axes": (X2, lambda x: ops.layer_normalization(x, axis=(-2, -1))),
    "layer_normalization inner": (X2, lambda x: ops.layer_normalization(x, f(7), axis=2)),
    "rms_normalization": (X2, lambda x: ops.rms_normalization(x, f(4))),
    "batch_normalization": (X2, lambda x: ops.batch_normalization(x, f(4), f(4) ** 2, -1, f(4), f(4))),
    "batch_normalization first": (FIRST, lambda x: ops.batch_normalization(x, f(4), f(4) ** 2, 1)),
    "attention": (X2, lambda x: ops.dot_product_attention(x, x, x)),
    "attention causal": (X2, lambda x: ops.dot_product_attention(x, x, x, is_causal=True)),
    "lstm": (X1, lambda x: nn.lstm(x, f(2, 3), f(2, 3, seed=1), f(4, 12), f(3, 12), f(12), False)),
    "lstm reverse": (X1, lambda x: nn.lstm(x, f(2, 3), f(2, 3, seed=1), f(4, 12), f(3, 12), f(12), True)),
    "gru": (X1, lambda x: nn.gru(x, f(2, 3), f(4, 9), f(3, 9), f(2, 9), False)),
    "gru reverse": (X1, lambda x: nn.gru(x, f(2, 3), f(4, 9), f(3, 9), f(2, 9), True)),
}
for name in (
    "elu", "selu", "celu", "leaky_relu", "relu6", "silu", "softplus", "softsign", "hard_sigmoid", "hard_silu",
    "log_sigmoid", "hard_tanh", "sparsemax", "squareplus",
):  # fmt: skip
    CASES[name] = (4 * X1, getattr(ops, name))

KNOWN = {"layer_normalization axes": (-2, -1), "layer_normalization inner": (2, -1)}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))
def test_like_numpy(name, dynamic):
    x, function = CASES[name]
    with backends.use_backend("numpy"):
        wanted = flat(function(x))
        # Channels, and what is normalized, are what weights fit to.
        known = KNOWN.get(name, (1 if "first" in name else -1,)) if dynamic else range(x.ndim)
        known = {a % x.ndim for a in known}
        shape = tuple(d if i in known else None for i, d in enumerate(x.shape))
        model = written(function, [KerasTensor(shape, x.dtype.name)])
    close(run(model, x), wanted)


def test_products_become_matrix_products():
    """Einstein sums, as attention and dense layers have them, need no `Einsum`."""
    with backends.use_backend("numpy"):
        for equation, a, b in [
            ("abc,cd->abd", f(2, 3, 4), f(4, 5)),
            ("abc,cde->abde", f(2, 3, 4), f(4, 5, 6)),
            ("abcd,cde->abe", f(2, 3, 4, 5), f(4, 5, 6)),
            ("btnh,bsnh->bnts", f(2, 3, 4, 5), f(2, 6, 4, 5)),
            ("bnts,bsnh->btnh", f(2, 4, 3, 6), f(2, 6, 4, 5)),
            ("ij,ij->i", f(2, 3), f(2, 3)),
            ("ab,b->a", f(2, 3), f(3)),
        ]:
            for known in (True, False):
                first = KerasTensor(a.shape if known else (None, None, *a.shape[2:]))
                model = written(lambda x, y, e=equation: ops.einsum(e, x, y), [first, symbol(b)])
                assert ("Einsum" in kinds(model)) == (equation == "ij,ij->i")
                close(run(model, a, b), [np.einsum(equation, a, b)])


def test_operator_sets():
    with backends.use_backend("numpy"):
        function = lambda x: ops.rfft(ops.gelu(ops.sum(x, -1), approximate=False))  # noqa: E731
        wanted = flat(function(X2))
        for opset in (18, 19, 20, 21, 22, 23):
            close(ran(function, X2, opset=opset), wanted)
        with pytest.raises(ValueError, match="from 18 to 23"):
            written(function, [symbol(X2)], opset=17)
