"""What each op is timed beside: inputs of about a million elements, and the framework's best expression of the same.

An op that isn't in `inputs()` gets the first of its samples that can be grown. An op that isn't in a framework's table is timed beside
the function of its name in the modules of `MODULES`. Expressions take the op's arguments by position. On JAX they are compiled,
which is the best one can do there; on the others they run eagerly.
"""

import functools
import math

import numpy as np


@functools.cache
def inputs():
    """`{op: arguments}`: arrays are the tensors."""
    r = np.random.default_rng(0)

    def f(*shape):
        return r.standard_normal(shape, dtype="float32")

    def u(*shape):
        return r.random(shape, dtype="float32") * 0.9 + 0.05

    def i(high, *shape):
        return r.integers(0, high, shape, dtype="int32")

    square = (f(1000, 32, 32) * 0.1 + 3 * np.eye(32, dtype="float32")).astype("float32")
    definite = square @ square.swapaxes(-1, -2)
    picture, pictures = u(8, 64, 64, 32), u(8, 200, 200, 3)
    rows, signal = f(1000, 1000), f(10, 100_000)
    classes = np.eye(1000, dtype="float32")[i(1000, 1000)]
    chance = u(1000, 1000)
    affine = np.tile(np.float32([0.9, 0.2, -0.3, -0.1, 1.1, 0.4, 0, 0]), (8, 1))
    corners = np.tile(np.float32([[0, 0], [0, 199], [199, 0], [199, 199]]), (8, 1, 1))
    frames = [f(10, 780, 129), f(10, 780, 129)]
    table, at = f(100_000, 10), i(100_000, 100_000)
    given = {
        # elementwise
        "arccosh": (u(1000, 1000) + 1,),
        "arctanh": (u(1000, 1000),),
        "cast": (rows, "int32"),
        "view": (rows, "int32"),
        "saturate_cast": (rows * 200, "int8"),
        "select": ([i(2, 1000, 1000).astype(bool), i(2, 1000, 1000).astype(bool)], [rows, -rows], 2.0),
        "where": (i(2, 1000, 1000).astype(bool), rows, -rows),
        "heaviside": (rows, f(1000)),
        "polar": (u(1000, 1000), rows),
        "gcd": (i(1000, 1000, 1000), i(1000, 1000, 1000)),
        "lcm": (i(1000, 1000, 1000), i(1000, 1000, 1000)),
        "ldexp": (rows, i(9, 1000, 1000)),
        "round": (rows, 0),
        "isclose": (rows, rows + 1e-6),
        "allclose": (rows, rows),
        # reductions
        "average": (rows, -1, chance),
        "quantile": (rows, 0.4, -1),
        "nanquantile": (rows, 0.4, -1),
        "percentile": (rows, 40, -1),
        "nanpercentile": (rows, 40, -1),
        "median": (rows, -1),
        "nanmedian": (rows, -1),
        "histogram": (f(1_000_000), 50, (-3.0, 3.0)),
        "bincount": (i(1000, 1_000_000),),
        "corrcoef": (f(100, 10_000),),
        "correlate": (f(1_000_000), f(16), "valid"),
        "digitize": (rows, np.linspace(-2, 2, 100, dtype="float32")),
        "count_nonzero": (i(2, 1000, 1000).astype(bool), 1),
        "in_top_k": (i(1000, 1000), rows, 5),
        "logsumexp": (rows, -1),
        "cumsum": (rows, -1),
        "cumprod": (rows, -1),
        "sum": (rows, -1),
        "mean": (rows, -1),
        "max": (rows, -1),
        "min": (rows, -1),
        "amax": (rows, -1),
        "amin": (rows, -1),
        "prod": (rows, -1),
        "var": (rows, -1),
        "std": (rows, -1),
        "ptp": (rows, -1),
        "argmax": (rows, -1),
        "argmin": (rows, -1),
        "any": (rows > 0, -1),
        "all": (rows > 0, -1),
        "nancumsum": (rows, -1),
        "nancumprod": (rows, -1),
        **{
            f"nan{n}": (np.where(rows > 2, np.nan, rows), -1)
            for n in ("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin")
        },
        # movement
        "reshape": (rows, (500, 2000)),
        "transpose": (f(100, 100, 100), (2, 0, 1)),
        "pad": (picture, ((0, 0), (1, 1), (1, 1), (0, 0))),
        "tile": (f(500, 500), (2, 2)),
        "repeat": (f(500, 1000), 2, 0),
        "roll": (rows, 3, 1),
        "flip": (rows, (0,)),
        "tril": (rows, 0),
        "triu": (rows, 0),
        "diag": (f(1000), 0),
        "diagonal": (rows, 0, 0, 1),
        "diagflat": (f(1000), 0),
        "concatenate": ([f(500, 1000), f(500, 1000)], 0),
        "stack": ([f(500, 1000), f(500, 1000)], 0),
        "unstack": (f(10, 100_000), None, 0),
        "split": (rows, 4, 1),
        "array_split": (rows, 3, 0),
        "hsplit": (rows, 4),
        "vsplit": (rows, 4),
        "dsplit": (f(100, 100, 100), 4),
        "hstack": ([f(500, 1000), f(500, 1000)],),
        "vstack": ([f(500, 1000), f(500, 1000)],),
        "dstack": ([f(500, 1000), f(500, 1000)],),
        "append": (f(500, 1000), f(500, 1000), 0),
        "meshgrid": ([f(1000), f(1000)],),
        "rot90": (rows, 1, (0, 1)),
        "moveaxis": (f(100, 100, 100), 0, -1),
        "swapaxes": (rows, 0, 1),
        "squeeze": (f(1000, 1, 1000), 1),
        "expand_dims": (rows, 1),
        "broadcast_to": (f(1000), (1000, 1000)),
        "ravel": (rows,),
        "rearrange": (f(100, 100, 100), "a b c -> b (a c)"),
        "fliplr": (rows,),
        "flipud": (rows,),
        # indexing and order
        "take": (table, at, 0),
        "take_along_axis": (rows, i(1000, 1000, 1000), 1),
        "get_item": (rows, (slice(10, None), slice(None, None, 2))),
        "scatter": (at[:, None], table, (100_000, 10)),
        "scatter_update": (table, r.permutation(100_000).astype("int32")[:, None], -table),
        "slice": (rows, (10, 10), (900, 900)),
        "slice_update": (rows, (10, 10), f(900, 900)),
        "one_hot": (i(1000, 1000), 1000),
        "multi_hot": (i(1000, 1000, 10), 1000),
        "nonzero": (i(2, 1000, 1000),),
        "searchsorted": (np.sort(f(1000)), f(1_000_000)),
        "sort": (rows, -1),
        "argsort": (rows, -1),
        "argpartition": (rows, 10, -1),
        "top_k": (rows, 10),
        "isin": (i(1000, 1_000_000), i(1000, 100)),
        "unique": (i(1000, 1_000_000),),
        "unravel_index": (i(1_000_000, 1_000_000), (1000, 1000)),
        **{f"segment_{n}": (table, i(1000, 100_000), 1000) for n in ("sum", "max", "min", "prod")},
        # creation
        "zeros": ((1000, 1000),),
        "ones": ((1000, 1000),),
        "empty": ((1000, 1000),),
        "full": ((1000, 1000), 2.0),
        "eye": (1000,),
        "identity": (1000,),
        "arange": (1_000_000,),
        "linspace": (0.0, 1.0, 1_000_000),
        "logspace": (0.0, 1.0, 1_000_000),
        "geomspace": (1.0, 10.0, 1_000_000),
        "tri": (1000,),
        "vander": (u(1000), 1000),
        "full_like": (rows, 2.0),
        "zeros_like": (rows,),
        "ones_like": (rows,),
        "empty_like": (rows,),
        # linear algebra
        "matmul": (rows, rows),
        "dot": (rows, rows),
        "inner": (rows, rows),
        "tensordot": (rows, rows, 1),
        "vdot": (rows, rows),
        "einsum": ("ij,jk->ik", rows, rows),
        "outer": (f(1000), f(1000)),
        "kron": (f(100, 100), f(10, 10)),
        "cdist": (f(1000, 64), f(1000, 64)),
        "cross": (f(330_000, 3), f(330_000, 3)),
        "trace": (f(100, 100, 100),),
        "norm": (rows,),
        "inv": (square,),
        "det": (square,),
        "slogdet": (square,),
        "logdet": (definite,),
        "solve": (square, f(1000, 32, 8)),
        "solve_triangular": (np.tril(square), f(1000, 32, 8), True),
        "cholesky": (definite,),
        "cholesky_inverse": (np.linalg.cholesky(definite[0]),),
        "qr": (square,),
        "svd": (square[:100], False),
        "eigh": (definite[:100],),
        "eig": (square[:20],),
        "pinv": (square[:100],),
        "matrix_rank": (square[:100],),
        "lstsq": (f(200, 50), f(200)),
        "lu_factor": (square,),
        # calculus, Fourier
        "diff": (rows,),
        "trapezoid": (rows,),
        "fft": ([rows, rows],),
        "fft2": ([rows, rows],),
        "ifft2": ([rows, rows],),
        "rfft": (rows,),
        "irfft": ([f(1000, 501), f(1000, 501)],),
        "stft": (signal, 256, 128, 256),
        "istft": (frames, 256, 128, 256),
        "extract_sequences": (signal, 256, 128),
        "view_as_complex": (f(1000, 500, 2),),
        "view_as_real": ((f(1000, 500) + 1j * f(1000, 500)).astype("complex64"),),
        # nn
        "conv": (picture, f(3, 3, 32, 32), 1, "same"),
        "depthwise_conv": (picture, f(3, 3, 32, 1), 1, "same"),
        "separable_conv": (picture, f(3, 3, 32, 1), f(1, 1, 32, 32), 1, "same"),
        "conv_transpose": (u(8, 32, 32, 32), f(3, 3, 32, 32), 2, "same"),
        "max_pool": (picture, 2),
        "average_pool": (picture, 2),
        "adaptive_max_pool": (picture, 8),
        "adaptive_average_pool": (picture, 8),
        "dot_product_attention": (f(8, 256, 8, 64), f(8, 256, 8, 64), f(8, 256, 8, 64)),
        "batch_normalization": (picture, f(32), u(32), -1, f(32), f(32)),
        "layer_normalization": (rows, f(1000), f(1000), -1, 1e-5),
        "rms_normalization": (rows, f(1000), -1, 1e-5),
        "moments": (rows, (0,)),
        "normalize": (rows,),
        "softmax": (rows, -1),
        "log_softmax": (rows, -1),
        "gelu": (rows, False),
        "glu": (f(1000, 2000), -1),
        "sparsemax": (rows,),
        "threshold": (rows, 0.5, -1.0),
        "binary_crossentropy": (np.round(chance), rows, True),
        "categorical_crossentropy": (classes, rows, True),
        "sparse_categorical_crossentropy": (i(1000, 1000), rows, True),
        "psnr": (rows, rows + 1, 2.0),
        "space_to_depth": (picture, 2),
        "depth_to_space": (picture, 2),
        "unfold": (picture.transpose(0, 3, 1, 2).copy(), 3),
        "fold": (f(8, 288, 3844), 64, 3),
        "ctc_loss": (i(299, 32, 20) + 1, f(32, 100, 300), np.full(32, 20, "int32"), np.full(32, 100, "int32")),
        # images
        "image.resize": (pictures, (100, 100)),
        "image.scale_and_translate": (pictures, (8, 100, 100, 3), (0.5, 0.5), (0.0, 0.0), (1, 2), "linear", False),
        "image.map_coordinates": (rows, u(2, 1000, 1000) * 999, 1),
        "image.affine_transform": (pictures, affine),
        "image.perspective_transform": (pictures, corners, corners + 1),
        "image.pad_images": (pictures, 1, 1, 1, 1),
        "image.crop_images": (pictures, 1, 1, 1, 1),
        "image.extract_patches": (pictures, 10),
        "image.extract_patches_3d": (u(1, 64, 64, 64, 4), 4),
        "image.rgb_to_grayscale": (pictures,),
        "image.rgb_to_hsv": (pictures,),
        "image.hsv_to_rgb": (pictures,),
        "image.gaussian_blur": (pictures, (3, 3), (1.0, 1.0)),
        "image.sobel_edges": (pictures,),
        "image.ssim": (pictures, pictures[::-1].copy()),
    }
    return {name: tuple(_narrowed(a) for a in arguments) for name, arguments in given.items()}


