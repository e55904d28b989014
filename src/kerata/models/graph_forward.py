"""`GraphForward`: calls of a model on an inference backend, by its graph, compiled for any batch size."""

import os
import tempfile

import numpy as np

from kerata import backends
from kerata.core import dtypes, tree
from kerata.core.masks import get_mask
from kerata.core.scopes import current_stateless
from kerata.graph.onnx import emit, save, serialized, traced
from kerata.graph.onnx.proto import MOST_INLINE, size
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace
from kerata.layers.call import current_call
from kerata.models.forward import Forward

# Kinds of inputs (not batch sizes) for which a compiled graph is kept.
_MOST_KEPT = 64


class GraphForward:
    """A model's compiled graphs, by kind of inputs.

    `predict` and `evaluate` run them. `model(x)` does so from its second call on; where a call can't (within
    another layer, in training, with ops that ONNX hasn't), it runs in NumPy.
    """

    DECLINED = Forward.DECLINED

    def __init__(self, model):
        self.model, self.backend = model, model._backend
        self.compiled = {}
        self.seen = set()

    def __getstate__(self):
        return {"model": self.model, "backend": self.backend.NAME}

    def __setstate__(self, state):
        self.__init__(state["model"])

    # ------------------------------------------------------------- the model's own calls

    def __call__(self, x, kwargs):
        if any(scope.get() is not None for scope in (current_call, current_stateless, current_trace)):
            return self.DECLINED
        if kwargs.get("training") or set(kwargs) - {"training"} or self.model.run_eagerly:
            return self.DECLINED
        leaves = tree.flatten(x)
        if not leaves or not all(isinstance(a, np.ndarray) and get_mask(a) is None for a in leaves):
            return self.DECLINED
        key = self.key(x, leaves)
        call = self.compiled.get(key)
        if call is None:
            if key not in self.seen:
                self.seen.add(key)
                return self.DECLINED
            call = self.compiled_or_declined(key, x)
        return self.DECLINED if call.only_numpy else call(leaves)

    def compiled_or_declined(self, key, x):
        """A graph for a call that NumPy can make too: what can't be traced or written is left to it."""
        try:
            return self.compile(key, x)
        except Exception:
            call = self.compiled[key] = _Declined()
            return call

    # ------------------------------------------------------------- predict

    def predict(self, x, batch_size):
        """Outputs as NumPy arrays for one batch of NumPy inputs, or `DECLINED`."""
        if not 0 < len(x) <= batch_size or current_call.get() is not None or not graph_predicts(self.model):
            return self.DECLINED
        if (backends.selected.get() or backends.process.backend) is self.backend:
            return self.run(x)
        with backends.use_backend(self.backend):
            return self.run(x)

    def run(self, x):
        """Outputs for a structure of arrays.

        Raises:
            NoOnnxForm: an op that ONNX can't express.
        """
        leaves = tree.flatten(x)
        key = self.key(x, leaves)
        call = self.compiled.get(key)
        if call is None or call.declined:
            try:
                call = self.compile(key, x)
            except Exception as error:
                error.add_note(
                    f"predict on {self.backend.NAME} runs the model's graph; after "
                    "`model.compile(run_eagerly=True)` its code runs in NumPy."
                )
                raise
        return call(leaves)

    # ------------------------------------------------------------- compiling

    def key(self, x, leaves):
        kinds = tuple((a.shape[1:], a.dtype) for a in leaves)
        return kinds if x is leaves[0] else (str(tree.map_structure(lambda _: 0, x)), kinds)

    def compile(self, key, x):
        """The graph for inputs like these; one with open dimensions serves many kinds of inputs."""
        symbols = self.symbols(x)
        wanted = str(tree.map_structure(lambda t: f"{t.dtype}{t.shape}", symbols))
        found = next((c for c in self.compiled.values() if c.serves == wanted), None)
        if len(self.compiled) >= _MOST_KEPT:
            self.compiled.clear()
        call = self.compiled[key] = found or CompiledGraph(self.model, self.backend, symbols, wanted)
        return call

    def symbols(self, x):
        """Inputs of any batch size; dimensions that a Functional model leaves open stay open."""
        declared = [t.shape for t in getattr(self.model, "inputs", None) or ()]
        leaves = tree.flatten(x)
        declared = declared if len(declared) == len(leaves) else [None] * len(leaves)
        return tree.pack_sequence_as(x, [_symbol(a, s) for a, s in zip(leaves, declared)])


def graph_predicts(model):
    """Whether the model's predictions are those of its graph."""
    from kerata.training.trainer import Trainer

    return type(model).predict_step is Trainer.predict_step and not model.run_eagerly


def _symbol(array, declared):
    shape = (None, *array.shape[1:])
    if declared is not None and len(declared) == len(shape):
        if all(d is None or d == n for d, n in zip(declared, array.shape)):
            shape = declared
    dtype = dtypes.standardize_dtype(array.dtype)
    return KerasTensor(shape, dtypes.config.floatx() if dtype == "float64" else dtype)


class _Declined:
    only_numpy = declined = True
    serves = None


class CompiledGraph:
    """A model's graph in the backend's runtime, compiled again when a weight has been assigned.

    Args:
        model: the model.
        backend: its backend.
        symbols: structure of `KerasTensor`s: its inputs.
        serves: a description of them.
    """

    only_numpy = declined = False

    def __init__(self, model, backend, symbols, serves):
        self.backend, self.serves = backend, serves
        self.graph = traced(lambda x: model._forward_pass(x, training=False), [symbols], {}, graph=True)
        outputs = tree.flatten(self.graph.outputs)
        # What an eager call does besides computing: masks and losses for whoever called.
        self.only_numpy = bool(self.graph.losses) or any(get_mask(t) is not None for t in outputs)
        self.state = [v for v, _ in self.graph.updates]
        # Dtypes that the runtime computes, and gives back, as wider ones.
        given = [dtypes.standardize_dtype(t.dtype) for t in outputs]
        self.narrow = [dtypes.to_numpy_dtype(d) for d in given] if "bfloat16" in given else None
        self.single = len(outputs) == 1 and outputs[0] is self.graph.outputs
        self.build()

    def build(self):
        model = emit(self.graph, batch="batch", stateful=True)
        self.dtypes = [np.dtype(i.dtype) for i in model.inputs]
        names = [i.name for i in model.inputs]
        # A variable's array is replaced, never written to, when it is assigned.
        self.weights = [(v, v.storage) for v in model.variables]
        if size(model) <= MOST_INLINE:
            self.run = self.backend.compile_onnx(serialized(model), names)
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            save(model, path)
            self.run = self.backend.compile_onnx(path, names)

    def __call__(self, leaves):
        for v, storage in self.weights:
            if v._storage is not storage or v._lender is not None:
                self.build()
                break
        if self.state:
            leaves = [*leaves, *(v.numpy() for v in self.state)]
        results = self.run(*[np.asarray(a, d, order="C") for a, d in zip(leaves, self.dtypes)])
        if self.narrow is not None:
            results[: len(self.narrow)] = [r.astype(d, copy=False) for r, d in zip(results, self.narrow)]
        if self.single and not self.state:
            return results[0]
        n = len(results) - len(self.state)
        for v, value in zip(self.state, results[n:]):
            v.assign(value)
        return results[0] if self.single else tree.pack_sequence_as(self.graph.outputs, results[:n])
