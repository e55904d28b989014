"""What emitters write: calls of ONNX operators, in blocks, with constants beside them."""


class Call:
    """One call of an ONNX operator.

    Attributes:
        kind: the operator.
        inputs: names; an empty one for an optional input that isn't given.
        outputs: names.
        attributes: numbers, strings, lists of them, `Block`s, and dtypes under `to`.
    """

    __slots__ = ("attributes", "inputs", "kind", "outputs")

    def __init__(self, kind, inputs, outputs, attributes):
        self.kind, self.inputs, self.outputs, self.attributes = kind, inputs, outputs, attributes

    def __repr__(self):
        return f"{', '.join(self.outputs)} = {self.kind}({', '.join(self.inputs)})"

    def copy(self):
        return Call(self.kind, list(self.inputs), list(self.outputs), dict(self.attributes))

    def blocks(self):
        """The branches and loop bodies among its attributes."""
        return [v for v in self.attributes.values() if isinstance(v, Block)]


class Info:
    """Name, dtype and shape of an input or output; a dimension is a number, a name or `None`."""

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)

    def __repr__(self):
        return f"{self.name} {self.dtype}{list(self.shape)}"


class Block:
    """Calls in the order in which they run: a model's body, a branch, a loop's body."""

    __slots__ = ("calls", "inputs", "outputs")

    def __init__(self, inputs=(), outputs=(), calls=()):
        self.inputs, self.outputs, self.calls = list(inputs), list(outputs), list(calls)

    def free(self):
        """Names that the block uses but doesn't make."""
        made = {i.name for i in self.inputs}
        found = set()
        for call in self.calls:
            found.update(n for n in call.inputs if n and n not in made)
            for block in call.blocks():
                found |= block.free() - made
            made.update(call.outputs)
        found.update(o.name for o in self.outputs if o.name not in made)
        return found


class Model:
    """A block, its constants, and the operator set that it is written for.

    Attributes:
        block: what is computed.
        constants: `{name: NumPy array}`.
        variables: the variables whose present values are among the constants.
        opset: version of the operator set.
        name: name of the graph.
    """

    def __init__(self, block, constants, variables, opset, name):
        self.block, self.constants, self.variables = block, constants, list(variables)
        self.opset, self.name = opset, name

    @property
    def inputs(self):
        return self.block.inputs

    @property
    def outputs(self):
        return self.block.outputs
