"""`Function`: what Functional models compute, without their layers' bookkeeping."""

from kerata.core import tree
from kerata.graph.network import Network
from kerata.graph.tensor import KerasTensor
from kerata.layers.operation import Operation


class Function(Operation):
    """A computation from symbolic inputs to symbolic outputs.

    Args:
        inputs: `KerasTensor` or structure of them.
        outputs: `KerasTensor` or structure of them, computed from the inputs.
        name: name.

    Raises:
        ValueError: an output that needs more than the inputs.

    >>> import kerata
    >>> x = kerata.KerasTensor((2, 3))
    >>> double = kerata.Function(x, x * 2)
    >>> tuple(double(kerata.ops.ones((4, 3))).shape)
    (4, 3)
    """

    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        self._inputs_struct, self._outputs_struct = inputs, outputs
        self._inputs, self._outputs = tree.flatten(inputs), tree.flatten(outputs)
        for what, tensors in (("inputs", self.inputs), ("outputs", self.outputs)):
            for t in tensors:
                if not isinstance(t, KerasTensor):
                    raise ValueError(f"{type(self).__name__}: `{what}` must be KerasTensors, but {t!r} is among them.")
        self.network = Network(self.inputs, self.outputs)
        self._run = None

    @property
    def inputs(self):
        """Symbolic inputs, flat."""
        return self._inputs

    @property
    def outputs(self):
        """Symbolic outputs, flat."""
        return self._outputs

    @property
    def operations(self):
        """Layers and ops, the farthest from the outputs first."""
        return list(self.network.operations)

    def __call__(self, inputs):
        return self.call(inputs)

    def call(self, inputs):
        flat = tree.flatten(inputs)
        if len(flat) != len(self.inputs):
            raise ValueError(
                f'{type(self).__name__} "{self.name}": {len(self.inputs)} inputs are expected, but {len(flat)} were given.'
            )
        return tree.pack_sequence_as(self._outputs_struct, self.run(flat))

    def run(self, flat):
        """Flat outputs from flat inputs."""
        if self._run is None:
            self._run = straight_line(self.network)
        return self._run(*flat)

    def compute_output_spec(self, inputs):
        from kerata.graph.trace import Trace

        with Trace(record=False, dynamic=True):
            return self.call(inputs)

    def compute_output_shape(self, input_shape):
        symbols = tree.map_shape_structure(lambda s: KerasTensor(s), input_shape)
        return tree.map_structure(lambda t: t.shape, self.compute_output_spec(symbols))


def straight_line(network):
    """A Python function that runs the network's nodes, one line each: layers by their `__call__`, ops by theirs."""
    writer = _Lines()
    arguments = [writer.local(t) for t in network.inputs]
    for node in network.nodes:
        writer.emit(node)
    results = ", ".join(writer.text(t) for t in network.outputs)
    body = "\n".join(f"    {line}" for line in writer.lines) or "    pass"
    source = f"def run({', '.join(arguments)}):\n{body}\n    return [{results}]\n"
    exec(compile(source, "<network>", "exec"), writer.namespace)
    run = writer.namespace["run"]
    run.source = source
    return run


class _Lines:
    def __init__(self):
        self.namespace = {"flatten": tree.flatten}
        self.names = {}
        self.lines = []

    def local(self, tensor):
        return self.names.setdefault(id(tensor), f"t{len(self.names) + 1}")

    def keep(self, value, prefix):
        name = f"{prefix}{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def emit(self, node):
        function = node.op.function if hasattr(node.op, "native") else node.op
        arguments = [self.text(a) for a in node.args]
        arguments += [f"{k}={self.text(v)}" for k, v in (node.kwargs or {}).items()]
        call = f"{self.keep(function, 'f')}({', '.join(arguments)})"
        if node.structure is None:
            self.lines.append(f"{self.local(node.outputs[0])} = {call}")
        else:
            targets = ", ".join(
                self.local(t) if isinstance(t, KerasTensor) else "_" for t in tree.flatten(node.structure)
            )
            self.lines.append(f"{targets}, = flatten({call})")

    def text(self, value):
        if isinstance(value, KerasTensor):
            return self.local(value)
        if type(value) is list:
            return f"[{', '.join(self.text(v) for v in value)}]"
        if type(value) is tuple:
            return f"({''.join(self.text(v) + ', ' for v in value)})"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{k!r}: {self.text(v)}' for k, v in value.items())}}}"
        if isinstance(value, slice):
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        return self.keep(value, "c")
