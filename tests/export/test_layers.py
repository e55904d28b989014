"""Every layer of the catalogue through ONNX Runtime: for any batch size what it gives eagerly."""

import inspect

import numpy as np
import pytest
from layer_samples import SAMPLES
from running import close, flat, run, written

from kerata import backends, layers
from kerata.core import tree
from kerata.graph.tensor import KerasTensor

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
# What the batch makes of each other's samples isn't there for one alone.
WHOLE_BATCH = {"BatchNormalization-mask"}
# ONNX draws no numbers of ours, and hashes nothing.
WITHOUT = {"Solarization": "random in inference too", "Hashing": "hashes"}


@pytest.mark.parametrize("case", SAMPLES, ids=map(str, SAMPLES))
def test_layer(case):
    if case.name in WITHOUT:
        pytest.skip(WITHOUT[case.name])
    with backends.use_backend("numpy"):
        layer = case.make(layers)
        call = case.call | ({"training": False} if augments(layer) else {})
        layer(*case.inputs, **call)
        rng = np.random.default_rng(0)
        for w in layer.weights:
            if w.dtype == "float32":
                w.assign(w.numpy() + rng.uniform(0.1, 0.5, w.shape).astype("float32"))
        wanted = flat(layer(*case.inputs, **call))
        given = (list(case.inputs), call)
        model = written(lambda x, call: layer(*x, **call), tree.map_structure(symbol, given), stateful=True)
    arrays = [a for a in tree.flatten(given) if isinstance(a, np.ndarray)]
    state = [v.numpy() for v in layer.variables if v.path in {i.name for i in model.inputs}]
    n = len(wanted)
    close(run(model, *arrays, *state)[:n], wanted)
    if str(case) not in WHOLE_BATCH:
        close(run(model, *[a[:1] for a in arrays], *state)[:n], [w[:1] if w.ndim else w for w in wanted])


def augments(layer):
    """Whether it is in training unless told otherwise, as image layers called by themselves are."""
    training = inspect.signature(type(layer).call).parameters.get("training")
    return training is not None and training.default is True


def symbol(x):
    return KerasTensor((None, *x.shape[1:]), x.dtype.name) if isinstance(x, np.ndarray) else x
