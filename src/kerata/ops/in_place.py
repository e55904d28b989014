"""A fused update of many tensors at once, as a node of a traced step (not public)."""

from kerata.graph.tensor import spec
from kerata.graph.trace import Node
from kerata.ops.control import _Control
from kerata.ops.declare import REGISTRY

_Control("update_in_place", None)


def update_in_place(optimizer, kernel, params, grads, slots, rate):
    """Record a call of the backend's `fused_<kernel>`, which changes params and slots in place.

    Args:
        optimizer: its settings are read by the kernel.
        kernel: name.
        params, grads: lists of symbolic tensors.
        slots: a list of symbolic tensors for each param.
        rate: what `optimizer.rate` returned.

    Returns:
        `(params, slots)` after the update.
    """
    after = [spec(p.shape, p.dtype) for p in params]
    slots_after = [[spec(s.shape, s.dtype) for s in row] for row in slots]
    results = [*after, *(s for row in slots_after for s in row)]
    Node(
        REGISTRY["update_in_place"],
        (kernel, optimizer, list(params), list(grads), [list(r) for r in slots], rate),
        None,
        results,
    )
    return after, slots_after
