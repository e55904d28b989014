"""Sparse and ragged tensors in ops: the value is that of dense ones, the kind is what the rule says, and symbols agree."""

import numpy as np
import pytest

from kerata import backends, layers, models, ops
from kerata.graph.tensor import KerasTensor
from kerata.ops import sparse_rules
from kerata.ops.declare import REGISTRY

WITH_SPARSE = [name for name in ("jax", "tensorflow") if name in backends.installed()]
X = np.array([[0.5, 0, -0.25], [0, 0.75, 0]], "float32")
Y = np.array([[0, 2, 4], [0, -3, 0]], "float32")
D = np.array([[1, -2, 3], [0.5, 4, -1]], "float32")
ROW, COLUMN = D[:1], D[:, :1]
BATCH = np.stack([X, Y, X + Y, np.zeros_like(X)])[:2]
WIDE = np.stack([D.T, D.T + 1])


class S:
    """An array that a test gives as a sparse tensor."""

    def __init__(self, array):
        self.array = array


# Op, arguments, further arguments, whether the result is sparse.
CASES = [
    ("add", (S(X), S(Y)), {}, True),
    ("add", (S(X), D), {}, False),
    ("add", (S(X), 1.0), {}, False),
    ("subtract", (S(X), S(Y)), {}, True),
    ("subtract", (S(X[:1]), S(Y)), {}, True),
    ("maximum", (S(X), S(Y)), {}, True),
    ("minimum", (S(X), S(Y[:, :1])), {}, True),
    ("maximum", (S(X), 0), {}, False),
    ("multiply", (S(X), S(Y)), {}, True),
    ("multiply", (S(X), D), {}, True),
    ("multiply", (COLUMN, S(X)), {}, True),
    ("multiply", (S(X[:, :1]), ROW), {}, True),
    ("multiply", (3, S(X)), {}, True),
    ("divide", (S(X), D), {}, True),
    ("divide", (S(X), 4), {}, True),
    ("divide", (S(X), np.array([[0, np.nan, 2]], "float32")), {}, True),
    ("divide", (D, S(X)), {}, False),
    ("round", (S(X),), {"decimals": 1}, True),
    ("leaky_relu", (S(X),), {"negative_slope": 0.5}, True),
    ("cast", (S(X),), {"dtype": "int32"}, True),
    ("exp", (S(X),), {}, False),
    ("softmax", (S(X),), {}, False),
    ("digitize", (S(X), np.array([0.1, 0.6], "float32")), {}, True),
    ("digitize", (S(X), np.array([-0.1, 0.6], "float32")), {}, False),
    ("transpose", (S(BATCH),), {"axes": (2, 0, 1)}, True),
    ("reshape", (S(X),), {"newshape": (3, -1)}, True),
    ("expand_dims", (S(X),), {"axis": (0, -1)}, True),
    ("squeeze", (S(X[None, :, None]),), {}, True),
    ("squeeze", (S(X[None]),), {"axis": 0}, True),
    ("sum", (S(X),), {}, True),
    ("sum", (S(BATCH),), {"axis": (0, -1), "keepdims": True}, True),
    ("mean", (S(BATCH),), {"axis": 1}, True),
    ("max", (S(X),), {"axis": 0}, False),
    ("concatenate", ([S(X), S(Y)],), {"axis": 1}, True),
    ("concatenate", ([S(X), D],), {"axis": 0}, False),
    ("matmul", (S(X), D.T), {}, False),
    ("matmul", (D, S(X.T)), {}, False),
    ("matmul", (S(X), S(Y.T)), {}, True),
    ("matmul", (S(X), D[0]), {}, False),
    ("matmul", (S(BATCH), D.T), {}, False),
    ("matmul", (S(BATCH), WIDE), {}, False),
    ("matmul", (S(X), WIDE), {}, False),
    ("matmul", (WIDE, S(BATCH)), {}, False),
    ("matmul", (S(BATCH), S(BATCH.swapaxes(1, 2))), {}, True),
    ("einsum", ("abc,adc->adb", S(BATCH), BATCH), {}, False),
    ("einsum", ("abc,abc->a", S(BATCH), S(BATCH)), {}, True),
    ("take", (D, S(np.array([[0, 2], [0, 1]]))), {"axis": 1}, False),
    ("multi_hot", (np.array([[0, 2, 2], [1, -1, 7]]),), {"num_classes": 4, "sparse": True}, True),
    ("one_hot", (np.array([[0, 2], [1, -1]]),), {"num_classes": 3, "axis": 1, "sparse": True}, True),
    ("bincount", (np.array([1, 3, 3]),), {"minlength": 6, "sparse": True}, True),
]


