"""`STFTSpectrogram`: a signal's spectrum over time, by kernels that may be trained."""

import math

import numpy as np

from kerata import ops
from kerata.core import config, dtypes, errors
from kerata.graph.tensor import KerasTensor
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.preprocessing.data_layer import DataLayer, build_at_home

MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")


class STFTSpectrogram(DataLayer):
    """Short-time Fourier transform of signals, as a convolution with the windowed Fourier kernels.

    Args:
        mode: what of the transform is returned: `"log"` (logarithm of the magnitude), `"magnitude"`, `"psd"` (power spectral density,
            one-sided), `"real"`, `"imag"`, `"angle"`, or `"stft"` (real and imaginary part, one after the other).
        frame_length: samples in a frame.
        frame_step: samples between frames; by default half a frame.
        fft_length: length of the transform, at least `frame_length`; by default the next power of two.
        window: `"hann"`, `"hamming"`, another name that `scipy.signal.get_window` knows, an array of `frame_length` numbers, or `None`.
        periodic: whether the window is periodic rather than symmetric.
        scaling: `"density"` or `"spectrum"`: divides the window by the root of its energy, or by its sum; `None`: not.
        padding: `"valid"` or `"same"`.
        expand_dims: keep the channels in a dimension of their own: spectrograms as images.
        data_format: `"channels_last"` (the default) or `"channels_first"`.

    Input: `(batch, time, channels)`, floating; `(batch, channels, time)` for channels_first. Output: `(batch, frames,
    channels * bins)`, with `expand_dims` `(batch, frames, bins, channels)`; for channels_first `(batch, channels * bins,
    frames)` and `(batch, channels, frames, bins)`. There are `fft_length // 2 + 1` bins, with `"stft"` twice as many.

    The kernels are weights. They train unless `trainable=False` is given.

    Raises:
        ValueError: an argument out of range or an unknown name.
        TypeError: inputs that aren't floating.

    >>> import kerata
    >>> layer = kerata.layers.STFTSpectrogram(mode="magnitude", frame_length=8, trainable=False)
    >>> tuple(layer(kerata.ops.ones((1, 32, 1))).shape)
    (1, 7, 5)
    """

    def __init__(
        self,
        mode="log",
        frame_length=256,
        frame_step=None,
        fft_length=None,
        window="hann",
        periodic=False,
        scaling="density",
        padding="valid",
        expand_dims=False,
        data_format=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = self._where()
        errors.one_of(mode, MODES, "mode", owner)
        errors.one_of(padding, ("valid", "same"), "padding", owner)
        errors.one_of(scaling, (None, "density", "spectrum"), "scaling", owner)
        frame_length = errors.positive_int(frame_length, "frame_length", owner)
        if frame_step is not None and not 0 < frame_step <= frame_length:
            raise ValueError(
                f"{owner}: `frame_step` must be between 1 and `frame_length` ({frame_length}), but {frame_step!r} was given."
            )
        if fft_length is not None and fft_length < frame_length:
            raise ValueError(f"{owner}: `fft_length` ({fft_length}) must be at least `frame_length` ({frame_length}).")
        self.mode = mode
        self.frame_length = frame_length
        self.frame_step = frame_step
        self.fft_length = fft_length
        self.window = window
        self.periodic = periodic
        self.scaling = scaling
        self.padding = padding
        self.expand_dims = expand_dims
        self.data_format = config.standardize_data_format(data_format)
        self._step = frame_step or max(frame_length // 2, 1)
        self._length = fft_length or 2 ** math.ceil(math.log2(frame_length))
        self._window_of(frame_length)
        self.input_spec = InputSpec(ndim=3)

    def _window_of(self, length):
        if self.window is None:
            return None
        if isinstance(self.window, str):
            window = _named(self.window, length, self.periodic, self._where())
        else:
            window = np.asarray(self.window, "float64")
            if window.shape != (length,):
                raise ValueError(
                    f"{self._where()}: `window` must have `frame_length` ({length}) numbers, but has the shape {window.shape}."
                )
        if self.scaling is None:
            return window
        return window / math.sqrt((window**2).sum() if self.scaling == "density" else window.sum() ** 2)

    def build(self, input_shape):
        # Of the real and the imaginary part; real ones first.
        names = {"real": ("real",), "imag": ("imag",)}.get(self.mode, ("real", "imag"))
        for name in names:
            kernel = self.add_weight(
                (self.frame_length, 1, self._length // 2 + 1),
                lambda shape, dtype=None, name=name: self._kernel(name),
                name=f"{name}_kernel",
            )
            setattr(self, f"{name}_kernel", kernel)

    def _kernel(self, name):
        time, bins = np.arange(self.frame_length), np.arange(self._length // 2 + 1)
        # The angle modulo a turn, exactly.
        angle = 2 * np.pi * (np.outer(time, bins) % self._length) / self._length
        kernel = np.cos(angle) if name == "real" else -np.sin(angle)
        window = self._window_of(self.frame_length)
        return (kernel if window is None else kernel * window[:, None])[:, None, :].astype("float32")

    def _prepare(self, value):
        if hasattr(value, "dtype") and not dtypes.is_float(value.dtype):
            raise TypeError(
                f"{self._where()}: the input must be a floating signal, but its dtype is {dtypes.standardize_dtype(value.dtype)}: "
                "cast it first, and scale it to -1…1 if need be."
            )
        return super()._prepare(value)

    def __call__(self, inputs, **kwargs):
        build_at_home(self, inputs)
        return super().__call__(inputs, **kwargs)

    def call(self, inputs):
        first = self.data_format == "channels_first"
        signal = inputs if first else ops.swapaxes(inputs, 1, 2)
        batch, channels, time = ops.shape(signal)
        # The same kernels for each channel.
        signal = ops.reshape(signal, (-1, time, 1))
        spectrum = self._spectrum(*(self._part(signal, p) for p in ("real", "imag")))
        _, frames, bins = ops.shape(spectrum)
        spectrum = ops.reshape(spectrum, (-1, channels, frames, bins))
        if self.expand_dims:
            return spectrum if first else ops.transpose(spectrum, (0, 2, 3, 1))
        order, shape = (
            ((0, 1, 3, 2), (-1, channels * bins, frames)) if first else ((0, 2, 1, 3), (-1, frames, channels * bins))
        )
        return ops.reshape(ops.transpose(spectrum, order), shape)

    def _part(self, signal, name):
        kernel = getattr(self, f"{name}_kernel", None)
        if kernel is None:
            return None
        return ops.conv(
            signal, ops.cast(kernel, self.compute_dtype), self._step, padding=self.padding, data_format="channels_last"
        )

    def _spectrum(self, real, imag):
        mode = self.mode
        if mode in ("real", "imag"):
            return real if mode == "real" else imag
        if mode == "stft":
            return ops.concatenate([real, imag], axis=-1)
        if mode == "angle":
            return ops.arctan2(imag, real)
        power = ops.square(real) + ops.square(imag)
        if mode == "psd":
            # One-sided: what is at negative frequencies is added; zero and the highest of an even length have none.
            bins = self._length // 2 + 1
            twice = np.full(bins, 2.0, "float32")
            twice[0] = 1.0
            if self._length % 2 == 0:
                twice[-1] = 1.0
            return power * ops.cast(twice, self.compute_dtype)
        magnitude = ops.sqrt(ops.maximum(power, config.epsilon()))
        return ops.log(magnitude) if mode == "log" else magnitude

    def compute_output_shape(self, input_shape):
        first = self.data_format == "channels_first"
        batch, channels, time = input_shape if first else (input_shape[0], input_shape[2], input_shape[1])
        bins = (self._length // 2 + 1) * (2 if self.mode == "stft" else 1)
        frames = None
        if time is not None:
            frames = (time - self.frame_length) // self._step + 1 if self.padding == "valid" else -(-time // self._step)
        if self.expand_dims:
            return (batch, channels, frames, bins) if first else (batch, frames, bins, channels)
        all_bins = None if channels is None else channels * bins
        return (batch, all_bins, frames) if first else (batch, frames, all_bins)

    def compute_output_spec(self, inputs):
        return KerasTensor(self.compute_output_shape(inputs.shape), self.compute_dtype)

    def get_config(self):
        window = self.window
        return {
            **Layer.get_config(self),
            "mode": self.mode,
            "frame_length": self.frame_length,
            "frame_step": self.frame_step,
            "fft_length": self.fft_length,
            "window": window if window is None or isinstance(window, str) else np.asarray(window).tolist(),
            "periodic": self.periodic,
            "scaling": self.scaling,
            "padding": self.padding,
            "data_format": self.data_format,
            "expand_dims": self.expand_dims,
        }


def _named(name, length, periodic, owner):
    if name in ("hann", "hamming"):
        # Symmetric: the last number equals the first; periodic: it would be the next one that does.
        swing = np.cos(2 * np.pi * np.arange(length) / max(length if periodic else length - 1, 1))
        return 0.5 - 0.5 * swing if name == "hann" else 0.54 - 0.46 * swing
    try:
        from scipy.signal import get_window
    except ImportError as error:
        raise ImportError(
            f"{owner}: the window {name!r} comes from SciPy, which isn't installed: pip install scipy. 'hann' and 'hamming' need "
            "nothing, and an array of numbers may be given."
        ) from error
    try:
        return get_window(name, length, periodic)
    except ValueError as error:
        raise ValueError(f"{owner}: unknown `window` {name!r} ({error}).") from None
