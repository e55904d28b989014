"""What a backend offers beyond natives: conversion, storage, gradients, compilation, mapping, control flow."""

import ml_dtypes
import numpy as np
import pytest

from kerata.backends import load

TRAINING = ("jax", "torch", "tensorflow")
ALL = ("numpy", *TRAINING)


def loaded(names):
    return pytest.fixture(params=names)(lambda request: pytest.importorskip(request.param) and load(request.param))


backend = loaded(ALL)
training = loaded(TRAINING)


def value(b, x):
    return np.asarray(b.to_numpy(x), "float64")


def close(b, x, wanted, tolerance=1e-6):
    np.testing.assert_allclose(value(b, x), wanted, rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------ tensors


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_conversion_keeps_values_dtype_and_shape(backend, dtype, shape):
    array = np.ones(shape, dtype)
    x = backend.convert(array)
    assert backend.is_tensor(x) and backend.dtype_of(x) == dtype and backend.shape_of(x) == shape
    back = backend.to_numpy(x)
    assert back.dtype == array.dtype and back.shape == shape
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("array", [np.ones((2, 3))[::-1], np.ones((2, 3)).T, np.ones(2).astype(">f4"), np.float32(3)])
def test_conversion_of_odd_arrays(backend, array):
    np.testing.assert_array_equal(backend.to_numpy(backend.convert(array, "float32")), np.asarray(array, "float32"))


def test_conversion_of_read_only_arrays_does_not_warn(backend, recwarn):
    array = np.ones(3, "float32")
    array.flags.writeable = False
    backend.convert(array)
    assert not recwarn.list


def test_conversion_of_scalars_lists_and_tensors(backend):
    one = backend.convert(1.0, "float32")
    assert backend.dtype_of(one) == "float32"
    close(backend, backend.convert([[1, 2], [3, 4]], "float32"), [[1, 2], [3, 4]])
    close(backend, backend.convert([one, 2 * one]), [1, 2])
    assert backend.dtype_of(backend.convert(one, "int32")) == "int32"
    assert backend.convert(one) is one or backend.NAME == "numpy"


@pytest.mark.parametrize("other", ALL)
def test_conversion_of_other_backends_tensors(backend, other):
    pytest.importorskip(other)
    for dtype in ("float32", "bfloat16", "int32"):
        x = load(other).convert(np.arange(6).reshape(2, 3), dtype)
        y = backend.convert(x)
        assert backend.dtype_of(y) == dtype
        close(backend, y, np.arange(6).reshape(2, 3))


def test_types_of_tensors_are_known(backend):
    x = backend.convert(np.ones((2, 2), "float32"))
    assert type(x) in backend.TYPES
    assert type(backend.sum(x, None, False)) in backend.TYPES
    assert x.dtype in backend.FLOATS
    assert backend.less(x, x).dtype is backend.BOOL


def test_bitcast(backend):
    x = backend.convert(np.array([1.0, -2.0], "float32"))
    assert (
        backend.to_numpy(backend.bitcast(x, "int32")).tolist()
        == np.array([1.0, -2.0], "float32").view("int32").tolist()
    )
    assert backend.shape_of(backend.bitcast(x, "uint8")) == (2, 4)


# ------------------------------------------------------------------ storage


def test_variables_copy_what_they_are_given(backend):
    array = np.ones((2, 2), "float32")
    storage = backend.variable(array, True, "kernel")
    array[:] = 5
    close(backend, backend.read(storage), 1)
    storage = backend.assign(storage, backend.convert(np.full((2, 2), 3, "float32")))
    close(backend, backend.read(storage), 3)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "bool", "bfloat16"])
def test_variables_of_other_dtypes(backend, dtype):
    storage = backend.variable(np.ones(3, dtype), False, "a b")
    assert backend.dtype_of(backend.read(storage)) == dtype


# ------------------------------------------------------------------ gradients


def test_value_and_grad(training):
    b = training
    x, unused = b.convert(np.array([1.0, 2.0], "float32")), b.convert(np.ones((2, 2), "float32"))

    def loss(params, scale):
        y = b.multiply(params[0], params[0])
        return b.sum(b.multiply(y, scale), None, False), {"y": y}

    (total, aux), grads = b.value_and_grad(loss)([x, unused], b.convert(np.float32(3)))
    close(b, total, 15)
    close(b, aux["y"], [1, 4])
    close(b, grads[0], [6, 12])
    close(b, grads[1], np.zeros((2, 2)))


def test_gradient_of_constants_is_zero(training):
    b = training
    x = b.convert(np.ones(2, "float32"))
    (_, _), grads = b.value_and_grad(lambda params: (b.convert(np.float32(1)), None))([x])
    close(b, grads[0], [0, 0])


def test_gradient_of_a_gradient(training):
    b = training
    x = b.convert(np.array([2.0], "float32"))

    def cube(params):
        return b.sum(params[0] * params[0] * params[0], None, False), None

    def slope(params):
        return b.sum(b.value_and_grad(cube)(params)[1][0], None, False), None

    close(b, b.value_and_grad(slope)([x])[1][0], [12])


