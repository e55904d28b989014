"""Ops that the sample table can't hold: on functions, on Python values; and what goes wrong."""

import numpy as np
import pytest
import scipy.ndimage

import kerata
from kerata import backends, ops
from kerata.core import config
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import trace


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


def _products(a, b):
    """Composition of the maps `x -> factor * x + shift`: associative, and not commutative."""
    return {"factor": a["factor"] * b["factor"], "shift": b["factor"] * a["shift"] + b["shift"]}


@pytest.mark.parametrize("length", [1, 2, 5, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(backend, length, reverse):
    rng = np.random.default_rng(0)
    maps = {k: rng.uniform(-1, 1, (2, length, 3)).astype("float32") for k in ("factor", "shift")}
    got = ops.associative_scan(_products, maps, reverse, axis=-2)
    order = range(length)[::-1] if reverse else range(length)
    total, wanted = None, {k: np.zeros_like(v) for k, v in maps.items()}
    for n in order:
        at = {k: v[:, n] for k, v in maps.items()}
        total = at if total is None else _products(total, at)
        for k in wanted:
            wanted[k][:, n] = total[k]
    for k in wanted:
        np.testing.assert_allclose(host(got[k]), wanted[k], rtol=1e-5, atol=1e-6)


def test_associative_scan_of_unknown_length(backend):
    graph = trace(lambda x: ops.associative_scan(ops.add, x), KerasTensor((None, 2)), dynamic=True)
    assert graph.outputs.shape == (None, 2)
    for length in (1, 2, 5, 8):
        x = np.arange(2.0 * length, dtype="float32").reshape(length, 2)
        np.testing.assert_allclose(host(Plan(graph, backend)(ops.convert_to_tensor(x))), np.cumsum(x, 0))


def test_associative_scan_has_a_gradient(training_backend):
    x = np.array([2.0, -1.0, 3.0, 0.5, 4.0], "float32")

    def last(params):
        return ops.associative_scan(ops.multiply, params[0])[-1], ()

    _, (gradient,) = training_backend.value_and_grad(last)([ops.convert_to_tensor(x)])
    np.testing.assert_allclose(host(gradient), x.prod() / x, rtol=1e-5)


def test_lengths_to_scan_must_agree():
    with pytest.raises(ValueError, match="first dimension"):
        ops.associative_scan(ops.add, (KerasTensor((2,)), KerasTensor((3,))))


def test_impossible_labels_have_an_infinite_loss_without_gradient(training_backend):
    target, lengths = np.array([[1, 1], [1, 2]], "int32"), np.array([2, 2], "int32")

    def loss(params):
        return ops.sum(ops.ctc_loss(target, params[0], lengths, lengths)), ()

    (total, _), (gradient,) = training_backend.value_and_grad(loss)(
        [ops.convert_to_tensor(np.ones((2, 2, 3), "float32"))]
    )
    assert np.isinf(host(total)) and not host(gradient)[0].any() and np.isfinite(host(gradient)[1]).all()


def test_a_variance_too_large_for_half_precision_is_its_largest_number(backend):
    x = np.array([800.0, 500.0, -400.0, 60000.0], "float16")
    mean, variance = map(host, ops.moments(x, 0))
    assert mean == np.float16(x.astype("float64").mean()) and variance == np.finfo("float16").max


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2", "maximum", "minimum"])
def test_equal_operands_share_the_gradient(name, training_backend):
    if name in ("maximum", "minimum") and training_backend.NAME == "tensorflow":
        pytest.skip("TensorFlow gives it to the first one, as Keras does there")

    def total(params):
        return ops.sum(getattr(ops, name)(*params)), ()

    x = ops.convert_to_tensor(np.array([0.0, 3.0, -5.0], "float32"))
    _, gradients = training_backend.value_and_grad(total)([x, x + 0.0])
    for g in gradients:
        np.testing.assert_allclose(host(g), 0.5, rtol=1e-6)


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


@pytest.mark.parametrize("name", ["gelu", "elu", "softplus", "sparse_plus", "soft_shrink", "normalize", "norm"])
def test_composites_keep_half_precision(name, backend):
    for dtype in ("bfloat16", "float16"):
        assert ops.dtype(getattr(ops, name)(ops.ones((2, 2), dtype))) == dtype


HALVES = {
    "cholesky": 1, "cholesky_inverse": 1, "det": 1, "eig": 1, "eigh": 1, "inv": 1, "lstsq": 2, "lu_factor": 1, "pinv": 1, "qr": 1,
    "slogdet": 1, "solve": 2, "solve_triangular": 2, "svd": 1,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", HALVES)
def test_matrices_in_half_precision(name, dtype, backend):
    """No framework takes them apart: it's done in float32."""
    matrix = np.array([[4, 1, 0, 1], [1, 3, 1, 0], [0, 1, 5, 1], [1, 0, 1, 2]])
    given = [matrix + n for n in range(HALVES[name])]

    def call(tensors):
        result = getattr(ops, name)(*tensors)
        return result if isinstance(result, (tuple, list)) else [result]

    wide = call([ops.cast(x, "float32") for x in given])
    specs = call([KerasTensor(x.shape, dtype) for x in given])
    for got, want, spec in zip(call([ops.cast(x, dtype) for x in given]), wide, specs, strict=True):
        assert ops.dtype(got) == spec.dtype
        np.testing.assert_allclose(host(ops.cast(got, ops.dtype(want))), host(want), rtol=0.05, atol=0.05)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_fourier_transforms_of_half_precision_are_in_float32(dtype, backend):
    x = ops.cast(np.arange(8.0), dtype)
    for transform, back in ((ops.fft2, ops.ifft2), (lambda p: ops.rfft(p[0]), lambda p: [ops.irfft(p)])):
        there = [ops.cast(p, dtype) for p in transform((ops.reshape(x, (1, 8)),) * 2)]
        for got in back(there):
            assert ops.dtype(got) == "float32"
            np.testing.assert_allclose(host(got)[0], np.arange(8.0), atol=0.1)
    frames = [ops.cast(p, dtype) for p in ops.stft(x, 4, 2, 4)]
    signal = ops.istft(frames, 4, 2, 4)
    assert ops.dtype(signal) == ops.istft([KerasTensor(p.shape, dtype) for p in frames], 4, 2, 4).dtype == "float32"
    np.testing.assert_allclose(host(signal), np.arange(8.0), atol=0.1)


def test_float8_promotes_to_no_other_float():
    for other in ("bfloat16", "float32", "float8_e5m2"):
        with pytest.raises(ValueError, match="no implicit conversions from float8"):
            kerata.backend.result_type("float8_e4m3fn", other)
    assert kerata.backend.result_type("float8_e4m3fn", int) == "float8_e4m3fn"


# ------------------------------------------------------------------ shapes computed when the graph runs


@pytest.mark.parametrize(
    "op",
    [
        lambda x: ops.image.crop_images(x, 2, 3, target_height=5, target_width=4),
        lambda x: ops.image.pad_images(x, bottom_padding=2, left_padding=3, target_height=15, target_width=14),
        lambda x: ops.image.resize(x, (8, 6), crop_to_aspect_ratio=True),
        lambda x: ops.image.resize(x, (8, 6), pad_to_aspect_ratio=True),
        lambda x: ops.array_split(x, 5, axis=1)[1],
        lambda x: ops.broadcast_to(ops.size(x), (1,)),
    ],
)
def test_unknown_sizes(op, backend):
    images = np.random.default_rng(0).random((2, 12, 9, 3), "float32")
    x = kerata.Input((None, None, 3))
    y = op(x)
    expected = host(op(images))
    assert all(d is None or d == n for d, n in zip(y.shape[1:], expected.shape[1:], strict=True))
    np.testing.assert_allclose(host(kerata.Model(x, y)(images)), expected, atol=1e-6)


# ------------------------------------------------------------------ to and from the frameworks


def test_numpy_copies_may_be_written_to(backend):
    array = ops.convert_to_numpy(ops.array([1.0, 2.0]))
    array[0] = 5.0
    assert array.tolist() == [5.0, 2.0]


@pytest.mark.parametrize(
    "number, dtype", [(1, "bool"), (1.5, "int32"), (True, "bfloat16"), (2, "uint8"), (1.5, "float16")]
)
def test_numbers_become_any_dtype(number, dtype, backend):
    x = ops.convert_to_tensor(number, dtype=dtype)
    assert ops.dtype(x) == dtype
    assert float(host(x)) == float(np.asarray(number).astype(np.float64 if "float" in dtype else dtype))


def test_tapes_see_tensorflow_variables():
    tf = pytest.importorskip("tensorflow")
    with backends.use_backend("tensorflow"):
        x, y = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 2.0])
        with tf.GradientTape() as tape:
            loss = ops.sum(ops.divide_no_nan(x, y))
        of_x, of_y = tape.gradient(loss, [x, y])
    np.testing.assert_allclose(of_x, [0.0, 0.5])
    np.testing.assert_allclose(of_y, [0.0, -0.5])


# ------------------------------------------------------------------ mistakes


def test_matrices_that_are_not_positive_definite(backend):
    with pytest.raises(ValueError):
        ops.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]], "float32"))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ops.add(x, KerasTensor((4,))), r"add: shapes .*\(None, 3\), \(4,\).* don't broadcast"),
        (lambda x: ops.matmul(x, KerasTensor((4, 5))), "matmul: inner dimensions 3 and 4 differ"),
        (lambda x: ops.sum(x, axis=2), "sum: axis 2 is out of bounds"),
        (lambda x: ops.sum(x, axis=(0, -2)), "sum: axis .* names a dimension twice"),
        (lambda x: ops.reshape(KerasTensor((2, 3)), (4, -1)), r"reshape: \(2, 3\) has 6 elements"),
        (lambda x: ops.reshape(x, (-1, -1)), "reshape: there can be at most one unknown dimension"),
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
        (
            lambda x: ops.solve(KerasTensor((2, 3)), KerasTensor((2,))),
            "solve: the last two dimensions must be known to be equal",
        ),
        (lambda x: ops.bitwise_and(x, x), "bitwise_and: bits are those of integers"),
        (lambda x: ops.one_hot(x, -1), "one_hot: `num_classes` must be a positive integer"),
        (lambda x: ops.where(x, x), "where: `x1` and `x2` either both"),
        (lambda x: ops.rearrange(x, "a b -> a c"), "rearrange: .* doesn't fit"),
        (lambda x: ops.image.resize(KerasTensor((4, 4)), (2, 2)), "resize: `images` must have 3 dimensions"),
        (lambda x: ops.image.crop_images(KerasTensor((4, 4, 1)), 1), "crop_images: Must specify exactly two of"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(KerasTensor((None, 3)))


def test_settings_reach_compiled_composites(backend):
    """Epsilon is read by the body, which may be compiled with its value."""
    tiny = np.float32([[3e-5, 4e-5]])
    before = config.epsilon()
    try:
        results = []
        for epsilon in (1e-7, 1.0):
            config.set_epsilon(epsilon)
            results.append(host(ops.normalize(tiny))[0])
    finally:
        config.set_epsilon(before)
    np.testing.assert_allclose(results, [[0.6, 0.8], [3e-5, 4e-5]], rtol=1e-5)


@pytest.mark.parametrize("name", ["hypot", "divide_no_nan"])
def test_watched_and_unwatched_values_agree_with_finite_gradients(training_backend, name):
    x = ops.convert_to_tensor(np.float32([0.0, 3.0]))
    loss = lambda p: (ops.sum(getattr(ops, name)(p[0], p[1])), ())  # noqa: E731
    (value, _), grads = training_backend.value_and_grad(loss)([x, x])
    assert float(value) == pytest.approx(float(loss([x, x])[0]))
    assert all(np.isfinite(host(g)).all() for g in grads)


def test_what_is_not_known_to_be_one_is_not_squeezed_away(backend):
    """As in Keras's symbols; a batch of one stays a batch."""
    x = kerata.Input((1, 3))
    y = ops.squeeze(x)
    assert y.shape == (None, 3) and ops.squeeze(KerasTensor((None, None))).shape == (None, None)
    for n in (1, 2):
        images = np.ones((n, 1, 3), "float32")
        assert tuple(kerata.Model(x, y)(images).shape) == (n, 3)
        graph = trace(lambda t: ops.squeeze(t), KerasTensor((None, 1, 3)), dynamic=True)
        assert tuple(Plan(graph, backend)(ops.convert_to_tensor(images)).shape) == (n, 3)


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("index", [2, np.int32(2), np.int64(0), np.array(7), -1])
def test_one_hot_of_a_scalar(index, axis, backend):
    """Real Keras: a vector; out of bounds, of zeros."""
    got = ops.one_hot(index, 4, axis=axis)
    np.testing.assert_array_equal(host(got), np.arange(4) == int(index))
    assert ops.dtype(got) == "float32"
    assert ops.one_hot(KerasTensor((), "int32"), 4, axis=axis).shape == (4,)
    if hasattr(backend, "sparse"):
        sparse = ops.one_hot(index, 4, axis=axis, sparse=True)
        assert backend.sparse.is_sparse(sparse)
        np.testing.assert_array_equal(host(sparse), host(got))
    for bad in (1, -2):
        with pytest.raises(ValueError, match=f"one_hot: axis {bad} is out of bounds"):
            ops.one_hot(index, 4, axis=bad)


@pytest.mark.parametrize("of_inputs", ["bfloat16", "float32", "float64", "uint8"])
@pytest.mark.parametrize("of_places", ["float16", "float64", "int32"])
def test_map_coordinates_of_mixed_dtypes(of_inputs, of_places, backend):
    for x, mode, scipys in (
        (np.arange(4.0), "constant", "grid-constant"),
        (np.arange(12.0).reshape(3, 4), "wrap", "grid-wrap"),
    ):
        places = np.stack([np.linspace(-1, n, 7) for n in x.shape])
        inputs, places = ops.cast(x, of_inputs), ops.cast(places, of_places)
        got = ops.image.map_coordinates(inputs, places, 1, mode)
        assert ops.dtype(got) == ops.dtype(inputs)
        want = scipy.ndimage.map_coordinates(x, host(ops.cast(places, "float64")), order=1, mode=scipys)
        tol = {"uint8": 0.51, "bfloat16": 0.05}.get(of_inputs, 1e-4)
        np.testing.assert_allclose(host(ops.cast(got, "float64")), want, atol=tol)


def test_numbers_beside_tensors_have_their_dtype(backend):
    x = ops.convert_to_tensor(np.float32([-1.0, 2.0]))
    n = ops.convert_to_tensor(np.int32([-1, 2]))
    for result, wanted, dtype in [
        (ops.where(x > 0, 1, x), [-1, 1], "float32"),
        (ops.where(x > 0, x, 0), [0, 2], "float32"),
        (ops.maximum(0, x), [0, 2], "float32"),
        (ops.subtract(1, x), [2, -1], "float32"),
        (ops.maximum(n, 0), [0, 2], "int32"),
        (ops.maximum(n, 0.5), [0.5, 2], "float32"),
        (ops.divide(1, n), [-1, 0.5], "float32"),
        (ops.hypot(n, 0), [1, 2], "float32"),
    ]:
        assert ops.dtype(result) == dtype
        np.testing.assert_array_equal(host(result), wanted)


def test_a_symbolic_call_like_one_before_makes_symbols_of_its_own():
    x, y = KerasTensor((2, 3)), KerasTensor((2, 3))
    for call in (ops.exp, ops.elu, lambda t: ops.split(t, 3, axis=1), lambda t: ops.slogdet(t @ t.T)):
        first, second = ([r] if isinstance(r, KerasTensor) else list(r) for r in (call(x), call(y)))
        assert [(t.shape, t.dtype) for t in first] == [(t.shape, t.dtype) for t in second]
        assert {id(t) for t in first}.isdisjoint(map(id, second))
        assert first[0].node is not second[0].node
    model = kerata.Model(y, ops.elu(y) + ops.elu(y))
    np.testing.assert_allclose(host(model(np.ones((2, 3), "float32"))), 2.0)


def test_a_symbolic_call_is_told_from_one_that_is_only_equal():
    x = KerasTensor((2, 3), "int32")
    assert [ops.multiply(x, n).dtype for n in (1, 1.0, True)] == ["int32", "float32", "int32"]
    assert ops.sum(x, (0,)).shape == (3,) and ops.sum(x, 0, keepdims=True).shape == (1, 3)
    wide = config.floatx()
    config.set_floatx("float64")
    try:
        assert ops.multiply(x, 1.0).dtype == "float64"
    finally:
        config.set_floatx(wide)
    assert ops.multiply(x, 1.0).dtype == "float32"
    sparse = KerasTensor((2, 3), sparse=True)
    assert ops.multiply(KerasTensor((2, 3)), 2.0).sparse is False and ops.multiply(sparse, 2.0).sparse is True
    for _ in range(2):
        with pytest.warns(UserWarning, match="size 1"):
            ops.softmax(KerasTensor((2, 1)))


@pytest.mark.parametrize("op", ["concatenate", "stack"])
def test_lists_of_tensors_of_several_kinds(backend, op):
    x, n = ops.ones((2,)), ops.ones((2,), "int32")
    for values in ([x, x], (x, x), [x, n], [x, kerata.Variable([1.0, 1.0])], [x, [1.0, 1.0]], [x, np.ones(2, "int32")]):
        result = getattr(ops, op)(values)
        assert (ops.dtype(result), host(result).sum()) == ("float32", 4.0)
    with pytest.raises(ValueError, match="one tensor at least"):
        getattr(ops, op)([])


@pytest.mark.parametrize("mean", [0.5, 1e3])
def test_batch_normalization_of_many_elements(backend, mean):
    """Of so many that PyTorch's own function is asked, if the means are near 0."""
    rng = np.random.default_rng(0)
    x = (mean + rng.normal(size=(256, 8, 9))).astype("float32")
    statistics = [x.mean((0, 2)), x.var((0, 2)) + np.float32(0.1)]
    offset, scale = rng.normal(size=(2, 8)).astype("float32")
    m, v, o, s = (a.astype("float64")[:, None] for a in (*statistics, offset, scale))
    want = (x.astype("float64") - m) / np.sqrt(v + 1e-3) * s + o
    got = host(ops.batch_normalization(x, *statistics, axis=1, offset=offset, scale=scale, epsilon=1e-3))
    np.testing.assert_allclose(got, want, atol=3e-6 if mean < 1 else 3e-3)


def test_infinity_can_be_the_extreme_of_a_segment(backend):
    low = np.finfo("float32").min
    data, ids = np.array([-np.inf, low, 1.0, -np.inf], "float32"), np.array([0, 1, 2, 2])
    np.testing.assert_array_equal(host(ops.segment_max(data, ids, 4)), [-np.inf, low, 1.0, -np.inf])
    np.testing.assert_array_equal(host(ops.segment_min(-data, ids, 4)), [np.inf, -low, -1.0, np.inf])


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"], indirect=True)
def test_numbers_lose_no_digits_that_their_dtype_has(backend):
    for made in (ops.cast(0.1, "float64"), ops.cast([0.1], "float64"), ops.full((2,), 0.1, "float64")):
        assert host(made).ravel()[0] == 0.1
    assert host(ops.full_like(np.zeros(2), 0.1))[0] == 0.1
    assert host(ops.full((), 2**40, "int64")) == host(ops.full_like(np.zeros(1, "int64"), 2**40))[0] == 2**40
    assert host(ops.nan_to_num(np.array([np.inf])))[0] == np.finfo("float64").max
    graph = trace(lambda x: x + ops.full_like(x, 0.1), KerasTensor((2,), "float64"))
    assert host(Plan(graph, backends.current())(ops.zeros((2,), "float64")))[0] == 0.1
    # Both expansions, the second up to where the exponential ends.
    x = np.concatenate([np.linspace(-20, 20, 41), [50.0, 600.0, 700.0]])
    np.testing.assert_allclose(host(ops.i0(x)), np.i0(x), rtol=5e-14)
    # Of a dtype that a kernel wants to be told.
    np.testing.assert_allclose(host(ops.hypot(np.array([3.0]), np.array([4.0]))), [5.0], rtol=1e-15)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_what_is_missing_spoils_no_gradient(training_backend, name):
    x = np.float32([1.0, np.nan, 3.0])
    _, grad = training_backend.value_and_grad(lambda p: (getattr(ops, name)(p[0]), ()))([ops.convert_to_tensor(x)])
    # (x - mean) * 2 / n, and half of that over the deviation, which is 1.
    np.testing.assert_allclose(host(grad[0]), np.float32([-1, 0, 1]) * (1 if name == "nanvar" else 0.5), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*encountered")
def test_infinity_and_nan_are_the_same_everywhere(backend):
    special = np.float32([0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan])
    a, b = np.meshgrid(special, special)
    for op, want in (("hypot", np.hypot(a, b)), ("floor_divide", np.floor_divide(a, b))):
        np.testing.assert_array_equal(host(getattr(ops, op)(a, b)), want, err_msg=op)
    for op, want in (
        (lambda x: ops.threshold(x, 0.0, 5.0), np.where(special <= 0, 5, special)),
        (ops.hard_shrink, np.where(abs(special) <= 0.5, 0, special)),
    ):
        np.testing.assert_array_equal(host(op(special)), want)


def test_composites_that_return_constants_are_told_by_who_asks():
    from kerata.graph.trace import Trace

    x = KerasTensor((2, 3))
    for _ in range(2):
        assert isinstance(ops.ones_like(x), KerasTensor)
        with Trace(record=False, dynamic=True):
            assert not isinstance(ops.ones_like(x), KerasTensor)


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_of_a_computed_diagonal(name):
    tf = pytest.importorskip("tensorflow")
    x = np.arange(24.0, dtype="float32").reshape(1, 2, 3, 4)
    with backends.use_backend("tensorflow"):
        call = tf.function(lambda x, k: getattr(ops, name)(x, k=k), jit_compile=True)
        for k in (-1, 0, 2):
            np.testing.assert_array_equal(call(x, tf.constant(k)), getattr(np, name)(x, k))
