"""Kernels of the short-time Fourier transform."""

import numpy as np

from kerata.core import errors
from kerata.initializers.initializer import Initializer


class STFT(Initializer):
    """The real or imaginary part of a windowed discrete Fourier transform, as kernel of a `Conv1D`.

    The weight's shape is `(frame length, 1, number of bins)`, and the transform's length `2 * (bins - 1)`.

    Args:
        side: `"real"` or `"imag"`.
        window: name of one of SciPy's windows, an array as long as a frame, or `None`.
        scaling: `"density"`, `"spectrum"` or `None`.
        periodic: whether the window is periodic (for spectra) or symmetric.

    Raises:
        ValueError: for an unknown side, window or scaling.

    >>> from kerata import initializers
    >>> initializers.STFT("real", None, None)((4, 1, 3))[:, 0, 1].round(3) + 0.0
    Array([ 1.,  0., -1.,  0.], dtype=float32)
    """

    def __init__(self, side="real", window="hann", scaling="density", periodic=False):
        self.side = errors.one_of(side, ("real", "imag"), "side", "STFT")
        self.scaling = errors.one_of(scaling, ("density", "spectrum", None), "scaling", "STFT")
        self.window = window
        self.periodic = periodic
        if isinstance(window, str):
            _named_window(window, 8, periodic)

    def host(self, shape, dtype):
        if len(shape) != 3 or shape[1] != 1:
            raise ValueError(f"STFT: the weight's shape must be (frame length, 1, bins), but it is {shape}.")
        frame, _, bins = shape
        angle = -2 * np.pi * np.arange(frame)[:, None] * np.arange(bins) / (2 * (bins - 1))
        wave = np.cos(angle) if self.side == "real" else np.sin(angle)
        return (wave * self._window_of(frame)[:, None])[:, None, :]

    def _window_of(self, frame):
        if self.window is None:
            return np.ones(frame)  # as in Keras: without a window nothing is scaled
        if isinstance(self.window, str):
            window = _named_window(self.window, frame, self.periodic)
        else:
            window = np.asarray(self.window, "float64").reshape(-1)
            if len(window) != frame:
                raise ValueError(f"STFT: the window has {len(window)} values, but a frame {frame}.")
        if self.scaling == "density":
            return window / np.sqrt(np.sum(window**2))
        return window / np.sum(window) if self.scaling == "spectrum" else window


def _named_window(name, length, periodic):
    import scipy.signal

    try:
        return scipy.signal.get_window(name, length, fftbins=periodic)
    except ValueError:
        raise ValueError(f"STFT: SciPy knows no window {name!r} that needs no parameters.") from None