def test_variables_take_gradients(training):
    b = training
    storage = b.variable(np.array([3.0], "float32"), True, "w")
    (_, _), grads = b.value_and_grad(lambda p: (b.sum(p[0] * p[0], None, False), None))([b.read(storage)])
    close(b, grads[0], [6])


def test_stop_gradient(training):
    b = training
    x = b.convert(np.array([3.0], "float32"))
    (_, _), grads = b.value_and_grad(lambda p: (b.sum(p[0] * b.stop_gradient(p[0]), None, False), None))([x])
    close(b, grads[0], [3])


@pytest.mark.parametrize("spelling", ["upstream among arguments", "upstream alone"])
def test_custom_gradient(training, spelling):
    b = training

    def double(x):
        def among(*args, upstream=None):
            return upstream * 10

        return x * 2, among if spelling == "upstream among arguments" else lambda dy: dy * 10

    x = b.convert(np.array([3.0], "float32"))
    (total, _), grads = b.value_and_grad(lambda p: (b.sum(b.custom_gradient(double)(p[0]), None, False), None))([x])
    close(b, total, 6)
    close(b, grads[0], [10])


@pytest.mark.parametrize("name", ["relu", "sqrt", "logsumexp", "max", "softmax"])
def test_gradients_where_they_are_delicate(training, name):
    """0 at relu's corner and for rows of -inf, shared among equal maxima."""
    b = training
    cases = {
        "relu": ([-1.0, 0, 2], lambda x: b.relu(x), [0, 0, 1]),
        "sqrt": ([4.0], lambda x: b.sqrt(x), [0.25]),
        "logsumexp": ([-np.inf, -np.inf], lambda x: b.logsumexp(x, 0, False), [0, 0]),
        "max": ([1.0, 3, 3], lambda x: b.max(x, 0, False), [0, 0.5, 0.5]),
        "softmax": ([0.0, 0], lambda x: b.softmax(x, -1)[0], [0.25, -0.25]),
    }
    x, fn, wanted = cases[name]
    x = b.convert(np.array(x, "float32"))
    (_, _), grads = b.value_and_grad(lambda p: (b.sum(fn(p[0]), None, False), None))([x])
    close(b, grads[0], wanted)


def test_first_of_equal_values_gets_the_pool_gradient(training):
    b = training
    x = b.convert(np.ones((1, 2, 2, 1), "float32"))
    for how in (((2, 2), (2, 2), "valid"), ((2, 2), (1, 1), "valid"), ((2, 2), (1, 1), "same")):

        def corner(p, how=how):
            return b.sum(b.max_pool(p[0], *how, "channels_last")[:, :1, :1], None, False), None

        close(b, b.value_and_grad(corner)([x])[1][0], [[[[1], [0]], [[0], [0]]]])


# ------------------------------------------------------------------ compilation, mapping


def test_compile(training):
    b = training
    x = b.convert(np.ones((2, 3), "float32"))
    options = {"backend": "eager"} if b.NAME == "torch" else {}
    close(b, b.compile(lambda x: b.sum(b.exp(x), 0, False), **options)(x), np.full(3, 2 * np.e), 1e-5)


def test_vmap(backend):
    b = backend
    x, y = b.convert(np.arange(6.0).reshape(2, 3).astype("float32")), b.convert(np.ones(2, "float32"))
    close(b, b.vmap(lambda row: b.sum(row * row, None, False))(x), [5, 50])
    close(b, b.vmap(lambda row, c: b.add(row, c), (1, None), 1)(x, y), np.arange(6).reshape(2, 3) + 1)
    left, right = b.vmap(lambda row: (row, b.sum(row, None, False)), 0, (1, 0))(x)
    close(b, left, np.arange(6).reshape(2, 3).T)
    close(b, right, [3, 12])


def test_block_device_and_version(backend):
    x = backend.convert(np.ones(2, "float32"))
    assert backend.block(x) is x
    assert "cpu" in backend.device_name().lower() or "gpu" in backend.device_name().lower()
    assert backend.version()[0].isdigit()
    with backend.device_scope("cpu"):
        close(backend, backend.zeros((2,), "float32"), 0)


# ------------------------------------------------------------------ control flow


def i32(b, v):
    return b.convert(np.int32(v))


def test_cond(backend):
    b = backend
    for truth in (True, False):
        got = b.cond(b.convert(np.bool_(truth)), lambda: [i32(b, 1), i32(b, 2)], lambda: [i32(b, 3), i32(b, 4)])
        assert [int(b.to_numpy(g)) for g in got] == ([1, 2] if truth else [3, 4])


def test_switch_clamps(backend):
    b = backend
    x = i32(b, 5)
    for index, wanted in ((-1, 5), (0, 5), (1, 10), (7, 10)):
        (got,) = b.switch(i32(b, index), [lambda v: [v], lambda v: [v * 2]], [x])
        assert int(b.to_numpy(got)) == wanted


