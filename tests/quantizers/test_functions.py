"""The functions of `keras.quantizers` against Keras's own, on every backend."""

import numpy as np
import pytest

from kerata import ops, quantizers
from kerata.quantizers.nibbles import host_pack, host_unpack

RNG = np.random.default_rng(0)


def host(found):
    found = found if isinstance(found, (tuple, list)) else [found]
    return [np.asarray(ops.convert_to_numpy(v)) if hasattr(v, "shape") else v for v in found]


def same(found, wanted):
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    for got, want in zip(host(found), wanted, strict=True):
        want = np.asarray(want)
        if want.dtype.kind in "iu":
            assert np.array_equal(got, want)
        else:
            np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


X = RNG.normal(size=(7, 6)).astype("float32")
X[:, 1] = 0.0
SIGNED, UNSIGNED = RNG.integers(-8, 8, (5, 7)).astype("int8"), RNG.integers(0, 16, (5, 7)).astype("uint8")
LOW, HIGH = -np.arange(1, 7, dtype="float32"), np.arange(1, 7, dtype="float32") * 1.5
CASES = {
    "by row": ("abs_max_quantize", (X, -1), {}),
    "by column": ("abs_max_quantize", (X, 0), {"value_range": (-8, 7)}),
    "as a whole": ("abs_max_quantize", (X, (0, 1)), {}),
    "on the host": ("abs_max_quantize", (X, 0), {"to_numpy": True}),
    "groups": ("abs_max_quantize_grouped_with_zero_point", (X, 3), {}),
    "a large group": ("abs_max_quantize_grouped_with_zero_point", (X + 3, 128), {}),
    "packed": ("pack_int4", (SIGNED,), {}),
    "packed along rows": ("pack_int4", (SIGNED,), {"axis": -1}),
    "packed unsigned": ("pack_int4", (UNSIGNED,), {"dtype": "uint8", "axis": 1}),
    "fake": ("fake_quant_with_min_max_vars", (X, -1.0, 2.0), {}),
    "fake narrow": ("fake_quant_with_min_max_vars", (X, -1.0, 2.0), {"num_bits": 4, "narrow_range": True}),
    "fake by column": ("fake_quant_with_min_max_vars", (X, LOW, HIGH), {"axis": 1}),
    "history": ("compute_float8_amax_history", (X, np.array([3.0, 1.0, 2.0, 5.0], "float32")), {}),
    "scale": ("compute_float8_scale", (np.float32(3.0), np.float32(2.0), np.float32(448.0)), {"margin": 1}),
    "scale of nothing": ("compute_float8_scale", (np.float32(0.0), np.float32(2.0), np.float32(448.0)), {}),
    "float8": ("quantize_and_dequantize", (X * 1000, np.float32(2.0), "float8_e4m3fn", "float32"), {}),
    "float8 of range": ("quantize_and_dequantize", (X, np.float32(0.5), "float8_e5m2", "float32"), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_as_keras(backend, real_keras, name):
    function, args, kwargs = CASES[name]
    same(getattr(quantizers, function)(*args, **kwargs), getattr(real_keras.quantizers, function)(*args, **kwargs))


@pytest.mark.parametrize("axis", (0, 1))
def test_four_bits_come_back(backend, axis):
    for array, dtype in ((SIGNED, "int8"), (UNSIGNED, "uint8")):
        packed, shape, length = quantizers.pack_int4(array, axis, dtype)
        assert shape == tuple(packed.shape) and length == array.shape[axis]
        same(quantizers.unpack_int4(packed, length, axis, dtype), array)
        assert np.array_equal(host_pack(array, axis), host(packed)[0])
        assert np.array_equal(host_unpack(host_pack(array, axis), length, axis, dtype == "int8"), array)


def test_one_value_in_a_group_isnt_lost(backend):
    # Keras divides by the range, which is nothing, and reads 1e-7 back.
    constant = np.full((4, 2), 0.5, "float32")
    for to_numpy in (True, False):
        found = quantizers.abs_max_quantize_grouped_with_zero_point(constant, 4, to_numpy=to_numpy)
        q, scale, zero = (v.astype("float32") for v in host(found))
        assert np.abs((q - zero) * scale - constant).max() <= scale.max() / 2


def test_half_precision_zeros_have_a_finite_scale(backend):
    for dtype in ("float16", "bfloat16"):
        q, scale = quantizers.abs_max_quantize(ops.zeros((2, 3), dtype), -1)
        assert ops.dtype(scale) == dtype and np.isfinite(np.asarray(ops.convert_to_numpy(scale), "float32")).all()
        assert not host(q)[0].any()


def test_fake_quantization_has_gradients(training_backend):
    from kerata import transforms

    x = np.array([-3.0, 0.1, 5.0, 6.0], "float32")
    loss = lambda p: ops.sum(quantizers.fake_quant_with_min_max_vars(p[0], p[1], p[2]))  # noqa: E731
    point = [ops.convert_to_tensor(v) for v in (x, np.float32(-1), np.float32(1))]
    same(transforms.grad(loss)(point), [np.array([0.0, 1.0, 0.0, 0.0]), np.array(1.0), np.array(2.0)])


def test_errors_say_what(backend):
    for call, words in (
        (lambda: quantizers.pack_int4(SIGNED.astype("int32")), "int8 tensor"),
        (lambda: quantizers.pack_int4(SIGNED, dtype="int16"), "int16"),
        (lambda: quantizers.pack_int4(SIGNED, axis=3), "axis 3"),
        (lambda: quantizers.get("abs_mx_quantizer"), "Did you mean"),
        (lambda: quantizers.AbsMaxQuantizer(value_range=(-300, 300)), "-300"),
        (lambda: quantizers.Int4QuantizationConfig(block_size=0), "block_size"),
        (lambda: quantizers.GPTQConfig(None, None, weight_bits=5), "weight_bits"),
        (lambda: quantizers.AWQConfig(None, None, group_size=-2), "group_size"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


def test_configs_come_back():
    for config in (
        quantizers.Int8QuantizationConfig(quantizers.AbsMaxQuantizer(axis=0), None),
        quantizers.Int4QuantizationConfig(block_size=None),
        quantizers.Float8QuantizationConfig(),
        quantizers.GPTQConfig(["a"], str.split, weight_bits=8, symmetric=True),
        quantizers.AWQConfig(["a"], str.split, num_grid_points=3),
    ):
        again = quantizers.deserialize(quantizers.serialize(config))
        assert type(again) is type(config) and again.get_config() == config.get_config()
