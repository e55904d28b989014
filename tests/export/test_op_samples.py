"""The table of op samples through ONNX Runtime, against NumPy."""

import numpy as np
import pytest
from running import close, run, symbol
from samples import SAMPLES
from test_samples import call, host, narrow, native, tensors

from kerata import backends, ops
from kerata.core import tree
from kerata.graph.onnx import EMITTERS, NoOnnxForm, emit, traced
from kerata.graph.onnx.table import COMPLEX, complete
from kerata.ops.declare import REGISTRY

# Primitives that ONNX has nothing for: decompositions, bits read as another dtype, hashes, random numbers, training.
WITHOUT = {
    "bitcast", "cholesky", "cross_buckets", "eig", "eigh", "gradients", "hash_buckets", "inv", "lu_factor", "nextafter", "qr", "slogdet",
    "solve", "solve_triangular", "svd", "update_in_place",
}  # fmt: skip
# Cases in which ONNX Runtime does otherwise, by its own rules.
OTHERWISE = {
    "cast-4": "bfloat16 is computed and given back as float32",
    "max-8": "infinity wins over NaN",
    "argmax-4": "NaN isn't the largest",
    "argmin-4": "NaN isn't the smallest",
    "cumprod-3": "a Scan over no steps (where that isn't known beforehand)",
    "ctc_loss-2": "the same",
    "isin-1": "gathers from nothing",
}

UNKNOWN_STAYS = {"squeeze"}

pytestmark = pytest.mark.filterwarnings("ignore")
every_sample = pytest.mark.parametrize("case", SAMPLES, ids=map(str, SAMPLES))


@every_sample
@pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))
def test_sample(case, dynamic):
    if str(case) in OTHERWISE:
        pytest.skip(OTHERWISE[str(case)])
    if dynamic and str(case) in UNKNOWN_STAYS:
        pytest.skip("what isn't known to be 1 isn't dropped")
    arrays = [narrow(a) for a in tensors(case)]

    def function(*given):
        rest = iter(given)
        return call(case, lambda a: next(rest))

    with backends.use_backend("numpy"):
        wanted = [host(w) for w in call(case, native)]
        try:
            graph = traced(function, [symbol(a, dynamic) for a in arrays], graph=True)
        except ValueError as error:
            # Ops that must know a dimension say so, ONNX or not.
            assert dynamic, error
            pytest.skip(f"needs known dimensions: {error}")
        try:
            model = emit(graph)
        except NoOnnxForm as error:
            assert expected_to_fail(graph, dynamic), error
            pytest.skip(str(error))
    # Differences of float32 sums that cancel are as large as their terms'.
    scale = max([1.0, *(np.abs(a).max(initial=0) for a in arrays if a.dtype.kind == "f" and np.isfinite(a).all())])
    close(run(model, *arrays), wanted, rtol=max(case.tol, 2e-5), atol=3e-6 * scale)


def expected_to_fail(graph, dynamic):
    names = {node.op.name for node in graph.nodes}
    complicated = any(t.dtype.startswith("complex") for t in (*graph.inputs, *tree.flatten(graph.outputs)))
    random = any(n.startswith("random_") for n in names)
    return names & WITHOUT or complicated or random or (dynamic and names & {"diag", "diagonal", "irfft"})


def test_every_primitive_has_an_emitter_or_is_known_not_to():
    # Each op's module is loaded with its name; random numbers aren't drawn at inference.
    assert all(hasattr(ops, name) for name in ops.__all__)
    complete()
    primitives = {n for n, op in REGISTRY.items() if not op.is_composite and not n.startswith("random_")}
    assert primitives - {*EMITTERS, *COMPLEX} <= WITHOUT
    assert not WITHOUT & {*EMITTERS, *COMPLEX}