def _narrowed(a):
    return a.astype("float32") if isinstance(a, np.ndarray) and a.dtype == np.float64 else a


# Python calls on nothing, or results without a counterpart elsewhere.
WITHOUT = {
    "image.elastic_transform": "draws of its own",
    "ctc_decode": "a search in Python everywhere",
    "bartlett": "host",
    "blackman": "host",
    "hamming": "host",
    "hanning": "host",
    "kaiser": "host",
}


@functools.cache
def torch_natives():
    import torch
    import torch.nn.functional as F

    def last(x):
        return x.permute(0, 3, 1, 2)

    def first(x):
        return x.permute(0, 2, 3, 1)

    def complex_of(pair):
        return torch.complex(*pair)

    def parts(z):
        return z.real, z.imag

    def conv(x, k, strides, padding):
        return first(F.conv2d(last(x), k.permute(3, 2, 0, 1), stride=strides, padding=padding))

    def depthwise(x, k, strides, padding):
        return first(F.conv2d(last(x), k.permute(2, 3, 0, 1), stride=strides, padding=padding, groups=x.shape[-1]))

    def warped(x, grid):
        return first(F.grid_sample(last(x), grid, align_corners=True))

    def affine(x, t):
        return warped(x, F.affine_grid(t[:, :6].reshape(-1, 2, 3), (8, 3, 200, 200), align_corners=True))

    def hsv(x):
        high, low = x.amax(-1), x.amin(-1)
        spread = high - low
        r, g, b = x.unbind(-1)
        hue = torch.where(
            high == r, (g - b) / spread, torch.where(high == g, 2 + (b - r) / spread, 4 + (r - g) / spread)
        )
        return torch.stack([torch.nan_to_num(hue / 6 % 1.0), torch.nan_to_num(spread / high), high], -1)

    def rgb(x):
        h, s, v = x.unbind(-1)
        turn = h * 6
        bands = ((turn - 3).abs() - 1, 2 - (turn - 2).abs(), 2 - (turn - 4).abs())
        return torch.stack([(1 - s + s * band.clamp(0, 1)) * v for band in bands], -1)

    def blurred(x, k, _):
        w = torch.exp(-0.5 * torch.arange(-1.0, 2.0) ** 2)
        w = (w / w.sum()).expand(3, 1, 3)
        y = F.conv2d(last(x), w.reshape(3, 1, 3, 1), padding=(1, 0), groups=3)
        return first(F.conv2d(y, w.reshape(3, 1, 1, 3), padding=(0, 1), groups=3))

    def sobel(x):
        k = torch.tensor([[-1.0, -2, -1], [0, 0, 0], [1, 2, 1]])
        k = torch.stack([k, k.T]).unsqueeze(1).repeat(3, 1, 1, 1)
        return F.conv2d(F.pad(last(x), (1, 1, 1, 1), "reflect"), k, groups=3)

    def ssim(a, b):
        w = torch.exp(-0.5 * (torch.arange(-5.0, 6.0) / 1.5) ** 2)
        w = torch.outer(w, w) / w.sum() ** 2
        stacked = torch.cat([last(a), last(b), last(a * b), last(a * a + b * b)], 1)
        ma, mb, mab, mq = F.conv2d(stacked, w.expand(12, 1, 11, 11), groups=12).chunk(4, 1)
        p, s = ma * mb, ma * ma + mb * mb
        return ((2 * p + 1e-4) / (s + 1e-4) * (2 * (mab - p) + 9e-4) / (mq - s + 9e-4)).mean((1, 2, 3))

    def sparsemax(x):
        d = torch.sort(x, -1, descending=True)[0]
        total, k = d.cumsum(-1) - 1, torch.arange(1, x.shape[-1] + 1)
        support = (k * d > total).sum(-1, keepdim=True)
        return torch.relu(x - total.gather(-1, support - 1) / support)

    def nanvar(x, axis):
        return ((x - x.nanmean(axis, keepdim=True)) ** 2).nanmean(axis)

    def nan_extreme(extreme, fill):
        return lambda x, axis: extreme(torch.where(x.isnan(), fill, x), axis)

    def segments(how):
        return lambda x, j, n: torch.zeros(n, x.shape[1]).scatter_reduce(
            0, j.long()[:, None].expand_as(x), x, how, include_self=False
        )

    def stft(x, n, stride, m):
        z = torch.stft(x, m, stride, n, torch.hann_window(n), return_complex=True).mT
        return z.real, z.imag

    return {
        "equal": torch.eq,
        "not_equal": torch.ne,
        "power": torch.pow,
        "divide": torch.div,
        "mod": torch.remainder,
        "conj": torch.conj_physical,
        "conjugate": torch.conj_physical,
        "transpose": torch.permute,
        "array": torch.clone,
        "copy": torch.clone,
        "cast": lambda x, d: x.to(torch.int32),
        "view": lambda x, d: x.view(torch.int32),
        "saturate_cast": lambda x, d: x.clamp(-128, 127).to(torch.int8),
        "cbrt": lambda x: x.sign() * x.abs().pow(1 / 3),
        "fabs": torch.abs,
        "sign": torch.sign,
        "isreal": lambda x: torch.isreal(x),
        "array_split": lambda x, n, a: torch.tensor_split(x, n, a),
        "select": lambda c, x, d: torch.where(c[0], x[0], torch.where(c[1], x[1], d)),
        "divide_no_nan": lambda x, y: torch.where(y == 0, 0, x / y),
        "round": lambda x, d: torch.round(x),
        "isfinite": torch.isfinite,
        "imag": lambda x: torch.zeros_like(x),
        "heaviside": torch.heaviside,
        "allclose": lambda x, y: torch.isclose(x, y).all(),
        "clip": torch.clamp,
        "reciprocal": torch.reciprocal,
        "bitwise_invert": torch.bitwise_not,
        "left_shift": torch.bitwise_left_shift,
        "right_shift": torch.bitwise_right_shift,
        "logaddexp": torch.logaddexp,
        "negative": torch.neg,
        "max": torch.amax,
        "min": torch.amin,
        "var": lambda x, a: torch.var(x, a, correction=0),
        "std": lambda x, a: torch.std(x, a, correction=0),
        "ptp": lambda x, a: torch.amax(x, a) - torch.amin(x, a),
        "average": lambda x, a, w: (x * w).sum(a) / w.sum(a),
        "median": lambda x, a: torch.quantile(x, 0.5, a),
        "nanmedian": lambda x, a: torch.nanquantile(x, 0.5, a),
        "percentile": lambda x, q, a: torch.quantile(x, q / 100, a),
        "nanpercentile": lambda x, q, a: torch.nanquantile(x, q / 100, a),
        "nanquantile": torch.nanquantile,
        "quantile": torch.quantile,
        "nanstd": lambda x, a: nanvar(x, a).sqrt(),
        "nanvar": nanvar,
        "nanprod": lambda x, a: torch.where(x.isnan(), 1, x).prod(a),
        "nanmax": nan_extreme(torch.amax, -math.inf),
        "nanmin": nan_extreme(torch.amin, math.inf),
        "nanargmax": nan_extreme(torch.argmax, -math.inf),
        "nanargmin": nan_extreme(torch.argmin, math.inf),
        "nancumsum": lambda x, a: torch.nan_to_num(x, 0.0, math.inf, -math.inf).cumsum(a),
        "nancumprod": lambda x, a: torch.where(x.isnan(), 1, x).cumprod(a),
        "corrcoef": torch.corrcoef,
        "correlate": lambda x, k, m: F.conv1d(x[None, None], k[None, None])[0, 0],
        "digitize": lambda x, b: torch.bucketize(x, b, right=True),
        "histogram": lambda x, n, r: torch.histogram(x, n, range=r),
        "in_top_k": lambda t, p, k: (p > p.gather(-1, t.long()[:, None])).sum(-1) < k,
        "bincount": torch.bincount,
        "logsumexp": torch.logsumexp,
        "cumsum": torch.cumsum,
        "sum": torch.sum,
        "argmax": torch.argmax,
        "append": lambda x, y, a: torch.cat([x, y], a),
        "concatenate": torch.cat,
        "pad": lambda x, w: F.pad(x, (0, 0, 1, 1, 1, 1)),
        "repeat": torch.repeat_interleave,
        "unstack": lambda x, n, a: torch.unbind(x, a),
        "split": lambda x, n, a: torch.tensor_split(x, n, a),
        "hsplit": torch.hsplit,
        "squeeze": torch.squeeze,
        "expand_dims": torch.unsqueeze,
        "rearrange": lambda x, p: x.permute(1, 0, 2).reshape(100, -1),
        "meshgrid": lambda xs: torch.meshgrid(*xs, indexing="xy"),
        "tile": torch.tile,
        "diagflat": torch.diagflat,
        "take": lambda x, j, a: torch.index_select(x, a, j),
        "take_along_axis": lambda x, j, a: torch.take_along_dim(x, j.long(), a),
        "get_item": lambda x, k: x[k],
        "scatter": lambda j, v, s: torch.zeros(s).index_put((j[:, 0].long(),), v, accumulate=True),
        "scatter_update": lambda x, j, v: x.index_put((j[:, 0].long(),), v),
        "slice": lambda x, a, s: x[10:910, 10:910],
        "slice_update": lambda x, a, v: torch.slice_scatter(
            x, torch.slice_scatter(x[10:910], v, 1, 10, 910), 0, 10, 910
        ),
        "one_hot": lambda x, n: F.one_hot(x.long(), n).float(),
        "multi_hot": lambda x, n: F.one_hot(x.long(), n).amax(-2).float(),
        "nonzero": lambda x: torch.nonzero(x, as_tuple=True),
        "sort": torch.sort,
        "argsort": lambda x, a: torch.argsort(x, dim=a, stable=True),
        "argpartition": lambda x, k, a: torch.argsort(x, dim=a),
        "top_k": torch.topk,
        "unravel_index": torch.unravel_index,
        "segment_sum": lambda x, j, n: torch.zeros(n, x.shape[1]).index_add(0, j, x),
        "segment_max": segments("amax"),
        "segment_min": segments("amin"),
        "segment_prod": segments("prod"),
        "zeros_like": torch.zeros_like,
        "arange": lambda n: torch.arange(n, dtype=torch.int32),
        "identity": torch.eye,
        "empty": torch.empty,
        "full_like": torch.full_like,
        "logspace": lambda a, b, n: torch.logspace(a, b, n),
        "geomspace": lambda a, b, n: torch.logspace(math.log10(a), math.log10(b), n),
        "tri": lambda n: torch.ones(n, n).tril(),
        "vander": torch.vander,
        "dot": torch.matmul,
        "einsum": torch.einsum,
        "norm": torch.linalg.vector_norm,
        "vdot": lambda x, y: torch.vdot(x.ravel(), y.ravel()),
        "slogdet": torch.linalg.slogdet,
        "solve_triangular": lambda a, b, low: torch.linalg.solve_triangular(a, b, upper=False),
        # By singular values as in NumPy; the default, a QR, has another notion of small ones.
        "lstsq": lambda a, b: torch.linalg.lstsq(a, b[:, None], driver="gelsd")[0],
        "svd": torch.linalg.svd,
        "cross": torch.linalg.cross,
        "qr": torch.linalg.qr,
        "trace": lambda x: torch.diagonal(x).sum(-1),
        "lu_factor": torch.linalg.lu_factor,
        "cholesky_inverse": torch.cholesky_inverse,
        "fft": lambda x: parts(torch.fft.fft(complex_of(x))),
        "fft2": lambda x: parts(torch.fft.fft2(complex_of(x))),
        "ifft2": lambda x: parts(torch.fft.ifft2(complex_of(x))),
        "rfft": lambda x: parts(torch.fft.rfft(x)),
        "irfft": lambda x: torch.fft.irfft(complex_of(x)),
        "stft": stft,
        "extract_sequences": lambda x, n, s: x.unfold(-1, n, s).contiguous(),
        "istft": lambda x, n, s, m: torch.istft(complex_of(x).mT, m, s, n, torch.hann_window(n)),
        "conv": conv,
        "depthwise_conv": depthwise,
        "separable_conv": lambda x, d, p, s, pad: conv(depthwise(x, d, s, pad), p, 1, "valid"),
        "conv_transpose": lambda x, k, s, p: first(
            F.conv_transpose2d(last(x), k.permute(3, 2, 0, 1), stride=2)[:, :, :-1, :-1]
        ),
        "max_pool": lambda x, n: first(F.max_pool2d(last(x), n)),
        "average_pool": lambda x, n: first(F.avg_pool2d(last(x), n)),
        "adaptive_max_pool": lambda x, n: first(F.adaptive_max_pool2d(last(x), n)),
        "adaptive_average_pool": lambda x, n: first(F.adaptive_avg_pool2d(last(x), n)),
        "dot_product_attention": lambda q, k, v: F.scaled_dot_product_attention(
            *(t.transpose(1, 2) for t in (q, k, v))
        ).transpose(1, 2),
        "batch_normalization": lambda x, m, v, a, o, s: first(F.batch_norm(last(x), m, v, s, o, eps=1e-3)),
        "layer_normalization": lambda x, g, b, a, e: F.layer_norm(x, (1000,), g, b, e),
        "rms_normalization": lambda x, g, a, e: F.rms_norm(x, (1000,), g, e),
        "moments": lambda x, a: torch.var_mean(x, a, correction=0),
        "normalize": lambda x: F.normalize(x, dim=-1),
        "gelu": lambda x, a: F.gelu(x),
        "squareplus": lambda x: (x + torch.sqrt(x * x + 4)) / 2,
        "sparsemax": sparsemax,
        "threshold": F.threshold,
        "hard_tanh": F.hardtanh,
        "hard_sigmoid": F.hardsigmoid,
        "hard_silu": F.hardswish,
        "hard_swish": F.hardswish,
        "hard_shrink": F.hardshrink,
        "soft_shrink": F.softshrink,
        "tanh_shrink": F.tanhshrink,
        "log_sigmoid": F.logsigmoid,
        "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
        "swish": F.silu,
        "sparse_plus": lambda x: torch.where(x < 1, (x.clamp(min=-1) + 1) ** 2 / 4, x),
        "sparse_sigmoid": lambda x: ((x + 1) / 2).clamp(0, 1),
        "binary_crossentropy": lambda t, z, _: F.binary_cross_entropy_with_logits(z, t, reduction="none"),
        "categorical_crossentropy": lambda t, z, _: F.cross_entropy(z, t, reduction="none"),
        "sparse_categorical_crossentropy": lambda t, z, _: F.cross_entropy(z, t.long(), reduction="none"),
        "psnr": lambda x, y, m: 20 * math.log10(m) - 10 * torch.log10(F.mse_loss(x, y)),
        "space_to_depth": lambda x, n: first(F.pixel_unshuffle(last(x), n)),
        "depth_to_space": lambda x, n: first(F.pixel_shuffle(last(x), n)),
        "unfold": F.unfold,
        "fold": F.fold,
        "ctc_loss": lambda t, z, n, m: F.ctc_loss(
            F.log_softmax(z, -1).transpose(0, 1), t, m, n, reduction="none", zero_infinity=True
        ),
        "image.resize": lambda x, s: first(F.interpolate(last(x), s, mode="bilinear")),
        "image.affine_transform": affine,
        "image.scale_and_translate": lambda x, *_: first(F.interpolate(last(x), (100, 100), mode="bilinear")),
        "image.rgb_to_hsv": hsv,
        "image.hsv_to_rgb": rgb,
        "image.map_coordinates": lambda x, c, _: F.grid_sample(
            x[None, None], c.flip(0).permute(1, 2, 0)[None] / 499.5 - 1, align_corners=True
        ),
        "image.perspective_transform": lambda x, s, e: affine(x, torch.eye(3)[:2].reshape(1, 6).repeat(8, 1)),
        "image.pad_images": lambda x, *_: F.pad(x, (0, 0, 1, 1, 1, 1)),
        "image.crop_images": lambda x, *_: x[:, 1:-1, 1:-1],
        "image.extract_patches": lambda x, n: first(F.unfold(last(x), n, stride=n).reshape(8, 300, 20, 20)),
        "image.extract_patches_3d": lambda x, n: (
            x.reshape(1, 16, 4, 16, 4, 16, 4, 4).permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(1, 16, 16, 16, 256)
        ),
        "image.rgb_to_grayscale": lambda x: x @ torch.tensor([[0.2989], [0.587], [0.114]]),
        "image.gaussian_blur": blurred,
        "image.sobel_edges": sobel,
        "image.ssim": ssim,
        "view_as_real": torch.view_as_real,
        "view_as_complex": torch.view_as_complex,
        "matrix_rank": torch.linalg.matrix_rank,
        "eig": torch.linalg.eig,
        "pinv": torch.linalg.pinv,
        "logdet": torch.logdet,
        "glu": F.glu,
        "elu": F.elu,
        "trapezoid": torch.trapezoid,
        "stop_gradient": torch.detach,
        "moveaxis": torch.moveaxis,
        "count_nonzero": torch.count_nonzero,
    }


