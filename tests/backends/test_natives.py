"""Every native of every backend against NumPy and SciPy in float64, eager and compiled."""

import numpy as np
import pytest

from kerata.backends import load

from .samples import SAMPLES, Typed

BACKENDS = ("numpy", "jax", "torch", "tensorflow")
# What one rounding of the dtype may cost, times a handful of operations.
TOLERANCE = {"float32": 3e-6, "float64": 1e-10, "bfloat16": 2e-2, "float16": 2e-3, "complex64": 3e-6}
# JAX has no 64-bit types unless asked for them at the start.
WIDE = ("float64", "int64")


def arguments(backend, sample, dtype):
    """The case's arguments as the backend's tensors, and as float64 for the oracle."""

    def native(a):
        if isinstance(a, Typed):
            return backend.convert(a.array)
        if isinstance(a, np.ndarray):
            return backend.convert(a, dtype)
        return nest(a, native)

    def exact(a):
        if isinstance(a, Typed):
            return a.array
        if isinstance(a, np.ndarray):
            a = a.astype(np.dtype(dtype))
            return a if dtype in ("bool", "complex64") or "int" in dtype else a.astype(np.float64)
        return nest(a, exact)

    return [native(a) for a in sample.args], [exact(a) for a in sample.args]


def nest(a, fn):
    return type(a)(fn(e) for e in a) if isinstance(a, (tuple, list)) else a


def leaves(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def check(backend, sample, dtype, result, expected):
    result, expected = leaves(result), leaves(expected)
    assert len(result) == len(expected)
    outs = sample.out if isinstance(sample.out, tuple) else (sample.out,) * len(result)
    for got, want, out in zip(result, expected, outs, strict=False):
        out = dtype if out in (None, "same") else out
        if backend.NAME == "jax":
            out = {"float64": "float32", "int64": "int32"}.get(out, out)
        assert backend.is_tensor(got), type(got)
        assert backend.dtype_of(got) == out
        got = backend.to_numpy(got)
        assert got.shape == np.shape(want)
        tolerance = TOLERANCE.get(dtype, 1e-5) * sample.tolerance
        wide = np.complex128 if np.iscomplexobj(want) else np.float64
        np.testing.assert_allclose(got.astype(wide), np.asarray(want, wide), rtol=tolerance, atol=tolerance)


def cases():
    for i, sample in enumerate(SAMPLES):
        for dtype in sample.dtypes:
            yield pytest.param(sample, dtype, id=f"{i}-{sample.name}-{dtype}")


@pytest.fixture(params=BACKENDS)
def backend(request):
    pytest.importorskip(request.param)
    return load(request.param)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample,dtype", list(cases()))
def test_value_and_dtype(backend, sample, dtype):
    native = getattr(backend, sample.name, None)
    if native is None:
        pytest.skip("no override")
    if backend.NAME == "jax" and dtype in WIDE:
        pytest.skip("x64 is off")
    if backend.NAME == "jax" and dtype == "bfloat16" and sample.dtypes[0] != dtype:
        pytest.skip("each costs a compilation, and the promotion is JAX's own")
    given, exact = arguments(backend, sample, dtype)
    check(backend, sample, dtype, native(*given), sample.oracle(*exact))
