"""Ops that the sample table can't hold: on functions, on Python values; and what goes wrong."""

import numpy as np
import pytest

from kerata import ops
from kerata.graph.tensor import KerasTensor


def host(x):
    return np.asarray(ops.convert_to_numpy(x))


def test_size_and_ndim(backend):
    x = ops.ones((2, 3))
    assert (ops.size(x), ops.ndim(x)) == (6, 2)
    assert ops.ndim(KerasTensor((None, 3))) == 2


def test_vectorize(backend):
    dot = ops.vectorize(lambda a, b: ops.sum(a * b), signature="(n),(n)->()")
    a, b = np.arange(6, dtype="float32").reshape(2, 3), np.arange(3, dtype="float32")
    np.testing.assert_allclose(host(dot(a, b)), a @ b)
    scaled = ops.vectorize(lambda x, k: x * k, excluded={1})
    np.testing.assert_allclose(host(scaled(a, 2.0)), a * 2)
    with pytest.raises(ValueError, match="signature"):
        ops.vectorize(lambda a: a, signature="n->n")


def test_jvp(training_backend):
    value, tangent = ops.jvp(lambda x, y: x * x * y, (np.float32(3.0), np.float32(2.0)), (1.0, 0.5))
    assert float(value) == 18.0
    assert float(tangent) == pytest.approx(12.0 + 4.5)
    *_, aux = ops.jvp(lambda x: (x, x + 1), (np.float32(1.0),), (1.0,), has_aux=True)
    assert float(aux) == 2.0


def test_copies_dont_share_memory(backend):
    x = np.zeros(3, "float32")
    y = ops.copy(ops.convert_to_tensor(x))
    x[:] = 1.0
    assert not host(y).any()


def test_elastic_transform_depends_on_the_seed_alone(backend):
    images = np.random.default_rng(0).uniform(size=(2, 8, 9, 1)).astype("float32")
    a, b, c = (host(ops.image.elastic_transform(images, alpha=3.0, sigma=1.0, seed=s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert np.abs(a - c).max() > 0.01


# ------------------------------------------------------------------ dtypes


@pytest.mark.parametrize(
    "name, operands, expected",
    [
        ("add", ("uint8", "int8"), "int16"),
        ("add", ("bool", "bool"), "bool"),
        ("add", ("int8", "float16"), "float16"),
        ("add", ("float16", "bfloat16"), "float32"),
        ("divide", ("int8", "int8"), "float32"),
        ("floor_divide", ("bool", "bool"), "int32"),
        ("power", ("int32", "int32"), "int32"),
        ("matmul", ("int8", "int8"), "int32"),
        ("maximum", ("bool", "float32"), "float32"),
        ("hypot", ("int8", "float16"), "float16"),
        ("equal", ("int8", "float16"), "bool"),
        ("sum", ("uint16",), "uint32"),
        ("sum", ("bfloat16",), "bfloat16"),
        ("cumsum", ("int8",), "int8"),
        ("cumsum", ("bool",), "int32"),
        ("mean", ("int8",), "float32"),
        ("mean", ("float16",), "float16"),
        ("square", ("bool",), "int32"),
        ("floor", ("int32",), "float32"),
        ("trunc", ("int32",), "int32"),
        ("argmax", ("uint8",), "int32"),
        ("sort", ("bfloat16",), "bfloat16"),
        ("median", ("int32",), "float32"),
        ("trace", ("uint8",), "uint32"),
    ],
)
def test_result_dtype(name, operands, expected, backend):
    tensors = [ops.cast(np.ones((2, 2)), d) for d in operands]
    assert ops.dtype(getattr(ops, name)(*tensors)) == expected
    symbolic = getattr(ops, name)(*[KerasTensor((2, 2), d) for d in operands])
    assert symbolic.dtype == expected


@pytest.mark.parametrize("number, expected", [(2, "bfloat16"), (2.5, "bfloat16"), (True, "bfloat16")])
def test_python_numbers_are_weak(number, expected, backend):
    x = ops.ones((2,), "bfloat16")
    assert ops.dtype(ops.add(x, number)) == ops.dtype(ops.multiply(number, x)) == expected
    assert ops.dtype(ops.add(ops.ones((2,), "int8"), 2)) == "int8"
    assert ops.dtype(ops.add(ops.ones((2,), "int8"), 2.5)) == "float32"


# ------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ops.add(x, KerasTensor((4,))), r"add: shapes .*\(None, 3\), \(4,\).* don't broadcast"),
        (lambda x: ops.matmul(x, KerasTensor((4, 5))), "matmul: inner dimensions 3 and 4 differ"),
        (lambda x: ops.sum(x, axis=2), "sum: axis 2 is out of bounds"),
        (lambda x: ops.sum(x, axis=(0, -2)), "sum: axis .* names a dimension twice"),
        (lambda x: ops.reshape(KerasTensor((2, 3)), (4, -1)), r"reshape: \(2, 3\) has 6 elements"),
        (lambda x: ops.reshape(x, (-1, -1)), "reshape: only one dimension can be -1"),
        (lambda x: ops.transpose(x, (0, 0)), "transpose: "),
        (lambda x: ops.squeeze(x, 1), "squeeze: dimension 1 .* is 3"),
        (lambda x: ops.concatenate([x, KerasTensor((2, 4))], axis=0), "concatenate: shapes .* must be equal"),
        (lambda x: ops.split(KerasTensor((5,)), 2), "split: .* can't be split into 2 equal parts"),
        (lambda x: ops.einsum("ij,jk->ik", x, KerasTensor((4, 5))), "einsum: index 'j'"),
        (lambda x: ops.top_k(x, 4), "top_k: k=4 is more than the 3"),
        (lambda x: ops.get_item(KerasTensor((2, 3)), (0, 5)), "get_item: index 5 is out of bounds"),
        (lambda x: ops.get_item(x, (0, 0, 0)), "get_item: 3 indices are too many"),
        (lambda x: ops.pad(x, ((1, 1),) * 3), "pad: `pad_width` must be"),
        (lambda x: ops.pad(x, 1, mode="mirror"), "pad: `mode` must be one of"),
        (lambda x: ops.take_along_axis(x, KerasTensor((2,), "int32"), 0), "take_along_axis: .* same number of"),
        (lambda x: ops.solve(KerasTensor((2, 3)), KerasTensor((2,))), "solve: the last two dimensions must be equal"),
        (lambda x: ops.bitwise_and(x, x), "bitwise_and: bits are those of integers"),
        (lambda x: ops.one_hot(x, -1), "one_hot: `num_classes` must be a positive integer"),
        (lambda x: ops.where(x, x), "where: give both"),
        (lambda x: ops.rearrange(x, "a b -> a c"), "rearrange: .* doesn't fit"),
        (lambda x: ops.image.resize(KerasTensor((4, 4)), (2, 2)), "resize: `images` must have 3 dimensions"),
        (lambda x: ops.image.crop_images(KerasTensor((4, 4, 1)), 1), "crop_images: exactly two of"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(KerasTensor((None, 3)))
