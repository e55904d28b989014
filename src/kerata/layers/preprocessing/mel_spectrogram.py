"""`MelSpectrogram`: sound as a picture of its energy in bands as the ear hears them."""

import numpy as np

from kerata import ops
from kerata.core import errors
from kerata.graph.tensor import KerasTensor
from kerata.layers.preprocessing.data_layer import DataLayer


class MelSpectrogram(DataLayer):
    """Mel spectrogram of sound.

    The short-time Fourier transform's magnitude is taken to a power, summed in overlapping triangular bands that are evenly spaced on the
    mel scale (S. S. Stevens et al., 1937; in HTK's form), and given in decibels.

    Args:
        fft_length: length of a frame and of its transform.
        sequence_stride: samples between frames.
        sequence_length: samples under the window; by default `fft_length`.
        window: `"hann"`, `"hamming"`, an array of `sequence_length` numbers, or `None`.
        sampling_rate: samples a second.
        num_mel_bins: number of bands.
        min_freq: lower edge of the lowest band, in hertz.
        max_freq: upper edge of the highest band; by default half of `sampling_rate`.
        power_to_db: return decibels.
        top_db: range of the decibels: what is further below the loudest is raised to it. `None`: no limit.
        mag_exp: exponent of the magnitude: 1 for magnitude, 2 for power.
        min_power: powers below are raised to it.
        ref_power: power of 0 decibels.

    Input: `(samples,)` or `(batch, samples)`. Output: `(num_mel_bins, frames)` or `(batch, num_mel_bins, frames)`.

    Raises:
        ValueError: `fft_length` below `sequence_length`, or an unknown window.

    >>> import kerata
    >>> layer = kerata.layers.MelSpectrogram(num_mel_bins=8, sampling_rate=1000, sequence_stride=64, fft_length=128)
    >>> tuple(layer(kerata.ops.ones((640,))).shape)
    (8, 11)
    """

    def __init__(
        self,
        fft_length=2048,
        sequence_stride=512,
        sequence_length=None,
        window="hann",
        sampling_rate=16000,
        num_mel_bins=128,
        min_freq=20.0,
        max_freq=None,
        power_to_db=True,
        top_db=80.0,
        mag_exp=2.0,
        min_power=1e-10,
        ref_power=1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = self._where()
        sequence_length = sequence_length or fft_length
        if fft_length < sequence_length:
            raise ValueError(
                f"{owner}: `fft_length` must be greater than or equal to `sequence_length`, but they are {fft_length} and "
                f"{sequence_length}."
            )
        self.fft_length = errors.positive_int(fft_length, "fft_length", owner)
        self.sequence_stride = errors.positive_int(sequence_stride, "sequence_stride", owner)
        self.sequence_length = sequence_length
        self.window = window
        self.sampling_rate = sampling_rate
        self.num_mel_bins = errors.positive_int(num_mel_bins, "num_mel_bins", owner)
        self.min_freq = min_freq
        self.max_freq = max_freq or int(sampling_rate / 2)
        self.power_to_db = power_to_db
        self.top_db = top_db
        self.mag_exp = mag_exp
        self.min_power = min_power
        self.ref_power = ref_power

    def call(self, inputs):
        # Transforms and powers would lose too much in half precision.
        dtype = "float64" if self.compute_dtype == "float64" else "float32"
        x = ops.cast(inputs, dtype)
        rank = len(x.shape)
        if rank not in (1, 2):
            raise ValueError(
                f"{self._where()}: the input must have the shape (samples,) or (batch, samples), but has {tuple(x.shape)}."
            )
        if rank == 1:
            x = ops.expand_dims(x, 0)
        real, imag = ops.stft(x, self.sequence_length, self.sequence_stride, self.fft_length, self._window())
        energy = ops.square(real) + ops.square(imag)
        if self.mag_exp != 2:
            energy = ops.power(energy, self.mag_exp / 2)
        mel = ops.swapaxes(ops.matmul(energy, self._matrix(dtype)), 1, 2)
        if self.power_to_db:
            mel = self._decibels(mel)
        mel = ops.cast(mel, self.compute_dtype)
        return ops.squeeze(mel, 0) if rank == 1 else mel

    def _window(self):
        return (
            self.window if self.window is None or isinstance(self.window, str) else ops.convert_to_tensor(self.window)
        )

    def _matrix(self, dtype):
        return self.linear_to_mel_weight_matrix(
            self.num_mel_bins, self.fft_length // 2 + 1, self.sampling_rate, self.min_freq, self.max_freq, dtype
        )

    def _decibels(self, power):
        reference = 10.0 * np.log10(max(self.min_power, self.ref_power))
        db = ops.log10(ops.maximum(power, self.min_power)) * 10.0 - float(reference)
        return db if self.top_db is None else ops.maximum(db, ops.max(db) - self.top_db)

    def linear_to_mel_weight_matrix(
        self,
        num_mel_bins=20,
        num_spectrogram_bins=129,
        sampling_rate=8000,
        lower_edge_hertz=125.0,
        upper_edge_hertz=3800.0,
        dtype="float32",
    ):
        """What a spectrum is multiplied by to sum it in mel bands: triangles with a peak of 1.

        Args:
            num_mel_bins: number of bands.
            num_spectrogram_bins: number of the spectrum's bins, evenly spaced from 0 to half the sampling rate.
            sampling_rate: samples a second.
            lower_edge_hertz: lower edge of the lowest band.
            upper_edge_hertz: upper edge of the highest band.
            dtype: of the result.

        Returns:
            Tensor of shape `(num_spectrogram_bins, num_mel_bins)`.
        """
        bins = _mel(np.linspace(0.0, sampling_rate / 2, num_spectrogram_bins))[:, None]
        edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
        left, peak, right = edges[:-2], edges[1:-1], edges[2:]
        triangles = np.maximum(0.0, np.minimum((bins - left) / (peak - left), (right - bins) / (right - peak)))
        # What doesn't swing has no pitch.
        triangles[0] = 0.0
        return ops.convert_to_tensor(triangles.astype("float32"), dtype)

    def compute_output_shape(self, input_shape):
        samples = input_shape[-1]
        frames = None if samples is None else samples // self.sequence_stride + 1
        if samples is not None and self.fft_length % 2:
            frames = (samples - 1) // self.sequence_stride + 1
        return (*input_shape[:-1], self.num_mel_bins, frames)

    def compute_output_spec(self, inputs):
        return KerasTensor(self.compute_output_shape(inputs.shape), self.compute_dtype)


def _mel(hertz):
    return 1127.0 * np.log1p(np.asarray(hertz) / 700.0)
