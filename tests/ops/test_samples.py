"""What is done with each line of the sample table: value, dtype, symbolic twin, gradient, compiled run, override."""

import itertools
import pathlib
import sys

import numpy as np
import pytest

from kerata import backends, ops
from kerata.backends import repeated
from kerata.core import dtypes
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import trace

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from samples import SAMPLES

# float32 results of float64 oracles; integers stay within 32 bits as JAX keeps them.
NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
STEP = 1e-5  # of central differences, in float64

BACKENDS = tuple(name for name in ("numpy", "jax", "torch", "tensorflow") if name in backends.installed())
TRAINING = tuple(name for name in BACKENDS if name in backends.TRAINING)
# JAX compiles each case, which takes longer than all the rest: a few of an op will do.
MOST = {"jax": 3}


def number(case):
    """Which one of its op's samples it is."""
    return int(case.label.rpartition("-")[2]) if "-" in case.label else 0


def runs(cases, names=BACKENDS, most=MOST):
    """Parameters `case, name`: each of the cases on each backend."""
    return pytest.mark.parametrize(
        "case, name",
        [
            pytest.param(case, name, id=f"{name}-{case}")
            for name in names
            for case in cases
            if number(case) < most.get(name, len(SAMPLES))
        ],
    )


def function(case):
    found = ops
    for part in case.op.split("."):
        found = getattr(found, part)
    return found


def is_tensor(value):
    return isinstance(value, np.ndarray)


def is_tensors(value):
    return isinstance(value, (list, tuple)) and bool(value) and all(map(is_tensor, value))


def changed(case, change):
    """The arguments with every tensor replaced by `change(it)`."""
    return {
        k: change(v) if is_tensor(v) else [change(t) for t in v] if is_tensors(v) else v
        for k, v in case.arguments.items()
    }


def tensors(case):
    """The tensors, flat, in order."""
    found = []
    changed(case, found.append)
    return found


def narrow(array):
    return array.astype(NARROW.get(array.dtype.name, array.dtype.name))


def native(array):
    return ops.convert_to_tensor(narrow(array))


def expected(case):
    arguments = list(case.arguments.items())
    by_position = [v for _, v in itertools.takewhile(lambda kv: is_tensor(kv[1]) or is_tensors(kv[1]), arguments)]
    by_name = dict(arguments[len(by_position) :])
    with np.errstate(all="ignore"):
        return (
            case.oracle(*by_position, **by_name) if not takes_numbers(case) else case.oracle(*case.arguments.values())
        )


def takes_numbers(case):
    # Operands that are Python numbers have no name in NumPy's ufuncs.
    return isinstance(case.oracle, np.ufunc) or case.oracle is np.where


def flat(result):
    if isinstance(result, dict):
        return [t for v in result.values() for t in flat(v)]
    return [t for v in result for t in flat(v)] if isinstance(result, (list, tuple)) else [result]


def call(case, change):
    with np.errstate(all="ignore"):
        arguments = changed(case, change)
        return flat(case.call(function(case), **arguments) if case.call else function(case)(**arguments))


def host(x):
    return np.asarray(ops.convert_to_numpy(x))


def close(got, want, tol, context=""):
    want = np.asarray(want)
    assert got.shape == want.shape, f"{context}shape {got.shape}, expected {want.shape}"
    if got.dtype.name in ("bfloat16", "float16"):
        got = got.astype("float32")
    if got.dtype.kind in "fc" and tol:
        np.testing.assert_allclose(got, want, rtol=tol, atol=tol, err_msg=context)
    else:
        np.testing.assert_array_equal(got, want, err_msg=context)


def compiled(b, case):
    """The call as one compiled function of the tensors."""

    def run(*values):
        number = itertools.count()
        return call(case, lambda a: values[next(number)])

    return flat(b.compile(run)(*[native(a) for a in tensors(case)]))


@runs(SAMPLES)
def test_value_and_dtype(case, name):
    with backends.use_backend(name) as backend:
        check_value_and_dtype(case, backend)


