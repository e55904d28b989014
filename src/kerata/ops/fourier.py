"""Fourier transforms. Complex numbers go in and out as pairs `(real, imaginary)`, as in Keras."""

import numpy as np

from kerata.core import dtypes
from kerata.core.errors import positive_int
from kerata.ops import rules
from kerata.ops.core import convert_to_tensor
from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import arange, zeros
from kerata.ops.declare import Float, Index, composite, primitive
from kerata.ops.elementwise import add, cast, imag, multiply, real, where
from kerata.ops.indexing import take
from kerata.ops.movement import expand_dims, pad, reshape, stack, swapaxes
from kerata.ops.reduction import sum

# ------------------------------------------------------------------ complex tensors


@composite
def complex_of(real: Float, imag: Float):
    """Complex tensor of two real ones, not in half precision."""
    kind = "complex128" if dtype_of(real) == "float64" else "complex64"
    return add(cast(real, kind), multiply(cast(imag, kind), np.asarray(1j, kind)))


_complex_of = complex_of


def complex_of(real, imag):  # noqa: F811
    """Complex tensor of two real ones."""
    return _complex_of(_in_single(real), _in_single(imag))


def _in_single(x):
    """No complex numbers, and no transform, are in half precision."""
    return cast(x, "float32") if dtype_of(x) in ("float16", "bfloat16") else x


@composite
def view_as_complex(x: Float):
    """Pairs in the last dimension as complex numbers (`torch.view_as_complex`).

    Args:
        x: tensor of shape `(..., 2)`: real and imaginary parts.

    Returns:
        Complex tensor of shape `(...)`.

    >>> ops.view_as_complex([[1.0, 2.0]])
    [1.+2.j]
    """
    if not x.shape or x.shape[-1] != 2:
        raise ValueError(f"view_as_complex: the last dimension must be 2, but the shape is {tuple(x.shape)}.")
    return complex_of(x[..., 0], x[..., 1])


@composite
def view_as_real(x: Index):
    """Complex numbers as pairs in a new last dimension (`torch.view_as_real`).

    Args:
        x: complex tensor of any shape.

    Returns:
        Real tensor of shape `(..., 2)`.

    >>> ops.view_as_real(np.array([1 + 2j], "complex64"))
    [[1., 2.]]
    """
    return stack([real(x), imag(x)], axis=-1)


def _pair(owner, x):
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(
            f"{owner}: Input `x` should be a tuple of two tensors, (real, imaginary), not {type(x).__name__}."
        )
    re, im = (convert_to_tensor(v) for v in x)
    _same_parts(owner, tuple(re.shape), tuple(im.shape))
    return re, im


def _same_parts(owner, re, im):
    if len(re) != len(im) or any(None not in (a, b) and a != b for a, b in zip(re, im)):
        raise ValueError(
            f"{owner}: Both the real and imaginary parts should have the same shape, but have {re} and {im}."
        )


def _with_rank(owner, x, least):
    if len(x.shape) < least:
        raise ValueError(f"{owner}: Input should have rank >= {least}. Received: shape {tuple(x.shape)}.")
    return x


def _split(z):
    return real(z), imag(z)


# ------------------------------------------------------------------ transforms


@primitive(rule=rules.same)
def fft(x: Index):
    """Discrete Fourier transform of complex numbers over the last axis: the primitive."""


@primitive(rule=rules.same)
def ifft(x: Index):
    """Inverse of `fft`: the primitive."""


@primitive(rule=rules.rfft)
def rfft(x: Float, n=None):
    """Half of the transform of real numbers: the primitive."""
    return _fitted(_in_single(x), n), n


