"""`Plan`: a graph as one straight-line Python function of native calls.

Everything that can be settled is settled when the plan is made: natives are looked up, constants converted, casts are
nodes like any other. Running it costs the native calls and nothing a layer.
"""

import numpy as np

from kerata.core import tree
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Graph, topological

_LENGTH_ARITHMETIC = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "floor_divide": "{} // {}",
    "mod": "{} % {}",
    "maximum": "max({}, {})",
    "minimum": "min({}, {})",
}
# Ops whose sub-graphs are called when the gradient is taken.
_CALLED_LATER = frozenset({"with_gradient", "recomputed"})
_LITERAL = (int, float, str, bool, type(None))


class Plan:
    """The generated function of a graph on a backend.

    Args:
        graph: a `Graph` whose nodes are ops that the backend has natively.
        backend: the backend's module.
        bare: the graph has one result, and the function is to return it as it is.

    Calling `plan.function(*inputs, *variable_values)` returns a tuple: flat outputs, then updated values, then losses.
    `plan(*inputs)` reads the graph's variables itself, assigns the updates and returns outputs in their structure.
    """

    def __init__(self, graph, backend, bare=False):
        self.graph = graph
        self.backend = backend
        self.variables = [v for v, _ in graph.variables]
        self.updated = [v for v, _ in graph.updates]
        self.source, namespace = _Writer(backend).write(graph, bare)
        exec(compile(self.source, "<plan>", "exec"), namespace)
        self.function = namespace["plan"]
        self.structure = graph.outputs
        self.count = len(tree.flatten(graph.outputs))

    def __call__(self, *inputs):
        results = self.function(*inputs, *[v.value for v in self.variables])
        n = self.count
        for variable, value in zip(self.updated, results[n:], strict=False):
            variable.assign(value)
        if isinstance(self.structure, KerasTensor):
            return results[0]
        return tree.pack_sequence_as(self.structure, results[:n])