@pytest.mark.parametrize("limit", [None, 3])
def test_while_loop(backend, limit):
    b = backend
    got = b.while_loop(lambda i, s: i < 5, lambda i, s: [i + 1, s + i], [i32(b, 0), i32(b, 0)], limit)
    assert [int(b.to_numpy(g)) for g in got] == ([5, 10] if limit is None else [3, 3])


def running(b):
    def step(carry, x):
        total = carry[0] + x[0]
        return [total], [total, x[0] * 2]

    return step


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, True])
@pytest.mark.parametrize("length", [4, 1, 0])
def test_scan(backend, reverse, unroll, length):
    b = backend
    x = np.arange(1, 2 * length + 1, dtype="float32").reshape(length, 2)
    start = [b.zeros((2,), "float32")]
    (carry,), (totals, doubled) = b.scan(running(b), start, [b.convert(x)], length, reverse, unroll)
    wanted = x[::-1].cumsum(0)[::-1] if reverse else x.cumsum(0)
    close(b, carry, x.sum(0))
    close(b, totals, wanted.reshape(length, 2))
    close(b, doubled, 2 * x)


def test_scan_without_inputs_or_carry(backend):
    b = backend
    (carry,), ys = b.scan(lambda c, x: ([c[0] + 1], []), [i32(b, 0)], [], 3, False, 1)
    assert int(b.to_numpy(carry)) == 3 and list(ys) == []
    carry, (ys,) = b.scan(lambda c, x: ([], [x[0] + 1]), [], [b.convert(np.arange(3.0, dtype="float32"))], 3, False, 1)
    close(b, ys, [1, 2, 3])


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("length", [4, None])
def test_scan_in_a_tensorflow_function(jit_compile, length):
    tf = pytest.importorskip("tensorflow")
    b = load("tensorflow")
    if jit_compile and length is None:
        pytest.skip("XLA wants shapes")

    def run(x):
        (_,), (totals, _) = b.scan(running(b), [b.zeros((2,), "float32")], [x], x.shape[0], True, 1)
        return totals, tf.gradients(totals, x)[0]

    run = b.compile(run, jit_compile=jit_compile, input_signature=[tf.TensorSpec((length, 2), "float32")])
    x = np.arange(8.0, dtype="float32").reshape(4, 2)
    totals, gradient = run(x)
    close(b, totals, x[::-1].cumsum(0)[::-1])
    close(b, gradient, np.arange(1, 5)[:, None] * np.ones(2))


@pytest.mark.parametrize("name", ["lstm", "gru"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sequences", [False, True])
def test_recurrent_kernels(training, name, reverse, sequences):
    b, numpy = training, load("numpy")
    rng = np.random.default_rng(0)
    gates, states = (4, 2) if name == "lstm" else (3, 1)
    bias = (4 * gates,) if gates == 4 else (2, 4 * gates)
    shapes = [(2, 5, 3), *[(2, 4)] * states, (3, 4 * gates), (4, 4 * gates), bias]
    arrays = [rng.standard_normal(s) for s in shapes]
    wanted = getattr(numpy, name)(*arrays, reverse, sequences)
    assert wanted[0].ndim == (3 if sequences else 2)
    tensors = [b.convert(a, "float32") for a in arrays]

    def run(*tensors):
        return getattr(b, name)(*tensors, reverse, sequences)

    for form in (run, *([b.compile(run), b.compile(run, jit_compile=True)] if b.NAME == "tensorflow" else [])):
        for got, want in zip(form(*tensors), wanted, strict=True):
            close(b, got, want, 1e-5)


def test_bfloat16_goes_through_torch_bit_by_bit():
    pytest.importorskip("torch")
    b = load("torch")
    array = np.array([1.0, np.pi, -3e38], ml_dtypes.bfloat16)
    np.testing.assert_array_equal(b.to_numpy(b.convert(array)), array)


def test_autograph_leaves_our_code_alone():
    """Converting it took 12 s for a model of five layers in a user's `tf.function`."""
    pytest.importorskip("tensorflow")
    load("tensorflow")
    from tensorflow.python.autograph.impl.conversion import is_allowlisted

    import kerata

    model = kerata.Sequential([kerata.layers.Dense(1)])
    for function in (model.__call__, model.layers[0].call, kerata.ops.relu, kerata.optimizers.SGD().apply):
        assert is_allowlisted(function)


def test_torch_compiles_a_plan_for_one_shape(monkeypatch):
    """Left to itself Dynamo takes the shapes of one plan for another's, and Inductor failed at a convolution."""
    torch = pytest.importorskip("torch")
    seen = []
    monkeypatch.setattr(torch, "compile", lambda function, **options: seen.append(options))
    load("torch").compile(abs)
    load("torch").compile(abs, dynamic=True)
    assert seen == [{"dynamic": False}, {"dynamic": True}]
