"""Fourier transforms over the last axis."""

import torch

fft = torch.fft.fft
ifft = torch.fft.ifft
rfft = torch.fft.rfft
irfft = torch.fft.irfft
fft_of_both = torch.fft.fft2
ifft_of_both = torch.fft.ifft2