def ids(case):
    name, args, kwargs, _ = case
    kinds = "_".join("sparse" if holds_sparse(a) else "dense" for a in args)
    return "_".join([name, kinds, *(f"{v}" for v in kwargs.values())])


def holds_sparse(a):
    return any(map(holds_sparse, a)) if isinstance(a, list) else isinstance(a, S)


def placed(value, make):
    if isinstance(value, list):
        return [placed(v, make) for v in value]
    return make(value) if isinstance(value, (S, np.ndarray)) else value


def native(b):
    """A case's arrays as tensors of the backend."""
    return lambda v: b.to_sparse(b.convert(v.array)) if isinstance(v, S) else b.convert(v)


def dense(v):
    return v.array if isinstance(v, S) else v


def symbol(v):
    return KerasTensor(dense(v).shape, dense(v).dtype.name, sparse=isinstance(v, S))


def is_sparse(b, x):
    return b.is_composite(x) and b.sparse.is_sparse(x)


@pytest.fixture(params=WITH_SPARSE)
def b(request):
    with backends.use_backend(request.param) as b:
        yield b


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_rule(b, case):
    name, args, kwargs, sparse = case
    function = getattr(ops, name)
    result = function(*placed(list(args), native(b)), **kwargs)
    assert is_sparse(b, result) == sparse
    with backends.use_backend("numpy"), np.errstate(all="ignore"):
        wanted = function(*placed(list(args), dense), **{k: v for k, v in kwargs.items() if k != "sparse"})
    np.testing.assert_allclose(ops.convert_to_numpy(result), wanted, rtol=1e-5, atol=1e-6)
    if name == "digitize":
        args = (args[0], args[1].tolist())
    inferred = function(*placed(list(args), symbol), **kwargs)
    assert inferred.sparse == sparse
    assert name == "bincount" or tuple(inferred.shape) == wanted.shape
    assert ops.dtype(result) == inferred.dtype or name == "bincount"


@pytest.mark.parametrize("name", sparse_rules.KEEP_ZEROS)
def test_zeros_stay(b, name):
    op = REGISTRY[name]
    further = {"cast": ("float16",), "saturate_cast": ("int32",)}.get(name, ())
    result = op.function(native(b)(S(X)), *further)
    assert is_sparse(b, result)
    np.testing.assert_allclose(ops.convert_to_numpy(result), ops.convert_to_numpy(op.function(X, *further)), rtol=1e-3)


COMPILED = ("add", "maximum", "multiply", "divide", "matmul", "concatenate", "sum", "reshape", "exp")


