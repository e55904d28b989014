"""Convolution, pooling, attention, recurrence and fused activations on PyTorch.

channels_last tensors are handed over as permuted views, which PyTorch knows as its channels_last memory format:
no copies.
"""

import functools
import math

import torch
import torch.nn.functional as F

from kerata.backends import windows
from kerata.backends.torch.core import compiling, on_host, watched

_CONV = (None, torch.conv1d, torch.conv2d, torch.conv3d)
_CONV_TRANSPOSE = (None, torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d)
_MAX_POOL = (None, F.max_pool1d, F.max_pool2d, F.max_pool3d)
_AVERAGE_POOL = (None, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)
# Permutations by rank: inputs to channels_first and back, kernels to (out, in, *spatial). They are handed over one by one:
# PyTorch takes longer to read a tuple.
_FIRST = {3: (0, 2, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
_LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
_KERNEL = {3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}


def conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups):
    return conv_bias(inputs, kernel, None, strides, padding, data_format, dilation_rate, groups)


def conv_bias(inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups):
    rank = inputs.ndim
    x = inputs.permute(*_FIRST[rank]) if data_format == "channels_last" else inputs
    x, pads = _padded(x, kernel.shape, strides, padding, dilation_rate)
    y = _CONV[rank - 2](x, kernel.permute(*_KERNEL[rank]), bias, strides, pads, dilation_rate, groups)
    return y.permute(*_LAST[rank]) if data_format == "channels_last" else y


def _padded(x, sizes, strides, padding, dilations):
    """x and the padding left to the convolution: it pads both sides alike, so the rest is put on before."""
    if padding == "valid":
        return x, 0
    lengths = tuple(x.shape[2:])
    # While `torch.export` traces lengths may be symbols, which can't be remembered.
    pads = _pads if all(type(n) is int for n in lengths) else _pads.__wrapped__
    both, before = pads(padding, lengths, sizes, strides, dilations)
    return (x, both) if before is None else (F.pad(x, before), both)


@functools.lru_cache(1024)
def _pads(padding, lengths, sizes, strides, dilations):
    pads = windows.pads(padding, lengths, sizes[: len(strides)], strides, dilations)
    if all(before == after for before, after in pads):
        return tuple(before for before, _ in pads), None
    return 0, [n for pair in reversed(pads) for n in pair]


def depthwise_conv(inputs, kernel, strides, padding, data_format, dilation_rate):
    *sizes, channels, multiplier = kernel.shape
    flat = kernel.reshape(*sizes, 1, channels * multiplier)
    return conv_bias(inputs, flat, None, strides, padding, data_format, dilation_rate, channels)


def conv_transpose(inputs, kernel, strides, padding, output_padding, data_format, dilation_rate):
    rank = inputs.ndim
    x = inputs.permute(*_FIRST[rank]) if data_format == "channels_last" else inputs
    lengths, cuts, extras = [], [], []
    for n, k, s, d, p in zip(
        x.shape[2:], kernel.shape, strides, dilation_rate, output_padding or (None,) * (rank - 2), strict=False
    ):
        length, cut = windows.transposed(n, k, s, d, padding, p)
        lengths.append(length)
        cuts.append(cut)
        extras.append(length - ((n - 1) * s + windows.span(k, d) - 2 * cut))
    kernel = kernel.permute(*_KERNEL[rank])
    native = _CONV_TRANSPOSE[rank - 2]
    if all(0 <= e < max(s, d) for e, s, d in zip(extras, strides, dilation_rate, strict=True)):
        y = native(x, kernel, None, strides, cuts, extras, 1, dilation_rate)
    else:
        y = _cut(native(x, kernel, None, strides, 0, 0, 1, dilation_rate), cuts, lengths)
    return y.permute(*_LAST[rank]) if data_format == "channels_last" else y


def _cut(full, cuts, lengths):
    """The wanted part of the full transposed convolution, with zeros where it is too short."""
    for axis, (cut, length) in enumerate(zip(cuts, lengths, strict=True), 2):
        full = full.narrow(axis, cut, min(length, full.shape[axis] - cut))
    missing = [n for axis, length in reversed(list(enumerate(lengths, 2))) for n in (0, length - full.shape[axis])]
    return F.pad(full, missing) if any(missing) else full


def _pool(native, inputs, pool_size, strides, padding, data_format, fill, **options):
    rank = inputs.ndim
    x = inputs.permute(*_FIRST[rank]) if data_format == "channels_last" else inputs
    pads, ceil = (0,) * len(pool_size), False
    if padding == "same":
        sides = windows.pads(padding, x.shape[2:], pool_size, strides, (1,) * len(pool_size))
        # `ceil_mode` adds the odd place at the end, if the stride reaches it.
        if all(after == before or s > 1 for (before, after), s in zip(sides, strides, strict=True)):
            pads, ceil = tuple(before for before, _ in sides), True
        else:
            x = F.pad(x, [n for pair in reversed(sides) for n in pair], value=fill)
    y = native(x, pool_size, strides, pads, ceil_mode=ceil, **options)
    return y.permute(*_LAST[rank]) if data_format == "channels_last" else y


def max_pool(inputs, pool_size, strides, padding, data_format):
    if not inputs.is_floating_point():
        return _pool_integers(inputs, pool_size, strides, padding, data_format)
    return _pool(_MAX_POOL[inputs.ndim - 2], inputs, pool_size, strides, padding, data_format, -math.inf)


def _pool_integers(inputs, *how):
    # PyTorch pools few integer dtypes; float64 holds 32-bit ones exactly.
    if inputs.dtype in (torch.int64, torch.uint64):
        raise TypeError(f"max_pool: {inputs.dtype} is not supported on the torch backend; cast to int32 or float.")
    return max_pool(inputs.to(torch.float64), *how).to(inputs.dtype)


def average_pool(inputs, pool_size, strides, padding, data_format):
    if inputs.ndim == 5 and inputs.itemsize == 2 and inputs.device.type == "cpu":
        # PyTorch has no three-dimensional one in half precision there.
        return average_pool(inputs.float(), pool_size, strides, padding, data_format).to(inputs.dtype)
    native = _AVERAGE_POOL[inputs.ndim - 2]
    if padding == "same":
        # Where the odd place cannot be left to `ceil_mode`, what was padded must not be counted.
        sides = windows.pads(
            padding,
            inputs.shape[1:-1] if data_format == "channels_last" else inputs.shape[2:],
            pool_size,
            strides,
            (1,) * len(pool_size),
        )
        if any(after != before and s == 1 for (before, after), s in zip(sides, strides, strict=True)):
            how = (pool_size, strides, padding, data_format, 0)
            total = _pool(native, inputs, *how, count_include_pad=True)
            return total / _pool(native, torch.ones_like(inputs[:1]), *how, count_include_pad=True)
    return _pool(native, inputs, pool_size, strides, padding, data_format, 0, count_include_pad=False)


def dot_product_attention(query, key, value, bias, mask, scale, is_causal):
    q, k, v = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
    if is_causal and (mask is not None or bias is not None):
        causal = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
        mask, is_causal = causal if mask is None else mask & causal, False
    if mask is not None:
        # Finite, so that a row with nothing to attend to is a plain average and not NaN.
        lowest = 0.7 * torch.finfo(q.dtype).min
        zero = torch.zeros((), dtype=q.dtype, device=q.device)
        bias = torch.where(mask, zero if bias is None else bias.to(q.dtype), lowest)
    y = torch._C._nn.scaled_dot_product_attention(q, k, v, bias, 0.0, is_causal, scale=scale)
    return y.transpose(1, 2)


def lstm(x, h, c, kernel, recurrent_kernel, bias, reverse, sequences):
    if compiling():
        return _traced_lstm(x, h, c, kernel, recurrent_kernel, bias, None, reverse, sequences)
    x = x.flip(1) if reverse else x
    weights = (kernel.t(), recurrent_kernel.t(), bias, torch.zeros_like(bias))
    state = (h.unsqueeze(0), c.unsqueeze(0))
    y, h, c = torch.lstm(x, state, weights, True, 1, 0.0, torch.is_grad_enabled(), False, True)
    h = h.squeeze(0)
    return _outputs(y, h, reverse, sequences), h, c.squeeze(0)


# A gate's input that shuts it, or with the other sign opens it, for good in every dtype.
_SHUT = -1e4


def masked_lstm(x, h, c, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    if compiling():
        return _traced_lstm(x, h, c, kernel, recurrent_kernel, bias, mask, reverse, sequences)
    x, counted, beyond = _to_the_front(x, mask, reverse)
    # Behind the steps that count one more feature shuts the input gate and opens the forget gate: c stays as it is.
    gates = x.new_zeros(1, kernel.shape[1])
    gates[:, : h.shape[1]], gates[:, h.shape[1] : 2 * h.shape[1]] = _SHUT, -_SHUT
    x, kernel = torch.cat((x, beyond.to(x.dtype)), -1), torch.cat((kernel, gates))
    y, _, c = lstm(x, h, c, kernel, recurrent_kernel, bias, False, True)
    return *_held(y, h, counted, reverse, sequences), c


def _to_the_front(x, mask, reverse):
    """Rows with the steps that count first, how many did up to each step of the mask, and what's behind them."""
    x, mask = (x.flip(1), mask.flip(1)) if reverse else (x, mask)
    front = torch.argsort(mask, dim=1, descending=True, stable=True).unsqueeze(-1)
    beyond = ~mask.unsqueeze(-1).gather(1, front)
    x = x.gather(1, front.expand(x.shape)).masked_fill(beyond, 0)
    return x, mask.cumsum(1).unsqueeze(-1), beyond


def _held(y, h, counted, reverse, sequences):
    """Outputs, each that of the last step that counted (`h` before there was one), and the last state."""
    if not sequences:
        counted = counted[:, -1:]
    places = (counted - 1).clamp_min(0).expand(-1, -1, y.shape[2])
    y = torch.where(counted > 0, y.gather(1, places), h.unsqueeze(1))
    return _outputs(y, y[:, -1], reverse, sequences), y[:, -1]


def _traced_lstm(x, h, c, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    # The fused kernel has no gradient in a compiled graph.
    def advance(row, h, c):
        i, f, g, o = torch.addmm(row, h, recurrent_kernel).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    y, (h, c) = _step_by_step(advance, torch._C._nn.linear(x, kernel.t(), bias), (h, c), mask, reverse)
    return _outputs(y, h, reverse, sequences), h, c


def _step_by_step(advance, rows, state, mask, reverse):
    """Outputs in the order of their computation, and the last state; where the mask is false the state stays."""
    steps = range(rows.shape[1])
    outputs = []
    for t in reversed(steps) if reverse else steps:
        new = advance(rows[:, t], *state)
        state = new if mask is None else [torch.where(mask[:, t, None], n, s) for n, s in zip(new, state, strict=True)]
        outputs.append(state[0])
    return torch.stack(outputs, 1), state


def gru(x, h, kernel, recurrent_kernel, bias, reverse, sequences):
    if compiling():
        return _traced_gru(x, h, kernel, recurrent_kernel, bias, None, reverse, sequences)
    x = x.flip(1) if reverse else x
    weights = (_gates(kernel.t()), _gates(recurrent_kernel.t()), _gates(bias[0]), _gates(bias[1]))
    y, h = torch.gru(x, h.unsqueeze(0), weights, True, 1, 0.0, torch.is_grad_enabled(), False, True)
    h = h.squeeze(0)
    return _outputs(y, h, reverse, sequences), h


def masked_gru(x, h, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    if compiling():
        return _traced_gru(x, h, kernel, recurrent_kernel, bias, mask, reverse, sequences)
    x, counted, _ = _to_the_front(x, mask, reverse)
    y, _ = gru(x, h, kernel, recurrent_kernel, bias, False, True)
    return _held(y, h, counted, reverse, sequences)


def _traced_gru(x, h, kernel, recurrent_kernel, bias, mask, reverse, sequences):
    def advance(row, h):
        xz, xr, xh = row.chunk(3, -1)
        hz, hr, hh = torch.addmm(bias[1], h, recurrent_kernel).chunk(3, -1)
        z = torch.sigmoid(xz + hz)
        return (z * h + (1 - z) * torch.tanh(xh + torch.sigmoid(xr + hr) * hh),)

    y, (h,) = _step_by_step(advance, torch._C._nn.linear(x, kernel.t(), bias[0]), (h,), mask, reverse)
    return _outputs(y, h, reverse, sequences), h


def _outputs(y, h, reverse, sequences):
    """Outputs in the order of the inputs, or the last alone."""
    return (y.flip(1) if reverse else y) if sequences else h


def _gates(weight):
    """Update, reset, candidate in PyTorch's order: reset, update, candidate."""
    z, r, n = weight.chunk(3)
    return torch.cat((r, z, n))


def bias_add(x, bias, data_format):
    if data_format == "channels_last":
        return torch.add(x, bias)
    return torch.add(x, bias.reshape(-1, *(1,) * (x.ndim - 2)))


def softmax(x, axis):
    if type(axis) is int:
        return torch.softmax(x, axis)
    axis = tuple(range(x.ndim)) if axis is None else axis
    e = torch.exp(x - torch.amax(x, axis, True).detach())
    return e / torch.sum(e, axis, True)


def log_softmax(x, axis):
    if type(axis) is int:
        return torch.log_softmax(x, axis)
    return x - torch.logsumexp(x, tuple(range(x.ndim)) if axis is None else axis, True)


silu = torch._C._nn.silu
hard_sigmoid = torch._C._nn.hardsigmoid
hard_silu = torch._C._nn.hardswish
log_sigmoid = torch._C._nn.log_sigmoid
relu6 = torch._C._nn.relu6
softplus = torch._C._nn.softplus
softsign = F.softsign
leaky_relu = torch._C._nn.leaky_relu
selu = torch.selu


def elu(x, alpha):
    return torch._C._nn.elu(x, alpha)


def gelu(x, approximate):
    return torch._C._nn.gelu(x, approximate="tanh" if approximate else "none")


def layer_normalization(x, gamma, beta, axis, epsilon):
    return torch.layer_norm(x, x.shape[axis[0] :], gamma, beta, epsilon)


if hasattr(torch, "rms_norm"):  # since PyTorch 2.4

    def rms_normalization(x, scale, axis, epsilon):
        axis = (axis,) if isinstance(axis, int) else axis
        return torch.rms_norm(x, [x.shape[a] for a in axis], scale, epsilon)


_FUSED = (torch.float32, torch.float64)
_LARGE = 1 << 14  # elements from which on it pays to look at the means


def _can_be_fused(x, mean, inverse):
    """Whether PyTorch's own function loses nothing: its terms, `x * inverse` and `mean * inverse`, mustn't dwarf their difference."""
    return x.ndim > 1 and x.dtype in _FUSED and on_host(x) and torch.all(torch.abs(mean * inverse) <= 16).item()


def batch_normalization(x, mean, variance, axis, offset, scale, epsilon):
    inverse = torch.rsqrt(variance + epsilon)
    size = x.numel()
    # `torch.export` has symbols for sizes.
    if type(size) is int and size >= _LARGE and not watched(x, mean, variance, offset, scale) and _can_be_fused(x, mean, inverse):
        y = torch.batch_norm(x.movedim(axis, 1), scale, offset, mean, variance, False, 0.0, epsilon, False)
        return y.movedim(1, axis)
    inverse = inverse if scale is None else inverse * scale
    if axis % x.ndim != x.ndim - 1:
        shape = [1] * x.ndim
        shape[axis] = -1
        inverse, mean, offset = (None if v is None else v.reshape(shape) for v in (inverse, mean, offset))
    deviation = x - mean
    return deviation * inverse if offset is None else torch.addcmul(offset, deviation, inverse)


def batch_normalization_training(x, axis, offset, scale, epsilon):
    """Normalize by the batch's own statistics: (result, mean, variance), the latter two without gradient.

    Forwards and backwards four times as fast as by `moments` and `batch_normalization`.
    """
    y, mean, inverse = torch.native_batch_norm(x.movedim(axis, 1), scale, offset, None, None, True, 0.0, epsilon)
    variance = torch.clamp_min(torch.reciprocal(torch.square(inverse)) - epsilon, 0)
    return y.movedim(1, axis), mean.detach(), variance.detach()


def binary_crossentropy_with_logits(target, logits):
    return torch.binary_cross_entropy_with_logits(logits, target, None, None, 0)


def categorical_crossentropy_with_logits(target, logits, axis):
    return -torch.sum(target * torch.log_softmax(logits, axis), axis)


_IGNORED = -100  # the class without loss and gradient


def sparse_categorical_crossentropy_with_logits(target, logits, axis):
    rows = logits if axis in (-1, logits.ndim - 1) else logits.movedim(axis, -1)
    classes, flat_target = rows.shape[-1], target.reshape(-1).to(torch.int64)
    inside = (flat_target >= 0) & (flat_target < classes)
    flat = torch._C._nn.cross_entropy_loss(
        rows.reshape(-1, classes), torch.where(inside, flat_target, _IGNORED), None, 0, _IGNORED
    )
    return flat.reshape(target.shape)


def ctc_loss(target, output, target_length, output_length, mask_index):
    log_probabilities = torch.log_softmax(output.float() if output.itemsize == 2 else output, -1)
    lengths = output_length.long(), target_length.long()
    # Infinite losses are put in by the caller; here they'd make gradients NaN.
    return F.ctc_loss(
        log_probabilities.transpose(0, 1), target.long(), *lengths, mask_index, "none", zero_infinity=True
    )


def unfold(x, kernel_size, dilation, padding, stride):
    if x.is_floating_point():
        return F.unfold(x, kernel_size, dilation, padding, stride)
    # PyTorch unfolds floats only; float64 holds integers up to 2**53.
    return F.unfold(x.to(torch.float64), kernel_size, dilation, padding, stride).to(x.dtype)


def fold(x, output_size, kernel_size, dilation, padding, stride):
    if x.is_floating_point():
        return F.fold(x, output_size, kernel_size, dilation, padding, stride)
    return F.fold(x.to(torch.float64), output_size, kernel_size, dilation, padding, stride).to(x.dtype)


def gated(x, axis):
    return torch._C._nn.glu(x, axis)
