"""Random natives on PyTorch.

On a CPU the numbers are made by `core.threefry` in NumPy, in place, which is faster than PyTorch's own
dropout: eagerly by a plain call, in compiled code through a custom operator (unrolled there, the cipher
takes a C++ compiler half a minute, and runs no faster). Elsewhere (on a device, exported, under `vmap`) the
same recipes are PyTorch ops. Words are held as int32 bit patterns: PyTorch has no arithmetic for uint32,
while its int32 wraps. With `set_rng("native")`, `torch.Generator`s seeded by the key give uniforms, normals
and masks (compiled: PyTorch's global generator, as compiled code can't hold another).
"""

import math
from collections.abc import Sequence

import numpy as np
import torch

from kerata.backends.torch.core import DTYPES
from kerata.core import config, threefry

__all__ = [
    "draws_on_host", "random_bits", "random_dropout", "random_fold", "random_mask", "random_next", "random_normal",
    "random_permutation", "random_randint", "random_randint_between", "random_split",
    "random_truncated_normal", "random_uniform",
]  # fmt: skip

_WORD = 0xFFFFFFFF


def _constant(function):
    """Compiled code takes what the function returns as a constant, instead of tracing NumPy.

    This is what `torch.compiler.assume_constant_result` does, without importing the compiler (2.5 s).
    """
    function._dynamo_marked_constant = True
    return function


_affine = _constant(lambda minval, maxval, dtype: tuple(map(float, threefry.affine_constants(minval, maxval, dtype))))
_bounds = _constant(lambda bounds, dtype: tuple(map(float, getattr(threefry, bounds)(dtype))))
_root2 = _constant(lambda dtype: float(torch.tensor(math.sqrt(2), dtype=dtype)))
_mask_recipe = _constant(threefry.mask_recipe.__wrapped__)


# -- calling NumPy ---------------------------------------------------------------------------------

_HOST_DRAWS = {
    "fold": lambda words, shape, a, b, dtype: threefry.fold(words[:2], words[2]),
    "split": lambda key, shape, a, b, dtype: threefry.split(key, shape[0]),
    "bits": lambda key, shape, a, b, dtype: threefry.host_bits(shape, key),
    "mask": lambda key, shape, a, b, dtype: threefry.host_mask(shape, key, a),
    "uniform": lambda key, shape, a, b, dtype: threefry.host_uniform(shape, key, a, b, dtype),
    "normal": lambda key, shape, a, b, dtype: threefry.host_normal(shape, key, dtype=dtype),
    "truncated_normal": lambda key, shape, a, b, dtype: threefry.host_truncated_normal(shape, key, dtype=dtype),
}


def _on_host(key):
    """Whether the key's values can be had at once: a plain CPU tensor, and nobody is recording ops."""
    return (
        key.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch._C._len_torch_dispatch_stack()
        and not torch._C._functorch.is_functorch_wrapped_tensor(key)
        and not torch.jit.is_tracing()
    )


def draws_on_host(*tensors):
    """Whether draws from a key are made in NumPy, and the values of all these tensors are there as well."""
    return all(map(_on_host, tensors)) and config.rng_mode() != "native"


def _host_draw(key, kind, shape, a, b, dtype):
    array = _HOST_DRAWS[kind](key, tuple(shape), a, b, dtype)
    if dtype == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _operator():
    """The custom operator through which compiled CPU code draws; `None` before PyTorch 2.4."""
    if not hasattr(torch.library, "custom_op"):
        return None

    @torch.library.custom_op("kerata::draw", mutates_args=(), device_types="cpu")
    def draw(key: torch.Tensor, kind: str, shape: Sequence[int], a: float, b: float, dtype: str) -> torch.Tensor:
        return _host_draw(key, kind, shape, a, b, dtype)

    @draw.register_fake
    def _(key, kind, shape, a, b, dtype):
        return torch.empty(shape, dtype=DTYPES[dtype], device=key.device)

    @draw.register_vmap
    def _(info, in_dims, keys, kind, shape, a, b, dtype):
        rows = [draw(key, kind, shape, a, b, dtype) for key in keys.unbind(in_dims[0])]
        return torch.stack(rows), 0

    return draw


_draw_operator = _operator()
_is_exporting = getattr(torch.compiler, "is_exporting", lambda: False)


def _drawn(key, kind, shape, a, b, dtype, in_ops):
    """The draw in NumPy if that can be called, directly or by the operator; else the tensor of `in_ops()`."""
    if _on_host(key):
        return _host_draw(key, kind, shape, a, b, dtype)
    if (
        key.device.type == "cpu"
        and torch.compiler.is_compiling()
        and _draw_operator is not None
        and not _is_exporting()
    ):
        return _draw_operator(key, kind, list(shape), a, b, dtype)
    return in_ops()


