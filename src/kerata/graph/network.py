"""The graph that symbolic calls have built between given inputs and outputs, by depth, as Functional models keep it."""

from kerata.graph.trace import topological


class Network:
    """Nodes between inputs and outputs, and the operations (layers and ops) in them.

    Attributes:
        nodes: nodes in an order in which they can run, without those of the inputs.
        operations: operations, the farthest from the outputs first; of equal depth in the order in which a walk
            from the outputs meets them (the order of Keras's `model.layers`, hence of weights).
    """

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.nodes = topological(self.outputs, stop=self.inputs)
        self._check()
        met = self._met()
        depth, by_operation, operations = {}, {}, {}
        for node in [*reversed(self.nodes), *(t.node for t in self.inputs if t.node is not None)]:
            # A layer called more than once counts as far from the outputs as its farthest call.
            key = _key(node)
            own = max(depth.get(id(node), 0), by_operation.get(key, 0))
            by_operation[key] = own
            operations[key] = node if _is_op(node) else node.op
            for tensor in node.inputs:
                if tensor.node is not None:
                    depth[id(tensor.node)] = max(depth.get(id(tensor.node), 0), own + 1)
        order = sorted(operations, key=lambda k: (-by_operation[k], met.get(k, len(met))))
        self.operations = [operations[k] for k in order]

    def _met(self):
        """Number of each operation in the order in which a depth-first walk from the outputs first comes to it."""
        met, seen = {}, set()
        stack = [t.node for t in reversed(self.outputs) if t.node is not None]
        while stack:
            node = stack.pop()
            met.setdefault(_key(node), len(met))
            if id(node) in seen:
                continue
            seen.add(id(node))
            stack.extend(t.node for t in reversed(node.inputs) if t.node is not None)
        return met

    def _check(self):
        own = {id(t) for t in self.inputs}
        loose = []
        for tensor in self.outputs:
            if tensor.node is None and id(tensor) not in own:
                loose.append(tensor)
        for node in self.nodes:
            if not node.inputs and node.outputs and not _is_op(node):
                loose.extend(node.outputs)
            loose.extend(t for t in node.inputs if t.node is None and id(t) not in own)
        if loose:
            names = ", ".join(f"{t.name!r} {t.shape}" for t in _distinct(loose))
            raise ValueError(
                f"The outputs can't be computed from the inputs alone: they also need {names}. Add these to `inputs`."
            )


def _is_op(node):
    return hasattr(node.op, "native")


def _key(node):
    """Each call of an op is an operation of its own; a layer is one, however often it's called."""
    return id(node) if _is_op(node) else id(node.op)


def _distinct(tensors):
    return list({id(t): t for t in tensors}.values())