@primitive(rule=rules.irfft)
def irfft(x: Index, n=None):
    """Inverse of `rfft`: the primitive."""
    return _fitted(x, None if n is None else n // 2 + 1), n


def _fitted(x, length):
    """`x` cut or zero-padded at the end of its last dimension: TensorFlow's gradients don't allow for either."""
    have = x.shape[-1]
    if length is None or have is None or have == length:
        return x
    if have > length:
        return x[..., :length]
    return pad(x, ((0, 0),) * (len(x.shape) - 1) + ((0, length - have),))


_fft, _ifft, _rfft, _irfft = fft, ifft, rfft, irfft


def fft(x):  # noqa: F811
    """Discrete Fourier transform over the last axis (`numpy.fft.fft`).

    Args:
        x: pair of tensors of one shape `(..., n)`: real and imaginary part.

    Returns:
        Pair of tensors of that shape.

    >>> ops.fft(([1.0, 1.0], [0.0, 0.0]))[0]
    [2., 0.]
    """
    re, im = _pair("fft", x)
    return _split(_fft(complex_of(_with_rank("fft", re, 1), im)))


def fft2(x):
    """Discrete Fourier transform over the last two axes (`numpy.fft.fft2`).

    Args:
        x: pair of tensors of one shape `(..., m, n)`: real and imaginary part.

    Returns:
        Pair of tensors of that shape.

    >>> ops.fft2(([[1.0, 1.0]], [[0.0, 0.0]]))[0]
    [[2., 0.]]
    """
    return _split(fft_of_both(_complex_pair("fft2", x)))


def ifft2(x):
    """Inverse of `fft2` (`numpy.fft.ifft2`).

    Args:
        x: pair of tensors of one shape `(..., m, n)`: real and imaginary part.

    Returns:
        Pair of tensors of that shape.

    >>> ops.ifft2(([[2.0, 0.0]], [[0.0, 0.0]]))[0]
    [[1., 1.]]
    """
    return _split(ifft_of_both(_complex_pair("ifft2", x)))


def _complex_pair(owner, x):
    re, im = _pair(owner, x)
    return complex_of(_with_rank(owner, re, 2), im)


@composite
def fft_of_both(x: Index):
    """`fft` over the last two axes."""
    return swapaxes(_fft(swapaxes(_fft(x), -1, -2)), -1, -2)


@composite
def ifft_of_both(x: Index):
    """`ifft` over the last two axes."""
    return swapaxes(_ifft(swapaxes(_ifft(x), -1, -2)), -1, -2)


def rfft(x, fft_length=None):  # noqa: F811
    """Discrete Fourier transform of real numbers over the last axis, the half that isn't redundant (`numpy.fft.rfft`).

    Args:
        x: real tensor of shape `(..., n)`.
        fft_length: length that `x` is cut or zero-padded to, by default n.

    Returns:
        Pair of tensors of shape `(..., fft_length // 2 + 1)`: real and imaginary part.

    >>> ops.rfft([1.0, 1.0, 1.0, 1.0])[0]
    [4., 0., 0.]
    """
    x = _with_rank("rfft", convert_to_tensor(x), 1)
    return _split(_rfft(x, None if fft_length is None else positive_int(fft_length, "fft_length", "rfft")))


def irfft(x, fft_length=None):  # noqa: F811
    """Inverse of `rfft` (`numpy.fft.irfft`).

    Args:
        x: pair of tensors of one shape `(..., m)`: real and imaginary part.
        fft_length: length of the result, by default `2 * (m - 1)`.

    Returns:
        Real tensor of shape `(..., fft_length)`.

    >>> ops.irfft(([4.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
    [1., 1., 1., 1.]
    """
    length = None if fft_length is None else positive_int(fft_length, "fft_length", "irfft")
    re, im = _pair("irfft", x)
    return _irfft(complex_of(_with_rank("irfft", re, 1), im), length)


fft.op, rfft.op, irfft.op = _fft.op, _rfft.op, _irfft.op


# ------------------------------------------------------------------ short-time transforms


@composite(native="")
def extract_sequences(x: Index, sequence_length, sequence_stride):
    """Frames of a signal, each `sequence_stride` further on.

    Args:
        x: tensor of shape `(..., time)`.
        sequence_length: length of a frame.
        sequence_stride: distance between the beginnings of neighbours.

    Returns:
        Tensor of shape `(..., frames, sequence_length)`; what doesn't fill a frame is left out.

    >>> ops.extract_sequences([1, 2, 3, 4], 2, 2)
    [[1, 2], [3, 4]]
    """
    _with_rank("extract_sequences", x, 1)
    positive_int(sequence_length, "sequence_length", "extract_sequences")
    positive_int(sequence_stride, "sequence_stride", "extract_sequences")
    if x.shape[-1] is not None and x.shape[-1] < sequence_length:
        return zeros((*shape_of(x)[:-1], 0, sequence_length), dtype_of(x))
    return frames_of(x, sequence_length, sequence_stride)


@composite
def frames_of(x: Index, sequence_length, sequence_stride):
    """Frames of a signal that holds one at least, or of unknown length."""
    time = shape_of(x)[-1]
    if isinstance(time, int):
        frames = 1 + (time - sequence_length) // sequence_stride
        places = np.arange(sequence_length) + np.arange(frames)[:, None] * sequence_stride
        return take(x, places.astype("int32"), axis=-1)
    frames = 1 + (time - sequence_length) // sequence_stride
    begins = expand_dims(arange(frames, dtype="int32") * sequence_stride, -1)
    return take(x, begins + np.arange(sequence_length, dtype="int32"), axis=-1)


def stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    """Short-time Fourier transform: `rfft` of overlapping, windowed frames.

    Args:
        x: real tensor of shape `(..., time)`.
        sequence_length: length of the window.
        sequence_stride: distance between frames.
        fft_length: length of a frame, at least `sequence_length`; the window lies in its middle.
        window: `"hann"`, `"hamming"`, a vector of length `sequence_length`, or `None` for ones.
        center: whether frames are centred at multiples of the stride, the signal mirrored at its ends.

    Returns:
        Pair of tensors of shape `(..., frames, fft_length // 2 + 1)`: real and imaginary part.

    >>> ops.stft([1.0, 1.0, 1.0, 1.0], 2, 2, 2, window=None, center=False)[0]
    [[2., 0.], [2., 0.]]
    """
    x = convert_to_tensor(x)
    if not dtypes.is_float(dtype_of(x)):
        raise TypeError(f"stft: `x` must be floating (`float32` or `float64`), but is {dtype_of(x)}.")
    _with_rank("stft", x, 1)
    positive_int(sequence_stride, "sequence_stride", "stft")
    z = stft_of(x, _window("stft", window, sequence_length, fft_length), sequence_stride, fft_length, center)
    return _split(z)


@composite
def stft_of(x: Float, window: Float, sequence_stride, fft_length, center):
    """`stft` with the window in full length, complex."""
    if center:
        half = fft_length // 2
        x = pad(x, ((0, 0),) * (len(x.shape) - 1) + ((half, half),), mode="reflect")
    return _rfft(extract_sequences(x, fft_length, sequence_stride) * window, None)


def _window(owner, window, sequence_length, fft_length):
    """The window, zero-padded on both sides to the length of a frame."""
    if not 0 < sequence_length <= fft_length:
        raise ValueError(
            f"{owner}: `fft_length` must equal or exceed `sequence_length`, but they are {fft_length} and {sequence_length}."
        )
    before = (fft_length - sequence_length) // 2
    around = (before, fft_length - sequence_length - before)
    if window is None:
        window = np.ones(sequence_length, "float32")
    elif isinstance(window, str):
        window = _named_window(owner, window, sequence_length)
    elif tuple(window.shape) != (sequence_length,):
        raise ValueError(
            f"{owner}: The shape of `window` must be equal to ({sequence_length},), but it is {tuple(window.shape)}."
        )
    return np.pad(window, around) if isinstance(window, np.ndarray) else pad(window, (around,))


def _named_window(owner, name, length):
    if name not in ("hann", "hamming"):
        raise ValueError(f"{owner}: If a string is passed to `window`, it must be 'hann' or 'hamming', not {name!r}.")
    # Periodic ones: the period is the length, so that overlapping windows add up evenly.
    swing = np.cos(2 * np.pi * np.arange(length) / length)
    return (0.5 - 0.5 * swing if name == "hann" else 0.54 - 0.46 * swing).astype("float32")


def istft(x, sequence_length, sequence_stride, fft_length, length=None, window="hann", center=True):
    """Inverse of `stft`: frames windowed, overlapped, added, and divided by what the windows add up to.

    Args:
        x: pair of tensors of shape `(..., frames, fft_length // 2 + 1)`: real and imaginary part.
        sequence_length: length of the window.
        sequence_stride: distance between frames.
        fft_length: length of a frame.
        length: length of the signal; by default all that the frames cover.
        window: the window of `stft`. `None`: frames are added as they are; where they overlap, divide yourself.
        center: whether `stft` was called with it.

    Returns:
        Real tensor of shape `(..., time)`.

    >>> pair = ops.stft([1.0, 2.0, 3.0, 4.0], 2, 2, 2, window=None, center=False)
    >>> ops.istft(pair, 2, 2, 2, window=None, center=False)
    [1., 2., 3., 4.]
    """
    re, im = _pair("istft", x)
    _with_rank("istft", re, 2)
    positive_int(sequence_stride, "sequence_stride", "istft")
    full = _window("istft", window, sequence_length, fft_length)
    return istft_of(complex_of(re, im), full, sequence_stride, fft_length, length, center, window is not None)


@composite
def istft_of(x: Index, window: Index, sequence_stride, fft_length, length, center, weighted):
    """`istft` of a complex tensor, with the window in full length."""
    frames = _irfft(x, fft_length)
    window = cast(window, dtype_of(frames))
    signal = _overlapped(frames * window, sequence_stride)
    if weighted:
        signal = _unweighted(signal, frames, window, sequence_stride)
    start = fft_length // 2 if center else 0
    if length is None:
        stop = -(fft_length // 2) if center and fft_length > 1 else None
    else:
        stop = start + length
    signal = signal[..., start:stop]
    if length is not None and signal.shape[-1] < length:
        signal = pad(signal, ((0, 0),) * (len(signal.shape) - 1) + ((0, length - signal.shape[-1]),))
    return signal


def _unweighted(total, frames, window, sequence_stride):
    """The sum of windowed frames divided by that of the squared windows."""
    weight = _overlapped(
        expand_dims(window * window, 0) + zeros((frames.shape[-2], 1), dtype_of(frames)), sequence_stride
    )
    return total / where(weight > 1e-11, weight, 1.0)


def _overlapped(frames, stride):
    """Sum of frames `(..., n, length)`, each moved on by `stride`."""
    count, length = frames.shape[-2], frames.shape[-1]
    if count is None:
        raise ValueError("istft: the number of frames must be known.")
    lead = shape_of(frames)[:-2]
    if not count:
        return zeros((*lead, 0), dtype_of(frames))
    parts = -(-length // stride)
    around = ((0, 0),) * len(lead)
    if parts * stride > length:
        frames = pad(frames, (*around, (0, 0), (0, parts * stride - length)))
    # A frame's p-th part belongs p strides further on: rows that are one longer than they're read again move by one each.
    rows = swapaxes(reshape(frames, (*lead, count, parts, stride)), -3, -2)
    rows = reshape(pad(rows, (*around, (0, 0), (0, parts), (0, 0))), (*lead, parts * (count + parts), stride))
    rows = reshape(rows[..., : parts * (count + parts - 1), :], (*lead, parts, count + parts - 1, stride))
    signal = reshape(sum(rows, axis=-3), (*lead, (count + parts - 1) * stride))
    return signal[..., : (count - 1) * stride + length]
