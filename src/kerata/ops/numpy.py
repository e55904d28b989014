"""`kerata.ops.numpy`: the ops that come from NumPy."""

from kerata.core import lazy
from kerata.ops import _NAMES

_OTHERS = {
    "cast", "cdist", "cholesky", "cholesky_inverse", "det", "eig", "eigh", "erf", "erfc", "erfinv", "extract_sequences",
    "fft", "fft2", "ifft2", "in_top_k", "inv", "irfft", "istft", "logdet", "logsumexp", "lstsq", "lu_factor",
    "matrix_rank", "multi_hot", "norm", "one_hot", "pinv", "qr", "rearrange", "rfft", "rsqrt", "saturate_cast",
    "scatter", "scatter_update", "segment_max", "segment_min", "segment_prod", "segment_sum", "slice", "slice_update",
    "solve", "solve_triangular", "stft", "svd", "top_k", "unstack", "view_as_complex", "view_as_real",
}  # fmt: skip
_ELSEWHERE = ("nn", "ctc", "sliding", "prefix", "control", "core")

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        f"kerata.ops.{module}": [n for n in names if n not in _OTHERS]
        for module, names in _NAMES.items()
        if module not in _ELSEWHERE
    },
)