# -- keys and bits ---------------------------------------------------------------------------------


def random_next(state):
    if _on_host(state):
        first, second = state.tolist()
        words = np.array([[first, second], [first, (second + 1) & _WORD]], np.uint32)
        return torch.from_numpy(words[0]), torch.from_numpy(words[1])
    # A copy: the variable that holds the state is about to be overwritten in place.
    words = _signed(state)
    return _unsigned(words.clone()), _unsigned(words + torch.arange(2, dtype=torch.int32, device=state.device))


def random_split(key, num):
    return _drawn(key, "split", (num, 2), 0.0, 0.0, "uint32", lambda: _unsigned(torch.stack(_blocks(key, num), 1)))


def random_fold(key, data):
    words = torch.cat([_signed(key), _signed(data).reshape(1)])
    return _drawn(words, "fold", (2,), 0.0, 0.0, "uint32", lambda: _folded(*words.unbind()))


def _folded(k0, k1, data):
    return _unsigned(torch.stack(threefry.cipher(k0, k1, 0, data, _rotate)))


def random_bits(key, shape):
    return _drawn(key, "bits", shape, 0.0, 0.0, "uint32", lambda: _unsigned(_words(key, shape)))


def _signed(words):
    """Bit patterns as int32, from uint32 or any wider integer."""
    return words.view(torch.int32) if words.dtype == torch.uint32 else words.to(torch.int32)


def _unsigned(words):
    return words.view(torch.uint32)


def _rotate(x, distance):
    # int32 shifts to the right bring in copies of the sign, which the mask removes
    return (x << distance) | ((x >> (32 - distance)) & ((1 << distance) - 1))


def _blocks(key, count):
    """Both outputs of the blocks `0..count`, int32."""
    k0, k1 = _signed(key).unbind()
    if count <= 1 << 31:
        return threefry.cipher(k0, k1, 0, torch.arange(count, dtype=torch.int32, device=key.device), _rotate)
    counter = torch.arange(count, device=key.device)
    return threefry.cipher(k0, k1, (counter >> 32).to(torch.int32), counter.to(torch.int32), _rotate)


def _words(key, shape):
    out0, out1 = _blocks(key, math.prod(shape))
    return (out0 ^ out1).reshape(shape)


# -- floats ----------------------------------------------------------------------------------------


def random_uniform(key, shape, minval, maxval, dtype):
    if config.rng_mode() == "native":
        low, scale = _affine(minval, maxval, dtype)
        return (
            torch.rand(shape, dtype=DTYPES[dtype], device=key.device, generator=_generator(key)).mul_(scale).add_(low)
        )
    return _drawn(key, "uniform", shape, minval, maxval, dtype, lambda: _uniform(key, shape, minval, maxval, dtype))


def random_normal(key, shape, dtype):
    if config.rng_mode() == "native":
        return torch.randn(shape, dtype=DTYPES[dtype], device=key.device, generator=_generator(key))
    return _drawn(key, "normal", shape, 0.0, 1.0, dtype, lambda: _normal(key, shape, dtype))


def random_truncated_normal(key, shape, dtype):
    return _drawn(key, "truncated_normal", shape, 0.0, 1.0, dtype, lambda: _truncated_normal(key, shape, dtype))


def _normal(key, shape, dtype):
    return _quantile(_uniform(key, shape, *_bounds("normal_bounds", dtype), dtype))


def _truncated_normal(key, shape, dtype):
    limits = _bounds("truncated_limits", dtype)
    return _quantile(_uniform(key, shape, *_bounds("truncated_bounds", dtype), dtype)).clamp(*limits)


def _uniform(key, shape, minval, maxval, dtype):
    values = _uniform01(key, shape, dtype)
    low, scale = _affine(minval, maxval, dtype)
    if low == 0:
        return values if scale == 1 else values * scale
    if dtype == "float32":  # rounded once, see `threefry.uniform`
        values = (values.double() * scale + low).float()
    else:
        values = _settled(values * scale) + low
    return _settled(values).clamp(min=low)


def _settled(x):
    """Narrow floats rounded now: compilers keep float32 between steps, unless the bits are computed with."""
    return (x.view(torch.int16) | 0).view(x.dtype) if x.dtype.itemsize == 2 else x


def _uniform01(key, shape, dtype):
    drawn, mantissa, one = threefry.FLOAT_RECIPES[dtype]
    if drawn == 64:
        out0, out1 = (out.reshape(shape).long() for out in _blocks(key, math.prod(shape)))
        words, pattern = out0 << 32 | (out1 & _WORD), torch.int64
    else:
        words, pattern = _words(key, shape), torch.int32 if drawn == 32 else torch.int16
    words = (words >> (drawn - mantissa)) & ((1 << mantissa) - 1) | one
    return words.to(pattern).view(DTYPES[dtype]) - 1