def check_value_and_dtype(case, backend):
    # JAX compiles either way, so all but an op's first sample are compiled in one rather than op by op.
    whole = backend.NAME == "jax" and case.compiled and number(case) and tensors(case)
    results = [host(r) for r in (compiled(backend, case) if whole else call(case, native))]
    if case.oracle is not None:
        wanted = [np.asarray(w) for w in flat(expected(case))]
        assert len(results) == len(wanted)
        for got, want in zip(results, wanted):
            close(got, want, case.tol)
            assert got.dtype.name == (case.gives or NARROW.get(want.dtype.name, want.dtype.name))
    elif case.gives:
        assert results[0].dtype.name == case.gives
    symbolic = call(case, lambda a: KerasTensor(a.shape, narrow(a).dtype.name))
    if tensors(case):
        for got, spec in zip(results, symbolic, strict=True):
            assert isinstance(spec, KerasTensor), "no symbolic result"
            assert compatible(got.shape, spec.shape), f"eager {got.shape}, symbolic {spec.shape}"
            assert got.dtype.name == spec.dtype, f"eager {got.dtype.name}, symbolic {spec.dtype}"


def compatible(known, spec):
    return len(known) == len(spec) and all(s is None or s == k for k, s in zip(known, spec))


@pytest.mark.parametrize("case", SAMPLES, ids=str)
def test_symbolic_with_unknown_dimensions(case):
    """Each subset of the tensors with an unknown first dimension: the rank is right, and nothing known is wrong."""
    arrays = tensors(case)
    results = [host(r).shape for r in call(case, native)]
    with_axis = [i for i, a in enumerate(arrays) if a.ndim]
    for count in range(1, len(with_axis) + 1):
        for unknown in itertools.combinations(with_axis, count):
            number = itertools.count()

            def spec(a, number=number, unknown=unknown):
                hidden = next(number) in unknown
                return KerasTensor((None, *a.shape[1:]) if hidden else a.shape, narrow(a).dtype.name)

            try:
                symbolic = call(case, spec)
            except ValueError as error:
                assert "known" in str(error), error
                continue
            for got, s in zip(results, symbolic, strict=False):
                assert compatible(got, s.shape), f"eager {got}, symbolic {s.shape} with unknown {unknown}"


def differentiable(case):
    return case.grad and any(a.dtype.kind == "f" and a.size for a in tensors(case))


@runs([s for s in SAMPLES if differentiable(s)], TRAINING, most={"jax": 2, "torch": 5, "tensorflow": 5})
def test_gradient(case, name):
    """Directional derivative against central differences of the NumPy backend in float64."""
    random = np.random.default_rng(7)
    arrays = tensors(case)
    floating = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    weights = None

    def loss(b, values, dtype):
        nonlocal weights
        merged = [values[floating.index(i)] if i in floating else b.convert(a) for i, a in enumerate(arrays)]
        number = itertools.count()
        results = call(case, lambda a: merged[next(number)])
        results = [r for r in results if dtypes.is_float(b.dtype_of(r))]
        if weights is None:
            weights = [random.uniform(0.5, 1.5, tuple(r.shape)) for r in results]
        total = b.convert(np.zeros((), dtype))
        for r, w in zip(results, weights):
            total = total + ops.sum(ops.multiply(r, b.convert(w.astype(dtype))))
        return total

    oracle = backends.load("numpy")
    directions = [random.uniform(-1, 1, arrays[i].shape) for i in floating]
    with backends.use_backend(oracle), np.errstate(all="ignore"):
        moved = [
            float(loss(oracle, [arrays[i] + s * STEP * d for i, d in zip(floating, directions)], "float64"))
            for s in (1, -1)
        ]
    if not weights:
        pytest.skip("no floating result")
    numeric = (moved[0] - moved[1]) / (2 * STEP)
    with backends.use_backend(name) as b:
        params = [native(arrays[i]) for i in floating]
        differentiate = b.value_and_grad(lambda p: (loss(b, p, "float32"), ()))
        _, grads = (b.compile(differentiate) if name == "jax" and case.compiled else differentiate)(params)
        grads = [host(g) for g in grads]
    analytic = sum(float(np.sum(g.astype("float64") * d)) for g, d in zip(grads, directions))
    scale = 1 + sum(float(np.sum(np.abs(g))) for g in grads)
    assert abs(analytic - numeric) <= 50 * max(case.tol, 2e-5) * scale, f"analytic {analytic}, numeric {numeric}"