@functools.cache
def jax_natives():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def complex_of(pair):
        return lax.complex(*pair)

    def parts(z):
        return z.real, z.imag

    nhwc = ("NHWC", "HWIO", "NHWC")

    def conv(x, k, strides, padding):
        return lax.conv_general_dilated(x, k, (strides,) * 2, padding.upper(), dimension_numbers=nhwc)

    def depthwise(x, k, strides, padding):
        k = k.reshape(*k.shape[:2], 1, -1)
        return lax.conv_general_dilated(
            x, k, (strides,) * 2, padding.upper(), dimension_numbers=nhwc, feature_group_count=x.shape[-1]
        )

    def blocks(x, n, reduce):
        b, h, w, c = x.shape
        return reduce(x.reshape(b, h // n, n, w // n, n, c), (2, 4))

    def normalized(x, g, b, e):
        d = x - x.mean(-1, keepdims=True)
        y = d * lax.rsqrt((d * d).mean(-1, keepdims=True) + e)
        return y * g + b

    def hsv(x):
        high, low = x.max(-1), x.min(-1)
        spread = high - low
        r, g, b = x[..., 0], x[..., 1], x[..., 2]
        hue = jnp.where(high == r, (g - b) / spread, jnp.where(high == g, 2 + (b - r) / spread, 4 + (r - g) / spread))
        return jnp.stack([jnp.where(spread > 0, hue / 6 % 1.0, 0), jnp.where(high > 0, spread / high, 0), high], -1)

    def rgb(x):
        h, s, v = x[..., 0] * 6, x[..., 1], x[..., 2]
        bands = (abs(h - 3) - 1, 2 - abs(h - 2), 2 - abs(h - 4))
        return jnp.stack([(1 - s + s * jnp.clip(band, 0, 1)) * v for band in bands], -1)

    def filtered(x, k):
        k = jnp.broadcast_to(k[:, :, None, None], (*k.shape, 1, x.shape[-1]))
        return lax.conv_general_dilated(x, k, (1, 1), "VALID", dimension_numbers=nhwc, feature_group_count=x.shape[-1])

    def blurred(x, k, _):
        w = jnp.exp(-0.5 * jnp.arange(-1.0, 2.0) ** 2)
        w = w / w.sum()
        x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        return filtered(filtered(x, w[:, None]), w[None])

    def sobel(x):
        k = jnp.array([[-1.0, -2, -1], [0, 0, 0], [1, 2, 1]])
        x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
        return jnp.stack([filtered(x, k), filtered(x, k.T)], -1)

    def ssim(a, b):
        w = jnp.exp(-0.5 * (jnp.arange(-5.0, 6.0) / 1.5) ** 2)
        w = jnp.outer(w, w) / w.sum() ** 2
        ma, mb, mab, mq = (filtered(x, w) for x in (a, b, a * b, a * a + b * b))
        p, s = ma * mb, ma * ma + mb * mb
        return ((2 * p + 1e-4) / (s + 1e-4) * (2 * (mab - p) + 9e-4) / (mq - s + 9e-4)).mean((1, 2, 3))

    def sparsemax(x):
        d = -jnp.sort(-x)
        total, k = d.cumsum(-1) - 1, jnp.arange(1, x.shape[-1] + 1)
        support = (k * d > total).sum(-1, keepdims=True)
        return jax.nn.relu(x - jnp.take_along_axis(total, support - 1, -1) / support)

    def warped(x, t):
        r, c = jnp.mgrid[:200, :200]
        at = jnp.stack([t[3] * c + t[4] * r + t[5], t[0] * c + t[1] * r + t[2]])
        return jnp.stack([jax.scipy.ndimage.map_coordinates(x[..., i], at, 1) for i in range(3)], -1)

    def stft(x, n, stride, m):
        x = jnp.pad(x, ((0, 0), (m // 2, m // 2)), "reflect")
        at = jnp.arange(0, x.shape[-1] - m + 1, stride)[:, None] + jnp.arange(m)
        return parts(jnp.fft.rfft(x[:, at] * jnp.asarray(np.hanning(n + 1)[:-1], "float32")))

    def istft(x, n, s, m):
        return jax.scipy.signal.istft(complex_of(x), 1.0, "hann", n, n - s, m, time_axis=-2, freq_axis=-1)[1]

    def topk(x, k):
        return lax.top_k(x, k)

    def segments(name):
        return lambda x, j, n: getattr(jax.ops, name)(x, j, n)

    def attention(q, k, v):
        w = jax.nn.softmax(jnp.einsum("btnh,bsnh->bnts", q, k) / 8.0)
        return jnp.einsum("bnts,bsnh->btnh", w, v)

    return {
        "cast": lambda x, d: x.astype("int32"),
        "view": lambda x, d: lax.bitcast_convert_type(x, "int32"),
        "round": lambda x, d: jnp.round(x),
        "copy": jnp.copy,
        "saturate_cast": lambda x, d: jnp.clip(x, -128, 127).astype("int8"),
        "select": jnp.select,
        "array": jnp.copy,
        "rsqrt": lax.rsqrt,
        "erfc": lax.erfc,
        "erf": lax.erf,
        "erfinv": lax.erf_inv,
        "mod": jnp.mod,
        "divide_no_nan": lambda x, y: jnp.where(y == 0, 0, x / jnp.where(y == 0, 1, y)),
        "stop_gradient": lax.stop_gradient,
        "max": jnp.max,
        "average": lambda x, a, w: (x * w).sum(a) / w.sum(a),
        "polar": lambda r, a: lax.complex(r * jnp.cos(a), r * jnp.sin(a)),
        "bincount": jnp.bincount,
        "correlate": jnp.correlate,
        "in_top_k": lambda t, p, k: (p > jnp.take_along_axis(p, t[:, None], -1)).sum(-1) < k,
        "logsumexp": lambda x, a: jax.scipy.special.logsumexp(x, a),
        "moments": lambda x, a: (x.mean(a), x.var(a)),
        "argmax": jnp.argmax,
        "argmin": jnp.argmin,
        "transpose": jnp.transpose,
        "unstack": lambda x, n, a: jnp.unstack(x),
        "rearrange": lambda x, p: x.transpose(1, 0, 2).reshape(100, -1),
        "meshgrid": lambda xs: jnp.meshgrid(*xs),
        "get_item": lambda x, k: x[k],
        "scatter": lambda j, v, s: jnp.zeros(s).at[j[:, 0]].add(v),
        "scatter_update": lambda x, j, v: x.at[j[:, 0]].set(v),
        "slice": lambda x, a, s: x[10:910, 10:910],
        "slice_update": lambda x, a, v: x.at[10:910, 10:910].set(v),
        "one_hot": lambda x, n: jax.nn.one_hot(x, n),
        "multi_hot": lambda x, n: jax.nn.one_hot(x, n).max(-2),
        "take": lambda x, j, a: jnp.take(x, j, a, mode="clip"),
        "nonzero": jnp.nonzero,
        "unique": jnp.unique,
        "argsort": lambda x, a: jnp.argsort(x, a, stable=True),
        "argpartition": lambda x, k, a: jnp.argsort(x, a),
        "top_k": topk,
        "isin": jnp.isin,
        "unravel_index": jnp.unravel_index,
        "segment_sum": segments("segment_sum"),
        "segment_max": segments("segment_max"),
        "segment_min": segments("segment_min"),
        "segment_prod": segments("segment_prod"),
        "arange": lambda n: jnp.arange(n),
        "logspace": lambda a, b, n: jnp.logspace(a, b, n),
        "einsum": jnp.einsum,
        "norm": jnp.linalg.norm,
        "cdist": lambda x, y: jnp.sqrt(jnp.square(x[:, None] - y[None]).sum(-1)),
        "svd": jnp.linalg.svd,
        "logdet": lambda x: jnp.linalg.slogdet(x)[1],
        "solve_triangular": lambda a, b, low: jax.scipy.linalg.solve_triangular(a, b, lower=True),
        "cholesky_inverse": lambda x: jax.scipy.linalg.cho_solve((x, True), jnp.eye(32)),
        "lstsq": lambda a, b: jnp.linalg.lstsq(a, b)[0],
        "eig": jnp.linalg.eig,
        "lu_factor": lambda x: lax.linalg.lu(x)[:2],
        "vdot": jnp.vdot,
        "view_as_real": lambda z: jnp.stack([z.real, z.imag], -1),
        "view_as_complex": lambda x: lax.complex(x[..., 0], x[..., 1]),
        "fft": lambda x: parts(jnp.fft.fft(complex_of(x))),
        "fft2": lambda x: parts(jnp.fft.fft2(complex_of(x))),
        "ifft2": lambda x: parts(jnp.fft.ifft2(complex_of(x))),
        "rfft": lambda x: parts(jnp.fft.rfft(x)),
        "irfft": lambda x: jnp.fft.irfft(complex_of(x)),
        "stft": stft,
        "istft": istft,
        "extract_sequences": lambda x, n, s: x[:, jnp.arange(0, x.shape[-1] - n + 1, s)[:, None] + jnp.arange(n)],
        "conv": conv,
        "depthwise_conv": depthwise,
        "separable_conv": lambda x, d, p, s, pad: conv(depthwise(x, d, s, pad), p, 1, "valid"),
        "conv_transpose": lambda x, k, s, p: lax.conv_transpose(
            x, k, (s, s), "SAME", dimension_numbers=nhwc, transpose_kernel=True
        ),
        "max_pool": lambda x, n: blocks(x, n, jnp.max),
        "average_pool": lambda x, n: blocks(x, n, jnp.mean),
        "adaptive_max_pool": lambda x, n: blocks(x, 8, jnp.max),
        "adaptive_average_pool": lambda x, n: blocks(x, 8, jnp.mean),
        "dot_product_attention": attention,
        "batch_normalization": lambda x, m, v, a, o, s: (x - m) * (lax.rsqrt(v + 1e-3) * s) + o,
        "layer_normalization": lambda x, g, b, a, e: normalized(x, g, b, e),
        "rms_normalization": lambda x, g, a, e: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + e) * g,
        "normalize": lambda x: x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-12),
        "gelu": lambda x, a: jax.nn.gelu(x, approximate=False),
        "hard_shrink": lambda x: jnp.where(abs(x) > 0.5, x, 0),
        "soft_shrink": lambda x: jnp.sign(x) * jnp.maximum(abs(x) - 0.5, 0),
        "tanh_shrink": lambda x: x - jnp.tanh(x),
        "threshold": lambda x, t, d: jnp.where(x > t, x, d),
        "sparsemax": sparsemax,
        "leaky_relu": lambda x: jax.nn.leaky_relu(x, 0.2),
        "hard_tanh": jax.nn.hard_tanh,
        "squareplus": lambda x: jax.nn.squareplus(x),
        "sparse_plus": jax.nn.sparse_plus,
        "sparse_sigmoid": jax.nn.sparse_sigmoid,
        "softsign": jax.nn.soft_sign,
        "binary_crossentropy": lambda t, z, _: jnp.maximum(z, 0) - z * t + jnp.log1p(jnp.exp(-abs(z))),
        "categorical_crossentropy": lambda t, z, _: -(t * jax.nn.log_softmax(z)).sum(-1),
        "sparse_categorical_crossentropy": lambda t, z, _: (
            jax.scipy.special.logsumexp(z, -1) - jnp.take_along_axis(z, t[:, None], -1)[:, 0]
        ),
        "psnr": lambda x, y, m: 20 * math.log10(m) - 10 * jnp.log10(jnp.mean((x - y) ** 2)),
        "space_to_depth": lambda x, n: (
            x.reshape(8, 32, 2, 32, 2, 32).transpose(0, 1, 3, 2, 4, 5).reshape(8, 32, 32, 128)
        ),
        "depth_to_space": lambda x, n: (
            x.reshape(8, 64, 64, 2, 2, 8).transpose(0, 1, 3, 2, 4, 5).reshape(8, 128, 128, 8)
        ),
        "unfold": lambda x, n: lax.conv_general_dilated_patches(x, (n, n), (1, 1), "VALID").reshape(8, 288, -1),
        "image.resize": lambda x, s: jax.image.resize(x, (8, *s, 3), "linear", antialias=False),
        "image.scale_and_translate": lambda x, shape, s, t, d, m, a: jax.image.scale_and_translate(
            x, shape, d, jnp.array(s), jnp.array(t), m, a
        ),
        "image.map_coordinates": lambda x, c, o: jax.scipy.ndimage.map_coordinates(x, list(c), o),
        "image.affine_transform": jax.vmap(warped),
        "image.perspective_transform": lambda x, s, e: jax.vmap(warped)(
            x, jnp.tile(jnp.eye(3)[:2].reshape(1, 6), (8, 1))
        ),
        "image.pad_images": lambda x, *_: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))),
        "image.crop_images": lambda x, *_: x[:, 1:-1, 1:-1],
        "image.extract_patches": lambda x, n: (
            x.reshape(8, 20, 10, 20, 10, 3).transpose(0, 1, 3, 2, 4, 5).reshape(8, 20, 20, 300)
        ),
        "image.extract_patches_3d": lambda x, n: (
            x.reshape(1, 16, 4, 16, 4, 16, 4, 4).transpose(0, 1, 3, 5, 2, 4, 6, 7).reshape(1, 16, 16, 16, 256)
        ),
        "image.rgb_to_grayscale": lambda x: x @ jnp.array([[0.2989], [0.587], [0.114]]),
        "image.rgb_to_hsv": hsv,
        "image.hsv_to_rgb": rgb,
        "image.gaussian_blur": blurred,
        "image.sobel_edges": sobel,
        "image.ssim": ssim,
    }


