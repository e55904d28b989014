"""Ops that move elements about."""

import numpy as np

from kerata import ops
from kerata.graph.onnx.table import emits, emits_each, lowers
from kerata.graph.tensor import KerasTensor
from kerata.ops import rules

FAR = 2**63 - 1


@emits("shape_dim")
def _shape_dim(w, out, x, axis):
    length = w.length(x, axis % len(x.shape))
    return w.cast(w.reshape(length, []), "int64", "int32")


@emits("reshape")
def _reshape(w, out, x, newshape):
    shape = _plain_shape(w, x, newshape)
    if shape is not None:
        if 0 in newshape:
            # A 0 that was asked for means an empty dimension.
            return w.op("Reshape", x, w.ints(out.shape if None not in out.shape else shape), allowzero=1)
        return w.reshape(x, shape)
    return w.op("Reshape", x, w.dims(newshape), allowzero=int(0 in newshape) or None)


def _plain_shape(w, x, newshape):
    """The new shape as plain numbers: computed dimensions that are `x`'s own at their place as 0, one other
    as -1; or `None`.
    """
    if all(not isinstance(d, KerasTensor) for d in newshape):
        return [int(d) for d in newshape]
    if any(type(d) is int and d == 0 for d in newshape):
        return None
    shape = []
    for i, d in enumerate(newshape):
        if not isinstance(d, KerasTensor):
            shape.append(int(d))
            continue
        source = d.node
        same = (
            source is not None
            and source.op.name == "shape_dim"
            and source.args[0] is x
            and source.args[1] % len(x.shape) == i
        )
        shape.append(0 if same else -1)
    return shape if shape.count(-1) <= 1 else None


@emits("transpose")
def _transpose(w, out, x, axes):
    return w.transpose(x, [a % len(axes) for a in axes])


@emits("expand_dims")
def _expand_dims(w, out, x, axis):
    axes = rules.axes_in(axis, len(out.shape))
    return w.op("Unsqueeze", x, w.ints(sorted(axes)))


@emits("squeeze")
def _squeeze(w, out, x, axis):
    axes = [a for a, d in enumerate(x.shape) if d == 1] if axis is None else rules.axes_in(axis, len(x.shape))
    return w.op("Squeeze", x, w.ints(sorted(axes))) if axes else w.name(x)


@emits("broadcast_to")
def _broadcast_to(w, out, x, shape):
    return w.op("Expand", x, w.dims(shape))


@emits("concatenate")
def _concatenate(w, out, xs, axis):
    return w.op("Concat", *[w.name(x, out.dtype) for x in xs], axis=axis % len(out.shape))


@emits("stack")
def _stack(w, out, xs, axis):
    axis %= len(out.shape)
    rows = [w.op("Unsqueeze", w.name(x, out.dtype), w.ints([axis])) for x in xs]
    return w.op("Concat", *rows, axis=axis)


@emits("unstack")
def _unstack(w, out, x, axis):
    axis %= len(x.shape)
    return [w.op("Gather", x, w.constant(np.asarray(i, np.int64)), axis=axis) for i in range(x.shape[axis])]


