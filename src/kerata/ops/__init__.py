"""Floor 2: the vocabulary, every op of `keras.ops`, declared once for all backends."""

from kerata.core import lazy

_NAMES = {
    "elementwise": [
        "abs", "absolute", "add", "allclose", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
        "arctanh", "array", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
        "bitwise_right_shift", "bitwise_xor", "cast", "cbrt", "ceil", "clip", "conj", "conjugate", "copy", "cos",
        "cosh", "deg2rad", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fabs",
        "floor", "floor_divide", "fmax", "fmin", "fmod", "gcd", "greater", "greater_equal", "heaviside", "hypot", "i0",
        "imag", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "lcm", "ldexp",
        "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and",
        "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply", "nan_to_num", "negative",
        "nextafter", "not_equal", "power", "rad2deg", "real", "reciprocal", "right_shift", "round", "rsqrt",
        "saturate_cast", "select", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "subtract", "tan",
        "tanh", "true_divide", "trunc", "view", "where",
    ],
    "reduction": [
        "all", "amax", "amin", "any", "argmax", "argmin", "cumprod", "cumsum", "logsumexp", "max", "mean", "min",
        "prod", "sum", "var",
    ],
    "nan": [
        "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd",
        "nansum", "nanvar",
    ],
    "statistics": [
        "average", "bincount", "corrcoef", "correlate", "count_nonzero", "digitize", "histogram", "in_top_k", "median",
        "nanmedian", "nanpercentile", "nanquantile", "percentile", "ptp", "quantile", "std",
    ],
    "movement": [
        "append", "array_split", "broadcast_to", "concatenate", "diag", "diagflat", "diagonal", "dsplit", "dstack",
        "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "meshgrid", "moveaxis", "ndim", "pad", "ravel",
        "rearrange", "repeat", "reshape", "roll", "rot90", "size", "split", "squeeze", "stack", "swapaxes", "tile",
        "transpose", "tril", "triu", "unstack", "vsplit", "vstack",
    ],
    "indexing": [
        "get_item", "multi_hot", "nonzero", "one_hot", "scatter", "scatter_update", "segment_max", "segment_min",
        "segment_prod", "segment_sum", "slice", "slice_update", "take", "take_along_axis", "unravel_index",
    ],
    "sorting": ["argpartition", "argsort", "isin", "searchsorted", "sort", "top_k", "unique"],
    "creation": [
        "arange", "bartlett", "blackman", "empty", "empty_like", "eye", "full", "full_like", "geomspace", "hamming",
        "hanning", "identity", "kaiser", "linspace", "logspace", "ones", "ones_like", "tri", "vander", "zeros",
        "zeros_like",
    ],
    "linalg": [
        "cdist", "cholesky", "cholesky_inverse", "cross", "det", "dot", "eig", "eigh", "einsum", "inner", "inv",
        "kron", "logdet", "lstsq", "lu_factor", "matmul", "matrix_rank", "norm", "outer", "pinv", "qr", "slogdet",
        "solve", "solve_triangular", "svd", "tensordot", "trace", "vdot",
    ],
    "calculus": ["diff", "jvp", "trapezoid", "vectorize"],
    "fourier": [
        "extract_sequences", "fft", "fft2", "ifft2", "irfft", "istft", "rfft", "stft", "view_as_complex",
        "view_as_real",
    ],
    "nn": [
        "adaptive_average_pool", "adaptive_max_pool", "average_pool", "batch_normalization", "binary_crossentropy",
        "categorical_crossentropy", "celu", "conv", "conv_transpose", "depth_to_space", "depthwise_conv",
        "dot_product_attention", "elu", "gelu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu",
        "hard_swish=hard_silu", "hard_tanh", "layer_normalization", "leaky_relu", "log_sigmoid", "log_softmax",
        "max_pool", "moments", "normalize", "polar", "psnr", "relu", "relu6", "rms_normalization", "selu",
        "separable_conv", "sigmoid", "silu", "soft_shrink", "softmax", "softplus", "softsign", "space_to_depth",
        "sparse_categorical_crossentropy", "sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus", "swish=silu",
        "tanh_shrink", "threshold",
    ],
    "ctc": ["ctc_decode", "ctc_loss"],
    "sliding": ["fold", "unfold"],
    "prefix": ["associative_scan"],
    "control": ["cond", "fori_loop", "map", "scan", "switch", "vectorized_map", "while_loop"],
    "core": [
        "convert_to_numpy", "convert_to_tensor", "dtype", "is_tensor", "shape", "stop_gradient",
    ],
    "differentiation": ["custom_gradient"],
}  # fmt: skip

# Sub-namespaces by origin, as `keras.ops` has them.
__getattr__, __dir__, __all__ = lazy.attach(__name__, _NAMES, ("core", "image", "linalg", "nn", "numpy"))
