"""Fourier transforms over the last axis."""

import jax.numpy as jnp

from kerata.backends.jax.core import static

fft = static()(lambda x: jnp.fft.fft(x))
ifft = static()(lambda x: jnp.fft.ifft(x))
rfft = static(1)(lambda x, n: jnp.fft.rfft(x, n))
irfft = static(1)(lambda x, n: jnp.fft.irfft(x, n))
fft_of_both = static()(lambda x: jnp.fft.fft2(x))
ifft_of_both = static()(lambda x: jnp.fft.ifft2(x))