@emits("split")
def _split(w, out, x, indices_or_sections, axis):
    axis %= len(x.shape)
    size = x.shape[axis]
    if isinstance(indices_or_sections, tuple):
        starts = (0, *indices_or_sections)
        return [
            sliced(w, x, [start], [stop], [axis]) for start, stop in zip(starts, (*indices_or_sections, FAR))
        ]
    if indices_or_sections == 1:
        return [w.name(x)]
    if size is not None:
        sizes = w.ints([size // indices_or_sections] * indices_or_sections)
        return w.op("Split", x, sizes, outputs=indices_or_sections, axis=axis)
    return w.op("Split", x, outputs=indices_or_sections, axis=axis, num_outputs=indices_or_sections)


def sliced(w, x, starts, stops, axes, steps=None):
    """`Slice`; bounds are ints, or names of one-entry vectors."""
    return w.op("Slice", x, w.dims(starts), w.dims(stops), w.ints(axes), w.ints(steps) if steps else None)


@emits("flip")
def _flip(w, out, x, axis):
    axes = rules.axes_in(axis, len(x.shape))
    return sliced(w, x, [-1] * len(axes), [-FAR] * len(axes), axes, [-1] * len(axes)) if axes else w.name(x)


@emits("roll")
def _roll(w, out, x, shift, axis):
    name = w.name(x)
    for places, a in zip(shift, axis):
        a %= len(x.shape)
        size = x.shape[a]
        if size is None:
            length = w.length(x, a)
            cut = w.op("Sub", length, w.op("Mod", w.ints([places]), w.op("Max", length, w.ints([1]))))
        else:
            cut = size - places % size if size else 0
        name = w.op("Concat", sliced(w, name, [cut], [FAR], [a]), sliced(w, name, [0], [cut], [a]), axis=a)
    return name


@emits("pad")
def _pad(w, out, x, pad_width, mode, constant_values):
    if mode == "constant":
        value = w.name(constant_values, w.dtype(x)) if constant_values else None
        return w.op(
            "Pad", x, w.dims([*(p[0] for p in pad_width), *(p[1] for p in pad_width)]), value, mode="constant"
        )
    name = w.name(x)
    for axis, (low, high) in enumerate(pad_width):
        if low or high:
            name = _mirrored(w, x, name, axis, low, high, mode)
    return name


def _mirrored(w, x, name, axis, low, high, mode):
    """One axis lengthened with what is in it, at places known beforehand or computed."""
    size = x.shape[axis]
    if size is not None:
        return w.along(name, axis, np.pad(np.arange(size), (low, high), mode))
    inner = KerasTensor(tuple(None if i == axis else d for i, d in enumerate(x.shape)), x.dtype)
    w.bind(inner, name)

    def picked(x):
        n = ops.shape(x)[axis]
        at = ops.arange(-low, n + high, dtype="int32")
        if mode == "edge":
            return ops.take(x, ops.clip(at, 0, n - 1), axis)
        # Back and forth: positions repeat after two lengths, less the ends that aren't met twice.
        period = n * 2 if mode == "symmetric" else ops.maximum(n * 2 - 2, 1)
        at = ops.mod(at, period)
        return ops.take(x, ops.minimum(at, period - at - (mode == "symmetric")), axis)

    return w.inline(picked, [inner])


@emits("tile")
def _tile(w, out, x, repeats):
    return w.op("Tile", x, w.dims(repeats)) if x.shape else w.name(x)


@emits("repeat")
def _repeat(w, out, x, repeats, axis):
    axis %= len(x.shape)
    size = x.shape[axis]
    if isinstance(repeats, tuple) and len(repeats) == 1:
        repeats = repeats[0]
    if size is None and isinstance(repeats, tuple):
        size = len(repeats)
    if size is not None:
        return w.along(w.name(x), axis, np.repeat(np.arange(size), repeats))

    def spread(x):
        wide = ops.repeat(ops.expand_dims(x, axis + 1), repeats, axis + 1)
        shape = ops.shape(x)
        return ops.reshape(wide, (*shape[:axis], -1, *shape[axis + 1 :]))

    return w.inline(spread, [x])


@emits_each({"tril": 0, "triu": 1})
def _triangle(upper, w, out, x, k):
    dtype = w.dtype(out)
    wide = (
        dtype
        if dtype in ("float32", "float64", "int64")
        else "int64"
        if "int" in dtype or dtype == "bool"
        else "float32"
    )
    name = w.op("Trilu", w.cast(w.name(x), dtype, wide), w.constant(np.asarray(k, np.int64)), upper=upper)
    return w.cast(name, wide, dtype)


@lowers("diag")
def _diag(x, k):
    if len(x.shape) == 2:
        return ops.diagonal(x, k)
    square = ops.where(ops.eye(ops.shape(x)[0], dtype="bool"), x, ops.zeros_like(x))
    return ops.pad(square, ((max(-k, 0), max(k, 0)), (max(k, 0), max(-k, 0))))


@emits("diagonal")
def _diagonal(w, out, x, offset, axis1, axis2):
    rank = len(x.shape)
    a, b = axis1 % rank, axis2 % rank
    rows, columns = x.shape[a], x.shape[b]
    if rows is None or columns is None:
        raise w.refusal(f"rows and columns of a diagonal must be known, but the shape is {tuple(x.shape)}")
    rest = [i for i in range(rank) if i not in (a, b)]
    flat = w.reshape(w.transpose(x, [*rest, a, b]), [*([0] * len(rest)), rows * columns])
    first = max(-offset, 0) * columns + max(offset, 0)
    n = rules.diagonal(x, offset, axis1, axis2).shape[-1]
    return w.along(flat, len(rest), first + np.arange(n) * (columns + 1))
