"""Complex numbers as pairs in a last dimension of 2, and Fourier transforms of them."""

import numpy as np

from kerata import ops
from kerata.graph.onnx.elementwise import bound
from kerata.graph.onnx.shape import sliced
from kerata.graph.onnx.table import EMITTERS, emits_complex
from kerata.graph.tensor import KerasTensor


def _real_dtype(x):
    return "float64" if x.dtype == "complex128" else "float32"


def _pairs(w, real, imag):
    return w.op("Concat", *(w.op("Unsqueeze", part, w.ints([-1])) for part in (real, imag)), axis=-1)


def _part(w, x, i):
    """Real (0) or imaginary (1) part, as a tensor."""
    return bound(w, KerasTensor(x.shape, _real_dtype(x)), w.op("Gather", x, w.name(i, "int64"), axis=-1))


@emits_complex(
    "add", "broadcast_to", "concatenate", "expand_dims", "flip", "get_item", "mean", "negative", "pad",
    "reshape", "roll", "squeeze", "stack", "stop_gradient", "subtract", "sum", "take", "tile", "transpose",
    "where",
)  # fmt: skip
def _by_parts(w, out, *args):
    """What moves or adds numbers does so to real and imaginary parts on their own."""
    emitter, parts = EMITTERS[out.node.op.name], []
    like = KerasTensor(out.shape, _real_dtype(out))
    for i in (0, 1):
        parts.append(emitter(w, like, *(_part_of(w, a, i) for a in args)))
    return _pairs(w, *parts)


def _part_of(w, a, i):
    if type(a) is list:
        return [_part_of(w, v, i) for v in a]
    if isinstance(a, np.ndarray) and a.dtype.kind == "c":
        return a.imag if i else a.real
    return _part(w, a, i) if type(a) is KerasTensor and a.dtype.startswith("complex") else a


@emits_complex("complex_of")
def _complex_of(w, out, real, imag):
    return _pairs(w, real, imag)


@emits_complex("cast")
def _cast(w, out, x, dtype):
    if x.dtype.startswith("complex"):
        name = w.name(x) if dtype.startswith("complex") else w.name(_part(w, x, 0))
        return w.cast(name, _real_dtype(x), _real_dtype(out) if dtype.startswith("complex") else w.dtype(out))
    real = w.cast(w.name(x), w.dtype(x), _real_dtype(out))
    return _pairs(w, real, w.op("Mul", real, w.name(0, _real_dtype(out))))


@emits_complex("multiply")
def _multiply(w, out, x1, x2):
    a, b, c, d = (_part(w, x, i) for x in (x1, x2) for i in (0, 1))
    real = w.op("Sub", w.op("Mul", a, c), w.op("Mul", b, d))
    return _pairs(w, real, w.op("Add", w.op("Mul", a, d), w.op("Mul", b, c)))


@emits_complex("real")
def _real(w, out, x):
    return w.name(_part(w, x, 0))


@emits_complex("imag")
def _imag(w, out, x):
    return w.name(_part(w, x, 1))


@emits_complex("conj")
def _conj(w, out, x):
    return w.op("Mul", x, w.name([1.0, -1.0], _real_dtype(x)))


@emits_complex("abs")
def _abs(w, out, x):
    return w.op("ReduceL2", x, w.ints([-1]), keepdims=0)


@emits_complex("angle")
def _angle(w, out, x):
    return w.inline(ops.arctan2, [_part(w, x, 1), _part(w, x, 0)])


def _transformed(w, x, rank, name=None, length=None, **attributes):
    """`DFT` of `name` (pairs, or single numbers, in its last dimension) over the dimension before that."""
    name = name or w.name(x)
    if rank == 1:
        name = w.op("Unsqueeze", name, w.ints([0]))
    axis = max(rank, 2) - 1
    if w.opset >= 20:
        result = w.op("DFT", name, length, w.name(axis, "int64"), **attributes)
    else:
        result = w.op("DFT", name, length, axis=axis, **attributes)
    return w.op("Squeeze", result, w.ints([0])) if rank == 1 else result


@emits_complex("fft")
def _fft(w, out, x):
    return _transformed(w, x, len(x.shape))


@emits_complex("ifft")
def _ifft(w, out, x):
    return _transformed(w, x, len(x.shape), inverse=1)


@emits_complex("rfft")
def _rfft(w, out, x, n):
    rank = len(x.shape)
    if n is not None and x.shape[-1] != n:
        # Cut or lengthened here: runtimes differ in what they make of another length.
        x = bound(w, KerasTensor((*x.shape[:-1], n), x.dtype), _of_length(w, x, n))
    whole = _transformed(w, x, rank, w.op("Unsqueeze", x, w.ints([-1])))
    # Cut here: OpenVINO's one-sided transform has another shape.
    half = out.shape[-1]
    if half is None:
        half = w.op("Add", w.op("Div", w.length(x, rank - 1), w.ints([2])), w.ints([1]))
    return sliced(w, whole, [0], [half], [rank - 1])


def _of_length(w, x, n):
    """The last dimension cut, or zero-padded, to `n` entries."""
    name, rank = w.name(x), len(x.shape)
    if x.shape[-1] is None or x.shape[-1] < n:
        name = w.op("Pad", name, w.ints([*[0] * (2 * rank - 1), n]), mode="constant")
    return sliced(w, name, [0], [n], [rank - 1])


@emits_complex("irfft")
def _irfft(w, out, x, n):
    half, rank = x.shape[-1], len(x.shape)
    if half is None:
        raise w.refusal("the number of frequencies of `irfft` must be known")
    n = 2 * (half - 1) if n is None else n
    # The other half is the conjugate of this one backwards.
    known, axis = n // 2 + 1, rank - 1
    name = w.name(x)
    if half != known:
        pads = [0] * (2 * rank + 2)
        pads[-2] = max(known - half, 0)
        name = (
            w.op("Pad", name, w.ints(pads), mode="constant")
            if known > half
            else sliced(w, name, [0], [known], [axis])
        )
    mirrored = sliced(w, name, [n - known], [0], [axis], [-1])
    mirrored = w.op("Mul", mirrored, w.name([1.0, -1.0], _real_dtype(x)))
    whole = w.op("Concat", name, mirrored, axis=axis) if n > known else name
    result = _transformed(w, x, rank, _with_real_ends(w, x, whole, n, known, axis), inverse=1)
    return w.op("Gather", result, w.name(0, "int64"), axis=-1)


def _with_real_ends(w, x, whole, n, known, axis):
    """The first frequency, and the middle one of an even length, have no imaginary part whatever is given for
    it.
    """
    keep = np.ones((n, 2), _real_dtype(x))
    keep[0, 1] = 0
    if n % 2 == 0:
        keep[known - 1, 1] = 0
    return w.op("Mul", whole, w.constant(keep))
