"""How calls of ops stand in Keras's files.

A Functional model's file holds, for each op, a class of Keras's own, such as
`{"module": "keras.src.ops.numpy", "class_name": "Sum", "config": {"axis": -1, "keepdims": false}}`: some
of the op's arguments are its config, the others are those of the node. The table says which. It is a
description of the format, found in files that Keras 3.15 writes.
"""

import inspect
from functools import lru_cache

from kerata.core import registry
from kerata.core.names import to_snake_case

# Per module: `Class parameter parameter ...`, the parameters that are config. The op has the class's name in
# snake case, unless it is said: `Class=op`.
_TABLE = {
    "numpy": """
        Abs; Absolute; Add; All axis keepdims; AllClose=allclose rtol atol equal_nan; Amax axis
        keepdims; Amin axis keepdims; Angle; Any axis keepdims; Append axis; Arange dtype; Arccos;
        Arccosh; Arcsin; Arcsinh; Arctan; Arctan2; Arctanh; Argmax axis keepdims; Argmin axis
        keepdims; Argpartition kth axis; Argsort axis; Array dtype; ArraySplit indices_or_sections
        axis; Average axis; Bincount weights minlength sparse; BitwiseAnd; BitwiseInvert;
        BitwiseLeftShift; BitwiseNot; BitwiseOr; BitwiseRightShift; BitwiseXor; BroadcastTo shape;
        Cbrt; Ceil; Clip x_min x_max; Concatenate axis; Conj; Conjugate; Copy; Corrcoef; Correlate
        mode; Cos; Cosh; CountNonzero axis; Cross axisa axisb axisc axis; Cumprod axis dtype; Cumsum
        axis dtype; Deg2rad; Diag k; Diagflat k; Diagonal offset axis1 axis2; Diff n axis; Digitize;
        Divide; DivideNoNan; Dot; Dsplit indices_or_sections; Dstack; Einsum subscripts; EmptyLike
        dtype; Equal; Exp; Exp2; ExpandDims axis; Expm1; Fabs; Flip axis; Fliplr; Flipud; Floor;
        FloorDivide; Fmax; Fmin; Fmod; Full shape dtype; FullLike dtype; Gcd; Geomspace num endpoint
        dtype axis; GetItem; Greater; GreaterEqual; Heaviside; Histogram bins range; Hsplit
        indices_or_sections; Hstack; Hypot; I0; Imag; Inner; IsIn=isin assume_unique invert; Isclose
        equal_nan; Isfinite; Isinf; Isnan; Isneginf; Isposinf; Isreal; Kron; Lcm; Ldexp; LeftShift;
        Less; LessEqual; Linspace num endpoint retstep dtype axis; Log; Log10; Log1p; Log2;
        Logaddexp; Logaddexp2; LogicalAnd; LogicalNot; LogicalOr; LogicalXor; Logspace num endpoint
        base dtype axis; Matmul; Max axis keepdims initial; Maximum; Mean axis keepdims; Median axis
        keepdims; Meshgrid indexing; Min axis keepdims initial; Minimum; Mod; Moveaxis source
        destination; Multiply; NanToNum nan posinf neginf; Nanargmax axis keepdims; Nanargmin axis
        keepdims; Nancumprod axis dtype; Nancumsum axis dtype; Nanmax axis keepdims; Nanmean axis
        keepdims; Nanmedian axis keepdims; Nanmin axis keepdims; Nanpercentile axis method keepdims;
        Nanprod axis keepdims; Nanquantile axis method keepdims; Nanstd axis keepdims; Nansum axis
        keepdims; Nanvar axis keepdims; Ndim; Negative; Nextafter; Nonzero; NotEqual; OnesLike
        dtype; Outer; Pad pad_width mode; Percentile axis method keepdims; Power; Prod axis keepdims
        dtype; Ptp axis keepdims; Quantile axis method keepdims; Rad2deg; Ravel; Real; Reciprocal;
        Repeat repeats axis; Reshape newshape; RightShift; Roll shift axis; Rot90 k axes; Round
        decimals; SearchSorted=searchsorted side; Select; Sign; Signbit; Sin; Sinc; Sinh; Size;
        Slogdet; Sort axis; Split indices_or_sections axis; Sqrt; Square; Squeeze axis; Stack axis;
        Std axis keepdims; Subtract; Sum axis keepdims; Swapaxes axis1 axis2; Take axis;
        TakeAlongAxis axis; Tan; Tanh; Tensordot axes; Tile repeats; Trace offset axis1 axis2;
        Transpose axes; Trapezoid x dx axis; Tril k; Triu k; TrueDivide; Trunc; Unique sorted
        return_index return_inverse return_counts axis size fill_value; UnravelIndex shape; Vander N
        increasing; Var axis keepdims; Vdot; View dtype; Vsplit indices_or_sections; Vstack; Where;
        ZerosLike dtype
    """,
    "nn": """
        AdaptiveAveragePool output_size data_format; AdaptiveMaxPool output_size data_format;
        AveragePool pool_size strides padding data_format; BatchNorm=batch_normalization axis
        epsilon; BinaryCrossentropy from_logits; CTCDecode strategy beam_width top_paths
        merge_repeated mask_index; CTCLoss mask_index; CategoricalCrossentropy from_logits axis;
        Celu alpha; Conv strides padding data_format dilation_rate; ConvTranspose strides padding
        output_padding data_format dilation_rate; DepthToSpace block_size data_format; DepthwiseConv
        strides padding data_format dilation_rate; DotProductAttention is_causal flash_attention
        attn_logits_soft_cap; Elu alpha; Fold output_size kernel_size dilation padding stride; Gelu
        approximate; Glu axis; HardShrink threshold; HardSigmoid; HardSilu; HardTanh;
        LayerNorm=layer_normalization axis epsilon rms_scaling; LeakyRelu negative_slope;
        LogSigmoid; LogSoftmax axis; MaxPool pool_size strides padding data_format; Moments axes
        keepdims synchronized; MultiHot num_classes axis dtype sparse; Normalize axis order epsilon;
        OneHot num_classes axis dtype sparse; PSNR max_val; Polar; RMSNorm=rms_normalization axis
        epsilon; Relu; Relu6; Selu; SeparableConv strides padding data_format dilation_rate;
        Sigmoid; Silu; SoftShrink threshold; Softmax axis; Softplus; Softsign; SpaceToDepth
        block_size data_format; SparseCategoricalCrossentropy from_logits axis; SparsePlus;
        SparseSigmoid; Sparsemax axis; Squareplus b; TanhShrink; Threshold threshold default_value;
        Unfold kernel_size dilation padding stride
    """,
    "math": """
        CDist=cdist; Erf; Erfc; Erfinv; ExtractSequences sequence_length sequence_stride; FFT; FFT2;
        IFFT2; IRFFT fft_length; ISTFT sequence_length sequence_stride fft_length length window
        center; InTopK k; Logdet; Logsumexp axis keepdims; RFFT fft_length; Rsqrt; STFT
        sequence_length sequence_stride fft_length window center; SegmentMax num_segments sorted;
        SegmentMin num_segments sorted; SegmentProd num_segments sorted; SegmentSum num_segments
        sorted; TopK k sorted; ViewAsComplex; ViewAsReal
    """,
    "core": """
        AssociativeScan reverse axis; Cast dtype; Cond; ConvertToTensor dtype sparse ragged;
        ForiLoop lower upper body_fun; Map; SaturateCast dtype; Scan length reverse unroll; Scatter
        shape; ScatterUpdate reduction; Slice shape; SliceUpdate; StopGradient; Switch; Unstack num
        axis; VectorizedMap function; WhileLoop cond body maximum_iterations
    """,
    "linalg": """
        Cholesky upper; CholeskyInverse upper; Det; Eig; Eigh; Inv; JVP has_aux; Lstsq rcond;
        LuFactor; MatrixRank tol; Norm ord axis keepdims; Pinv rcond; Qr mode; SVD full_matrices
        compute_uv; Solve; SolveTriangular lower
    """,
    "image": """
        AffineTransform interpolation fill_mode fill_value data_format; CropImages top_cropping
        left_cropping bottom_cropping right_cropping target_height target_width data_format;
        ElasticTransform alpha sigma interpolation fill_mode fill_value seed data_format;
        ExtractPatches size strides dilation_rate padding data_format; GaussianBlur kernel_size
        sigma data_format; HSVToRGB data_format; MapCoordinates order fill_mode fill_value;
        PadImages top_padding left_padding bottom_padding right_padding target_height target_width
        data_format; PerspectiveTransform interpolation fill_value data_format; RGBToGrayscale
        data_format; RGBToHSV data_format; Resize size interpolation antialias crop_to_aspect_ratio
        pad_to_aspect_ratio fill_mode fill_value data_format; SSIM max_val filter_size filter_sigma
        k1 k2 data_format; ScaleAndTranslate spatial_dims method antialias; SobelEdges data_format
    """,
    "einops": """
        Rearrange
    """,
    "activations": "ReLU=relu negative_slope max_value threshold; Mish",
}

