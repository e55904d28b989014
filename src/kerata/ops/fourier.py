"""Fourier transforms. Complex numbers go in and out as pairs `(real, imaginary)`, as in Keras."""

from kerata.ops import rules
from kerata.ops.declare import Float, Index, composite, primitive
