"""The reference: the cipher against published vectors, layout and recipes against `jax.random`."""

import math

import numpy as np
import pytest

from kerata.core import threefry

KEY = np.array([7, 2**31 + 3], np.uint32)
# A draw longer than one chunk, so that the seams between chunks are seen too.
LONG = threefry._CHUNK + 1001
EPSILON = 2.0**-23


@pytest.fixture
def jr():
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(True):
        yield jax.random


def jax_key(jr):
    import jax.numpy as jnp

    return jr.wrap_key_data(jnp.asarray(KEY), impl="threefry2x32")


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [  # Random123's kat_vectors, threefry2x32 20
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_cipher_gives_published_vectors(key, counter, expected):
    assert threefry._encrypt_few(key, 1, *counter) == expected
    k0, k1, x0, x1 = (np.array([v], np.uint32) for v in (*key, *counter))
    out = threefry.cipher(k0, k1, x0, x1, lambda x, r: (x << np.uint32(r)) | (x >> np.uint32(32 - r)))
    assert tuple(int(word[0]) for word in out) == expected


@pytest.mark.parametrize("key", [(0, 0), (0xFFFFFFFF, 0xFFFFFFFE)])
def test_few_blocks_are_those_of_many(key):
    many = threefry.bits(key, 100, 64)
    for count in (1, 2, 64, 65):
        np.testing.assert_array_equal(threefry.bits(key, count, 64), many[:count])


@pytest.mark.parametrize("width", [8, 16, 32])
def test_bits_are_those_of_jax(jr, width):
    same_bits(threefry.bits(KEY, LONG, width), jr.bits(jax_key(jr), (LONG,), f"uint{width}"))


def test_keys_are_those_of_jax(jr):
    same_bits(threefry.split(KEY, 5), jr.key_data(jr.split(jax_key(jr), 5)))
    same_bits(threefry.fold(KEY, 99), jr.key_data(jr.fold_in(jax_key(jr), 99)))


def test_wide_words_join_both_outputs():
    words = threefry.split(KEY, 3).astype(np.uint64)
    same_bits(threefry.bits(KEY, 3, 64), words[:, 0] << np.uint64(32) | words[:, 1])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-0.3, 0.83), (2.0, 5.0)])
def test_uniforms_are_those_of_jax(jr, dtype, bounds):
    same_bits(threefry.uniform(KEY, LONG, *bounds, dtype), jr.uniform(jax_key(jr), (LONG,), dtype, *bounds))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_normals_are_those_of_jax(jr, dtype):
    same_bits(threefry.normal(KEY, 5000, dtype), jr.normal(jax_key(jr), (5000,), dtype))
    same_bits(threefry.truncated_normal(KEY, 5000, dtype), jr.truncated_normal(jax_key(jr), -2, 2, (5000,), dtype))


def test_normals_are_those_of_jax(jr):
    close(threefry.normal(KEY, LONG), jr.normal(jax_key(jr), (LONG,)))
    close(threefry.truncated_normal(KEY, LONG), jr.truncated_normal(jax_key(jr), -2, 2, (LONG,)))


