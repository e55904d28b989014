"""Fourier transforms over the last axis."""

from kerata.backends.tensorflow.core import tf


def fft(x):
    return tf.signal.fft(x)


def ifft(x):
    return tf.signal.ifft(x)


def rfft(x, n):
    return tf.signal.rfft(x, None if n is None else [n])


def irfft(x, n):
    return tf.signal.irfft(x, None if n is None else [n])


def fft_of_both(x):
    return tf.signal.fft2d(x)


def ifft_of_both(x):
    return tf.signal.ifft2d(x)