class _Writer:
    """Writes the source of a plan, and the namespace that it runs in."""

    def __init__(self, backend):
        self.backend = backend
        self.namespace = {}
        self.names = {}
        self.natives = {}
        self.lines = []
        # Lengths of dimensions and what is computed from them: Python ints while the plan runs, so that compilers
        # see static shapes. TensorFlow, where they may be tensors, computes with its natives.
        self.lengths = set()
        self.count = 0
        self.kept = set()

    def write(self, graph, bare):
        arguments = [self.local(t) for t in graph.inputs] + [self.local(t) for _, t in graph.variables]
        nodes = graph.nodes
        last = self.last_uses(nodes, graph)
        for position, node in enumerate(nodes):
            self.emit(node, "    ")
            self.free(last.get(position, ()), "    ")
        results = ", ".join(self.value(r) for r in graph.results)
        body = "\n".join(self.lines) or "    pass"
        results = results if bare else f"({results}{',' if results else ''})"
        source = f"def plan({', '.join(arguments)}):\n{body}\n    return {results}\n"
        return source, self.namespace

    def last_uses(self, nodes, graph):
        """`{position: tensors not needed after it}`, so that memory is given back as in hand-written code."""
        keep = {id(t) for t in [*graph.inputs, *(t for _, t in graph.variables), *graph.results]}
        last = {}
        for position, node in enumerate(nodes):
            for tensor in (*node.outputs, *node.inputs):
                if id(tensor) not in keep:
                    last[id(tensor)] = (position, tensor)
        at = {}
        for position, tensor in last.values():
            at.setdefault(position, []).append(tensor)
        return at

    def free(self, tensors, indent):
        names = [self.names[id(t)] for t in tensors if id(t) in self.names]
        if names:
            self.lines.append(f"{indent}del {', '.join(names)}")

    def local(self, tensor):
        name = self.names.get(id(tensor))
        if name is None:
            self.count += 1
            name = self.names[id(tensor)] = f"t{self.count}"
            self.kept.add(tensor)
        return name

    def emit(self, node, indent):
        if self.emit_length(node, indent):
            return
        arguments = []
        roles = getattr(node.op, "roles", ())
        for i, value in enumerate(node.args):
            if i < len(roles) and roles[i] is not None and roles[i].static:
                arguments.append(self.value(value, length=True))
            elif isinstance(value, Graph):
                arguments.append(self.nested(value, indent, late=node.op.name in _CALLED_LATER))
            elif isinstance(value, list) and value and isinstance(value[0], Graph):
                arguments.append(f"[{', '.join([self.nested(g, indent) for g in value])}]")
            else:
                arguments.append(self.value(value))
        if node.op.name == "scan":
            # The native's body takes and returns (carries, slices); the sub-graph is flat.
            n = len(node.args[1])
            arguments[0] = f"lambda c, x, f={arguments[0]}: (lambda r: (r[:{n}], r[{n}:]))(f(*c, *x))"
        elif node.op.name == "gradients":
            return self.emit_gradients(node, arguments, indent)
        call = self.settled(node, arguments) or f"{self.native(node.op)}({', '.join(arguments)})"
        if node.structure is None:
            self.lines.append(f"{indent}{self.local(node.outputs[0])} = {call}")
        else:
            self.lines.append(f"{indent}{self.unpacking(node.structure)} = {call}")

    def emit_length(self, node, indent):
        """Arithmetic on lengths in Python; False if the node is anything else."""
        if self.backend.NAME == "tensorflow":
            return False
        name = node.op.name
        if name == "shape_dim":
            text = f"{self.native(node.op)}({', '.join(self.value(v) for v in node.args)})"
        elif name in _LENGTH_ARITHMETIC and all(self.is_length(v) for v in node.args[:2]):
            text = _LENGTH_ARITHMETIC[name].format(*[self.value(v, length=True) for v in node.args])
        elif name == "cast" and self.is_length(node.args[0]) and node.args[1] in ("int32", "int64"):
            text = self.value(node.args[0], length=True)
        else:
            return False
        self.lengths.add(id(node.outputs[0]))
        self.lines.append(f"{indent}{self.local(node.outputs[0])} = {text}")
        return True

    def is_length(self, value):
        if isinstance(value, KerasTensor):
            return id(value) in self.lengths
        return type(value) is int or (isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "iu")

    def emit_gradients(self, node, arguments, indent):
        """`loss, *others, *grads = …`: the loss function is a closure over the plan's locals."""
        body, params = arguments
        self.namespace["value_and_grad"] = self.backend.value_and_grad
        targets = [self.local(t) for t in node.outputs]
        n = len(node.outputs) - len(node.args[1])
        loss, others, grads = targets[0], targets[1:n], targets[n:]
        split = f"lambda p, f={body}: (lambda r: (r[0], r[1:]))(f(*p))"
        others = f"[{', '.join(others)}]" if others else "_"
        grads = f"[{', '.join(grads)}]"
        self.lines.append(f"{indent}({loss}, {others}), {grads} = value_and_grad({split})({params})")

    def unpacking(self, structure):
        """Target of the assignment: the result's own nesting."""
        if isinstance(structure, KerasTensor):
            return self.local(structure)
        inner = [self.unpacking(s) for s in structure]
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"

    def nested(self, graph, indent, late=False):
        """A branch or loop body becomes a closure; outer locals that it uses are captured by name.

        `late`: it may be called when the plan has deleted them, so it holds them itself.
        """
        self.count += 1
        name = f"body{self.count}"
        arguments = [self.local(t) for t in graph.inputs]
        if late:
            arguments += [f"{self.local(t)}={self.local(t)}" for t in graph.captures]
        arguments = ", ".join(arguments)
        self.lines.append(f"{indent}def {name}({arguments}):")
        for node in topological([t for t in graph.results if isinstance(t, KerasTensor)], stop=graph.captures):
            if not all(id(t) in self.names for t in node.outputs):
                self.emit(node, indent + "    ")
        single = isinstance(graph.outputs, KerasTensor)
        self.lines.append(f"{indent}    return {self.value(graph.outputs if single else graph.results)}")
        return name

    def native(self, op):
        name = self.natives.get(op)
        if name is None:
            name = self.natives[op] = f"op_{op.name}"
            self.namespace[name] = getattr(self.backend, getattr(op, "native", op.name))
        return name

    def settled(self, node, arguments):
        """The call of what the backend makes of an op whose arguments are known but for tensors' values; `None`: nothing."""
        make = getattr(getattr(self.backend, "settled", None), getattr(node.op, "native", ""), None)
        function = make and make(*node.args)
        if not function:
            return None
        tensors = [a for a, v, role in zip(arguments, node.args, node.op.roles) if role is not None and v is not None]
        return f"{self.constant(function)}({', '.join(tensors)})"

    def value(self, value, length=False):
        """Source text of an argument; `length`: lengths of dimensions may stay Python ints."""
        if isinstance(value, KerasTensor):
            if id(value) in self.lengths and not length:
                self.namespace["as_tensor"] = self.backend.convert
                return f"as_tensor({self.local(value)}, 'int32')"
            return self.local(value)
        if isinstance(value, list):
            return f"[{', '.join(self.value(v, length) for v in value)}]"
        if isinstance(value, tuple) and type(value) is tuple:
            return f"({', '.join(self.value(v, length) for v in value)}{',' if len(value) == 1 else ''})"
        if isinstance(value, slice):
            return f"slice({', '.join(self.value(v, length) for v in (value.start, value.stop, value.step))})"
        if length and self.is_length(value):
            return repr(int(value))
        if type(value) in _LITERAL and value == value and value not in (float("inf"), float("-inf")):
            return repr(value)
        return self.constant(value)

    def constant(self, value):
        if isinstance(value, (np.ndarray, np.generic)):
            from kerata.core.dtypes import standardize_dtype

            value = self.backend.convert(np.asarray(value), standardize_dtype(value.dtype))
        self.count += 1
        name = f"c{self.count}"
        self.namespace[name] = value
        return name
