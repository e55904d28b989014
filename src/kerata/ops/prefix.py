"""Prefix results of associative operations, in parallel."""

from kerata.core import tree
from kerata.ops import rules
from kerata.ops.control import while_loop
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import arange
from kerata.ops.elementwise import greater_equal, maximum, subtract, where
from kerata.ops.indexing import take
from kerata.ops.movement import concatenate, flip, reshape, shape_dim, stack


def associative_scan(f, elems, reverse=False, axis=0):
    """Running results of an associative operation, in about `2 log2(n)` calls of it, each on many elements at once.

    Args:
        f: associative function of two structures like `elems` (with fewer elements along `axis`), element by element;
            returns such a structure.
        elems: tensor or structure of tensors of one length along `axis`.
        reverse: from the end.
        axis: the axis to scan over.

    Returns:
        Structure like `elems`: element `k` is `f` over the elements up to `k`. Source: Blelloch, 1990.

    Raises:
        ValueError: lengths along `axis` that differ.

    >>> from kerata import ops
    >>> ops.convert_to_numpy(ops.associative_scan(lambda a, b: a + b, ops.arange(5))).tolist()
    [0, 1, 3, 6, 10]
    """
    if not callable(f):
        raise TypeError(f"associative_scan: `f` must be callable, not {f!r}.")
    elems = tree.map_structure(convert_to_tensor, elems)
    flat = tree.flatten(elems)
    axes = [rules.axis_in(axis, len(t.shape), "associative_scan") for t in flat]
    lengths = {t.shape[a] for t, a in zip(flat, axes, strict=True)} - {None}
    if len(lengths) > 1:
        raise ValueError(
            f"associative_scan: the arrays must have the same first dimension (that of axis {axis}), but have "
            f"{sorted(lengths)}."
        )

    def combine(a, b):
        result = f(tree.pack_sequence_as(elems, a), tree.pack_sequence_as(elems, b))
        return [convert_to_tensor(r) for r in tree.flatten(result)]

    if reverse:
        flat = [flip(t, axis=a) for t, a in zip(flat, axes, strict=True)]
    if lengths:
        flat = _scanned(combine, flat, axes, lengths.pop())
    else:
        flat = _scanned_unknown(combine, flat, axes)
    if reverse:
        flat = [flip(t, axis=a) for t, a in zip(flat, axes, strict=True)]
    return tree.pack_sequence_as(elems, flat)


def _scanned(combine, elems, axes, length):
    """Pairs are combined and scanned, which gives every second result; the others are one call away."""
    if length < 2:
        return elems

    def part(tensors, start, stop, step):
        return [t[(slice(None),) * a + (slice(start, stop, step),)] for t, a in zip(tensors, axes, strict=True)]

    pairs = combine(part(elems, 0, length - 1, 2), part(elems, 1, length, 2))
    odd = _scanned(combine, pairs, axes, length // 2)
    even = part(elems, 0, 1, 1)
    if length > 2:
        later = combine(part(odd, 0, (length - 1) // 2, 1), part(elems, 2, length, 2))
        even = [concatenate([e, x], axis=a) for e, x, a in zip(even, later, axes, strict=True)]
    return [_interleaved(e, o, a, length) for e, o, a in zip(even, odd, axes, strict=True)]


def _interleaved(even, odd, axis, length):
    """Along `axis`, by turns from each."""
    shape = list(shape_of(even))
    shape[axis] = length - length % 2
    last = even[(slice(None),) * axis + (slice(length // 2, None),)]
    even = even[(slice(None),) * axis + (slice(0, length // 2),)]
    both = reshape(stack([even, odd], axis=axis + 1), tuple(shape))
    return concatenate([both, last], axis=axis) if length % 2 else both


def _scanned_unknown(combine, elems, axes):
    """The same where the length is known only when the program runs: each result with that `step` before it, doubling `step`.

    Source: Hillis & Steele, 1986.
    """
    length = shape_dim(elems[0], axes[0])
    place = arange(length, dtype="int32")

    def double(step, *now):
        earlier = [take(t, maximum(subtract(place, step), 0), axis=a) for t, a in zip(now, axes, strict=True)]
        new = combine(earlier, list(now))
        has = [
            reshape(greater_equal(place, step), (-1,) + (1,) * (len(t.shape) - a - 1))
            for t, a in zip(now, axes, strict=True)
        ]
        return (step * 2, *[where(h, n, t) for h, n, t in zip(has, new, now, strict=True)])

    one = convert_to_tensor(1, "int32")
    return list(while_loop(lambda step, *_: step < length, double, (one, *elems))[1:])