@functools.cache
def tensorflow_natives():
    import tensorflow as tf

    raw = tf.raw_ops

    def parts(z):
        return tf.math.real(z), tf.math.imag(z)

    def complex_of(pair):
        return tf.complex(*pair)

    def without(x, value):
        return tf.where(tf.math.is_nan(x), tf.constant(value, x.dtype), x)

    def share(x):
        return tf.reduce_sum(tf.cast(~tf.math.is_nan(x), x.dtype), -1)

    def nanmean(x, a, keepdims=False):
        return tf.reduce_sum(without(x, 0.0), a, keepdims) / tf.reduce_sum(
            tf.cast(~tf.math.is_nan(x), x.dtype), a, keepdims
        )

    def nanvar(x, a):
        return nanmean(tf.square(x - nanmean(x, a, True)), a)

    def quantile(x, q):
        x = tf.sort(x, -1)
        place = q * (x.shape[-1] - 1)
        low, high = math.floor(place), math.ceil(place)
        return x[..., low] + (x[..., high] - x[..., low]) * (place - low)

    def attention(q, k, v):
        q, k, v = (tf.transpose(t, (0, 2, 1, 3)) for t in (q, k, v))
        return tf.transpose(tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8.0), v), (0, 2, 1, 3))

    def normalized(x, g, b, e):
        m, v = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, m, v, b, g, e)

    def blurred(x, k, _):
        w = tf.exp(-0.5 * tf.range(-1.0, 2.0) ** 2)
        w = tf.broadcast_to((w / tf.reduce_sum(w))[:, None], (3, 3))
        y = tf.nn.depthwise_conv2d(x, w[:, None, :, None], (1, 1, 1, 1), "SAME")
        return tf.nn.depthwise_conv2d(y, w[None, :, :, None], (1, 1, 1, 1), "SAME")

    def sparsemax(x):
        d = tf.sort(x, -1, "DESCENDING")
        total, k = tf.cumsum(d, -1) - 1, tf.range(1.0, 1001.0)
        support = tf.reduce_sum(tf.cast(k * d > total, tf.int32), -1, True)
        return tf.nn.relu(x - tf.gather(total, support - 1, batch_dims=1) / tf.cast(support, tf.float32))

    def depthwise(x, k, s, p):
        return tf.nn.depthwise_conv2d(x, k, (1, s, s, 1), p.upper())

    def transform(x, t):
        return raw.ImageProjectiveTransformV3(
            images=x, transforms=t, output_shape=(200, 200), fill_value=0.0, interpolation="BILINEAR"
        )

    def blocks(x, n, reduce):
        return reduce(tf.reshape(x, (8, n, 64 // n, n, 64 // n, 32)), (2, 4))

    def stft(x, n, s, m):
        x = tf.pad(x, [(0, 0), (m // 2, m // 2)], "REFLECT")
        return parts(tf.signal.stft(x, n, s, m))

    def istft(x, n, s, m):
        return tf.signal.inverse_stft(complex_of(x), n, s, m, tf.signal.inverse_stft_window_fn(s))

    def softer(x, axis):
        return tf.nn.softmax(x, axis)

    def with_log(base):
        return lambda x: tf.math.log(x) / math.log(base)

    unary = {
        "arccos": tf.acos,
        "arccosh": tf.acosh,
        "arcsin": tf.asin,
        "arcsinh": tf.asinh,
        "arctan": tf.atan,
        "arctanh": tf.atanh,
        "isnan": tf.math.is_nan,
        "isinf": tf.math.is_inf,
        "isfinite": tf.math.is_finite,
        "log2": with_log(2),
        "log10": with_log(10),
        "exp2": lambda x: tf.pow(2.0, x),
        "bitwise_not": tf.bitwise.invert,
        "bitwise_invert": tf.bitwise.invert,
        "fabs": tf.abs,
        "absolute": tf.abs,
        "conjugate": lambda x: x,
        "conj": lambda x: x,
        "real": lambda x: x,
        "imag": tf.zeros_like,
        "angle": lambda x: tf.where(x < 0, math.pi, 0.0),
        "trunc": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)),
        "cbrt": lambda x: tf.sign(x) * tf.pow(tf.abs(x), 1 / 3),
        "deg2rad": lambda x: x * (math.pi / 180),
        "rad2deg": lambda x: x * (180 / math.pi),
        "i0": tf.math.bessel_i0,
        "isposinf": lambda x: x == math.inf,
        "isneginf": lambda x: x == -math.inf,
        "isreal": lambda x: tf.ones_like(x, tf.bool),
        "signbit": lambda x: tf.bitcast(x, tf.int32) < 0,
        "sinc": lambda x: tf.math.divide_no_nan(tf.sin(math.pi * x), math.pi * x) + tf.cast(x == 0, x.dtype),
        "copy": lambda x: raw.DeepCopy(x=x),  # tf.identity shares memory
        "array": tf.identity,
        "reciprocal": tf.math.reciprocal,
        "nan_to_num": lambda x: tf.clip_by_value(without(x, 0.0), x.dtype.min, x.dtype.max),
        "swish": tf.nn.silu,
        "hard_sigmoid": lambda x: tf.nn.relu6(x + 3) / 6,
        "hard_silu": lambda x: x * tf.nn.relu6(x + 3) / 6,
        "hard_swish": lambda x: x * tf.nn.relu6(x + 3) / 6,
        "hard_tanh": lambda x: tf.clip_by_value(x, -1.0, 1.0),
        "tanh_shrink": lambda x: x - tf.tanh(x),
        "hard_shrink": lambda x: tf.where(tf.abs(x) > 0.5, x, 0.0),
        "soft_shrink": lambda x: tf.sign(x) * tf.nn.relu(tf.abs(x) - 0.5),
        "squareplus": lambda x: (x + tf.sqrt(x * x + 4)) / 2,
        "celu": tf.nn.elu,
        "sparse_plus": lambda x: tf.where(x < 1, tf.square(tf.maximum(x, -1.0) + 1) / 4, x),
        "sparse_sigmoid": lambda x: tf.clip_by_value((x + 1) / 2, 0.0, 1.0),
        "leaky_relu": lambda x: tf.nn.leaky_relu(x, 0.2),
        "log_sigmoid": tf.math.log_sigmoid,
        "gelu": lambda x, a: tf.nn.gelu(x),
        "elu": tf.nn.elu,
    }
    binary = {
        "true_divide": tf.divide,
        "floor_divide": tf.math.floordiv,
        "power": tf.pow,
        "arctan2": tf.atan2,
        "bitwise_and": tf.bitwise.bitwise_and,
        "bitwise_or": tf.bitwise.bitwise_or,
        "bitwise_xor": tf.bitwise.bitwise_xor,
        "left_shift": tf.bitwise.left_shift,
        "right_shift": tf.bitwise.right_shift,
        "bitwise_left_shift": tf.bitwise.left_shift,
        "bitwise_right_shift": tf.bitwise.right_shift,
        "divide_no_nan": tf.math.divide_no_nan,
        "fmax": lambda x, y: tf.where(tf.math.is_nan(x), y, tf.where(tf.math.is_nan(y), x, tf.maximum(x, y))),
        "mod": tf.math.floormod,
        "fmin": lambda x, y: tf.where(tf.math.is_nan(x), y, tf.where(tf.math.is_nan(y), x, tf.minimum(x, y))),
        "nextafter": tf.math.nextafter,
        "fmod": lambda x, y: raw.TruncateMod(x=x, y=y),
        "ldexp": lambda x, j: x * tf.pow(2.0, tf.cast(j, x.dtype)),
        "clip": lambda x, a, b: tf.clip_by_value(x, a, b),
        "heaviside": lambda x, y: tf.where(x == 0, y, tf.cast(x > 0, x.dtype)),
        "hypot": lambda x, y: tf.abs(tf.complex(x, y)),  # the root of the squares' sum overflows
        "where": tf.where,
        "logaddexp": lambda x, y: tf.maximum(x, y) + tf.math.log1p(tf.exp(-tf.abs(x - y))),
        "logaddexp2": lambda x, y: tf.maximum(x, y) + tf.math.log1p(tf.pow(2.0, -tf.abs(x - y))) / math.log(2),
        "isclose": lambda x, y: tf.abs(x - y) <= 1e-8 + 1e-5 * tf.abs(y),
        "allclose": lambda x, y: tf.reduce_all(tf.abs(x - y) <= 1e-8 + 1e-5 * tf.abs(y)),
        "select": lambda c, x, d: tf.where(c[0], x[0], tf.where(c[1], x[1], d)),
        "cast": lambda x, d: tf.cast(x, tf.int32),
        "view": lambda x, d: tf.bitcast(x, tf.int32),
        "saturate_cast": lambda x, d: tf.saturate_cast(x, tf.int8),
        "round": lambda x, d: tf.round(x),
        "polar": lambda r, a: tf.complex(r * tf.cos(a), r * tf.sin(a)),
        "threshold": lambda x, t, d: tf.where(x > t, x, d),
        "stop_gradient": tf.stop_gradient,
    }
    reductions = {
        "sum": tf.reduce_sum,
        "prod": tf.reduce_prod,
        "mean": tf.reduce_mean,
        "max": tf.reduce_max,
        "min": tf.reduce_min,
        "amax": tf.reduce_max,
        "amin": tf.reduce_min,
        "any": tf.reduce_any,
        "all": tf.reduce_all,
        "var": tf.math.reduce_variance,
        "std": tf.math.reduce_std,
        "logsumexp": tf.reduce_logsumexp,
        "argmax": lambda x, a: tf.argmax(x, a, tf.int32),
        "argmin": lambda x, a: tf.argmin(x, a, tf.int32),
        "ptp": lambda x, a: tf.reduce_max(x, a) - tf.reduce_min(x, a),
        "nansum": lambda x, a: tf.reduce_sum(without(x, 0.0), a),
        "nanprod": lambda x, a: tf.reduce_prod(without(x, 1.0), a),
        "nanmean": nanmean,
        "nanmax": lambda x, a: tf.reduce_max(without(x, -math.inf), a),
        "nanmin": lambda x, a: tf.reduce_min(without(x, math.inf), a),
        "nanvar": nanvar,
        "nanstd": lambda x, a: tf.sqrt(nanvar(x, a)),
        "nanargmax": lambda x, a: tf.argmax(without(x, -math.inf), a, tf.int32),
        "nanargmin": lambda x, a: tf.argmin(without(x, math.inf), a, tf.int32),
        "nancumsum": lambda x, a: tf.cumsum(without(x, 0.0), a),
        "nancumprod": lambda x, a: tf.math.cumprod(without(x, 1.0), a),
        "average": lambda x, a, w: tf.reduce_sum(x * w, a) / tf.reduce_sum(w, a),
        "quantile": lambda x, q, a: quantile(x, q),
        "percentile": lambda x, q, a: quantile(x, q / 100),
        "median": lambda x, a: quantile(x, 0.5),
        "count_nonzero": lambda x, a: tf.math.count_nonzero(x, a, dtype=tf.int32),
        "bincount": tf.math.bincount,
        "moments": tf.nn.moments,
        "digitize": lambda x, b: tf.reshape(tf.searchsorted(b, tf.reshape(x, (-1,)), "right"), x.shape),
        "in_top_k": lambda t, p, k: tf.math.in_top_k(t, p, k),
        # What's outside would be counted in the first and the last.
        "histogram": lambda x, n, r: tf.histogram_fixed_width(tf.boolean_mask(x, (x >= r[0]) & (x <= r[1])), r, n),
        "correlate": lambda x, k, m: tf.nn.conv1d(x[None, :, None], k[:, None, None], 1, "VALID")[0, :, 0],
    }
    movement = {
        "ravel": lambda x: tf.reshape(x, (-1,)),
        "squeeze": lambda x, a: tf.squeeze(x, a),
        "moveaxis": lambda x, a, b: tf.transpose(x, (1, 2, 0)),
        "swapaxes": lambda x, a, b: tf.transpose(x),
        "concatenate": tf.concat,
        "append": lambda x, y, a: tf.concat([x, y], a),
        "hstack": lambda xs: tf.concat(xs, 1),
        "vstack": lambda xs: tf.concat(xs, 0),
        "dstack": lambda xs: tf.stack(xs, 2),
        "unstack": lambda x, n, a: tf.unstack(x, axis=a),
        "array_split": lambda x, n, a: tf.split(x, (334, 333, 333), a),
        "hsplit": lambda x, n: tf.split(x, n, 1),
        "vsplit": lambda x, n: tf.split(x, n, 0),
        "dsplit": lambda x, n: tf.split(x, n, 2),
        "flip": tf.reverse,
        "fliplr": lambda x: tf.reverse(x, (1,)),
        "flipud": lambda x: tf.reverse(x, (0,)),
        "roll": lambda x, s, a: tf.roll(x, s, a),
        "rot90": lambda x, k, a: tf.transpose(tf.reverse(x, (1,))),
        "tril": lambda x, k: tf.linalg.band_part(x, -1, 0),
        "triu": lambda x, k: tf.linalg.band_part(x, 0, -1),
        "diag": lambda x, k: tf.linalg.diag(x),
        "diagflat": lambda x, k: tf.linalg.diag(x),
        "diagonal": lambda x, *_: tf.linalg.diag_part(x),
        "meshgrid": lambda xs: tf.meshgrid(*xs),
        "pad": tf.pad,
        "rearrange": lambda x, p: tf.reshape(tf.transpose(x, (1, 0, 2)), (100, -1)),
        "take": lambda x, j, a: tf.gather(x, j, axis=a),
        "take_along_axis": lambda x, j, a: tf.gather(x, j, batch_dims=1),
        "get_item": lambda x, k: x[k],
        "scatter": lambda j, v, s: tf.scatter_nd(j, v, s),
        "scatter_update": lambda x, j, v: tf.tensor_scatter_nd_update(x, j, v),
        "slice": tf.slice,
        "slice_update": lambda x, s, v: tf.tensor_scatter_nd_update(
            x, tf.stack(tf.meshgrid(tf.range(10, 910), tf.range(10, 910), indexing="ij"), -1), v
        ),
        "one_hot": tf.one_hot,
        "multi_hot": lambda x, n: tf.reduce_max(tf.one_hot(x, n), -2),
        "nonzero": lambda x: tf.unstack(tf.where(x), num=2, axis=1),
        "sort": tf.sort,
        "argsort": lambda x, a: tf.argsort(x, a, stable=True),
        "argpartition": lambda x, k, a: tf.argsort(x, a),
        "top_k": tf.math.top_k,
        "unique": lambda x: tf.sort(tf.unique(x)[0]),
        "searchsorted": tf.searchsorted,
        "isin": lambda x, y: tf.reduce_any(x[:, None] == y, -1),
        "unravel_index": lambda x, s: tf.unravel_index(x, s),
        "segment_sum": tf.math.unsorted_segment_sum,
        "segment_max": tf.math.unsorted_segment_max,
        "segment_min": tf.math.unsorted_segment_min,
        "segment_prod": tf.math.unsorted_segment_prod,
        "empty": tf.zeros,
        "empty_like": tf.zeros_like,
        "full": tf.fill,
        "full_like": lambda x, v: tf.fill(x.shape, v),
        "identity": tf.eye,
        "arange": tf.range,
        "linspace": tf.linspace,
        "logspace": lambda a, b, n: tf.pow(10.0, tf.linspace(a, b, n)),
        "geomspace": lambda a, b, n: tf.pow(10.0, tf.linspace(0.0, 1.0, n)),
        "tri": lambda n: tf.linalg.band_part(tf.ones((n, n)), -1, 0),
        "vander": lambda x, n: tf.pow(x[:, None], tf.range(n - 1.0, -1.0, -1.0)),
        "eye": tf.eye,
        "tile": tf.tile,
        "repeat": lambda x, n, a: tf.repeat(x, n, a),
    }
    products = {
        "dot": tf.matmul,
        "inner": lambda x, y: tf.matmul(x, y, transpose_b=True),
        "vdot": lambda x, y: tf.tensordot(tf.reshape(x, (-1,)), tf.reshape(y, (-1,)), 1),
        "outer": lambda x, y: x[:, None] * y,
        "kron": lambda x, y: tf.reshape(x[:, None, :, None] * y[None, :, None, :], (1000, 1000)),
        "cdist": lambda x, y: tf.sqrt(tf.reduce_sum(tf.square(x[:, None] - y), -1)),
        "solve_triangular": lambda a, b, low: tf.linalg.triangular_solve(a, b),
        "cholesky_inverse": lambda x: tf.linalg.cholesky_solve(x, tf.eye(32)),
        "lstsq": lambda a, b: tf.linalg.lstsq(a, b[:, None], fast=False),
        "lu_factor": tf.linalg.lu,
        "svd": lambda x, f: tf.linalg.svd(x, f),
        "trace": lambda x: tf.linalg.trace(tf.transpose(x, (2, 0, 1))),
        "cross": tf.linalg.cross,
        "norm": tf.norm,
        "logdet": tf.linalg.logdet,
        "diff": lambda x: x[:, 1:] - x[:, :-1],
        "trapezoid": lambda x: tf.reduce_sum(x[:, 1:] + x[:, :-1], -1) * 0.5,
        "fft": lambda x: parts(tf.signal.fft(complex_of(x))),
        "fft2": lambda x: parts(tf.signal.fft2d(complex_of(x))),
        "ifft2": lambda x: parts(tf.signal.ifft2d(complex_of(x))),
        "rfft": lambda x: parts(tf.signal.rfft(x)),
        "irfft": lambda x: tf.signal.irfft(complex_of(x)),
        "stft": stft,
        "istft": istft,
        "extract_sequences": lambda x, n, s: tf.signal.frame(x, n, s),
        "view_as_complex": lambda x: tf.complex(x[..., 0], x[..., 1]),
        "view_as_real": lambda z: tf.stack(parts(z), -1),
    }
    networks = {
        "conv": lambda x, k, s, p: tf.nn.conv2d(x, k, s, p.upper()),
        "depthwise_conv": depthwise,
        "separable_conv": lambda x, d, p, s, pad: tf.nn.separable_conv2d(x, d, p, (1, s, s, 1), pad.upper()),
        "conv_transpose": lambda x, k, s, p: tf.nn.conv2d_transpose(x, k, (8, 64, 64, 32), s, p.upper()),
        "max_pool": lambda x, n: tf.nn.max_pool2d(x, n, n, "VALID"),
        "average_pool": lambda x, n: tf.nn.avg_pool2d(x, n, n, "VALID"),
        "adaptive_max_pool": lambda x, n: tf.nn.max_pool2d(x, 8, 8, "VALID"),
        "adaptive_average_pool": lambda x, n: tf.nn.avg_pool2d(x, 8, 8, "VALID"),
        "dot_product_attention": attention,
        "batch_normalization": lambda x, m, v, a, o, s: tf.nn.batch_normalization(x, m, v, o, s, 1e-3),
        "layer_normalization": lambda x, g, b, a, e: normalized(x, g, b, e),
        "rms_normalization": lambda x, g, a, e: x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), -1, True) + e) * g,
        "normalize": lambda x: tf.math.l2_normalize(x, -1),
        "softmax": softer,
        "log_softmax": lambda x, a: tf.nn.log_softmax(x, a),
        "glu": lambda x, a: tf.multiply(*(lambda p: (p[0], tf.sigmoid(p[1])))(tf.split(x, 2, a))),
        "sparsemax": sparsemax,
        "binary_crossentropy": lambda t, z, _: tf.nn.sigmoid_cross_entropy_with_logits(t, z),
        "categorical_crossentropy": lambda t, z, _: tf.nn.softmax_cross_entropy_with_logits(t, z),
        "sparse_categorical_crossentropy": lambda t, z, _: tf.nn.sparse_softmax_cross_entropy_with_logits(t, z),
        "psnr": lambda x, y, m: (
            20 * math.log10(m) - 10 * tf.math.log(tf.reduce_mean(tf.math.squared_difference(x, y))) / math.log(10)
        ),
        "ctc_loss": lambda t, z, n, m: tf.nn.ctc_loss(t, z, n, m, False),
        "image.resize": lambda x, s: tf.image.resize(x, s),
        "image.scale_and_translate": lambda x, shape, s, t, d, m, a: raw.ScaleAndTranslate(
            images=x, size=(100, 100), scale=s, translation=t, kernel_type="triangle", antialias=a
        ),
        "image.affine_transform": transform,
        "image.perspective_transform": lambda x, s, e: transform(
            x, tf.tile(tf.constant([[1.0, 0, 0, 0, 1, 0, 0, 0]]), (8, 1))
        ),
        "image.pad_images": lambda x, *_: tf.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))),
        "image.crop_images": lambda x, *_: x[:, 1:-1, 1:-1],
        "image.extract_patches": lambda x, n: tf.image.extract_patches(
            x, (1, n, n, 1), (1, n, n, 1), (1, 1, 1, 1), "VALID"
        ),
        "image.extract_patches_3d": lambda x, n: tf.extract_volume_patches(
            x, (1, n, n, n, 1), (1, n, n, n, 1), "VALID"
        ),
        "image.gaussian_blur": blurred,
        "image.ssim": lambda a, b: tf.image.ssim(a, b, 1.0),
        "unfold": lambda x, n: tf.image.extract_patches(
            tf.transpose(x, (0, 2, 3, 1)), (1, n, n, 1), (1, 1, 1, 1), (1, 1, 1, 1), "VALID"
        ),
    }
    return unary | binary | reductions | movement | products | networks


def numpy_natives():
    return {}


TABLES = {"torch": torch_natives, "jax": jax_natives, "tensorflow": tensorflow_natives, "numpy": numpy_natives}


def modules(backend):
    """Modules in which a function of an op's name is looked for, nearest first."""
    if backend == "torch":
        import torch

        return [torch, torch.nn.functional, torch.special, torch.linalg]
    if backend == "jax":
        import jax

        return [jax.numpy, jax.nn, jax.lax, jax.scipy.special, jax.numpy.linalg]
    if backend == "tensorflow":
        import tensorflow as tf

        return [tf.math, tf.nn, tf, tf.linalg, tf.image]
    import scipy.special

    return [np, scipy.special, np.linalg]
