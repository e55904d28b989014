"""Windows that slide over an image, taken apart (im2col) and put together again (col2im)."""

from kerata.core.errors import int_tuple
from kerata.ops.creation import zeros_like
from kerata.ops.declare import Tensor, composite
from kerata.ops.movement import pad, reshape, stack


class _Geometry:
    """Which pixels the windows cover, in each of the two dimensions."""

    def __init__(self, owner, kernel_size, dilation, padding, stride):
        self.kernel = int_tuple(kernel_size, 2, "kernel_size", owner)
        self.dilation = int_tuple(dilation, 2, "dilation", owner)
        self.padding = int_tuple(padding, 2, "padding", owner, minimum=0)
        self.stride = int_tuple(stride, 2, "stride", owner)
        self.owner = owner

    def padded(self, size):
        return tuple(s + 2 * p for s, p in zip(size, self.padding, strict=True))

    def counts(self, size):
        """Number of places of the window along each dimension of an image of this size."""
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True)]
        counts = tuple((n - r) // s + 1 for n, r, s in zip(self.padded(size), reach, self.stride, strict=True))
        if counts[0] < 1 or counts[1] < 1:
            raise ValueError(
                f"{self.owner}: the window reaches over {tuple(reach)} pixels, but the padded image has only "
                f"{self.padded(size)}."
            )
        return counts

    def offsets(self):
        """Where each of the window's pixels lies, row by row."""
        rows, columns = ([d * i for i in range(k)] for d, k in zip(self.dilation, self.kernel, strict=True))
        return [(r, c) for r in rows for c in columns]


def _known_image(owner, shape, first):
    if any(d is None for d in shape[first:]):
        raise ValueError(f"{owner}: every dimension but the batch must be known, but the shape is {tuple(shape)}.")


@composite(native="")
def unfold(x: Tensor, kernel_size, dilation=1, padding=0, stride=1):
    """The windows that slide over an image, each as a column (im2col).

    Args:
        x: images `(batch, channels, height, width)`.
        kernel_size: the window's size in pixels, int or `(rows, columns)`.
        dilation: distance between the pixels of a window.
        padding: zeros added on both sides of each dimension.
        stride: distance between windows.

    Returns:
        Tensor `(batch, channels * rows * columns, windows)`; windows row by row.

    Raises:
        ValueError: not four dimensions, or a window larger than the image.

    >>> from kerata import ops
    >>> tuple(ops.unfold(ops.ones((1, 2, 4, 4)), 2, stride=2).shape)
    (1, 8, 4)
    """
    if len(x.shape) != 4:
        raise ValueError(
            f"unfold: `x` must be 4D, (batch, channels, height, width), but its shape is {tuple(x.shape)}."
        )
    _known_image("unfold", x.shape, 1)
    how = _Geometry("unfold", kernel_size, dilation, padding, stride)
    how.counts(x.shape[2:])
    return unfold_of(x, how.kernel, how.dilation, how.padding, how.stride)


@composite(native="unfold")
def unfold_of(x: Tensor, kernel_size, dilation, padding, stride):
    """`unfold` with canonical arguments (not public)."""
    how = _Geometry("unfold", kernel_size, dilation, padding, stride)
    channels = x.shape[1]
    (rows, columns), (down, right) = how.counts(x.shape[2:]), stride
    if padding != (0, 0):
        x = pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    pixels = [
        x[:, :, r : r + down * (rows - 1) + 1 : down, c : c + right * (columns - 1) + 1 : right]
        for r, c in how.offsets()
    ]
    return reshape(stack(pixels, axis=2), (-1, channels * len(pixels), rows * columns))


@composite(native="")
def fold(x: Tensor, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Windows put back in their places in an image; where they overlap they are added (col2im).

    Args:
        x: columns `(batch, channels * rows * columns, windows)`, as `unfold` makes them.
        output_size: height and width of the image, int or two.
        kernel_size, dilation, padding, stride: as they were given to `unfold`.

    Returns:
        Tensor `(batch, channels, *output_size)`: the adjoint of `unfold`.

    Raises:
        ValueError: not three dimensions, or lengths that don't fit such windows.

    >>> from kerata import ops
    >>> image = ops.ones((1, 2, 4, 4))
    >>> bool(ops.all(ops.fold(ops.unfold(image, 2, stride=2), 4, 2, stride=2) == image))
    True
    """
    if len(x.shape) != 3:
        raise ValueError(f"fold: `x` must be 3D, (batch, pixels, windows), but its shape is {tuple(x.shape)}.")
    _known_image("fold", x.shape, 1)
    how = _Geometry("fold", kernel_size, dilation, padding, stride)
    output_size = int_tuple(output_size, 2, "output_size", "fold")
    (rows, columns), pixels = how.counts(output_size), how.kernel[0] * how.kernel[1]
    if x.shape[1] % pixels or x.shape[2] != rows * columns:
        raise ValueError(
            f"fold: an image of {output_size} has {rows} x {columns} windows of {pixels} pixels a channel, so `x` must be (batch, "
            f"channels * {pixels}, {rows * columns}), but its shape is {tuple(x.shape)}."
        )
    return fold_of(x, output_size, how.kernel, how.dilation, how.padding, how.stride)


@composite(native="fold")
def fold_of(x: Tensor, output_size, kernel_size, dilation, padding, stride):
    """`fold` with canonical arguments (not public)."""
    how = _Geometry("fold", kernel_size, dilation, padding, stride)
    offsets = how.offsets()
    channels = x.shape[1] // len(offsets)
    counts, size = how.counts(output_size), how.padded(output_size)
    x = reshape(x, (-1, channels, len(offsets), *counts))
    image = None
    for n, offset in enumerate(offsets):
        placed = x[:, :, n]
        for axis, (at, s, step) in enumerate(zip(offset, size, stride, strict=True), start=2):
            placed = _spread(placed, axis, at, s, step)
        image = placed if image is None else image + placed
    (top, left), (height, width) = padding, output_size
    return image[:, :, top : top + height, left : left + width]


def _spread(x, axis, at, size, step):
    """Entries `step` apart along `axis`, the first at `at`, with zeros between and around, `size` in all."""
    if step > 1:
        x = stack([x, *[zeros_like(x)] * (step - 1)], axis=axis + 1)
        shape = list(x.shape)
        shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        shape[0] = -1
        x = reshape(x, tuple(shape))
        # The last entry needs no zeros after it.
        x = x[(slice(None),) * axis + (slice(0, shape[axis] - step + 1),)]
    around = [(0, 0)] * len(x.shape)
    around[axis] = (at, size - at - x.shape[axis])
    return pad(x, tuple(around))
