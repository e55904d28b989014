"""Convolution and pooling: NumPy's against SciPy, every other backend's, and their gradients, against NumPy's."""

import itertools

import numpy as np
import pytest
import scipy.signal

from kerata.backends import load, windows

TRAINING = ("jax", "torch", "tensorflow")
LENGTHS = (7, 8, 5)
_rng = np.random.default_rng(3)


def normal(*shape):
    return _rng.standard_normal(shape)


@pytest.fixture(params=TRAINING)
def backend(request):
    pytest.importorskip(request.param)
    return load(request.param)


def layouts(x):
    return (("channels_last", x), ("channels_first", np.ascontiguousarray(np.moveaxis(x, -1, 1))))


# ------------------------------------------------------------------ NumPy


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("strides,dilation", [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_numpy_convolution_is_scipys_correlation(rank, strides, dilation, padding):
    x, kernel = normal(2, *LENGTHS[:rank], 3), normal(*(3, 2, 2)[:rank], 3, 4)
    each = (strides,) * rank, (dilation,) * rank
    got = load("numpy").conv(x, kernel, each[0], padding, "channels_last", each[1], 1)
    pads = windows.pads(padding, x.shape[1:-1], kernel.shape, *each)
    padded = np.pad(x, ((0, 0), *pads[:rank], (0, 0)))
    spread = np.zeros((*(windows.span(k, dilation) for k in kernel.shape[:rank]), 3, 4))
    spread[(slice(None, None, dilation),) * rank] = kernel
    for n, o in itertools.product(range(2), range(4)):
        full = scipy.signal.correlate(padded[n], spread[..., o], "valid")[..., 0]
        np.testing.assert_allclose(got[n, ..., o], full[(slice(None, None, strides),) * rank], atol=1e-12)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("strides,dilation", [(1, 1), (2, 1), (3, 1), (1, 2)])
def test_numpy_transposed_convolution_is_the_gradient(padding, strides, dilation):
    """`<conv(y), x> == <y, conv_transpose(x)>` where the lengths fit."""
    b = load("numpy")
    x, kernel = normal(1, 5, 3), normal(3, 2, 3)
    y = normal(*b.conv_transpose(x, kernel, (strides,), padding, None, "channels_last", (dilation,)).shape)
    there = b.conv(y, kernel, (strides,), padding, "channels_last", (dilation,), 1)
    back = b.conv_transpose(x, kernel, (strides,), padding, None, "channels_last", (dilation,))
    assert there.shape == x.shape
    np.testing.assert_allclose((there * x).sum(), (y * back).sum(), rtol=1e-10)


def test_same_pools_do_not_count_what_is_padded():
    x = np.ones((1, 5, 5, 1))
    np.testing.assert_array_equal(load("numpy").average_pool(x, (3, 3), (2, 2), "same", "channels_last"), 1)


# ------------------------------------------------------------------ the others


def agrees(b, name, tensors, arguments, linear):
    """Value, and for each tensor in which the op is linear the gradient along a random direction."""
    exact = getattr(load("numpy"), name)
    native = [b.convert(t, "float32") for t in tensors]
    wanted = exact(*tensors, *arguments)
    got = b.to_numpy(getattr(b, name)(*native, *arguments))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    # JAX differentiates by its own rules, and each gradient costs seconds of compilation.
    if not linear or b.NAME == "jax":
        return
    weight = normal(*wanted.shape)

    def loss(params):
        return b.sum(b.multiply(getattr(b, name)(*params, *arguments), b.convert(weight, "float32")), None, False), None

    grads = b.value_and_grad(loss)(native)[1]
    for i in linear:
        direction = normal(*tensors[i].shape)
        moved = [direction if j == i else t for j, t in enumerate(tensors)]
        along = (exact(*moved, *arguments) * weight).sum()
        np.testing.assert_allclose((b.to_numpy(grads[i]) * direction).sum(), along, rtol=1e-3, atol=1e-3)


# Rank, window, strides, dilation, padding, groups.
CONVOLUTIONS = [
    (1, 3, 1, 1, "same", 1),
    (1, 2, 3, 1, "valid", 2),
    (1, 3, 1, 2, ((1, 2),), 1),
    (2, 3, 1, 1, "valid", 1),
    (2, 3, 2, 1, "same", 1),
    (2, 2, 1, 2, "same", 1),
    (2, 1, 2, 1, "same", 1),
    (2, 3, 2, 1, ((1, 2), (0, 1)), 2),
    (2, 3, 1, 2, ((2, 2), (2, 2)), 1),
    (3, 2, 1, 1, "same", 1),
    (3, 3, 2, 1, "same", 2),
]


@pytest.mark.parametrize("rank,size,stride,dilation,padding,groups", CONVOLUTIONS)
def test_convolution(backend, rank, size, stride, dilation, padding, groups):
    strides, dilations = (stride,) * rank, (dilation,) * rank
    kernel, bias = normal(*(size,) * rank, 4 // groups, 6), normal(6)
    for layout, x in layouts(normal(2, *LENGTHS[:rank], 4)):
        how = (strides, padding, layout, dilations, groups)
        agrees(backend, "conv_bias", [x, kernel, bias], how, ())
        agrees(backend, "conv", [x, kernel], how, (0, 1) if layout == "channels_last" else ())
    if groups == 1:
        kernel = normal(*(size,) * rank, 4, 2)
        for layout, x in layouts(normal(2, *LENGTHS[:rank], 4)):
            how = (strides, padding, layout, dilations)
            agrees(backend, "depthwise_conv", [x, kernel], how, (0, 1) if layout == "channels_last" else ())


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(
    "size,stride,dilation,extra", [(3, 1, 1, None), (3, 2, 1, None), (2, 3, 1, 1), (3, 1, 2, None), (4, 2, 1, 0)]
)
def test_transposed_convolution(backend, rank, size, stride, dilation, padding, extra):
    kernel = normal(*(size,) * rank, 3, 4)
    extra = None if extra is None else (extra,) * rank
    for layout, x in layouts(normal(2, *LENGTHS[:rank], 4)):
        how = ((stride,) * rank, padding, extra, layout, (dilation,) * rank)
        agrees(backend, "conv_transpose", [x, kernel], how, (0, 1) if layout == "channels_last" else ())


@pytest.mark.parametrize("name", ["max_pool", "average_pool"])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("size,stride", [(2, 2), (3, 2), (2, 1), (2, 3), (4, 1)])
def test_pooling(backend, name, rank, size, stride, padding):
    for layout, x in layouts(normal(2, *LENGTHS[:rank], 3)):
        how = ((size,) * rank, (stride,) * rank, padding, layout)
        agrees(backend, name, [x], how, (0,) if (name, layout) == ("average_pool", "channels_last") else ())


def test_windows_of_unequal_sides(backend):
    x = normal(2, 7, 8, 4)
    agrees(backend, "conv", [x, normal(3, 2, 4, 2)], ((2, 1), "same", "channels_last", (1, 1), 1), (0, 1))
    agrees(backend, "depthwise_conv", [x, normal(3, 2, 4, 2)], ((2, 1), "same", "channels_last", (1, 1)), (0, 1))
    agrees(backend, "max_pool", [x], ((2, 3), (1, 2), "same", "channels_last"), ())
    agrees(backend, "average_pool", [x], ((3, 4), (2, 1), "same", "channels_last"), (0,))


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_integers_are_pooled(backend, dtype):
    x = _rng.integers(0, 90, (1, 5, 5, 2)).astype(dtype)
    how = ((3, 3), (2, 2), "same", "channels_last")
    got = backend.max_pool(backend.convert(x), *how)
    assert backend.dtype_of(got) == dtype
    np.testing.assert_array_equal(backend.to_numpy(got), load("numpy").max_pool(x, *how))


@pytest.mark.parametrize("shape,axis", [((4, 5, 6, 3), 3), ((4, 3, 5, 6), 1), ((8, 3), -1), ((4, 2, 3, 4, 5), -1)])
def test_batch_normalization_in_training(backend, shape, axis):
    native = getattr(backend, "batch_normalization_training", None)
    if native is None:
        pytest.skip("no override")
    x, offset, scale = normal(*shape), normal(shape[axis]), normal(shape[axis])
    axes = tuple(a for a in range(len(shape)) if a != axis % len(shape))
    side = [1] * len(shape)
    side[axis] = -1
    given = [backend.convert(a, "float32") for a in (x, offset, scale)]
    y, mean, variance = map(backend.to_numpy, native(given[0], axis, *given[1:], 1e-3))
    wanted = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    np.testing.assert_allclose(y, wanted * scale.reshape(side) + offset.reshape(side), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(mean, x.mean(axes), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(variance, x.var(axes), rtol=1e-4, atol=1e-5)