def _quantile(u):
    """sqrt(2) * erfinv(u), by `threefry.erfinv`'s polynomials; narrow floats round after each of the two."""
    root = _root2(u.dtype)
    if u.dtype == torch.float64:
        return _erfinv64(u) * root
    return _settled(_settled(_erfinv32(u.float()).to(u.dtype)) * root)


def _erfinv32(x):
    w = -torch.log1p(-(x * x))
    center = _horner(threefry.ERFINV_CENTER, w - 2.5)
    tail = _horner(threefry.ERFINV_TAIL, torch.sqrt(w) - 3)
    return torch.where(w < 5, center, tail) * x


def _erfinv64(x):
    w = -torch.log1p(-x * x)
    root = torch.sqrt(w)
    center, middle, tail = threefry.ERFINV_64
    far = torch.where(w < 16, _horner(middle, root - 3.25), _horner(tail, root - 5.0))
    return torch.where(w < 6.25, _horner(center, w - 3.125), far) * x


def _horner(coefficients, w):
    p = coefficients[0] * w + coefficients[1]
    for c in coefficients[2:]:
        p = p * w + c
    return p


# -- masks -----------------------------------------------------------------------------------------


def random_mask(key, shape, keep_prob):
    if config.rng_mode() == "native":
        mask = torch.empty(shape, dtype=torch.bool, device=key.device)
        return mask.bernoulli_(keep_prob, generator=_generator(key))
    return _drawn(key, "mask", shape, keep_prob, 0.0, "bool", lambda: _mask(key, shape, keep_prob))


def _mask(key, shape, keep_prob):
    width, threshold = _mask_recipe(keep_prob)
    if threshold in (0, 1 << width):
        return torch.full(shape, threshold > 0, device=key.device)
    size = math.prod(shape)
    words = torch.cat(_blocks(key, threefry.mask_blocks(size, width)))
    shifts = torch.arange(0, 32, width, dtype=torch.int32, device=key.device)
    elements = (words.unsqueeze(1) >> shifts) & ((1 << width) - 1)
    return (elements < threshold).reshape(-1)[:size].reshape(shape)


def random_dropout(x, key, rate, noise_shape):
    mask = random_mask(key, x.shape if noise_shape is None else noise_shape, 1 - rate)
    if x.dtype.itemsize == 2:
        return (x * mask).mul_(1 / (1 - rate))  # the number is not rounded to the dtype here
    # one factor a tensor: half the time of `where`, forwards and backwards
    return x * mask.to(x.dtype).mul_(1 / (1 - rate))


# -- integers and order ----------------------------------------------------------------------------


def random_randint(key, shape, minval, maxval, dtype):
    if _on_host(key):
        return torch.from_numpy(threefry.host_randint(shape, key, minval, maxval, dtype))
    return _randint(key, shape, minval, maxval, dtype)


def random_randint_between(key, minval, maxval, shape, dtype):
    return _randint(key, shape, minval, maxval, dtype)


def _randint(key, shape, minval, maxval, dtype):
    """`threefry.randint`, in int64."""
    high_key, low_key = random_split(key, 2).unbind()
    if isinstance(minval, int):
        low, span, word = threefry.randint_recipe(minval, maxval)
        if word == 64:
            raise ValueError(
                f"randint: [{minval}, {maxval}) has more than 2**32 integers. PyTorch draws those eagerly on a CPU."
            )
        multiplier = threefry.randint_multiplier(span, word)
    else:
        low = minval.long()
        span = (maxval.long() - low).clamp(min=1)
        root = (1 << 16) % span
        multiplier = (root * root & _WORD) % span
    high, low_words = (_signed(random_bits(k, shape)).long() & _WORD for k in (high_key, low_key))
    offset = ((high % span) * multiplier + low_words % span & _WORD) % span
    return (offset + low).to(DTYPES[dtype])


def random_permutation(key, n):
    if _on_host(key):
        return torch.from_numpy(threefry.permutation(key, n))
    order = torch.arange(n, dtype=torch.int32, device=key.device)
    for _ in range(threefry.permutation_rounds(n)):
        key, subkey = random_split(key, 2).unbind()
        words = _signed(random_bits(subkey, (n,))).long() & _WORD
        order = order[torch.argsort(words, stable=True)]
    return order


# -- PyTorch's own generators ----------------------------------------------------------------------


def _generator(key):
    if torch.compiler.is_compiling():
        return None
    first, second = threefry.key_pair(key.cpu())
    return torch.Generator(key.device).manual_seed((first << 32 | second) & 0x7FFFFFFFFFFFFFFF)