_MODULES = {module: f"keras.src.ops.{module}" for module in _TABLE}
_MODULES["activations"] = "keras.src.activations.activations"

# Parameters that stand for any number of arguments in a node.
_SPREAD = {"einsum": "operands", "meshgrid": "x", "switch": "operands"}
# Of those, parameters that come before them.
_FIRST = ("subscripts",)


def is_op_record(record):
    """Whether an entry of a file's `"layers"` is an op rather than a layer."""
    module = record.get("module") or ""
    return module.startswith(("keras.src.ops.", "kerata.ops")) or module == _MODULES["activations"]


def to_record(op, arguments, name):
    """An op's call as in a file.

    Args:
        op: name of the op.
        arguments: `{parameter: value}`, all of them, in the order of the op's signature.
        name: name of the node.

    Returns:
        The entry without its `"inbound_nodes"`, and the node's arguments as a list.

    >>> to_record("sum", {"x": "X", "axis": -1, "keepdims": False}, "sum_1")[1]
    ['X']
    """
    module, cls, fixed = _by_op().get(op, (None, None, ()))
    if module is None:
        # No class in Keras for it; such a file is Kerata's alone.
        module, cls = "kerata.ops", "".join(part.capitalize() for part in op.split("_"))
    config = {"name": name, **{p: v for p, v in arguments.items() if p in fixed}}
    called = []
    for parameter, value in arguments.items():
        if parameter == _SPREAD.get(op):
            called.extend(value)
        elif parameter not in fixed:
            called.append(value)
    record = {"module": module, "class_name": cls, "config": config, "registered_name": cls, "name": name}
    return record, called


