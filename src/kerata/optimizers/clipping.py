"""Bounds on gradients."""

from kerata import ops


def clip(grads, clipnorm=None, clipvalue=None, global_clipnorm=None):
    """Gradients within a bound; at most one of the three is given.

    Args:
        grads: list of tensors.
        clipnorm: greatest Euclidean norm of each.
        clipvalue: greatest absolute value of each entry.
        global_clipnorm: greatest norm of all together (Pascanu et al., 2013).

    >>> from kerata.optimizers.clipping import clip
    >>> clip([[3.0, 4.0]], clipvalue=3.5)
    [Array([3. , 3.5], dtype=float32)]
    """
    if clipnorm is clipvalue is global_clipnorm is None:
        return grads
    grads = [ops.convert_to_tensor(g) for g in grads]
    if clipvalue is not None:
        return [ops.clip(g, -clipvalue, clipvalue) for g in grads]
    if clipnorm is not None:
        return [_shortened(g, _norm([g]), clipnorm) for g in grads]
    norm = _norm(grads)
    return [_shortened(g, norm, global_clipnorm) for g in grads]


def _norm(tensors):
    """Euclidean norm of all entries together, summed in float32: squares of halves overflow."""
    squares = [ops.sum(ops.square(t if ops.dtype(t) == "float32" else ops.cast(t, "float32"))) for t in tensors]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return ops.sqrt(total)


def _shortened(tensor, norm, bound):
    """`tensor * min(1, bound / norm)`, without dividing by a norm of zero."""
    scale = bound / ops.maximum(norm, bound)
    return tensor * (scale if scale.dtype == tensor.dtype else ops.cast(scale, ops.dtype(tensor)))