def close(a, b):
    """Relative difference of 2 units of 2**-23, and a bit: over all 2**23 normals it is 2.05."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    assert np.all(np.abs(a - b) <= 2.1 * EPSILON * np.abs(b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erfinv_agrees_with_scipy(dtype):
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-0.999, 0.999, 5001).astype(dtype)
    tail = 1 - np.logspace(-4, -7, 200) if dtype == "float64" else np.array([0.9999], dtype)
    tolerances = (1e-6, 2e-5) if dtype == "float32" else (1e-14, 1e-9)  # near 1 the rounded square tells, as in XLA
    for part, tolerance in zip((x, tail), tolerances, strict=True):
        np.testing.assert_allclose(threefry.erfinv(part), special.erfinv(part.astype(np.float64)), rtol=tolerance)


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (0, 10, "int32"),
        (-5, 100000, "int32"),
        (5, 5, "int32"),
        (0, 65536, "int32"),
        (0, 200, "uint8"),
        (-9, 9, "int16"),
        (-(2**31), 2**31 - 1, "int32"),
    ],
)
def test_integers_are_those_of_jax(jr, low, high, dtype):
    same_bits(threefry.randint(KEY, LONG, low, high, dtype), jr.randint(jax_key(jr), (LONG,), low, high, dtype))


def test_integers_fill_wide_intervals():
    whole = threefry.randint(KEY, LONG, -(2**31), 2**31, "int32")
    assert whole.min() < -2.1e9 and whole.max() > 2.1e9
    wide = threefry.randint(KEY, LONG, -(2**40), 2**62, "int64")
    assert wide.min() >= -(2**40) and wide.max() > 2**61


@pytest.mark.parametrize("n", [0, 1, 2, 100, 1625, 1627, 5000])
def test_permutations_are_those_of_jax(jr, n):
    order = threefry.permutation(KEY, n)
    assert sorted(order.tolist()) == list(range(n))
    same_bits(order, jr.permutation(jax_key(jr), np.arange(n, dtype=np.int32)))


@pytest.mark.parametrize(("keep_prob", "width"), [(0.5, 1), (0.75, 8), (0.9, 16), (0.3, 16), (1e-3, 16)])
def test_masks_keep_their_share(keep_prob, width):
    assert threefry.mask_recipe(keep_prob)[0] == width
    bits, threshold = threefry.mask_recipe(keep_prob)
    assert abs(threshold / 2**bits - keep_prob) <= 2**-17
    n = 2_000_000
    share = threefry.mask(KEY, n, keep_prob).mean()
    assert abs(share - keep_prob) < 4 * math.sqrt(keep_prob * (1 - keep_prob) / n)


def test_masks_are_cut_as_documented():
    blocks = threefry.split(KEY, 3)
    words = np.concatenate([blocks[:, 0], blocks[:, 1]])
    for keep_prob, width in ((0.5, 1), (0.75, 8), (0.9, 16)):
        elements = [(int(w) >> shift) % 2**width for w in words for shift in range(0, 32, width)]
        expected = np.array(elements) < threefry.mask_recipe(keep_prob)[1]
        assert threefry.mask_blocks(len(expected), width) == 3
        same_bits(threefry.mask(KEY, len(expected) - 1, keep_prob), expected[:-1])


def test_masks_never_and_always():
    assert not threefry.mask(KEY, 100, 0.0).any()
    assert threefry.mask(KEY, 100, 1.0).all()
    assert threefry.mask(KEY, 0, 0.9).shape == (0,)


def test_neighbours_and_keys_are_uncorrelated():
    z = threefry.normal(KEY, 200_000)
    other = threefry.normal(threefry.fold(KEY, 1), 200_000)
    bound = 4 / math.sqrt(len(z))
    for a, b in ((z[1:], z[:-1]), (z[2:], z[:-2]), (z, other)):
        assert abs(np.corrcoef(a, b)[0, 1]) < bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments(dtype):
    n = 400_000
    uniform, normal, truncated = (
        f(KEY, n, dtype=dtype) if f is not threefry.uniform else f(KEY, n, -1.0, 3.0, dtype)
        for f in (threefry.uniform, threefry.normal, threefry.truncated_normal)
    )
    assert abs(uniform.mean() - 1) < 0.01 and abs(uniform.var() - 16 / 12) < 0.01
    assert uniform.min() >= -1 and uniform.max() < 3
    assert abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01 and abs((normal**4).mean() - 3) < 0.08
    # variance of a standard normal cut at 2: 1 - 4 phi(2) / (Phi(2) - Phi(-2))
    assert abs(truncated.var() - 0.7737) < 0.01 and np.abs(truncated).max() < 2


def test_host_draws_have_shape_and_scale():
    same_bits(threefry.host_uniform((3, 4), KEY, -1.0, 1.0), threefry.uniform(KEY, 12, -1.0, 1.0).reshape(3, 4))
    z = threefry.normal(KEY, 12).reshape(3, 4)
    same_bits(threefry.host_normal((3, 4), KEY, 0.5, 2.0), z * np.float32(2) + np.float32(0.5))
    assert threefry.host_truncated_normal((), KEY).shape == ()
    assert threefry.host_normal((2,), KEY, dtype="bfloat16").dtype.name == "bfloat16"