def from_record(record):
    """The call that an op's entry in a file stands for: `call(*args, **kwargs)` with a node's arguments.

    >>> call = from_record({"module": "keras.src.ops.numpy", "class_name": "Sum", "config": {"axis": -1}})
    >>> int(call([1, 2]))
    3
    """
    op = _op_of(record["module"], record["class_name"])
    function = _function(op)
    config = {k: _tuples(v) for k, v in record["config"].items() if k != "name"}
    if op == "layer_normalization" and not config.get("rms_scaling"):
        config.pop("rms_scaling", None)
    if op in _SPREAD:
        leading = [config.pop(p) for p in list(config) if p in _FIRST]
        return lambda *args, **kwargs: function(*leading, *args, **kwargs, **config)
    # By name: what is config may come before a tensor in the signature, as in `full(shape, fill_value)`.
    names = [p for p in inspect.signature(function).parameters if p not in config]

    def call(*args, **kwargs):
        given = dict(zip(names, args, strict=False))
        if op == "get_item":
            given["key"] = _tuples(given["key"])
        return function(**given, **kwargs, **config)

    return call


def _tuples(value):
    """JSON has no tuples; shapes, axes and indices were some."""
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _op_of(module, cls):
    op = _by_class().get(cls) or (to_snake_case(cls) if module.startswith("kerata.ops") else None)
    if op is None:
        raise ValueError(f"The file holds an op {cls!r} of {module!r}, which Kerata doesn't know.")
    return op


def _function(op):
    for area in ("ops", "ops.image", "ops.linalg", "activations"):
        found = registry.member(area, op)
        if found is not None:
            return found
    raise ValueError(f"The file holds an op {op!r}, which Kerata doesn't have.")


@lru_cache(maxsize=1)
def _by_op():
    """`{op: (module, class, config parameters)}`."""
    table = {}
    for module, text in _TABLE.items():
        for entry in text.split(";"):
            head, *parameters = entry.split()
            cls, _, op = head.partition("=")
            table.setdefault(op or to_snake_case(cls), (_MODULES[module], cls, frozenset(parameters)))
    return table


@lru_cache(maxsize=1)
def _by_class():
    return {cls: op for op, (_, cls, _) in _by_op().items()}