@pytest.mark.skipif("tensorflow" not in backends.installed(), reason="needs TensorFlow")
@pytest.mark.parametrize("case", [s for s in SAMPLES if s.compiled and tensors(s)], ids=str)
def test_compiled_by_tensorflow(case):
    with backends.use_backend("tensorflow") as b:
        for got, want in zip(compiled(b, case), call(case, native), strict=True):
            close(host(got), host(want), case.tol)


@runs([s for s in SAMPLES if tensors(s)], names=[name for name in BACKENDS if name != "jax"])
def test_repeated_calls(case, name, monkeypatch):
    """Eager calls that come again and again give the bits of the first, which went op by op."""
    monkeypatch.setattr(repeated, "PATIENCE", 1)
    with backends.use_backend(name):
        first, again = call(case, native), call(case, native)
        for got, want in zip(again, first, strict=True):
            np.testing.assert_array_equal(host(got), host(want))


@pytest.mark.slow
@pytest.mark.skipif("torch" not in backends.installed(), reason="needs PyTorch")
@pytest.mark.parametrize("case", [s for s in SAMPLES if s.compiled and tensors(s) and not number(s)], ids=str)
def test_compiled_by_torch(case):
    with backends.use_backend("torch") as b:
        for got, want in zip(compiled(b, case), call(case, native), strict=True):
            close(host(got), host(want), case.tol)


COMPOSED = [
    s for s in SAMPLES if s.compiled and tensors(s) and getattr(getattr(function(s), "op", None), "is_composite", True)
]


@runs(COMPOSED, most={"jax": 1, "tensorflow": 2})
def test_plan_with_unknown_dimensions(case, name):
    """Traced into primitives with first dimensions unknown, then run as a plan: the same values as eagerly."""
    arrays = tensors(case)
    specs = [KerasTensor((None, *a.shape[1:]) if a.ndim else (), narrow(a).dtype.name) for a in arrays]

    def run(*values):
        number = itertools.count()
        return call(case, lambda a: values[next(number)])

    try:
        graph = trace(run, *specs, dynamic=True)
    except ValueError as error:
        assert "known" in str(error), error
        pytest.skip("needs known dimensions")
    with backends.use_backend(name) as b:
        plan = Plan(graph, b)
        # Under jit the lengths must have stayed Python ints.
        results = (b.compile(plan) if name == "jax" else plan)(*[native(a) for a in arrays])
        for got, want in zip(flat(results), call(case, native), strict=True):
            close(host(got), host(want), case.tol)


OVERRIDDEN = [s for s in SAMPLES if getattr(function(s), "op", None) is not None and function(s).op.is_composite]


@runs(OVERRIDDEN)
def test_override_equals_body(case, name):
    with backends.use_backend(name) as b:
        op = function(case).op
        if not hasattr(b, op.native):
            pytest.skip("no override")
        wanted = call(case, native)
        saved = vars(b).pop(op.native)
        op.forms.clear()
        try:
            body = call(case, native)
        finally:
            vars(b)[op.native] = saved
            op.forms.clear()
        for got, want in zip(body, wanted, strict=True):
            assert b.dtype_of(got) == b.dtype_of(want)
            close(host(got), host(want), case.tol)


# Ops on functions, objects or side effects, which have tests of their own.
WITHOUT_SAMPLE = {
    "cond", "fori_loop", "map", "scan", "switch", "vectorized_map", "while_loop", "associative_scan", "custom_gradient",
    "convert_to_numpy", "convert_to_tensor", "dtype", "is_tensor", "ndim", "shape", "size", "vectorize", "jvp",
}  # fmt: skip


def test_every_op_has_a_sample():
    faces = {"numpy", "nn", "linalg", "image", "core"}
    public = {n for n in ops.__all__ if n not in faces} | {f"image.{n}" for n in ops.image.__all__}
    public -= WITHOUT_SAMPLE
    sampled = {s.op for s in SAMPLES}
    assert not public - sampled, f"without samples: {sorted(public - sampled)}"