@pytest.mark.parametrize("case", [c for c in CASES if c[0] in COMPILED and not c[2].get("keepdims")], ids=ids)
def test_compiled(b, case):
    name, args, kwargs, sparse = case
    inputs = []
    placed(list(args), lambda v: inputs.append(v))

    def run(tensors):
        rest = iter(tensors)
        result = getattr(ops, name)(*placed(list(args), lambda _: next(rest)), **kwargs)
        assert is_sparse(b, result) == sparse
        return result

    result = b.compile(run)([native(b)(v) for v in inputs])
    with backends.use_backend("numpy"), np.errstate(all="ignore"):
        wanted = getattr(ops, name)(*placed(list(args), dense), **kwargs)
    np.testing.assert_allclose(ops.convert_to_numpy(result), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, d: ops.matmul(x, ops.transpose(d)),
        lambda x, d: ops.matmul(ops.transpose(d), x),
        lambda x, d: ops.multiply(x, d),
        lambda x, d: ops.sum(ops.maximum(ops.square(x), ops.multiply(x, d)), 1),
        lambda x, d: ops.divide(ops.concatenate([x, ops.tanh(x)], 0), ops.concatenate([d, d], 0)),
    ],
    ids=["matmul", "matmul_right", "multiply", "union", "divide"],
)
def test_gradient(b, function):
    """By the values of the sparse tensor and by the dense one, as if both were dense."""
    x = native(b)(S(X))
    at, values = b.sparse.entries(x)

    def loss(sparse):
        def of(params):
            given = b.sparse.mapped(lambda _: params[0], x) if sparse else params[0]
            result = function(given, params[1])
            return ops.sum(ops.square(ops.convert_to_tensor(result, sparse=False))), None

        return of

    (_, _), (by_values, by_d) = b.value_and_grad(loss(True))([values, b.convert(D)])
    (_, _), (by_x, by_d_dense) = b.value_and_grad(loss(False))([b.convert(X), b.convert(D)])
    places = tuple(ops.convert_to_numpy(at).T)
    np.testing.assert_allclose(
        ops.convert_to_numpy(by_values), ops.convert_to_numpy(by_x)[places], rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(ops.convert_to_numpy(by_d), ops.convert_to_numpy(by_d_dense), rtol=1e-5, atol=1e-6)


def test_bincount_counts_what_is_stored(b):
    x, w = np.array([[0, 3, 0], [1, 0, 3]], "int32"), np.array([[0, 2.5, 0], [1, 0, 4]], "float32")
    for rows, wanted in ((0, [0, 0, 0, 2.5]), (slice(None), [[0, 0, 0, 2.5], [0, 1, 0, 4]])):
        counts = ops.bincount(native(b)(S(x[rows])), weights=native(b)(S(w[rows])))
        assert is_sparse(b, counts)
        np.testing.assert_array_equal(ops.convert_to_numpy(counts), wanted)


def test_elements_in_any_order(b):
    at, values = (v[::-1] for v in b.sparse.entries(native(b)(S(X))))
    if b.NAME == "tensorflow":
        x = b.tf.SparseTensor(at, values, X.shape)
    else:
        x = b.sparse.lib.BCOO((values, at), shape=X.shape)
    for function, wanted in (
        (lambda s: ops.multiply(s(Y), x), X * Y),
        (lambda s: ops.multiply(x, s(Y)), X * Y),
        (lambda s: ops.subtract(x, s(Y)), X - Y),
        (lambda s: ops.matmul(s(Y.T), x), Y.T @ X),
        (lambda s: ops.matmul(s(D.T), x), D.T @ X),
        (lambda s: ops.sum(x, 0), X.sum(0)),
    ):
        result = ops.convert_to_tensor(function(lambda v: native(b)(S(v))), sparse=False)
        np.testing.assert_allclose(ops.convert_to_numpy(result), wanted, rtol=1e-6)


def test_batches_of_jax():
    """`BCOO`s with batch dimensions, also with one that is kept once for all rows, and with dense dimensions."""
    if "jax" not in WITH_SPARSE:
        pytest.skip("needs JAX")
    with backends.use_backend("jax"):
        from jax.experimental import sparse

        once = sparse.BCOO(([[1.0, 2.0]], [[[0], [2]]]), shape=(2, 3))
        rows = sparse.BCOO.fromdense(D, n_dense=1)
        np.testing.assert_array_equal(ops.convert_to_numpy(ops.concatenate([once, once], 1)), [[1, 0, 2, 1, 0, 2]] * 2)
        assert ops.add(once, once).n_batch == 1 and ops.multiply(rows, rows).n_dense == 1
        np.testing.assert_allclose(ops.convert_to_numpy(ops.divide(rows, D)), np.ones_like(D))
        np.testing.assert_allclose(ops.convert_to_numpy(ops.subtract(once, rows)), [[1, 0, 2]] * 2 - D)


def test_constants_in_compiled_functions(b):
    y, d = native(b)(S(Y)), b.convert(D)
    result = b.compile(lambda x: ops.divide(ops.maximum(x, y), d))(native(b)(S(X)))
    np.testing.assert_allclose(ops.convert_to_numpy(result), np.maximum(X, Y) / D, rtol=1e-6)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x, y: ops.add(x, y), r"add: shapes .*\(2, 3\), \(3, 2\).* don't broadcast"),
        (lambda x, y: ops.multiply(x, D.T), "multiply: shapes .* don't broadcast"),
        (lambda x, y: ops.divide(x, D.T), "divide: shapes .* don't broadcast"),
        (lambda x, y: ops.matmul(x, x), "matmul: inner dimensions 3 and 2 differ"),
        (lambda x, y: ops.matmul(x, D), "matmul: inner dimensions 3 and 2 differ"),
        (lambda x, y: ops.matmul(D, x), "matmul: inner dimensions 3 and 2 differ"),
        (lambda x, y: ops.einsum("ij,jk->ik", x, x), "einsum: index 'j'"),
        (lambda x, y: ops.sum(x, 2), "sum: axis 2 is out of bounds"),
        (lambda x, y: ops.squeeze(x, 0), "squeeze: dimension 0 .* is 2"),
        (lambda x, y: ops.reshape(x, (4, 2)), r"reshape: \(2, 3\) has 6 elements"),
        (lambda x, y: ops.transpose(x, (0, 0)), "transpose: "),
        (lambda x, y: ops.concatenate([x, y], 0), "concatenate: shapes .* must be equal"),
    ],
)
def test_mistakes_are_named_before_a_sparse_function_is_called(call, message, b):
    with pytest.raises(ValueError, match=message):
        call(*placed([S(X), S(D.T)], native(b)))


