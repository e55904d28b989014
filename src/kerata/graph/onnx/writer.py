"""`Writer`: names of tensors, constants, and the calls written so far."""

import operator
from contextlib import contextmanager

import numpy as np

from kerata import backends
from kerata.core import dtypes, tree
from kerata.graph.onnx.model import Block, Call, Info
from kerata.graph.onnx.table import COMPLEX, EMITTERS, NoOnnxForm
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import topological

# Runtimes compute in these; other numbers are computed as the next wider ones of them.
COMPUTED_IN = {
    "bool": "int32", "int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32",
    "uint32": "int64", "uint64": "int64",
}  # fmt: skip
# Constants up to this size are made when the model is written, larger ones (a big `zeros`) when it runs.
MOST_FOLDED = 2**16
# Equal constants up to this size are kept once.
MOST_SHARED = 256


class Writer:
    """Writes nodes as calls of ONNX operators.

    Args:
        opset: version of the operator set.
        widened: `{dtype: dtype}` of dtypes that are computed, and given back, as wider ones.
    """

    def __init__(self, opset, widened):
        self.opset, self.widened = opset, widened
        self.calls = []
        self.constants = {}
        self.names = {}
        self.lengths = {}
        self.shared = {}
        self.counts = {}
        self.taken = set()
        self.kept = []
        # In which layer's call nodes were made, by their `id`, and that of the node being written.
        self.layers, self.layer = {}, None

    # ------------------------------------------------------------- names

    def fresh(self, base):
        """A name that isn't taken yet."""
        n = self.counts.get(base, 0)
        name = f"{base}_{n}" if n else base
        while name in self.taken:
            n += 1
            name = f"{base}_{n}"
        self.counts[base] = n + 1
        self.taken.add(name)
        return name

    def bind(self, tensor, name):
        """From here on `tensor` goes by `name`."""
        self.names[id(tensor)] = name
        self.kept.append(tensor)

    def dtype(self, x):
        """The dtype that a tensor has in the model."""
        dtype = x.dtype if type(x) is KerasTensor else dtypes.standardize_dtype(x.dtype)
        return self.widened.get(dtype, dtype)

    def name(self, x, dtype=None):
        """The name of a tensor, array or number (which needs a dtype)."""
        if type(x) is str:
            return x
        if type(x) is KerasTensor:
            return self.names[id(x)]
        if isinstance(x, (bool, int, float, list, tuple)):
            return self.constant(np.asarray(x, dtypes.to_numpy_dtype(dtype)))
        array = _host(x)
        dtype = dtype or dtypes.standardize_dtype(array.dtype)
        return self.constant(array.astype(dtypes.to_numpy_dtype(self.widened.get(dtype, dtype))))

    def known(self, x):
        """The value of a tensor if it's a constant, else `None`."""
        if isinstance(x, (bool, int, float)):
            return np.asarray(x)
        if type(x) is KerasTensor:
            x = self.names.get(id(x))
        if type(x) is str:
            return self.constants.get(x)
        return None if x is None else _host(x)

    # ------------------------------------------------------------- constants

    def constant(self, array, base="constant"):
        """The name of a constant of this value."""
        key = None
        if array.nbytes <= MOST_SHARED and base == "constant":
            key = (array.dtype.name, array.shape, array.tobytes())
            if key in self.shared:
                return self.shared[key]
        name = self.fresh(base)
        self.constants[name] = array
        if key is not None:
            self.shared[key] = name
        return name

    def ints(self, values):
        """An int64 vector."""
        return self.constant(np.asarray(values, np.int64).reshape(-1))

    # ------------------------------------------------------------- calls

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Write a call; returns the name of its output, or a list of names for `outputs` other than 1."""
        inputs = ["" if x is None else self.name(x) for x in inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        results = [self.fresh(kind) for _ in range(outputs)]
        self.calls.append(Call(kind, inputs, results, {k: v for k, v in attributes.items() if v is not None}))
        return results[0] if outputs == 1 else results

    def arithmetic(self, kind, dtype, *operands, then=(), gives=None, **attributes):
        """A call on operands of `dtype`, in a dtype that runtimes compute in.

        `then` are further inputs, taken as they are. The result has `dtype` again, unless the operator gives
        another one anyway (`gives`).
        """
        dtype = self.widened.get(dtype, dtype)
        wide = COMPUTED_IN.get(dtype, dtype)
        names = [self.cast(self.name(x, dtype), dtype, wide) for x in operands]
        result = self.op(kind, *names, *then, **attributes)
        return self.cast(result, wide, dtype) if gives is None else result

    def cast(self, name, dtype, to):
        """`name`, which has `dtype`, as `to`."""
        if dtype == to:
            return name
        array = self.known(name)
        if array is not None and "float8" not in to:
            with np.errstate(all="ignore"):
                return self.constant(array.astype(dtypes.to_numpy_dtype(to)), self._derived(name))
        return self.op("Cast", name, to=to)

    def _derived(self, name):
        return name if not name.startswith("constant") else "constant"

    def transpose(self, x, axes):
        """Dimensions reordered; a constant's at once."""
        if tuple(axes) == tuple(range(len(axes))):
            return self.name(x)
        array = self.known(x)
        if array is not None:
            return self.constant(np.asarray(array.transpose(axes), order="C"), self._derived(self.name(x)))
        return self.op("Transpose", x, perm=list(axes))

    def reshape(self, x, shape):
        """Another (static) shape; 0 keeps the input's dimension at that place, -1 is what is left over."""
        array = self.known(x)
        if array is not None:
            shape = [array.shape[i] if d == 0 else d for i, d in enumerate(shape)]
            return self.constant(array.reshape(shape), self._derived(self.name(x)))
        return self.op("Reshape", x, self.ints(shape))

    def along(self, x, axis, positions):
        """Slices at known positions along an axis; a constant's at once."""
        array = self.known(x)
        if array is not None:
            return self.constant(np.take(array, positions, axis), self._derived(self.name(x)))
        return self.op("Gather", x, self.constant(np.asarray(positions, np.int64)), axis=axis)

    # ------------------------------------------------------------- shapes

    def length(self, x, axis):
        """Dimension `axis` of `x` as an int64 vector of one entry."""
        key = (id(x), axis)
        name = self.lengths.get(key)
        if name is None:
            size = x.shape[axis] if hasattr(x, "shape") else None
            if size is not None:
                return self.ints([size])
            name = self.op("Shape", x, start=axis, end=axis + 1)
            if type(x) is KerasTensor:
                self.lengths[key] = name
        return name

    def dim(self, d):
        """An entry of a shape (an int or a scalar tensor) as an int64 vector of one entry."""
        if type(d) is KerasTensor:
            node = d.node
            if node is not None and node.op.name == "shape_dim" and id(node.args[0]) in self.names:
                return self.length(node.args[0], node.args[1] % len(node.args[0].shape))
            array = self.known(d)
            if array is not None:
                return self.ints([array])
            return self.reshape(self.cast(self.name(d), self.dtype(d), "int64"), [1])
        return d if type(d) is str else self.ints([operator.index(d)])

    def dims(self, entries):
        """A shape with scalar tensors in it as an int64 vector."""
        if all(type(d) is not KerasTensor and type(d) is not str for d in entries):
            return self.ints([operator.index(d) for d in entries])
        pieces, run = [], []
        for d in entries:
            if type(d) is KerasTensor or type(d) is str:
                if run:
                    pieces.append(self.ints(run))
                    run = []
                pieces.append(self.dim(d))
            else:
                run.append(operator.index(d))
        if run:
            pieces.append(self.ints(run))
        return pieces[0] if len(pieces) == 1 else self.op("Concat", *pieces, axis=0)

    def shape_of(self, x):
        """The shape of a tensor as entries for `dims`: ints, and names of vectors where not known."""
        return [self.length(x, i) if d is None else d for i, d in enumerate(x.shape)]

    # ------------------------------------------------------------- nodes

    def node(self, node):
        """Write a node, unless its outputs have names already."""
        if all(id(t) in self.names for t in node.outputs):
            return
        self.layer = self.layers.get(id(node), self.layer)
        results = self._folded(node)
        if results is None:
            results = self._emitter(node)(self, node.outputs[0] if node.outputs else None, *node.args)
            if results is NotImplemented:
                results = self.inline(node.op.body, node.args)
        results = [results] if type(results) is str else results
        for tensor, name in zip(node.outputs, results, strict=True):
            self.bind(tensor, name)

    def _emitter(self, node):
        complicated = any(t.dtype.startswith("complex") for t in (*node.inputs, *node.outputs))
        emitter = (COMPLEX if complicated else EMITTERS).get(node.op.name)
        if emitter is None:
            what = " on complex numbers" if complicated else ""
            raise self.refusal(f"the op {node.op.name!r}{what} has no ONNX form")
        return emitter

    def refusal(self, reason):
        """The error that says why the node being written can't be, and where it comes from."""
        return NoOnnxForm(f"ONNX: {reason}{f' (used in {self.layer})' if self.layer else ''}.")

    def _folded(self, node):
        """Names of the results of a node on constants alone, computed by the NumPy backend; or `None`."""
        op = node.op
        numpy = backends.load("numpy")
        native = getattr(numpy, op.native, None)
        inputs = node.inputs
        if native is None or op.is_composite or not inputs or op.rule is None:
            return None
        if any(t.dtype.startswith("complex") for t in (*inputs, *node.outputs)):
            return None
        arrays = [self.known(t) for t in inputs]
        if any(a is None for a in arrays):
            return None
        with np.errstate(all="ignore"):
            results = native(*[self._value(a) for a in node.args])
        results = [results] if type(results) not in (list, tuple) else results
        if sum(r.nbytes for r in results) > max(MOST_FOLDED, sum(a.nbytes for a in arrays)):
            return None
        bases = {self._derived(self.names[id(t)]) for t in inputs if id(t) in self.names} - {"constant"}
        base = bases.pop() if len(bases) == 1 else "constant"
        wanted = [dtypes.to_numpy_dtype(self.dtype(t)) for t in node.outputs]
        return [self.constant(np.asarray(r).astype(d), base) for r, d in zip(results, wanted, strict=True)]

    def _value(self, a):
        """An argument with constants' values in place of tensors, in the dtypes that the graph gives them."""
        if type(a) is KerasTensor:
            return self.known(a).astype(dtypes.to_numpy_dtype(a.dtype))
        if type(a) in (list, tuple):
            return type(a)(self._value(v) for v in a)
        if type(a) is slice:
            return slice(self._value(a.start), self._value(a.stop), self._value(a.step))
        plain = a is None or a is Ellipsis or isinstance(a, (bool, int, float, str, np.ndarray))
        return a if plain else _host(a)

    def inline(self, function, args):
        """Write what `function` does with these arguments, it being made of ops; the names of its results."""
        from kerata.graph.onnx.emission import traced

        with backends.use_backend("numpy"):
            results = traced(function, args)
        many = type(results) in (list, tuple)
        flat = list(results) if many else [results]
        given = [a for arg in args for a in (arg if type(arg) in (list, tuple) else (arg,))]
        stop = [a for a in given if type(a) is KerasTensor]
        for node in topological([r for r in flat if type(r) is KerasTensor], stop=stop):
            self.node(node)
        names = [self.name(r) for r in flat]
        return names if many else names[0]

    # ------------------------------------------------------------- blocks

    @contextmanager
    def inside(self):
        """Within the block, calls go into a list of their own; names made there are forgotten at its end."""
        saved = self.calls, self.lengths, self.names
        self.calls, self.lengths, self.names = [], dict(self.lengths), dict(self.names)
        try:
            yield
        finally:
            self.calls, self.lengths, self.names = saved

    def block(self, graph, inputs=(), before=()):
        """A sub-graph as a `Block`; outer tensors are used by their names.

        Args:
            graph: `Graph` of a branch or body.
            inputs: `Info`s of inputs before those of the graph.
            before: functions that write outputs before those of the graph; they return an `Info`.
        """
        with self.inside():
            infos = list(inputs)
            for t in graph.inputs:
                self.bind(t, self.fresh("item"))
                infos.append(Info(self.names[id(t)], self.dtype(t), t.shape))
            self.nodes(graph)
            outputs = [write() for write in before]
            outputs += [self.output(r) for r in graph.outputs]
            return Block(infos, outputs, self.calls)

    def nodes(self, graph):
        """Write the nodes of a sub-graph."""
        results = [t for t in tree.flatten(graph.outputs) if isinstance(t, KerasTensor)]
        for node in topological(results, stop=[*graph.captures, *graph.inputs]):
            self.node(node)

    def output(self, x):
        """A block's output: a value made in it, under a name of its own."""
        name = self.op("Identity", self.name(x))
        return Info(name, self.dtype(x), x.shape)


def _host(x):
    if isinstance(x, (np.ndarray, np.generic)):
        return np.asarray(x)
    from kerata.ops.declare import _host as host

    return host(x)
