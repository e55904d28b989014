"""Fourier transforms over the last axis. NumPy 2 keeps single precision; NumPy 1 is brought back to it."""

import numpy as np


def fft(x):
    return np.fft.fft(x).astype(x.dtype, copy=False)


def ifft(x):
    return np.fft.ifft(x).astype(x.dtype, copy=False)


def rfft(x, n):
    return np.fft.rfft(x, n).astype(np.result_type(x.dtype, np.complex64), copy=False)


def irfft(x, n):
    return np.fft.irfft(x, n).astype(x.real.dtype, copy=False)
