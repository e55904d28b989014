"""Floor 2: the vocabulary, every op of `keras.ops`, declared once for all backends."""

from kerata.core import lazy

_NAMES = {
    "elementwise": [
        "abs", "absolute", "add", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
        "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
        "bitwise_xor", "cast", "ceil", "clip", "conj", "conjugate", "cos", "cosh", "divide", "equal", "erf", "erfc",
        "erfinv", "exp", "exp2", "expm1", "floor", "floor_divide", "greater", "greater_equal", "imag", "isfinite",
        "isinf", "isnan", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logical_and",
        "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply", "negative", "nextafter",
        "not_equal", "power", "real", "right_shift", "round", "rsqrt", "sign", "sin", "sinh",
        "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc", "where",
    ],
    "reduction": [
        "all", "amax", "amin", "any", "argmax", "argmin", "cumprod", "cumsum", "logsumexp", "max", "mean", "min",
        "prod", "sum", "var",
    ],
    "movement": [
        "broadcast_to", "concatenate", "diag", "diagonal", "expand_dims", "flip", "moveaxis", "pad", "ravel", "repeat",
        "reshape", "roll", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "tril", "triu", "unstack",
    ],
    "indexing": [
        "get_item", "multi_hot", "nonzero", "one_hot", "scatter", "scatter_update", "slice", "slice_update", "take",
        "take_along_axis",
    ],
    "sorting": ["argsort", "searchsorted", "sort", "top_k"],
    "creation": [
        "arange", "empty", "empty_like", "eye", "full", "full_like", "identity", "linspace", "ones", "ones_like",
        "zeros", "zeros_like",
    ],
    "linalg": [
        "cholesky", "det", "dot", "einsum", "eigh", "inv", "lu_factor", "matmul", "norm", "outer", "qr", "slogdet",
        "solve", "solve_triangular", "svd", "tensordot",
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
    "control": ["cond", "fori_loop", "map", "scan", "switch", "vectorized_map", "while_loop"],
    "core": ["convert_to_numpy", "convert_to_tensor", "custom_gradient", "dtype", "is_tensor", "shape", "stop_gradient"],
}  # fmt: skip

__getattr__, __dir__, __all__ = lazy.attach(__name__, _NAMES, ("nn",))
