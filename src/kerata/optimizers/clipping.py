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
    if clipvalue is not None:
        return [ops.clip(g, -clipvalue, clipvalue) for g in grads]
    if clipnorm is not None:
        return [_shortened(g, _norm([g]), clipnorm) for g in grads]
    if global_clipnorm is not None:
        norm = _norm(grads)
        return [_shortened(g, norm, global_clipnorm) for g in grads]
    return grads


def _norm(tensors):
    """Euclidean norm of all entries together, summed in float32: squares of halves overflow."""
    squares = [ops.sum(ops.square(ops.cast(t, "float32"))) for t in tensors]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return ops.sqrt(total)


def _shortened(tensor, norm, bound):
    """`tensor * min(1, bound / norm)`, without dividing by a norm of zero."""
    tensor = ops.convert_to_tensor(tensor)
    return tensor * ops.cast(bound / ops.maximum(norm, bound), tensor.dtype)