def test_backends_without_sparse_tensors():
    with backends.use_backend("numpy"):
        for make in (lambda **k: ops.one_hot([0, 1], 2, **k), lambda **k: ops.bincount([0, 1], **k)):
            with pytest.raises(ValueError, match="no sparse tensors"):
                make(sparse=True)


def test_symbols_that_are_not_dense(b):
    x = KerasTensor((None, 3), sparse=True)
    assert ops.convert_to_tensor(x).sparse and not ops.convert_to_tensor(x, sparse=False).sparse
    assert ops.silu(ops.transpose(x)).sparse and not ops.sigmoid(x).sparse
    assert ops.shape(native(b)(S(X))) == (2, 3)


def test_models_take_sparse_inputs(b):
    inputs = layers.Input((3,), sparse=True)
    squared = layers.Multiply()([inputs, inputs])
    model = models.Model(inputs, layers.Add()([layers.Dense(3)(inputs), squared]))
    assert squared.sparse and not model.output.sparse
    x = native(b)(S(X))
    np.testing.assert_allclose(ops.convert_to_numpy(model(x)), ops.convert_to_numpy(model(b.convert(X))), rtol=1e-5)
    squares = models.Model(inputs, squared)
    np.testing.assert_allclose(squares.predict(iter([x, x]), steps=2, verbose=0), np.concatenate([X**2] * 2), rtol=1e-5)
    np.testing.assert_allclose(squares.predict_on_batch(x), X**2, rtol=1e-5)
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.fit(iter([(x, b.convert(Y))]), verbose=0)
    dense = models.clone_model(model)
    dense.set_weights(before)
    dense.compile("sgd", "mse")
    dense.fit(X, Y, verbose=0)
    for found, wanted in zip(model.get_weights(), dense.get_weights(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_sparse_tensors_of_pytorch():
    """They go to PyTorch's own functions."""
    torch = pytest.importorskip("torch")
    with backends.use_backend("torch"):
        x = torch.from_numpy(X).to_sparse()
        for result in (ops.relu(x), ops.multiply(x, 2.0), ops.transpose(x), ops.matmul(x, ops.transpose(x))):
            assert result.is_sparse and not ops.convert_to_tensor(result, sparse=False).is_sparse
        np.testing.assert_allclose(ops.convert_to_numpy(ops.matmul(x, D.T)), X @ D.T, rtol=1e-6)
        np.testing.assert_array_equal(ops.convert_to_numpy(x), X)


# ------------------------------------------------------------------ ragged tensors, which TensorFlow alone has

ROWS = [[1.0, -2.0], [], [0.5]]


def unit_vectors(x):
    return ops.take(np.eye(3, dtype="float32"), ops.cast(x, "int32"), axis=0)


@pytest.fixture
def ragged():
    if "tensorflow" not in WITH_SPARSE:
        pytest.skip("needs TensorFlow")
    with backends.use_backend("tensorflow"):
        import tensorflow as tf

        yield tf.ragged.constant(ROWS)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: ops.exp(x), [np.exp(r).tolist() for r in ROWS]),
        (lambda x: ops.add(x, x), [[2.0, -4.0], [], [1.0]]),
        (lambda x: ops.multiply(2, x), [[2.0, -4.0], [], [1.0]]),
        (lambda x: ops.subtract(x, np.array([[1.0], [2.0], [3.0]], "float32")), [[0.0, -3.0], [], [-2.5]]),
        (lambda x: ops.greater(x, 0), [[True, False], [], [True]]),
        (lambda x: ops.cast(x, "int32"), [[1, -2], [], [0]]),
        (lambda x: ops.sum(x, axis=1), [-1.0, 0.0, 0.5]),
        (lambda x: ops.max(x), 1.0),
        (lambda x: unit_vectors(ops.abs(x)), [[[0, 1, 0], [0, 0, 1]], [], [[1, 0, 0]]]),
        (lambda x: ops.matmul(unit_vectors(x), np.full((3, 1), 2, "float32")), [[[2], [2]], [], [[2]]]),
    ],
    ids=["exp", "add", "multiply", "broadcast", "compare", "cast", "sum", "max", "take", "matmul"],
)
def test_ragged(ragged, function, wanted):
    result = function(ragged)
    inferred = function(KerasTensor((3, None), ragged=True))
    assert inferred.ragged == hasattr(result, "row_lengths")
    assert len(inferred.shape) == len(result.shape)
    if hasattr(result, "row_lengths"):
        assert result.row_lengths().numpy().tolist() == [len(row) for row in wanted]
        result, wanted = result.flat_values, [v for row in wanted for v in row]
    np.testing.assert_allclose(ops.convert_to_numpy(result), wanted, rtol=1e-6)


def test_ragged_indices_along_later_axes(ragged):
    import tensorflow as tf

    x, rows = np.arange(24.0).reshape(2, 3, 4).astype("float32"), [[2, 0], [], [-1]]
    for axis, length in ((1, 3), (2, 4)):
        found = ops.take(x, tf.ragged.constant(rows, tf.int32), axis=axis)
        for i, row in enumerate(rows):
            part = found[:, i] if axis == 1 else found[:, :, i]
            np.testing.assert_array_equal(ops.convert_to_numpy(part), np.take(x, [k % length for k in row], axis=axis))


def test_ragged_tensors_are_refused_without_a_rule(ragged):
    for x in (ragged, KerasTensor((3, None), ragged=True)):
        with pytest.raises(ValueError, match="sort: ragged tensors aren't taken here"):
            ops.sort(x)
    assert ops.shape(ragged) == (3, None)
    assert ops.ndim(ragged) == 2
